import type { GuardParts } from './options.ts'
import { type CallerIdentity, definitionsNow, permissionsOf } from './people/permissions.ts'
import type { Typed } from './reader.ts'
import type { NarrowedKind } from './reads/narrowed-kind.ts'
import { createWholeGuard, type Guard, type Permitted } from './whole-guard.ts'

export type { Guard, Permitted }

interface WholeParts extends GuardParts {
  /** The kinds of items that sum up several budgets. Loaded when a caller reads only some budgets. */
  narrowedKinds?: () => Promise<readonly NarrowedKind<object>[]>
}

/**
 * Refusals are values, not errors.
 * @throws LedgerUnavailable, SecretUnavailable. After an error nothing was sent, or the ledger has the record.
 */
export function createGuard(parts: WholeParts): Guard {
  const whole = createWholeGuard(parts)
  const seen = async <Of>(asker: CallerIdentity, wanted: Typed, answer: Of): Promise<Of> => {
    const { definitions } = parts.ledger.lastSeen() ?? (await parts.ledger.view())
    const allowed = permissionsOf(definitions, asker)
    return allowed.readsBudgets === '*' ? answer : (await loadReader()).seenAnswer(parts, allowed, wanted, answer)
  }
  const guard: Guard = {
    ...whole,
    submit: async (asker, wanted, how) => seen(asker, wanted, await whole.submit(asker, wanted, how)),
    estimate: async (wanted, asker) => seen(asker, wanted, await whole.estimate(wanted, asker)),
    permissions: async (named, how) => {
      const { definitions, view } = await definitionsNow(parts, how)
      const allowed = permissionsOf(definitions, named)
      const readsAll = allowed.readsBudgets === '*'
      if (readsAll) return { ...allowed, guard, view: async () => view ?? parts.ledger.view() }
      const [{ createReader }, kinds = []] = await Promise.all([loadReader(), parts.narrowedKinds?.()])
      const reader = createReader(guard, parts, allowed, kinds)
      return { ...allowed, guard: reader, view: () => reader.ledger.view() }
    },
  }
  return guard
}

/** Loads the reader when a caller needs it, because most callers read everything. */
const loadReader = () => import('./reader.ts')
