import type { Clock } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import type { Units } from '../platform/words.ts'
import { asNumber, freshBook, toBookItem } from './book.ts'
import type { Changes } from './changes.ts'
import { type Definitions, rootBudget } from './definitions.ts'
import { toDefinitionsItem } from './definitions-item.ts'
import { toEntryItem } from './entry.ts'
import type { Store, Write } from './store.ts'
import { NoDefinitions, type Views } from './views.ts'
import { changeRenewal, dayAt, monthAt, newCalendar, type Renewal } from './windows.ts'

const actor = 'setup'

/** What the root budget begins with where there are no definitions yet, and when the billing month turns. */
export interface Account {
  readonly unitsPerMonth: Units
  readonly usedAtStart: Units
  readonly renewal: Renewal
}

/** Sees to it that there are definitions, and that the month turns when the configuration says. */
export async function setUp(options: {
  store: Store
  clock: Clock
  account: Account
  look: Views['look']
  changes: Changes
}): Promise<void> {
  const { store, clock, account, look, changes } = options
  const found = await look().catch((error) => {
    if (error instanceof NoDefinitions) return null
    throw error
  })
  if (!found) await makeDefinitions(store, account, clock.now())
  await changes.change(actor, ({ definitions, now }) => {
    const calendar = changeRenewal(definitions.calendar, account.renewal, now)
    if (calendar === definitions.calendar) return { refused: 'nothing to change' }
    const { day, time, zone } = account.renewal
    const reason = `the month turns on day ${day} at ${time} ${zone} once the open one has ended`
    return { definitions: { ...definitions, calendar }, note: { type: 'renewal', budget: rootBudget, reason } }
  })
}

/**
 * Makes the definitions of a new ledger: the root budget with its limit, and a book that already counts the opening
 * position, so that not even the first moment could spend it twice. Does nothing where definitions exist.
 */
async function makeDefinitions(store: Store, account: Account, now: number): Promise<void> {
  const calendar = newCalendar(account.renewal)
  const definitions: Definitions = {
    revision: 1,
    createdAt: now,
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
  const writes: Write[] = [{ do: 'put', item: toDefinitionsItem(definitions), when: [{ is: 'absent-item' }] }]
  if (account.usedAtStart > 0) writes.push(...opening(definitions, account, now))
  await store.transact(writes, digest('setup', JSON.stringify(writes)))
}

function opening(definitions: Definitions, account: Account, now: number): Write[] {
  const month = monthAt(definitions.calendar, now).name
  const day = dayAt(definitions.calendar, now).name
  const fresh = freshBook(definitions, month, day)
  const root = fresh.counters.month[rootBudget]
  if (!root) throw new Error('a fresh book counts the root budget')
  const used = { ...root, spent: account.usedAtStart, available: asNumber(root.limit) - account.usedAtStart }
  const book = { ...fresh, counters: { ...fresh.counters, month: { [rootBudget]: used } } }
  const entry = {
    id: `ent_${digest('opening')}`,
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
    { do: 'put', item: toBookItem(book), when: [{ is: 'absent-item' }] },
    { do: 'put', item: toEntryItem(entry), when: [{ is: 'absent-item' }] },
  ]
}
