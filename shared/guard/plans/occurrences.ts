import { callerNamed, type Definitions, pauseOf } from '../../ledger/definitions/definitions.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { minuteMs, toRfc3339 } from '../../platform/clock.ts'
import { requestLastsMs, withParts } from '../options.ts'
import type { Plan } from '../plans-file.ts'
import { invalidRequest, namedDoubts, problem, type Refused, refused } from '../problems.ts'
import { lastTimeOf } from '../schedule.ts'
import { shownCaller, when, zoneOf } from '../sentences.ts'
import { advance, ended, missedAfterMs, type OccurrencesParts } from './advance.ts'
import { attemptsOf, isUnfinished, type Results, resultsOf } from './attempts.ts'
import { blockingDoubts, maxFailuresInARow } from './doubts.ts'
import { attemptsInOrder } from './order.ts'
import { overAfterMs } from './rounds.ts'
import {
  type Occurrence,
  occurrenceId,
  occurrences,
  type Rerun,
  type RunAgain,
  rerunId,
  reruns,
} from './stored-occurrence.ts'

export interface OccurrenceReport extends Results {
  readonly occurrence: Occurrence
  /** The updates in doubt that a person must resolve before the occurrence can run again. */
  readonly blockedBy: Readonly<Record<RunAgain, readonly Update[]>>
}

export type OccurrenceResult = { readonly kind: 'fired'; readonly occurrence: Occurrence } | Refused

type RerunResult = { readonly kind: 'asked' | 'running' | 'nothing-left' } | Refused

/** The call for a planned time may arrive before that time, because clocks differ. */
const earlyByMs = 2 * minuteMs
/**
 * Each occurrence is a task in the table, leased to one process at a time. Progress is derived from the update records,
 * so any process can resume it.
 */
export const createOccurrences = (parts: OccurrencesParts) =>
  withParts(parts, { fire, runAgain, askToRunAgain, runAsked, advance, report })

/** @param isByHand a person or a program named the time, so the plan may never have had this time. */
async function fire(
  parts: OccurrencesParts,
  name: string,
  time: number,
  endsAt: number,
  isByHand = false,
): Promise<OccurrenceResult> {
  const { ledger, log } = parts
  const plan = enabledPlan(parts, name)
  if ('slug' in plan) return refused(plan)
  const view = await ledger.view()
  const { definitions, now } = view
  const zone = zoneOf(view)
  if (time - now > earlyByMs) return refused(tooEarly(name, time, zone))
  const notRun = refusedAt(time, now, pausedIn(definitions, name))
  const id = occurrenceId(name, time)
  const whyNeverDue = isByHand && notRun?.state === 'missed' ? neverDue(plan, { time, now, zone }) : null
  if (whyNeverDue && !(await ledger.queue(occurrences).get(id))) return refused(whyNeverDue)
  const fresh: Occurrence = {
    id,
    version: 1,
    createdAt: now,
    plan: name,
    time,
    startedAt: now,
    round: 0,
    nextAt: now,
    ...(notRun ? { ...notRun, doneAt: now } : { state: 'running' as const }),
  }
  const isNew = await ledger.queue(occurrences).add(fresh, notRun ? [ended(fresh, now)] : [])
  if (isNew) log.info('occurrence', { plan: name, time, state: fresh.state })
  return { kind: 'fired', occurrence: (await advance(parts, id, endsAt)) ?? fresh }
}

async function runAgain(
  parts: OccurrencesParts,
  name: string,
  time: number,
  only: RunAgain,
  endsAt: number,
  seenVersion?: number,
): Promise<OccurrenceResult> {
  const queue = parts.ledger.queue(occurrences)
  const id = occurrenceId(name, time)
  const seen = await queue.get(id)
  if (seen && seen.version !== (seenVersion ?? seen.version)) return { kind: 'fired', occurrence: seen }
  const found = await planToRunAgain(parts, { name, time, only, seen })
  if ('slug' in found) return refused(found)
  const { plan, again } = found
  const blocked = await whyBlocked(parts, { plan, seen, again, zone: found.zone })
  if (blocked) return refused(blocked)
  const isReopened = !seen
    ? await queue.add({ id, version: 1, createdAt: again.startedAt, ...again })
    : seen.doneAt === undefined ||
      (await isThrough(parts, plan, seen, again)) ||
      (await queue.change({ ...withoutItsEnd(seen), ...again }, seen))
  // Another process wrote first, perhaps with another value of `only`.
  if (!isReopened) return runAgain(parts, name, time, only, endsAt, seenVersion)
  const occurrence = await advance(parts, id, endsAt)
  if (!occurrence) throw new Error(`the occurrence ${id} was neither written nor found`)
  return { kind: 'fired', occurrence }
}

