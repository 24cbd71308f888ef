import { counterOf } from '../ledger/book/book.ts'
import type { View } from '../ledger/book/view.ts'
import { type Counter, freshCounter } from '../ledger/definitions/counters.ts'
import {
  type CounterOwner,
  callerOfCounter,
  isEnforced,
  type ListOfCallers,
  limitOf,
  limitsOfCaller,
  personOf,
  planOfCaller,
  type WindowKind,
  windowKinds,
} from '../ledger/definitions/definitions.ts'
import { latestRenewal, type Window } from '../ledger/definitions/windows.ts'
import type { DiskFault } from '../ledger/errors.ts'
import type { Grant, Update } from '../ledger/updates/update.ts'
import { dayMs, hourMs, minuteMs, onTheWall } from '../platform/clock.ts'
import { grouped, issuerForm, reservedNames, type Units } from '../platform/words.ts'

export const count = (units: number): string => grouped(units).replace('-', '−')

/** With a plus for more units. */
export const signed = (units: number): string => (units > 0 ? `+${count(units)}` : count(units))

export const countOf = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`

export const units = (number: number): string => countOf(number, 'unit')

/** Whole, with one decimal below 10 %. 0 % means nothing, and 100 % means all. */
export function percent(used: number, of: number): string {
  if (of <= 0) return '100 %'
  const share = Math.max(0, (used * 100) / of)
  if (share === 0) return '0 %'
  if (share < 1) return '< 1 %'
  const tenths = Math.round(share * 10)
  if (tenths < 100) return `${tenths / 10} %`
  const rounded = Math.round(share)
  return `${count(used < of ? Math.min(99, rounded) : rounded)} %`
}

export const zoneOf = (view: View): string => latestRenewal(view.definitions.calendar).zone

export const when = (instant: number, zone: string): string => `${onTheWall(instant, zone)} ${zone}`

/** `8 d 17 h`, `17 h`, `5 min` */
export function duration(ms: number): string {
  const [days, hours] = [Math.floor(ms / dayMs), Math.floor((ms % dayMs) / hourMs)]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h` : `${Math.max(1, Math.floor(ms / minuteMs))} min`
}

export function shownCounter(definitions: ListOfCallers, name: string): string {
  const caller = callerOfCounter(name)
  return caller === null ? name : shownCaller(definitions, caller)
}

/**
 * The person behind a caller, `plan morning` for `schedule:morning`, or the caller if no name is known.
 * @param claimed the person of a token's claim.
 */
export function shownCaller(definitions: ListOfCallers, caller: string, claimed?: string): string {
  const plan = planOfCaller(caller)
  return plan === null ? personOf(definitions, caller, isOwnName(claimed) ? claimed : undefined) : `plan ${plan}`
}

/** A claim must not look like the guard, a plan, or a caller of another kind. */
const isOwnName = (claimed: string | undefined): boolean =>
  claimed !== undefined && !issuerForm.test(claimed) && !reservedNames.includes(claimed.toLowerCase())

/** The name of a caller or of a line's author. Also uses the persons in the record's token and approval. */
export function shownIn(definitions: ListOfCallers, { caller, token, approval }: Decided, by: string): string {
  const claimed = by === caller ? token?.person : undefined
  return shownCaller(definitions, by, claimed ?? (by === approval?.by ? approval.person : undefined))
}

export type Decided = Pick<Update, 'caller' | 'token' | 'approval'>

export function left(figures: Figures): string {
  const { budget, shownAs, window, available, limit, granted } = figures
  const name = shownAs ?? shownCounter({}, budget)
  if (limit === 'unlimited') return `${name} is unlimited this ${window}`
  const span = thisWindow(window)
  const all = units(limit + granted)
  const has = available < 0 ? `is ${count(-available)} over its ${all}` : `has ${count(available)} of ${all} left`
  const keep = keptIn(figures)
  if (keep === 0) return `${name} ${has} ${span}`
  return available > keep
    ? `${name} ${has} ${span}, ${count(keep)} of them for plans`
    : `${name} ${has} ${span} and keeps ${count(keep)} for plans`
}

/** `has 30 units left`, `is over by 10 units` */
export const leftOrOver = (available: number): string =>
  available < 0 ? `is over by ${units(-available)}` : `has ${units(available)} left`

/** Says how held units end, of the counter that has most of them. `null`: none are held or in doubt. */
export function holdsEnd(figures: readonly HeldUnits[]): string | null {
  const [most] = figures.toSorted((a, b) => b.held + b.inDoubt - a.held - a.inDoubt)
  if (most === undefined) return null
  const { budget, shownAs, held, inDoubt } = most
  if (held + inDoubt === 0) return null
  const has = [[held, 'held'] as const, [inDoubt, 'in doubt'] as const].filter(([number]) => number > 0)
  const all = has.map(([number, how], index) => `${index === 0 ? units(number) : count(number)} ${how}`)
  const name = shownAs ?? shownCounter({}, budget)
  return `${name} has ${list(all)}: they are charged or come back, in seven days at the latest.`
}

type HeldUnits = Pick<Figures, 'budget' | 'shownAs' | 'held' | 'inDoubt'>

