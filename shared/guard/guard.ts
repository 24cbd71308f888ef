import type { GuardParts } from './options.ts'
import { type CallerIdentity, type Permissions, permissionsOf } from './people/permissions.ts'
import { createWholeGuard, type Guard } from './whole-guard.ts'

export type { Guard }

/**
 * Refusals are values, not errors.
 * @throws LedgerUnavailable, SecretUnavailable: nothing was sent, or the ledger has the record.
 */
export function createGuard(parts: GuardParts): Guard {
  const whole = createWholeGuard(parts)
  const guard: Guard = {
    ...whole,
    submit: async (asker, wanted, how) => {
      const answer = await whole.submit(asker, wanted, how)
      const reads = await readsOf(parts, asker)
      return reads ? (await loadReader()).seenAnswer(parts, { caller: asker.caller, reads }, wanted, answer) : answer
    },
    estimate: async (wanted, asker) => {
      const estimate = await whole.estimate(wanted, asker)
      const reads = await readsOf(parts, asker)
      return reads
        ? (await loadReader()).seenEstimate(parts, { caller: asker.caller, reads }, wanted, estimate)
        : estimate
    },
    readAs: async (caller, reads) =>
      reads.readsBudgets === '*' ? guard : (await loadReader()).createReader(guard, parts, { caller, reads }),
  }
  return guard
}

/** Most callers read everything. */
const loadReader = () => import('./reads/reader.ts')

/** `null`: everything. */
async function readsOf({ ledger }: GuardParts, asker: CallerIdentity): Promise<Permissions | null> {
  const { definitions } = ledger.lastSeen() ?? (await ledger.view())
  const permissions = permissionsOf(definitions, asker)
  return permissions.readsBudgets === '*' ? null : permissions
}