/** Writes a request for the sweep. The same request changes nothing while the first request waits or runs. */
async function askToRunAgain(
  parts: OccurrencesParts,
  name: string,
  time: number,
  asked: Pick<Rerun, 'only' | 'seenVersion' | 'by'>,
): Promise<RerunResult> {
  const asks = parts.ledger.queue(reruns)
  const { only, seenVersion } = asked
  const seen = await parts.ledger.queue(occurrences).get(occurrenceId(name, time))
  const found = await planToRunAgain(parts, { name, time, only, seen })
  if ('slug' in found) return refused(found)
  const { plan, again, zone } = found
  if (seen && seen.doneAt === undefined) return { kind: 'running' }
  if (seen && (await isThrough(parts, plan, seen, again))) return { kind: 'nothing-left' }
  if (seen?.version !== seenVersion) return refused(hasChanged(name, time, zone))
  const blocked = await whyBlocked(parts, { plan, seen, again, zone })
  if (blocked) return refused(blocked)
  const id = rerunId(seen)
  const before = await asks.get(id)
  if (before && before.doneAt === undefined)
    return before.only === only ? { kind: 'asked' } : refused(hasChanged(name, time, zone))
  const rerun = { id, version: 1, createdAt: again.startedAt, plan: name, time, ...asked }
  // A refused request changed nothing, so a person may repeat it.
  const isWritten = await (before ? asks.change(rerun, before) : asks.add(rerun))
  if (!isWritten) return askToRunAgain(parts, name, time, asked)
  parts.log.info('rerun', { plan: name, time, only, by: asked.by })
  return { kind: 'asked' }
}

/** If the process dies, the next sweep takes the request. A newer version of the occurrence proves the start. */
async function runAsked(parts: OccurrencesParts, rerun: Rerun, endsAt: number): Promise<Occurrence | null> {
  const { ledger, log } = parts
  const { plan, time, only, by, createdAt, seenVersion } = rerun
  if (rerun.doneAt !== undefined) return null
  const { definitions, now } = await ledger.view()
  const why = callerNamed(definitions, by)?.disabled
    ? `${shownCaller(definitions, by)} asked for this run and is disabled now.`
    : now - createdAt >= requestLastsMs && 'No sweep could begin this run within an hour.'
  const result: OccurrenceResult = why
    ? refused(problem('wrong-state', why))
    : await runAgain(parts, plan, time, only, endsAt, seenVersion)
  if (result.kind === 'problem') log.error('plan-not-run', { plan, time, detail: result.problem.detail })
  await ledger.queue(reruns).change({ ...rerun, doneAt: now }, rerun)
  return result.kind === 'fired' ? result.occurrence : null
}

interface RunAgainInput {
  readonly name: string
  readonly time: number
  readonly only: RunAgain
  readonly seen: Occurrence | null
}

async function planToRunAgain(parts: OccurrencesParts, { name, time, only, seen }: RunAgainInput) {
  const plan = enabledPlan(parts, name)
  if ('slug' in plan) return plan
  const view = await parts.ledger.view()
  const { definitions, now } = view
  const zone = zoneOf(view)
  if (time - now > earlyByMs) return tooEarly(name, time, zone)
  const paused = pausedIn(definitions, name)
  if (paused !== null) return problem('plan-paused', `The plan ${name} was ${paused}. Resume it first.`, { plan: name })
  const mode = only === 'refused' ? { only } : {}
  const again = { plan: name, time, state: 'running' as const, startedAt: now, round: 0, nextAt: now, ...mode }
  return whyNotAgain(seen, { plan: name, time, only, zone }) ?? { plan, again, zone }
}

/** Whether no project is left to run. A stopped or missed occurrence may always run again. */
async function isThrough(
  { ledger }: OccurrencesParts,
  plan: Plan,
  seen: Occurrence,
  again: Pick<Occurrence, 'startedAt' | 'only'>,
) {
  if (seen.state !== 'done' && !again.only) return false
  return (await attemptsOf(ledger, plan, seen)).every((each) => !isUnfinished(each, again))
}

interface BlockInput {
  readonly plan: Plan
  readonly seen: Occurrence | null
  readonly again: Pick<Occurrence, 'startedAt' | 'only'>
  readonly zone: string
}

