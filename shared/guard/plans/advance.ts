import { ItemTooLarge, LedgerUnavailable } from '../../ledger/errors.ts'
import { announce, type OccurrenceState } from '../../ledger/updates/tasks.ts'
import { isKnownToHaveRun, type Update, type UpdateRequest } from '../../ledger/updates/update.ts'
import { hourMs } from '../../platform/clock.ts'
import { SecretUnavailable } from '../../platform/secrets.ts'
import { type GuardOptions, hasTime, type PlannedParts, planStepMs } from '../options.ts'
import type { Approvals } from '../people/decisions.ts'
import type { Plan } from '../plans-file.ts'
import { list, when, zoneOf } from '../sentences.ts'
import type { StartResult } from '../update/resume.ts'
import {
  approvedBefore,
  isUnfinished,
  mayAttempt,
  type ProjectAttempts,
  pausedSince,
  requestOf,
  resultsOf,
} from './attempts.ts'
import { attemptsInOrder } from './order.ts'
import { type NextRound, nextRound, overAfterMs, roundAfterWait, roundAtOf, sameRound } from './rounds.ts'
import type { WaitUntil } from './service-wait.ts'
import { type Occurrence, occurrences } from './stored-occurrence.ts'

/** A nightly plan must not run in the morning. */
export const missedAfterMs = hourMs
/** This many failures in a row mean the service is at fault, not the projects. */
const maxFailuresInARow = 3

export interface OccurrencesParts extends PlannedParts {
  begin: (request: UpdateRequest, endsAt: number) => Promise<StartResult>
  approvals: Pick<Approvals, 'decide'>
  waitUntil: WaitUntil
}

interface Pass {
  readonly occurrence: Occurrence
  /** Absent: the occurrence continues at `next`. */
  readonly end?: OccurrenceState
  readonly reason?: string
  readonly tried?: readonly ProjectAttempts[]
  readonly next?: NextRound
}

type AttemptResult = StartResult | { readonly update: null; readonly failure?: never }

const leaseMs = (options: GuardOptions): number => 3 * planStepMs(options)

export async function advance(parts: OccurrencesParts, id: string, endsAt: number): Promise<Occurrence | null> {
  const { clock, ids, plans, ledger, options } = parts
  const queue = ledger.queue(occurrences)
  const seen = await queue.get(id)
  const now = clock.now()
  const isHeld = seen?.lease !== undefined && now < seen.lease.until
  if (!seen || seen.doneAt !== undefined || isHeld || now < seen.nextAt) return seen
  const mine = { ...seen, version: seen.version + 1, lease: { by: ids.random(), until: now + leaseMs(options) } }
  if (!(await queue.change(mine, seen))) return queue.get(id)
  const plan = plans.find(({ name }) => name === seen.plan)
  const stopped = (reason: string) => close(parts, { occurrence: mine, end: 'stopped', reason })
  if (!plan?.enabled) return stopped(plan ? 'the plan is not enabled any more' : 'there is no such plan any more')
  const leftSince = seen.lease?.until ?? seen.nextAt
  if (now - leftSince > missedAfterMs) return stopped('no process could resume it for more than an hour')
  return close(parts, await tryAll(parts, plan, mine, endsAt))
}

async function tryAll(parts: OccurrencesParts, plan: Plan, begun: Occurrence, endsAt: number): Promise<Pass> {
  const { clock, ledger, options } = parts
  let occurrence = begun
  const tried = [...(await attemptsInOrder(ledger, plan, occurrence))]
  const row: { doubts: Update[]; unanswered: number } = { doubts: [], unanswered: 0 }
  for (const [position, before] of tried.entries()) {
    let latest = before
    const roundAt = roundAtOf(occurrence)
    const isDue = roundAt !== null && mayAttempt(before, { roundAt, ...occurrence })
    if (isDue && row.unanswered < maxFailuresInARow) {
      const wait = await waitOf(parts, occurrence)
      if (wait) return { occurrence, tried, ...wait }
      if (!hasTime(parts, endsAt, planStepMs(options))) return { occurrence, next: sameRound(occurrence, clock.now()) }
      occurrence = await renewed(parts, occurrence)
      const begun = await attempt(parts, plan, occurrence, before, endsAt)
      if (begun === 'not-now') return { occurrence, next: nextRound(occurrence) }
      if (begun.failure?.slug !== 'service-unreachable') row.unanswered = 0
      // A retry does not count, because one project must not stop the other projects.
      else if (before.updates.at(-1)?.state !== 'requested') row.unanswered++
      const update = begun.update && (await approvedByNow(parts, tried, begun.update))
      latest = update ? { ...before, updates: [...before.updates, update] } : before
      tried[position] = latest
    }
    const update = latest.updates.at(-1)
    const paused = pausedSince(update, occurrence.startedAt)
    if (paused !== null) return { occurrence, end: 'paused', reason: paused }
    if (update?.state === 'in-doubt') row.doubts.push(update)
    else if (update && isKnownToHaveRun(update)) row.doubts = []
    if (row.doubts.length === maxFailuresInARow) return { occurrence, end: 'stopped', reason: stopReason(row.doubts) }
  }
  if (tried.every((each) => !isUnfinished(each, occurrence))) return { occurrence, end: 'done', tried }
  const isOver = clock.now() >= occurrence.startedAt + overAfterMs
  if (isOver) return { occurrence, end: 'done', tried }
  return { occurrence, next: (await waitOf(parts, occurrence))?.next ?? nextRound(occurrence) }
}

