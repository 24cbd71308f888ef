import type { Book } from '../../ledger/book/book.ts'
import { monthAfter, type Window } from '../../ledger/definitions/windows.ts'
import { dayMs } from '../../platform/clock.ts'
import type { Plan } from '../plans-file.ts'
import { timesOf } from '../schedule.ts'
import { cooldownUntil } from '../update/duplicate-work.ts'
import { inOrder } from './order.ts'
import { type PlayedProject, type PlayedWork, type PlayInput, ruledOut, setUp } from './play-setup.ts'
import {
  type Cell,
  createCounters,
  noteShort,
  noteUnpriced,
  type PlayedCounter,
  type PlayedCounters,
  type PlayedRefusal,
  playedDayAt,
  takeFrom,
} from './played-counters.ts'

type Outcome = 'runs' | 'up-to-date' | 'waits' | 'refused' | 'unpriced'

/** The outcome of one project at one time. */
export interface PlayedRow {
  readonly project: string
  readonly outcome: Outcome
  /** The price, if it is asked for. Only an update that runs takes these units. */
  readonly units: number | null
  readonly why: PlayedRefusal | null
}

/** A plan at one of its times. */
export interface PlayedRun {
  readonly plan: Plan
  readonly time: number
  /** The units that it takes. */
  readonly units: number
  readonly unpriced: number
  /** Empty: only its prices are summed. */
  readonly rows: readonly PlayedRow[]
}

export interface Played {
  readonly runs: readonly PlayedRun[]
  /** The counters of this month, of the next, and of one more if five weeks reach into it. */
  readonly months: readonly (readonly Cell[])[]
  readonly today: readonly Cell[]
  /** The time from which prices are only summed. `null`: all is played. */
  readonly sumsFrom: number | null
}

export interface PlannedTimes {
  readonly plan: Plan
  readonly paused: boolean
  /** The time of the plan's last run; a rate counts from this time. */
  readonly last: number | null
  /** The projects that come first in its next run. */
  readonly first: readonly string[]
}

/** The calendar shows this many days. */
const minAheadMs = 36 * dayMs

/** Bounds the time of a forecast. The 500 projects of a plan that runs nightly take 31,000 steps in two months. */
export const maxSteps = 50_000
/** More than the 90,000 minutes of two months. */
const maxTimes = 100_000

interface Stage extends PlayInput {
  readonly counters: PlayedCounters
  time: number
  day: Window
  /** When a work that runs today may run again, by kind. */
  readonly rests: Map<string, number>
}

/**
 * Plays all enabled plans in their order, to the end of the month after this one, as `decide` would decide their updates
 * at the last known prices. Not played: retries, stops after three doubts, missed times, pauses to come, waits that the
 * service asks for, data and updates of others.
 */
export function play(
  input: PlayInput & { readonly nextStored: Book | null },
  planned: readonly PlannedTimes[],
  steps = maxSteps,
): Played {
  const counters = createCounters(input.view, input.nextStored)
  const enabled = planned.filter(({ plan }) => plan.enabled)
  const projects = setUp(input, counters, enabled)
  const { now, month, definitions } = input.view
  const until = Math.max(monthAfter(definitions.calendar, month).end, now + minAheadMs)
  const stage: Stage = { ...input, counters, time: now, day: input.view.day, rests: new Map() }
  const runs: PlayedRun[] = []
  let left = steps
  let sumsFrom: number | null = null
  for (const { time, at } of timesInOrder(enabled, now, until)) {
    const own = projects[at] ?? []
    const planned = enabled[at]
    if (!planned) continue
    const { plan, first } = planned
    begin(stage, time)
    left -= own.length
    if (left < 0) sumsFrom ??= time
    const ordered = first.length > 0 && !runs.some((run) => run.plan === plan) ? inOrder(own, first) : own
    runs.push(sumsFrom === null ? playRun(stage, plan, ordered) : sumRun(stage, plan, own))
  }
  begin(stage, until - 1)
  return { runs, months: counters.months, today: counters.today, sumsFrom }
}

