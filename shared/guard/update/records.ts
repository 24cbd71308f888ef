import { isDeepStrictEqual } from 'node:util'
import { type CounterOwner, listedNow } from '../../ledger/definitions/definitions.ts'
import type { Window } from '../../ledger/definitions/windows.ts'
import { begin, type Grant, type Hold, next, type Problem, type Run, type Update } from '../../ledger/updates/update.ts'
import { workKey } from '../../ledger/updates/work.ts'
import { dayMs } from '../../platform/clock.ts'
import { approvalMsOf } from '../../records/budget.ts'
import { approvableForMs, approvalLastsMs, type GuardOptions, settleMarginMs } from '../options.ts'
import { mayBeGranted } from '../rules/approvals.ts'
import { ruledBy } from '../rules/projects.ts'
import { lackedInWords, list, shownCounter, units } from '../sentences.ts'
import type { DecisionInput, Quote } from './quote.ts'

type QuotedInput = DecisionInput & { readonly quote?: Quote }

const guard = 'guard'

export function refusedRecord(known: QuotedInput, problem: Problem): Update {
  const fields = { problem, finishedAt: known.view.now }
  return write(known, 'refused', fields, { by: guard, note: problem.detail })
}

export function awaitingRecord(known: QuotedInput, reason: string, short: readonly Grant[]): Update {
  const { createdAt } = known.asked.update ?? known.request
  const rule = ruledBy(known.view.definitions, known.request).find((budget) => budget.approvalExpiresAfter)
  const lastsMs = approvalMsOf(rule?.approvalExpiresAfter ?? '') ?? approvalLastsMs
  const approvableUntil = Math.min(known.view.now + lastsMs, createdAt + Math.max(approvableForMs, lastsMs))
  const line = { by: guard, note: reason }
  const {
    short: _short,
    mayExceed: _most,
    approval,
    ...update
  } = write(known, 'awaiting-approval', { approvableUntil }, line)
  return {
    ...update,
    ...(short.length > 0 && { short }),
    ...(known.quote && mayBeGranted(known.request) && { mayExceed: known.quote.units }),
    ...(approval && { approvedBefore: approval.units }),
  }
}

export function requestedRecord(known: DecisionInput, note?: string): Update {
  const fields = { queued: true, requestedAt: known.view.now } as const
  return write(known, 'requested', fields, { by: known.request.caller, ...(note !== undefined && { note }) })
}

export function runningRecord(
  known: DecisionInput & { quote: Quote },
  held: {
    counters: readonly CounterOwner[]
    owners?: readonly string[]
    grants?: readonly Grant[]
    wouldHaveRefused?: readonly Grant[]
    runs?: readonly Run[]
    attempt: string
    endsAt: number
    options: GuardOptions
  },
): Update {
  const { view, asked, quote, request } = known
  const { owners = [], wouldHaveRefused = [], runs = [] } = held
  const budgets = held.counters.map(({ name }) => name)
  const datesBefore = quote.dates && datesAround(view.day, quote.dates)
  const keys = asked.works.map(({ key }) => key)
  const isOneName = isDeepStrictEqual(keys, [workKey(request.kind, request.project).pk])
  const previous = [...new Set(asked.works.flatMap(({ work }) => (work ? [work.update] : [])))]
  const hold: Hold = {
    units: quote.units,
    attempt: held.attempt,
    at: view.now,
    leaseUntil: view.now + held.options.serviceTimeoutMs + settleMarginMs,
    senderUntil: held.endsAt,
    day: view.book.day,
    budgets,
    ...(owners.length > 0 && { owners }),
    ...(held.grants && held.grants.length > 0 && { grants: held.grants, isOnce: true as const }),
    ...(datesBefore && { datesBefore }),
    ...(previous.length > 0 && { previous }),
    ...(quote.place !== undefined && { place: quote.place }),
    ...(isOneName ? {} : { works: keys }),
  }
  const paidFor = owners[0] === undefined ? '' : `, for ${owners[0]}`
  const signed = quote.sign === undefined ? '' : `; the estimate has ${quote.sign}`
  const lacked = wouldHaveRefused.length > 0 ? `; ${lackedInWords(wouldHaveRefused)}` : ''
  const note = `${units(quote.units)} held on ${list(budgets.map((name) => shownCounter(view.definitions, name)))}${paidFor}${lacked}${signed}`
  const priceBefore = priceBeforeJump(quote.units, runs)
  const fields = {
    hold,
    ...(wouldHaveRefused.length > 0 && { wouldHaveRefused }),
    ...(priceBefore !== null && { priceBefore }),
  }
  return write(known, 'running', fields, { by: guard, note, move: { held: quote.units } })
}

type Line = { by: string; note?: string; move?: { held: number } }

function write(
  { view, asked, request, quote }: QuotedInput,
  state: 'awaiting-approval' | 'requested' | 'refused' | 'running',
  changes: Partial<Update>,
  line: Line,
): Update {
  const fields = { month: view.month.name, ...(quote && { estimated: quote.units }), ...changes }
  const dated = { at: view.now, ...line }
  if (asked.update) return next(asked.update, state, fields, dated)
  return begin({ ...request, ...listedNow(view.definitions, request.project) }, state, fields, dated)
}

/** Other dates show neither whether an update ran nor whether its data came. */
function datesAround(day: Window, dates: readonly string[]): readonly string[] {
  const near = datesOfDelivery(day)
  return dates.filter((date) => near.includes(date))
}

/** Only the day of the hold and its two neighbours can show whether an update ran. */
export const datesNear = (day: Pick<Window, 'name'>): readonly string[] => datesFrom(day, [-1, 0, 1])

/** The dates with which the data of a day's runs may come. */
export const datesOfDelivery = (day: Pick<Window, 'name'>): readonly string[] => datesFrom(day, [-1, 0, 1, 2, 3])

function datesFrom({ name }: Pick<Window, 'name'>, days: readonly number[]): readonly string[] {
  const noon = Date.parse(`${name.slice('day:'.length)}T12:00Z`)
  return days.map((each) => new Date(noon + each * dayMs).toISOString().slice(0, 10))
}

/** A price has jumped if it reaches both limits. */
const priceGrowsTo = 3
const priceGrowsBy = 150

/** The largest price of known runs, if this price is far above it. */
export function priceBeforeJump(units: number, runs: readonly { readonly units: number }[]): number | null {
  const [before] = runs.map((run) => run.units).toSorted((a, b) => b - a)
  if (before === undefined || units < before * priceGrowsTo || units < before + priceGrowsBy) return null
  return before
}
