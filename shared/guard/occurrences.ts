import { announce } from '../ledger/announcement.ts'
import { pauseOf, type Stop } from '../ledger/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type Occurrence, type OccurrenceState, occurrenceId } from '../ledger/occurrence.ts'
import { LedgerUnavailable } from '../ledger/store.ts'
import { isKnownToHaveRun, type Problem, type Request } from '../ledger/update.ts'
import { type Clock, hourMs, minuteMs, toRfc3339 } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { SecretUnavailable } from '../platform/secrets.ts'
import { type GuardOptions, planStepMs } from './options.ts'
import type { Plan } from './plan.ts'
import { problem } from './problems.ts'
import { when, zoneOf } from './sentences.ts'
import type { Begun } from './starting.ts'
import { isUnfinished, mayTry, pausedSince, type Results, resultsOf, type Tried } from './tries.ts'
import { createTryRecords } from './try-records.ts'

export type Report = Results & { readonly occurrence: Occurrence }

/** The part of an occurrence that a person may have begun again. */
export type RunAgain = 'unsent' | 'refused'

export type Fired =
  | { readonly kind: 'fired'; readonly occurrence: Occurrence }
  | { readonly kind: 'problem'; readonly problem: Problem }

/** Later than that an occurrence is missed: what ought to have run at night must not run in the morning. */
const missedAfterMs = hourMs
/** Clocks differ a little. An occurrence that ran ahead of its time would not run at it. */
const earlyByMs = 2 * minuteMs
/** What has not run yet is tried at once and at these times after. */
const roundsAtMs = [0, 5, 15, 30, 55].map((minutes) => minutes * minuteMs)
/** By then every request that nobody could begin has expired. */
const overAfterMs = hourMs
/** So many in doubt, or without an answer of the service, one after the other, say that it is not the projects. */
const mostInARow = 3

/**
 * Plans at their times. An occurrence is a task of the table: it is recorded once, one process at a time is at it, and
 * what became of each project is read from the records of its tries, so that whoever goes on knows all there is to know.
 */
