import type { Clock } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import { freshBook } from './book/book.ts'
import { toBookItem } from './book/book-item.ts'
import { openingId, toEntryItem } from './book/entry.ts'
import type { Views } from './book/view.ts'
import { asNumber } from './definitions/counters.ts'
import { type Account, type Definitions, rootBudget } from './definitions/definitions.ts'
import { toDefinitionsItem } from './definitions/definitions-item.ts'
import { dayAt, monthAt, newCalendar } from './definitions/windows.ts'
import { NoDefinitions } from './errors.ts'
import { type ExpectedLedger, emptyFault, identityFaults, WrongLedger } from './identity.ts'
import type { Store, Write } from './store/store.ts'

const actor = 'setup'

/** Begins a ledger if the table is empty, and checks that the ledger is the expected one. @returns its epoch. @throws WrongLedger */
export async function setUp(options: {
  store: Store
  clock: Clock
  account: Account
  expected: ExpectedLedger | null
  begins: boolean
  look: Views['look']
}): Promise<number> {
  const { store, clock, account, expected, begins, look } = options
  const [found, table] = await Promise.all([
    look().catch((error) => {
      if (error instanceof NoDefinitions) return null
      throw error
    }),
    expected && store.tableId ? store.tableId() : null,
  ])
  if (!found) {
    if (expected?.marker || !begins) throw new WrongLedger([emptyFault(expected?.marker, store.place)])
    await makeDefinitions(store, { account, expected, table, now: clock.now() })
  }
  // Another process may have begun the ledger first, with other settings.
  const { definitions } = found ?? (await look())
  const faults = expected ? identityFaults(definitions, expected, { table, place: store.place }) : []
  if (faults.length > 0) throw new WrongLedger(faults)
  return definitions.identity?.epoch ?? 0
}

async function makeDefinitions(
  store: Store,
  how: { account: Account; expected: ExpectedLedger | null; table: string | null; now: number },
) {
  const { account, expected, table, now } = how
  const service = expected?.service ?? null
  const calendar = newCalendar(account.renewal)
  const definitions: Definitions = {
    revision: 1,
    createdAt: now,
    identity: {
      ledger: `led_${digest('ledger', service ?? '', table ?? '', String(now))}`,
      service,
      began: account,
      ...(table !== null && { table }),
    },
    calendar,
    budgets: {
      [rootBudget]: {
        name: rootBudget,
        parent: null,
        limits: [{ window: 'month', units: account.unitsPerMonth }],
        projects: [],
      },
    },
  }
  const writes: Write[] = [{ kind: 'put', item: toDefinitionsItem(definitions), when: [{ kind: 'absent-item' }] }]
  if (account.usedAtStart > 0) writes.push(...openingWrites(definitions, account, now))
  await store.transact(writes, digest('setup', JSON.stringify(writes)))
}

function openingWrites(definitions: Definitions, account: Account, now: number): Write[] {
  const month = monthAt(definitions.calendar, now).name
  const day = dayAt(definitions.calendar, now).name
  const fresh = freshBook(definitions, month, day)
  const root = fresh.counters.month[rootBudget]
  if (!root) throw new Error('a fresh book has no counter of the root budget')
  const used = { ...root, spent: account.usedAtStart, available: asNumber(root.limit) - account.usedAtStart }
  const book = { ...fresh, counters: { ...fresh.counters, month: { [rootBudget]: used } } }
  const entry = {
    id: openingId,
    type: 'opening' as const,
    budget: rootBudget,
    units: account.usedAtStart,
    month,
    day,
    reason: 'opening position: units used in this month before the guard began to count',
    by: actor,
    at: now,
    moves: [{ budget: rootBudget, window: 'month' as const, move: { spent: account.usedAtStart } }],
  }
  return [
    { kind: 'put', item: toBookItem(book), when: [{ kind: 'absent-item' }] },
    { kind: 'put', item: toEntryItem(entry), when: [{ kind: 'absent-item' }] },
  ]
}