function begin(stage: Stage, time: number): void {
  const day = stage.counters.turnTo(time)
  stage.time = time
  if (day === stage.day) return
  stage.day = day
  stage.rests.clear()
}

/** Plans of one instant come in the order of the file. */
function timesInOrder(plans: readonly PlannedTimes[], from: number, end: number) {
  const max = Math.max(1, Math.floor((5 * maxTimes) / Math.max(5, plans.length)))
  const all = plans.flatMap(({ plan, last }, at) =>
    timesOf(plan.schedule, { from, until: end - 1, max, anchor: last ?? 0 }).map((time) => ({ time, at })),
  )
  return all.sort((a, b) => a.time - b.time || a.at - b.at)
}

function playRun(stage: Stage, plan: Plan, projects: readonly PlayedProject[]): PlayedRun {
  const rows = projects.map((each) => playProject(stage, each))
  let units = 0
  let unpriced = 0
  for (const row of rows) {
    if (row.outcome === 'runs') units += row.units ?? 0
    else if (row.outcome === 'unpriced') unpriced++
  }
  return { plan, time: stage.time, units, unpriced, rows }
}

const running: PlayedRefusal = { slug: 'duplicate-work', by: null, brief: 'another update of it is running' }
const inDoubt: PlayedRefusal = { slug: 'duplicate-work', by: null, brief: 'another update of it is in doubt' }
const waiting: PlayedRefusal = { slug: 'duplicate-work', by: null, brief: 'another update of it waits for approval' }
const rested: PlayedRefusal = { slug: 'already-updated', by: null, brief: 'its data are up to date' }
const lost: PlayedRefusal = { slug: 'ledger-restored', by: null, brief: 'the ledger was restored' }

/** The order of the checks is that of `decide`. */
function playProject(stage: Stage, each: PlayedProject): PlayedRow {
  const { time } = stage
  const { work, early, late, price } = each
  if (work.isRunning) return row(each, 'refused', null, running)
  if (time < work.inDoubtUntil) return row(each, 'refused', null, inDoubt)
  if (time < work.restsUntil) return row(each, 'up-to-date', null, rested)
  if (time < work.lostUntil) return row(each, 'refused', null, lost)
  const before = early ?? ruledOut(each.rules, stage.day.name)
  if (before) return row(each, 'refused', null, before)
  const usedUp = usedUpRefusal(each)
  if (usedUp) {
    want(each, price)
    shortagesOf(stage, each)
    return row(each, 'refused', null, usedUp)
  }
  if (price === null) {
    for (const { month, day } of each.counters) {
      for (const cell of [month, day]) noteUnpriced(cell, each.key, time)
    }
    return row(each, 'unpriced', null, null)
  }
  if (late) return row(each, 'refused', price, late)
  const { worst, isRefused } = shortagesOf(stage, each)
  if (worst) want(each, price)
  if (worst && isRefused) return row(each, 'refused', price, worst.tooLittle)
  const reason = each.asks(work.lastUnits)
  if (worst || reason !== null) return askFor(each, worst, reason)
  run(stage, each, price)
  return row(each, 'runs', price, null)
}

function want({ counters }: PlayedProject, price: number | null): void {
  for (const { month, day } of counters)
    for (const cell of [month, day]) {
      cell.wanted += price ?? 0
      cell.isWantedAtLeast ||= price === null
    }
}

const row = (
  { project }: PlayedProject,
  outcome: Outcome,
  units: number | null,
  why: PlayedRefusal | null,
): PlayedRow => ({
  project,
  outcome,
  units,
  why,
})

const isUsedUp = ({ month, day }: PlayedCounter): boolean =>
  (month.refuses && month.available <= 0) || (day.refuses && day.available <= 0)