export function createOccurrences(parts: {
  ledger: Ledger
  begin: (request: Request, endsAt: number) => Promise<Begun>
  plans: readonly Plan[]
  clock: Clock
  ids: Ids
  log: Log
  options: GuardOptions
}) {
  const { ledger, begin, plans, clock, ids, log, options } = parts
  const { occurrences } = ledger
  const { triesOf, requestOf } = createTryRecords({ ledger })

  const longestStepMs = planStepMs(options)
  const leaseMs = 3 * longestStepMs

  /** Records the occurrence, once, and runs what there is time for. */
  async function fire(name: string, time: number, endsAt: number): Promise<Fired> {
    const plan = enabledPlan(name)
    if ('slug' in plan) return { kind: 'problem', problem: plan }
    const { definitions, now } = await ledger.view()
    if (time - now > earlyByMs) return { kind: 'problem', problem: tooEarly(name, time) }
    const refused = refusedAt(time, now, pauseOf(definitions, name))
    const id = occurrenceId(name, time)
    const fresh: Occurrence = {
      id,
      version: 1,
      createdAt: now,
      plan: name,
      time,
      startedAt: now,
      round: 0,
      nextAt: now,
      ...(refused ? { ...refused, doneAt: now } : { state: 'running' as const }),
    }
    const isNew = await occurrences.add(fresh, refused ? [ended(fresh, now)] : [])
    if (isNew) log.info('occurrence', { plan: name, time, state: fresh.state })
    return { kind: 'fired', occurrence: (await advance(id, endsAt)) ?? fresh }
  }

  /** Runs what was not sent, or decides again about what was refused, however late it is. */
  async function runAgain(name: string, time: number, only: RunAgain, endsAt: number): Promise<Fired> {
    const plan = enabledPlan(name)
    if ('slug' in plan) return { kind: 'problem', problem: plan }
    const view = await ledger.view()
    const { definitions, now } = view
    if (time - now > earlyByMs) return { kind: 'problem', problem: tooEarly(name, time) }
    const pause = pauseOf(definitions, name)
    if (pause) {
      const detail = `The plan ${name} was paused by ${pause.by}: ${pause.reason}. Resume it first.`
      return { kind: 'problem', problem: problem('plan-paused', detail, { plan: name }) }
    }
    const id = occurrenceId(name, time)
    const mode = only === 'refused' ? { only } : {}
    const again = { plan: name, time, state: 'running' as const, startedAt: now, round: 0, nextAt: now, ...mode }
    const seen = await occurrences.get(id)
    const barred = whyNotAgain(seen, { plan: name, time, only, zone: zoneOf(view) })
    if (barred) return { kind: 'problem', problem: barred }
    const isReopened = !seen
      ? await occurrences.add({ id, version: 1, createdAt: now, ...again })
      : seen.doneAt === undefined ||
        (await isThrough(plan, seen, again)) ||
        (await occurrences.change({ ...withoutItsEnd(seen), ...again }, seen))
    // Another process was faster, perhaps with the other half of the work.
    if (!isReopened) return runAgain(name, time, only, endsAt)
    const occurrence = await advance(id, endsAt)
    if (!occurrence) throw new Error(`the occurrence ${id} was neither written nor found`)
    return { kind: 'fired', occurrence }
  }

  /** Nothing is left to run, and people were told so. */
  async function isThrough(plan: Plan, seen: Occurrence, again: Pick<Occurrence, 'startedAt' | 'only'>) {
    if (seen.state !== 'done' && !again.only) return false
    return (await triesOf(plan, seen)).every((each) => !isUnfinished(each, again))
  }

  /** Goes on with an occurrence as far as the time goes, unless somebody else is at it. */
  async function advance(id: string, endsAt: number): Promise<Occurrence | null> {
    const seen = await occurrences.get(id)
    const now = clock.now()
    const isHeld = seen?.lease !== undefined && now < seen.lease.until
    if (!seen || seen.doneAt !== undefined || isHeld || now < seen.nextAt) return seen
    const mine = { ...seen, version: seen.version + 1, lease: { by: ids.random(), until: now + leaseMs } }
    if (!(await occurrences.change(mine, seen))) return occurrences.get(id)
    const plan = plans.find(({ name }) => name === seen.plan)
    const stopped = (reason: string) => close({ occurrence: mine, end: 'stopped', reason })
    if (!plan?.enabled) return stopped(plan ? 'the plan is not enabled any more' : 'there is no such plan any more')
    // What is left of a night must not run in the morning, either.
    const leftSince = Math.max(seen.nextAt, seen.lease?.until ?? 0)
    if (now - leftSince > missedAfterMs) return stopped('nobody could go on with it for more than an hour')
    return close(await tryAll(plan, mine, endsAt))
  }

  interface Pass {
    readonly occurrence: Occurrence
    /** How the occurrence ends with this pass; otherwise, when it is to go on. */
    readonly end?: OccurrenceState
    readonly reason?: string
    readonly tried?: readonly Tried[]
    readonly next?: Pick<Occurrence, 'round' | 'nextAt'>
  }

  /** One project after another, in the plan's order: each that has to be tried in this round, once. */
  async function tryAll(plan: Plan, begun: Occurrence, endsAt: number): Promise<Pass> {
    let occurrence = begun
    const tried = await triesOf(plan, occurrence)
    const row = { inDoubt: 0, unanswered: 0 }
    for (const [position, before] of tried.entries()) {
      let latest = before
      const roundAt = roundsAtMs[occurrence.round]
      const isDue = roundAt !== undefined && mayTry(before, { roundAt: occurrence.startedAt + roundAt, ...occurrence })
      if (isDue && row.unanswered < mostInARow) {
        if (clock.now() + longestStepMs > endsAt)
          return { occurrence, next: { round: occurrence.round, nextAt: clock.now() } }
        occurrence = await renewed(occurrence)
        const begun = await attempt(plan, occurrence, before, endsAt)
        if (begun === 'no-token') return { occurrence, next: nextRound(occurrence) }
        if (begun.failure?.slug !== 'service-unreachable') row.unanswered = 0
        // What had no answer in an earlier round says nothing new, and must not keep those behind it from their turn.
        else if (before.updates.at(-1)?.state !== 'requested') row.unanswered++
        latest = begun.update ? { ...before, updates: [...before.updates, begun.update] } : before
        tried[position] = latest
      }
      const update = latest.updates.at(-1)
      const paused = pausedSince(update, occurrence.startedAt)
      if (paused !== null) return { occurrence, end: 'paused', reason: paused }
      if (update?.state === 'in-doubt') row.inDoubt++
      else if (update && isKnownToHaveRun(update)) row.inDoubt = 0
      if (row.inDoubt === mostInARow) {
        return {
          occurrence,
          end: 'stopped',
          reason: `${mostInARow} updates in a row are in doubt; resolve them, then run what was not sent`,
        }
      }
    }
    if (tried.every((each) => !isUnfinished(each, occurrence))) return { occurrence, end: 'done', tried }
    const isOver = clock.now() >= occurrence.startedAt + overAfterMs
    return isOver ? { occurrence, end: 'done', tried } : { occurrence, next: nextRound(occurrence) }
  }

  type Attempted = Begun | { readonly update: null; readonly failure?: never }

  async function attempt(
    plan: Plan,
    occurrence: Occurrence,
    tried: Tried,
    endsAt: number,
  ): Promise<Attempted | 'no-token'> {
    try {
      return await begin(await requestOf(plan, occurrence, tried), endsAt)
    } catch (cause) {
      if (cause instanceof LedgerUnavailable) throw cause
      const { project } = tried
      log.error('project-waits', { plan: plan.name, time: occurrence.time, project, cause })
      // Without a token no project can be run, and the next round may have one; any other fault is this project's own.
      return cause instanceof SecretUnavailable ? 'no-token' : { update: null }
    }
  }

  async function renewed(occurrence: Occurrence): Promise<Occurrence> {
    const { lease } = occurrence
    const now = clock.now()
    if (!lease || lease.until - now > 2 * longestStepMs) return occurrence
    const longer = { ...occurrence, version: occurrence.version + 1, lease: { ...lease, until: now + leaseMs } }
    if (await occurrences.change(longer, occurrence)) return longer
    throw new Error(`somebody else is at the occurrence ${occurrence.id}`)
  }

  function nextRound({ round, startedAt }: Occurrence): Pick<Occurrence, 'round' | 'nextAt'> {
    return { round: round + 1, nextAt: startedAt + (roundsAtMs[round + 1] ?? overAfterMs) }
  }

  async function close({ occurrence, end, reason, tried, next }: Pass): Promise<Occurrence> {
    const { lease: _lease, ...rest } = occurrence
    const now = clock.now()
    const closed: Occurrence = {
      ...rest,
      ...next,
      ...(end && { state: end, doneAt: now }),
      ...(reason !== undefined && { reason }),
    }
    const version = occurrence.version + 1
    const isOurs = await occurrences.change(closed, occurrence, end ? [ended({ ...closed, version }, now)] : [])
    // Whoever has taken over meanwhile knows better how it stands.
    if (!isOurs) return (await occurrences.get(closed.id)) ?? closed
    if (end) {
      const { refused, unsent } = resultsOf(tried ?? [], closed).counts
      log.info('occurrence', { plan: closed.plan, time: closed.time, state: end, refused, unsent })
    }
    return { ...closed, version }
  }

  /** What became of an occurrence so far, for people. */
  async function report(occurrence: Occurrence): Promise<Report> {
    const plan = plans.find(({ name }) => name === occurrence.plan)
    return { occurrence, ...resultsOf(plan ? await triesOf(plan, occurrence) : [], occurrence) }
  }

  function enabledPlan(name: string): Plan | Problem {
    const plan = plans.find((each) => each.name === name)
    if (!plan) return problem('not-found', `There is no plan ${name}.`)
    return plan.enabled
      ? plan
      : problem('wrong-state', `The plan ${name} is not enabled in the plans file.`, { plan: name })
  }

  return { fire, runAgain, advance, report }
}

