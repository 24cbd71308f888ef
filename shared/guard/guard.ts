import type { GuardParts } from './options.ts'
import { type CallerIdentity, type Permissions, permissionsOf } from './people/permissions.ts'
import type { Typed } from './reads/reader.ts'
import { createWholeGuard, type Guard } from './whole-guard.ts'

export type { Guard }

/**
 * Refusals are values, not errors.
 * @throws LedgerUnavailable, SecretUnavailable: nothing was sent, or the ledger has the record.
 */
export function createGuard(parts: GuardParts): Guard {
  const whole = createWholeGuard(parts)
  const seen = async <Of>(asker: CallerIdentity, wanted: Typed, answer: Of): Promise<Of> => {
    const reads = await readsOf(parts, asker)
    return reads ? (await loadReader()).seenAnswer(parts, { caller: asker.caller, reads }, wanted, answer) : answer
  }
  const guard: Guard = {
    ...whole,
    submit: async (asker, wanted, how) => seen(asker, wanted, await whole.submit(asker, wanted, how)),
    estimate: async (wanted, asker) => seen(asker, wanted, await whole.estimate(wanted, asker)),
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
