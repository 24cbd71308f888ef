import { runningRecord } from '../../shared/guard/update/records.ts'
import { bookAsOf } from '../../shared/ledger/book/book.ts'
import type { RunOutcome } from '../../shared/ledger/book/outcome.ts'
import type { View } from '../../shared/ledger/book/view.ts'
import { freshCounter } from '../../shared/ledger/definitions/counters.ts'
import {
  type Budget,
  chainOf,
  counterOwnerNamed,
  type Definitions,
  limitOf,
  windowKinds,
} from '../../shared/ledger/definitions/definitions.ts'
import { dayAt, monthAt, newCalendar } from '../../shared/ledger/definitions/windows.ts'
import type { Ledger } from '../../shared/ledger/ledger.ts'
import type { Hold, Update, UpdateRequest } from '../../shared/ledger/updates/update.ts'
import { digest } from '../../shared/platform/ids.ts'
import type { Units } from '../../shared/platform/words.ts'

export const at = (rfc3339: string): number => Date.parse(rfc3339)
export const u = (units: number): Units => units as Units

/** All budgets are unlimited, and the account is in Berlin. */
const usual: Record<string, Partial<Budget>> = { account: { parent: null }, acme: {}, seo: { parent: 'acme' } }

const began = { unitsPerMonth: u(1000), usedAtStart: u(0), renewal: { day: 1, time: '00:00', zone: 'Europe/Berlin' } }
const identity = { ledger: 'led_1', service: null, began, epoch: 2 }

/** @param spent by window and counter. */
export function readingOf(
  how: {
    now?: string
    budgets?: Record<string, Partial<Budget>>
    callers?: Definitions['callers']
    pausedPlans?: Definitions['pausedPlans']
    restored?: NonNullable<Definitions['identity']>['restored']
    spent?: { month?: Record<string, number>; day?: Record<string, number> }
  } = {},
): View {
  const now = at(how.now ?? '2026-11-20T10:00:00Z')
  const calendar = newCalendar({ day: 1, time: '00:00', zone: 'Europe/Berlin' })
  const names = new Set([...Object.keys(usual), ...Object.keys(how.budgets ?? {})])
  const budgets = Object.fromEntries(
    [...names].map((name): [string, Budget] => [
      name,
      { name, parent: 'account', limits: [], projects: [], ...usual[name], ...how.budgets?.[name] },
    ]),
  )
  const definitions: Definitions = {
    revision: 1,
    createdAt: 0,
    calendar,
    budgets,
    ...(how.callers && { callers: how.callers }),
    ...(how.pausedPlans && { pausedPlans: how.pausedPlans }),
    ...(how.restored && { identity: { ...identity, restored: how.restored } }),
  }
  const [month, day] = [monthAt(calendar, now), dayAt(calendar, now)]
  const fresh = bookAsOf(null, definitions, month.name, day.name)
  const counters = windowKinds.map((window) => {
    const spent = Object.entries(how.spent?.[window] ?? {}).map(([name, units]) => {
      const limited = counterOwnerNamed(definitions, name)
      if (!limited) throw new Error(`there is no counter ${name}`)
      const counter = freshCounter(limitOf(limited, window))
      return [name, { ...counter, spent: units, available: counter.available - units }]
    })
    return [window, { ...fresh.counters[window], ...Object.fromEntries(spent) }]
  })
  const book = { ...fresh, counters: Object.fromEntries(counters) }
  return { now, definitions, month, day, stored: book, book, results: [] }
}

export const holdOf = (changes: Partial<Hold> = {}): Hold => ({
  units: u(40),
  attempt: 'one',
  at: at('2026-11-20T09:00:00Z'),
  leaseUntil: at('2026-11-20T09:00:17Z'),
  senderUntil: at('2026-11-20T09:01:00Z'),
  day: 'day:2026-11-20',
  budgets: ['seo', 'acme', 'account'],
  ...changes,
})

export const updateOf = (changes: Partial<Update> = {}): Update => ({
  id: 'upd_1',
  kind: 'ranking',
  project: 'shop',
  budget: 'seo',
  caller: 'ada',
  via: 'http',
  content: { digest: 'd', count: 1 },
  createdAt: at('2026-11-20T08:00:00Z'),
  state: 'running',
  version: 1,
  month: 'month:2026-11-01',
  history: [],
  ...changes,
})

const options = { serviceTimeoutMs: 5_000, serviceFlightMs: 300_000, cooldown: { ranking: 0, 'keyword-difficulty': 0 } }

/** The basis for a hold of the ledger, as the guard decides it from one reading. */
export async function decidedFrom(
  ledger: Ledger,
  request: UpdateRequest,
  { units, dates = null }: { units: number; dates?: readonly string[] | null },
) {
  const { id, kind, project } = request
  const view = await ledger.view([{ id, work: { kind, project } }])
  const [asked] = view.results
  if (!asked) throw new Error('nothing was shown')
  const update = runningRecord(
    { view, asked, request, quote: { units: u(units), dates } },
    {
      counters: chainOf(view.definitions, request.budget),
      attempt: digest('attempt', id),
      endsAt: view.now + 60_000,
      options,
    },
  )
  return { view, seen: { update: asked.update, works: asked.works, runs: [] }, update }
}

type Source = 'sender' | 'person' | 'evidence' | 'time'

export const ran = (units: number, from: Source = 'sender'): RunOutcome => ({
  kind: 'ran',
  units: u(units),
  from,
  by: from,
  note: 'ran',
})
export const didNotRun = (from: 'sender' | 'person' = 'sender'): RunOutcome => ({
  kind: 'did-not-run',
  from,
  by: from,
  note: 'did not run',
})
export const unknown = (from: 'sender' | 'sweep' = 'sender'): RunOutcome => ({
  kind: 'unknown',
  from,
  by: from,
  note: 'no answer',
})

/** A counter with this limit and the figures that are not zero. */
export const counterWith = (limit: number | 'unlimited', figures: object = {}) => ({
  limit,
  granted: 0,
  available: 0,
  held: 0,
  inDoubt: 0,
  spent: 0,
  ...figures,
})