/** A limit that no approval can raise has nothing left. */
function usedUpRefusal({ counters, mayAsk }: PlayedProject): PlayedRefusal | null {
  if (!counters.some(isUsedUp)) return null
  let isRefused = false
  let worst: PlayedCounter | null = null
  let least = 1
  for (const counter of counters) {
    for (const { refuses, available } of [counter.month, counter.day]) {
      if (!refuses || available > 0) continue
      isRefused ||= counter.isNeverGranted || !mayAsk
      if (available >= least) continue
      least = available
      worst = counter
    }
  }
  return isRefused && worst ? worst.tooLittle : null
}

/** Notes each counter with too little, and finds the one that lacks most. */
function shortagesOf(stage: Stage, { plan, counters, leaves, price, mayAsk }: PlayedProject) {
  let isRefused = false
  let worst: PlayedCounter | null = null
  let most = 0
  for (let at = 0; at < counters.length; at++) {
    const counter = counters[at] as PlayedCounter
    const needed = (price ?? 0) + (leaves[at] ?? 0)
    if (needed <= counter.month.available && needed <= counter.day.available) continue
    for (const cell of [counter.month, counter.day]) {
      const missing = needed - cell.available
      if (!cell.refuses || missing <= 0) continue
      noteShort(cell, needed, price ?? 0, { time: stage.time, plan: plan.name })
      isRefused ||= counter.isNeverGranted || !mayAsk
      if (missing <= most) continue
      most = missing
      worst = counter
    }
  }
  return { worst, isRefused }
}

/** One work of one payer waits once, and a plan's request takes the place of its own. */
function askFor(each: PlayedProject, worst: PlayedCounter | null, reason: string | null): PlayedRow {
  const { work, payer, plan, price } = each
  const others = work.waiting.filter((other) => other.payer !== payer || other.plan !== plan.name)
  if (others.some((other) => other.payer === payer)) return row(each, 'refused', price, waiting)
  work.waiting = [...others, { payer, plan: plan.name }]
  const why = worst?.tooLittle ?? { slug: 'approval', by: null, brief: reason ?? '' }
  return row(each, 'waits', price, why)
}

function run(stage: Stage, each: PlayedProject, price: number): void {
  for (const { month, day } of each.counters) {
    charge(month, each, price, stage.time)
    charge(day, each, price, stage.time)
  }
  rest(stage, each.work, each.plan)
  each.work.lastUnits = price
  each.work.lostUntil = 0
}

function charge(cell: Cell, { plan, isPaused, pricedAt }: PlayedProject, price: number, time: number): void {
  takeFrom(cell, price, { time, plan: plan.name })
  if (isPaused) cell.ofPaused += price
  if (pricedAt !== null && (cell.pricedAt === null || pricedAt < cell.pricedAt)) cell.pricedAt = pricedAt
}

function rest(stage: Stage, work: PlayedWork, { kind }: Plan): void {
  const { time, rests, options, view } = stage
  const cooldown = options.cooldown[kind]
  if (typeof cooldown === 'number') {
    work.restsUntil = time + cooldown
    return
  }
  const { calendar } = view.definitions
  const until = rests.get(kind) ?? cooldownUntil((instant) => playedDayAt(calendar, instant), time, cooldown)
  if (cooldown !== '0d') rests.set(kind, until)
  work.restsUntil = until
}

/** After too many steps: the price of each project that no rule refuses now. */
function sumRun({ time, day: { name } }: Stage, plan: Plan, projects: readonly PlayedProject[]): PlayedRun {
  let units = 0
  let unpriced = 0
  for (const each of projects) {
    const { price, early, late, counters, rules } = each
    if (early || late || ruledOut(rules, name)) continue
    if (price === null) unpriced++
    units += price ?? 0
    for (const { month, day } of counters)
      for (const cell of [month, day]) {
        if (price === null) noteUnpriced(cell, each.key, time)
        charge(cell, each, price ?? 0, time)
      }
  }
  return { plan, time, units, unpriced, rows: [] }
}
