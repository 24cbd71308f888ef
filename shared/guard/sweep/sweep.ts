import { doubtLastsMs } from '../../ledger/book/outcome.ts'
import type { View } from '../../ledger/book/view.ts'
import { dayAt } from '../../ledger/definitions/windows.ts'
import type { DamagedItem } from '../../ledger/errors.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { type Hold, next, type Update } from '../../ledger/updates/update.ts'
import type { OpenAs } from '../../ledger/updates/update-keys.ts'
import { dayMs } from '../../platform/clock.ts'
import { aboutUpdate } from '../../platform/log.ts'
import {
  beginLateAfterMs,
  type GuardParts,
  hasTime,
  inFlightUntil,
  planStepMs,
  requestLastsMs,
  withParts,
} from '../options.ts'
import type { Approvals } from '../people/decisions.ts'
import { type Occurrence, occurrenceId, occurrences, type Rerun, reruns } from '../plans/stored-occurrence.ts'
import { targetOfRequest } from '../update/quote.ts'
import { datesNear } from '../update/records.ts'
import { settle } from '../update/settle.ts'
import type { Alerts } from './alerts.ts'

export interface SweepResult {
  /** Updates that are now in doubt, because the sender died. */
  readonly doubted: string[]
  /** Updates that evidence settled, also after a person said "did not run". */
  readonly proven: string[]
  /** Updates that were charged their hold after seven days in doubt. */
  readonly settledByTime: string[]
  readonly begun: string[]
  readonly expired: string[]
  readonly failed: string[]
}

/** A step asks the service only in this first part of the time: a hanging service must not starve the other steps. */
const asksUpTo = { 'in-doubt': 1 / 4, watched: 1 / 3, requested: 1 / 2 } as const

type MayAsk = () => boolean

type StepResult = keyof SweepResult | null

interface SweepParts extends Pick<GuardParts, 'ledger' | 'tracking' | 'clock' | 'log' | 'options' | 'checkTroubles'> {
  approvals: Approvals
  start: (id: string, endsAt: number) => Promise<Update | null>
  advance: (id: string, endsAt: number) => Promise<Occurrence | null>
  runAsked: (rerun: Rerun, endsAt: number) => Promise<Occurrence | null>
  alerts: Alerts
}

/** Each step may be repeated. The sweep never gives units back. */
export const createSweep = (parts: SweepParts) => withParts(parts, { sweep, advanceOccurrences })