const whatIsRun = { unsent: 'what was not sent', refused: 'what was refused' } as const

/** Why an occurrence is not begun again for what was not sent, or for what was refused. */
function whyNotAgain(
  seen: Occurrence | null,
  { plan, time, only, zone }: { plan: string; time: number; only: RunAgain; zone: string },
): Problem | null {
  if (!seen) {
    if (only === 'unsent') return null
    const detail = `The plan ${plan} has not run at ${when(time, zone)}, so nothing of it was refused; run what was not sent instead.`
    return problem('wrong-state', detail, { plan })
  }
  if (seen.doneAt !== undefined || (seen.only ?? 'unsent') === only) return null
  const overAt = seen.startedAt + overAfterMs
  const detail = `The run of the plan ${plan} of ${when(time, zone)} is not over; it may retry until ${when(overAt, zone)}. Run ${whatIsRun[only]} once it is over.`
  return problem('wrong-state', detail, { plan, retryAt: toRfc3339(overAt) })
}

/** Of an occurrence that ended: what does not hold any more when it is begun again. */
function withoutItsEnd({ doneAt: _done, lease: _lease, reason: _reason, only: _only, ...rest }: Occurrence) {
  return rest
}

const tooEarly = (plan: string, time: number): Problem =>
  problem('wrong-state', `${toRfc3339(time)} is still to come; the plan ${plan} runs then, not before.`, { plan })

/** Why an occurrence is over before it began; `null`: it is not. */
function refusedAt(time: number, now: number, pause: Stop | undefined): Pick<Occurrence, 'state' | 'reason'> | null {
  if (now - time > missedAfterMs) return { state: 'missed', reason: 'it came more than an hour late' }
  return pause ? { state: 'paused', reason: `paused by ${pause.by}: ${pause.reason}` } : null
}

const ended = (occurrence: Occurrence, now: number) =>
  announce(`${occurrence.id}#${occurrence.version}`, now, { kind: 'occurrence', occurrence: occurrence.id })