/** One sentence for each of a caller's own limits. */
export const ownLimitsLeft = (view: View, caller: string): readonly string[] =>
  limitsOfCaller(view.definitions, caller).flatMap((limited) =>
    windowKinds
      .filter((window) => limitOf(limited, window) !== 'unlimited')
      .map((window) => left(figuresOf(view, limited, window))),
  )

export const thisWindow = (window: WindowKind): string => (window === 'day' ? 'today' : 'this month')

export const list = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

const maxNamed = 5

/** Cuts a long list, unless that would leave out only one name. */
export function few(names: readonly string[]): string {
  const more = names.length - maxNamed
  return list(more > 1 ? [...names.slice(0, maxNamed), `${count(more)} more`] : names)
}

/** Names the figures that differ. @param parts.expected what the book expects on the vendor's screen. */
export function differenceToVendor(parts: {
  readonly difference: number
  readonly unitsLeft: number
  readonly expected: number
}): string {
  const { difference, unitsLeft, expected } = parts
  if (difference === 0) return `The vendor and the book both show ${count(unitsLeft)}: no units are moved.`
  const shows = `The vendor shows ${count(unitsLeft)}, the book ${count(expected)}`
  if (difference > 0) return `${shows}: ${count(difference)} were used outside.`
  return `${shows}: ${count(0 - difference)} too many were booked, and they come back.`
}

/** Says what the figure may lack, and when a figure has it. `null`: it has everything. */
export function tooNewFor(young: { readonly ids: readonly string[]; readonly until: number | null }, zone: string) {
  const { ids, until } = young
  if (until === null) return null
  const are = ids.length === 1 ? 'is' : 'are'
  return `Too new for this figure, and assumed not to be in it, ${are} ${few(ids)}. Reconcile again after ${when(until, zone)}.`
}

/** Describes units that the vendor's figure may not include. A figure without a time may be some minutes old. */
export const spentSince = ({ asOf }: { readonly asOf: number | null }): string =>
  asOf === null ? 'spent in the last minutes' : 'spent since'

export interface Figures extends Counter {
  readonly budget: string
  /** The caller's name, if the counter is a caller's. */
  readonly shownAs?: string
  readonly window: WindowKind
  readonly start: number
  readonly end: number
  /** Present if the budget is only observed. */
  readonly enforce?: false
  /** The rule of the budget, see `keptIn`. */
  readonly keep?: Units
}

export function figuresOf(view: View, budget: CounterOwner, window: WindowKind): Figures {
  const { start, end } = window === 'month' ? view.month : within(view.month, view.day)
  const { name, keep } = budget
  const counter = counterOf(view.book, window, name) ?? freshCounter(limitOf(budget, window))
  const { limit, granted, available, held, inDoubt, spent, once } = counter
  const figures: Writable<Figures> = {
    budget: name,
    window,
    start,
    end,
    limit,
    granted,
    available,
    held,
    inDoubt,
    spent,
  }
  if (once !== undefined) figures.once = once
  if (callerOfCounter(name) !== null) figures.shownAs = shownCounter(view.definitions, name)
  if (!isEnforced(budget)) figures.enforce = false
  if (keep !== undefined) figures.keep = keep
  return figures
}

/** Without spreads, which take four times as long: a list of 40 budgets asks for 800 figures. */
type Writable<T> = { -readonly [Member in keyof T]: T[Member] }

/** Says which observed limits an update exceeded. */
export const lackedInWords = (lacked: readonly Grant[]): string =>
  `enforcing would have refused it: ${list(lacked.map((each) => shortage(each, 'had', 'was')))}`

/** Says which observed limits an update would exceed. */
export const wouldRefuse = (lacked: readonly Grant[]): string =>
  `enforcing would refuse it: ${list(lacked.map((each) => shortage(each, 'has', 'is')))}`

function shortage({ budget, window, units: lacking }: Grant, has: string, is: string): string {
  const text = lacking === 0 ? `${has} nothing left` : `${is} ${units(lacking)} short`
  return `${budget} ${text} ${thisWindow(window)}`
}

/** The update's own budget comes first. */
export const figuresOfChain = (view: View, chain: readonly CounterOwner[]): readonly Figures[] =>
  chain.flatMap((budget) => windowKinds.map((window) => figuresOf(view, budget, window)))

/** The units that only plans may use. An observed or unlimited counter keeps none. */
export const keptIn = (figures: Figures): number => (refuses(figures) ? (figures.keep ?? 0) : 0)

/** Whether the counter can refuse an update. */
export const refuses = (figures: Figures): boolean => figures.limit !== 'unlimited' && isEnforced(figures)

/** `undefined`: no counter can refuse an update. */
export const tightest = (figures: readonly Figures[]): Figures | undefined =>
  figures.filter(refuses).toSorted((a, b) => a.available - b.available)[0]

/** Cuts a day at its month's bounds, because a book counts one month. */
const within = (month: Window, day: Window) => ({
  start: Math.max(month.start, day.start),
  end: Math.min(month.end, day.end),
})

export const diskSentences: Readonly<Record<DiskFault, string>> = {
  full: 'The disk of the ledger is full.',
  'read-only': 'The disk of the ledger is read-only.',
  failing: 'The disk of the ledger fails.',
}
