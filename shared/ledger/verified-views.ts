import type { Clock } from '../platform/clock.ts'
import { once } from '../platform/parallel.ts'
import { createViews, type View, type ViewQuery } from './book/view.ts'
import type { Account, Definitions } from './definitions/definitions.ts'
import { fromDefinitionsItem } from './definitions/definitions-item.ts'
import { newCalendar } from './definitions/windows.ts'
import { type ExpectedLedger, epochFaults, WrongLedger } from './identity.ts'
import { setUp } from './setup.ts'
import type { Store } from './store/store.ts'

export interface LedgerParts {
  readonly store: Store
  readonly clock: Clock
  readonly account: Account
  readonly expected?: ExpectedLedger
  /** True: begins a ledger in an empty table. On AWS only an operator begins a ledger. */
  readonly begins?: boolean
  /** `SERVICE_FLIGHT_MS` */
  readonly flightMs?: number | undefined
}

/** Views that refuse any other ledger than the expected one. @throws WrongLedger from `view` and `look`. */
export function createVerifiedViews({ store, clock, account, expected, begins = true }: LedgerParts) {
  const views = createViews({ store, clock, calendar: newCalendar(account.renewal) })
  let epoch: number | null = null
  const ready = once(async () => {
    epoch = await setUp({ store, clock, account, expected: expected ?? null, begins, look: views.look })
    if (expected) store.pin?.(epoch, (item) => new WrongLedger(item ? faultsOf(fromDefinitionsItem(item)) : []))
  })
  const faultsOf = (definitions: Definitions) =>
    expected && epoch !== null ? epochFaults(definitions, epoch, store.place) : []

  /** Every look checks that no other table has replaced this one. */
  async function look(queries: readonly ViewQuery[] = []): Promise<View> {
    const view = await views.look(queries)
    const faults = faultsOf(view.definitions)
    if (faults.length > 0) throw new WrongLedger(faults)
    return view
  }

  async function view(queries: readonly ViewQuery[] = []): Promise<View> {
    await ready()
    return look(queries)
  }

  return { ...views, ready, look, view }
}