/** A run that the same doubts would stop before it sends anything must not be promised. */
async function whyBlocked(
  { ledger }: OccurrencesParts,
  { plan, seen, again, zone }: BlockInput,
): Promise<Problem | null> {
  if (seen?.doneAt === undefined) return null
  const doubts = blockingDoubts(await attemptsInOrder(ledger, plan, seen), again)
  if (doubts.length === 0) return null
  const named = namedDoubts(doubts)
  const what = whatIsRun[again.only ?? 'unsent']
  const detail = `The run of the plan ${plan.name} of ${when(seen.time, zone)} is stopped by ${doubts.length} updates in a row that are in doubt: ${named.text}. Nothing was sent. Resolve them, then run ${what}.`
  return problem('wrong-state', detail, { plan: plan.name, doubts: named.members })
}

async function report(parts: OccurrencesParts, occurrence: Occurrence): Promise<OccurrenceReport> {
  const { plans, ledger } = parts
  const plan = plans.find(({ name }) => name === occurrence.plan)
  const results = resultsOf(plan ? await attemptsOf(ledger, plan, occurrence) : [], occurrence)
  return { occurrence, ...results, blockedBy: await blockedBy(parts, plan, occurrence, results) }
}

async function blockedBy(
  { ledger, clock }: OccurrencesParts,
  plan: Plan | undefined,
  occurrence: Occurrence,
  { counts }: Results,
): Promise<OccurrenceReport['blockedBy']> {
  const mayBeBlocked = occurrence.doneAt !== undefined && counts.inDoubt >= maxFailuresInARow
  if (!plan || !mayBeBlocked) return { unsent: [], refused: [] }
  const tried = await attemptsInOrder(ledger, plan, occurrence)
  const startedAt = clock.now()
  return {
    unsent: blockingDoubts(tried, { startedAt }),
    refused: blockingDoubts(tried, { startedAt, only: 'refused' }),
  }
}

function enabledPlan({ plans }: OccurrencesParts, name: string): Plan | Problem {
  const plan = plans.find((each) => each.name === name)
  if (!plan) return problem('not-found', `There is no plan ${name}.`)
  return plan.enabled
    ? plan
    : problem('wrong-state', `The plan ${name} is not enabled in the plans file.`, { plan: name })
}

const whatIsRun = { unsent: 'what was not sent', refused: 'what was refused' } as const

function whyNotAgain(
  seen: Occurrence | null,
  { plan, time, only, zone }: { plan: string; time: number; only: RunAgain; zone: string },
): Problem | null {
  if (!seen) {
    if (only === 'unsent') return null
    const detail = `The plan ${plan} has not run at ${when(time, zone)}, so no update was refused; run what was not sent instead.`
    return problem('wrong-state', detail, { plan })
  }
  if (seen.doneAt !== undefined || (seen.only ?? 'unsent') === only) return null
  const overAt = seen.startedAt + overAfterMs
  const detail = `The run of the plan ${plan} of ${when(time, zone)} is not over; it may retry until ${when(overAt, zone)}. When that run is over, run ${whatIsRun[only]}.`
  return problem('wrong-state', detail, { plan, retryAt: toRfc3339(overAt) })
}

function withoutItsEnd({ doneAt: _done, lease: _lease, reason: _reason, only: _only, ...seen }: Occurrence) {
  const { counts: _counts, charged: _charged, ...rest } = seen
  return rest
}

const hasChanged = (plan: string, time: number, zone: string): Problem =>
  problem(
    'wrong-state',
    `The run of the plan ${plan} of ${when(time, zone)} has changed since this page was loaded; load the page again first.`,
    { plan },
  )

const tooEarly = (plan: string, time: number, zone: string): Problem =>
  problem('wrong-state', `${when(time, zone)} is still to come; the plan ${plan} runs then, not before.`, { plan })

function neverDue(
  { name, schedule }: Plan,
  { time, now, zone }: { time: number; now: number; zone: string },
): Problem | null {
  // Only AWS knows when the rule of a rate began.
  if (schedule.kind === 'rate' || lastTimeOf(schedule, time) === time) return null
  const last = lastTimeOf(schedule, now)
  const due = last === null ? 'it has not been due yet' : `its last run was due at ${when(last, zone)}`
  return invalidRequest([{ path: 'time', message: `${name} is not scheduled at ${when(time, zone)}; ${due}.` }])
}

function refusedAt(time: number, now: number, paused: string | null): Pick<Occurrence, 'state' | 'reason'> | null {
  if (now - time > missedAfterMs) return { state: 'missed', reason: 'it came more than an hour late' }
  return paused === null ? null : { state: 'paused', reason: paused }
}

function pausedIn(definitions: Definitions, plan: string): string | null {
  const pause = pauseOf(definitions, plan)
  return pause ? `paused by ${shownCaller(definitions, pause.by)}: ${pause.reason}` : null
}
