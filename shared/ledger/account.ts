import { digest } from '../platform/ids.ts'
import { toUnits } from '../platform/words.ts'
import type { MakeChange } from './changes.ts'
import { limitOf, rootBudget } from './definitions.ts'
import { entryKey, openingId } from './entry.ts'
import { type Account, sandboxService } from './identity.ts'
import type { Store } from './store.ts'
import { changeRenewal, latestRenewal, type Renewal } from './windows.ts'

/** Changes of a whole ledger that only an operator makes, with a command. Each goes to `Ledger.change`. */

/** Lets the month turn at another time once the open month has ended. What is absent stays as it is. */
export const renewalChange =
  (wanted: Partial<Renewal>): MakeChange =>
  ({ definitions, now }) => {
    const before = latestRenewal(definitions.calendar)
    const renewal = { ...before, ...wanted }
    const calendar = changeRenewal(definitions.calendar, renewal, now)
    if (calendar === definitions.calendar) return { refused: `The month turns ${showRenewal(before)} already.` }
    const reason = `the month turns ${showRenewal(renewal)} once the open one has ended`
    return { definitions: { ...definitions, calendar }, note: { type: 'renewal', budget: rootBudget, reason } }
  }

export const showRenewal = ({ day, time, zone }: Renewal): string => `on day ${day} at ${time} ${zone}`

/** Notes which service a ledger belongs to. What a ledger of an earlier version began with is what it has. */
export const adoption =
  ({ service, usedAtStart }: { service: string; usedAtStart: number }): MakeChange =>
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
      definitions: { ...definitions, identity: { ...identity, ledger, service, began } },
      note: { type: 'adopt', budget: rootBudget, reason },
    }
  }

const trialsStayTrials =
  'A ledger of the stand-in counts units that no service has charged, so it becomes no ledger of a real account: set DATA_DIR to another folder, where a new ledger begins.'

/** What was booked as used when the ledger began. */
export async function openingUnits(store: Store): Promise<number> {
  const [entry] = await store.get([entryKey(openingId)])
  return typeof entry?.units === 'number' ? entry.units : 0
}