/** The service asked to wait: the occurrence continues then, or ends if that is too late. `null`: no wait. */
async function waitOf(
  { clock, ledger, waitUntil }: OccurrencesParts,
  occurrence: Occurrence,
): Promise<Pick<Pass, 'end' | 'reason' | 'next'> | null> {
  const until = waitUntil()
  if (clock.now() >= until) return null
  const next = roundAfterWait(occurrence, until)
  if (next) return { next }
  const zone = zoneOf(await ledger.view())
  return {
    end: 'stopped',
    reason: `the service asks to wait until ${when(until, zone)}; run what was not sent after that`,
  }
}

/** Doubts with the same sign in their answers can be decided for all days by one setting. */
function stopReason(doubts: readonly Update[]): string {
  const why = `${doubts.length} updates in a row are in doubt; resolve them, then run what was not sent`
  const signs = doubts.flatMap(({ doubt }) => doubt?.sign ?? [])
  if (signs.length === 0) return why
  const whose = signs.length === doubts.length ? 'Their answers have' : 'Some of their answers have'
  return `${why}. ${whose} ${list([...new Set(signs)])}: RUN_STARTED or ANSWERS_WELL decide such answers (npm run doctor)`
}

async function approvedByNow(
  { approvals, ledger }: OccurrencesParts,
  tried: readonly ProjectAttempts[],
  update: Update,
): Promise<Update> {
  if (update.state !== 'awaiting-approval') return update
  const { approval, project } = (await approvedBefore(ledger, tried, update)) ?? {}
  if (!approval) return update
  const approver = { ...approval, caller: approval.by }
  const approved = await approvals.decide('approve', update.id, approver, { reason: `approved with ${project}` })
  return approved.kind === 'done' ? approved.update : update
}

async function attempt(
  parts: OccurrencesParts,
  plan: Plan,
  occurrence: Occurrence,
  tried: ProjectAttempts,
  endsAt: number,
): Promise<AttemptResult | 'not-now'> {
  const { begin, log, ledger } = parts
  let update: string | undefined
  try {
    const request = await requestOf(ledger, plan, occurrence, tried)
    update = request.id
    return await begin(request, endsAt)
  } catch (cause) {
    if (cause instanceof LedgerUnavailable && !(cause instanceof ItemTooLarge)) throw cause
    const { project } = tried
    log.error('project-waits', { update, plan: plan.name, time: occurrence.time, project, cause })
    // If the token is missing or the book is full, the round waits. Other faults concern only this project.
    return cause instanceof SecretUnavailable || cause instanceof ItemTooLarge ? 'not-now' : { update: null }
  }
}

async function renewed(parts: OccurrencesParts, occurrence: Occurrence): Promise<Occurrence> {
  const { clock, options, ledger } = parts
  const { lease } = occurrence
  const now = clock.now()
  if (!lease || lease.until - now > 2 * planStepMs(options)) return occurrence
  const longer = { ...occurrence, version: occurrence.version + 1, lease: { ...lease, until: now + leaseMs(options) } }
  if (await ledger.queue(occurrences).change(longer, occurrence)) return longer
  throw new Error(`another process has taken over the occurrence ${occurrence.id}`)
}

async function close(parts: OccurrencesParts, { occurrence, end, reason, tried, next }: Pass): Promise<Occurrence> {
  const { clock, log, ledger } = parts
  const queue = ledger.queue(occurrences)
  const { lease: _lease, lastRoundAt: _before, ...rest } = occurrence
  const now = clock.now()
  const over: Occurrence = {
    ...rest,
    ...next,
    ...(end && { state: end, doneAt: now }),
    ...(reason !== undefined && { reason }),
  }
  const { counts, unitsCharged, refusals } = resultsOf(tried ?? [], over)
  const some = Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0))
  const closed: Occurrence = { ...over, ...(end && tried && { counts: some, charged: unitsCharged }) }
  const version = occurrence.version + 1
  const isOurs = await queue.change(closed, occurrence, end ? [ended({ ...closed, version }, now)] : [])
  if (!isOurs) return (await queue.get(closed.id)) ?? closed
  if (end) {
    // Slack counts the same way. Expired updates were never sent.
    const unsent = counts.unsent + counts.expired
    const duplicates = refusals.filter(({ problem }) => problem.slug === 'duplicate-work').length
    // An alarm counts projects without a price as refused, but no duplicates: the other update of the work settles or raises its own alarm.
    const refused = counts.refused + counts.noPrice - duplicates
    log.info('occurrence', { plan: closed.plan, time: closed.time, state: end, refused, duplicates, unsent })
  }
  return { ...closed, version }
}

export const ended = (occurrence: Occurrence, now: number) =>
  announce(`${occurrence.id}#${occurrence.version}`, now, {
    kind: 'occurrence',
    occurrence: occurrence.id,
    state: occurrence.state,
  })