async function sweep(parts: SweepParts, endsAt: number): Promise<SweepResult> {
  const { clock, alerts, log, ledger } = parts
  const swept: SweepResult = { doubted: [], proven: [], settledByTime: [], begun: [], expired: [], failed: [] }
  const from = clock.now()
  await each('running', (update) => doubt(parts, update))
  await each('in-doubt', (update, mayAsk) => clear(parts, update, mayAsk))
  await each('watched', (update, mayAsk) => watch(parts, update, mayAsk))
  await each('awaiting-approval', (update) => expireApproval(parts, update))
  await each('requested', (update, mayAsk) => beginLate(parts, update, mayAsk, endsAt))
  await alerts.checkThresholds()
  await alerts.checkRefusals()
  await parts.checkTroubles?.().catch((cause) => log.error('troubles-not-checked', { cause }))
  if (Object.values(swept).some((ids) => ids.length > 0)) log.info('swept', { ...swept })
  return swept

  async function each(as: OpenAs, step: (update: Update, mayAsk: MayAsk) => Promise<StepResult>): Promise<void> {
    const askedUntil = from + (endsAt - from) * ((asksUpTo as Partial<Record<OpenAs, number>>)[as] ?? 1)
    await ledger.openRound(
      as,
      () => clock.now() < askedUntil,
      async (update, mayAsk) => {
        const became = await aboutUpdate(update, () =>
          step(update, mayAsk).catch((cause): StepResult => {
            log.error('not-swept', { update: update.id, cause })
            return 'failed'
          }),
        )
        if (became) swept[became].push(update.id)
      },
      (cause) => {
        const id = cause.key.pk.replace(/^update#/, '')
        log.error('not-swept', { update: id, cause })
        swept.failed.push(id)
      },
    )
  }
}

async function doubt(parts: SweepParts, update: Update): Promise<StepResult> {
  if (update.state !== 'running' || !update.hold || parts.clock.now() < update.hold.leaseUntil) return null
  const note = 'its sender has not reported; it may have run'
  const { changed } = await settle(parts, update, { kind: 'unknown', from: 'sweep', by: 'sweep', note })
  return changed ? 'doubted' : null
}

async function clear(parts: SweepParts, update: Update, mayAsk: MayAsk): Promise<StepResult> {
  const { clock, options } = parts
  const { hold, doubt } = update
  if (update.state !== 'in-doubt' || !hold || !doubt) return null
  const date = clock.now() >= inFlightUntil(update, options) && mayAsk() ? await evidenceFor(parts, update) : null
  if (date) return prove(parts, update, hold, `the service has data of ${date} that it did not have before`)
  if (clock.now() - doubt.at < doubtLastsMs) return null
  const note = 'no evidence within seven days; charged as held, because it may have run'
  const { changed } = await settle(parts, update, { kind: 'ran', units: hold.units, from: 'time', by: 'sweep', note })
  return changed ? 'settledByTime' : null
}

/** Looks for seven days for evidence against a person's "did not run". */
async function watch(parts: SweepParts, update: Update, mayAsk: MayAsk): Promise<StepResult> {
  const { clock, ledger } = parts
  const { hold, finishedAt } = update
  if (!hold || finishedAt === undefined || !mayAsk()) return null
  const date = await evidenceFor(parts, update)
  if (date !== null) {
    return prove(parts, update, hold, `it did run: the service has data of ${date} that it did not have before`)
  }
  if (clock.now() - finishedAt < doubtLastsMs) return null
  const line = { at: clock.now(), by: 'sweep', note: 'no evidence to the contrary within seven days' }
  await ledger.record(next(update, update.state, { unwatched: true }, line), update)
  return null
}

/** Charges the hold, because a date proves the run but not its price. */
async function prove(parts: SweepParts, update: Update, { units }: Hold, note: string): Promise<StepResult> {
  const { changed } = await settle(parts, update, { kind: 'ran', units, from: 'evidence', by: 'sweep', note })
  return changed ? 'proven' : null
}

async function expireApproval(parts: SweepParts, update: Update): Promise<StepResult> {
  const { clock, alerts } = parts
  if (clock.now() >= (update.approvableUntil ?? 0)) return expire(parts, update, 'not approved in time')
  await alerts.remind(update)
  return null
}

async function beginLate(parts: SweepParts, update: Update, mayAsk: MayAsk, endsAt: number): Promise<StepResult> {
  const age = parts.clock.now() - (update.requestedAt ?? update.createdAt)
  if (age >= requestLastsMs) return expire(parts, update, 'could not begin within an hour')
  if (age < beginLateAfterMs || !mayAsk()) return null
  const begun = await parts.start(update.id, endsAt)
  return begun && begun.state !== 'requested' ? 'begun' : null
}

async function expire(parts: SweepParts, update: Update, note: string): Promise<StepResult> {
  const { kind } = await parts.approvals.expire(update, note)
  return kind === 'done' ? 'expired' : null
}

const maxReruns = 100

/** This is a separate job, because occurrences may take long. */
async function advanceOccurrences(parts: SweepParts, endsAt: number): Promise<readonly Occurrence[]> {
  const { ledger, clock, options, log } = parts
  const advanced: Occurrence[] = []
  const mayBegin = () => hasTime(parts, endsAt, planStepMs(options))
  const attempt = async (id: string, step: () => Promise<Occurrence | null>) => {
    const occurrence = await step().catch((cause) => {
      log.error('occurrence-failed', { occurrence: id, cause })
      return null
    })
    if (occurrence) advanced.push(occurrence)
  }
  const onDamage = (cause: DamagedItem) =>
    log.error('occurrence-failed', { occurrence: cause.key.pk.replace(/^[^#]*#/, ''), cause })
  // Reruns come first, because people wait for them.
  await attempt('reruns', async () => {
    const { rows } = await ledger.queue(reruns).open(maxReruns, undefined, onDamage)
    for (const rerun of rows.toReversed())
      if (mayBegin()) await attempt(occurrenceId(rerun.plan, rerun.time), () => parts.runAsked(rerun, endsAt))
    return null
  })
  const advance = async ({ id, nextAt }: Occurrence, mayTake: MayAsk) => {
    if (clock.now() < nextAt) return
    mayTake()
    await attempt(id, () => parts.advance(id, endsAt))
  }
  await ledger.queue(occurrences).round(mayBegin, advance, onDamage)
  return advanced
}

/** With more rivals a date does not show which update ran. */
const maxWalk = 50
const rivalsWithinMs = 3 * dayMs

async function evidenceFor(parts: SweepParts, update: Update): Promise<string | null> {
  const evidence = await lookForEvidence(parts, update)
  return evidence.kind === 'found' ? evidence.date : null
}

export type Evidence =
  | { readonly kind: 'found'; readonly date: string }
  /** `unclear`: other updates of the work may have made the new dates. */
  | { readonly kind: 'none' | 'unclear' | 'unreadable' }

/** Evidence is a new date around the fence that no other update of the work can have made. */
export async function lookForEvidence(
  { ledger, tracking }: Pick<SweepParts, 'ledger' | 'tracking'>,
  update: Update,
): Promise<Evidence> {
  const { hold } = update
  // Without the dates before the run, no date can show that it ran.
  if (!hold?.datesBefore) return { kind: 'none' }
  const reading = await tracking.dates(targetOfRequest(update))
  if (reading.kind !== 'dates') return { kind: 'unreadable' }
  const { kind, project } = update
  const view = await ledger.view([{ work: { kind, project, keys: hold.works ?? [] } }])
  const fresh = datesSince(view, hold).filter((date) => reading.dates.includes(date))
  if (fresh.length === 0) return { kind: 'none' }
  const latest = view.results[0]?.works.flatMap(({ work }) => (work ? [work.update] : [])) ?? []
  const rivals = await rivalsOf(ledger, update.id, hold, latest)
  if (!rivals) return { kind: 'unclear' }
  const date = fresh.find((date) => !rivals.some((rival) => datesSince(view, rival).includes(date)))
  return date === undefined ? { kind: 'unclear' } : { kind: 'found', date }
}

/** Other updates of the work that may have run. `null`: too many for evidence. */
async function rivalsOf(ledger: Ledger, own: string, hold: Hold, latest: readonly string[]): Promise<Hold[] | null> {
  const rivals: Hold[] = []
  const ids = new Set(latest)
  for (const id of ids) {
    if (ids.size > maxWalk) return null
    const rival = await ledger.update(id)
    if (!rival?.hold || rival.hold.at < hold.at - rivalsWithinMs) continue
    const didNotRun = rival.state === 'released' && rival.closedBy === 'sender'
    if (rival.id !== own && !didNotRun) rivals.push(rival.hold)
    for (const before of rival.hold.previous ?? []) ids.add(before)
  }
  return rivals
}

/** Dates that would prove this update ran. `null`: no date can prove it. */
export const soughtDates = (view: Pick<View, 'definitions'>, { hold }: Update): readonly string[] | null =>
  hold?.datesBefore ? datesSince(view, hold) : null

const datesSince = ({ definitions }: Pick<View, 'definitions'>, { at, datesBefore = [] }: Hold): readonly string[] =>
  datesNear(dayAt(definitions.calendar, at)).filter((date) => !datesBefore.includes(date))
