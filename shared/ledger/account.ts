import { digest } from '../platform/ids.ts'
import { toUnits } from '../platform/words.ts'
import type { MakeChange } from './book/changes.ts'
import { type Account, limitOf, rootBudget } from './book/definitions.ts'
import { entryKey, fromEntryItem, openingId } from './book/entry.ts'
import { changeRenewal, latestRenewal, type Renewal } from './book/windows.ts'
import { sandboxService } from './identity.ts'
import type { Store } from './store/store.ts'

/** Changes of a whole ledger that only an operator makes, with a command. Each goes to `Ledger.change`. */

/** Lets the month turn at another time once the open month has ended. What is absent stays as it is. */
export const renewalChange =
  (changes: Partial<Renewal>): MakeChange =>
  ({ definitions, now }) => {
    const before = latestRenewal(definitions.calendar)
    const renewal = { ...before, ...changes }
    const calendar = changeRenewal(definitions.calendar, renewal, now)
    if (calendar === definitions.calendar) return { refused: `The month turns ${showRenewal(before)} already.` }
    const reason = `the month turns ${showRenewal(renewal)} once the open one has ended`
    return { definitions: { ...definitions, calendar }, note: { type: 'renewal', budget: rootBudget, reason } }
  }

export const showRenewal = ({ day, time, zone }: Renewal): string => `on day ${day} at ${time} ${zone}`

/** Notes which service a ledger belongs to. What a ledger of an earlier version began with is what it has. */
export const adoption =
  ({ service, usedAtStart, table }: { service: string; usedAtStart: number; table?: string }): MakeChange =>
  ({ definitions, now }) => {
    const { identity, budgets, calendar } = definitions
    const before = identity?.service ?? null
    if (before === service) return { refused: `This ledger belongs to ${service} already.` }
    if (before !== null && [before, service].includes(sandboxService)) return { refused: trialsStayTrials }
    const limit = budgets[rootBudget] ? limitOf(budgets[rootBudget], 'month') : 'unlimited'
    const began: Account = identity?.began ?? {
      unitsPerMonth: limit === 'unlimited' ? toUnits(0) : limit,
      usedAtStart: toUnits(usedAtStart),
      renewal: latestRenewal(calendar),
    }
    const ledger = identity?.ledger ?? `led_${digest('ledger', service, String(now))}`
    const reason = `this ledger belongs to ${service}${before === null ? '' : `; before, it belonged to ${before}`}`
    return {
      definitions: {
        ...definitions,
        identity: { ...(table !== undefined && { table }), ...identity, ledger, service, began },
      },
      note: { type: 'adopt', budget: rootBudget, reason },
    }
  }

const trialsStayTrials =
  'A ledger of the stand-in counts units that no service has charged, so it becomes no ledger of a real account: set DATA_DIR to another folder, where a new ledger begins.'

/**
 * Lets a table that was restored take over. Nothing runs before an administrator has reconciled and unfrozen the account, and the
 * epoch stops every process that began before.
 */
export const acceptance =
  (how: { table: string; epoch: number; to: number | undefined; toText: string }): MakeChange =>
  ({ definitions, now }) => {
    const { identity, budgets } = definitions
    const root = budgets[rootBudget]
    if (!identity || !root) return { refused: 'This table holds no ledger that knows its service: adopt it first.' }
    const { replacedBy: _, ...kept } = identity
    const reason = `restored to ${how.toText}: reconcile with the vendor's figure before it is unfrozen`
    return {
      definitions: {
        ...definitions,
        budgets: { ...budgets, [rootBudget]: { ...root, frozen: { reason, by: 'setup', at: now } } },
        identity: {
          ...kept,
          table: how.table,
          epoch: how.epoch,
          restored: { at: now, ...(how.to !== undefined && { to: how.to }) },
        },
      },
      note: { type: 'restore', budget: rootBudget, reason },
    }
  }

/** Stops every process that still uses the table of before. */
export const replacement =
  (by: string): MakeChange =>
  ({ definitions }) => {
    const { identity } = definitions
    if (!identity) return { refused: 'the table of before knows no service' }
    return {
      definitions: { ...definitions, identity: { ...identity, replacedBy: by } },
      note: { type: 'restore', budget: rootBudget, reason: `the table ${by} has taken over` },
    }
  }

/** What was booked as used when the ledger began. */
export async function openingUnits(store: Store): Promise<number> {
  const [entry] = await store.get([entryKey(openingId)])
  return entry ? fromEntryItem(entry).units : 0
}
