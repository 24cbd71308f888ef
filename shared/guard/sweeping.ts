import { doubtLastsMs } from '../ledger/finding.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { pagesOf } from '../ledger/lists.ts'
import type { Occurrence } from '../ledger/occurrence.ts'
import { type Hold, next, type Update } from '../ledger/update.ts'
import type { OpenAs } from '../ledger/update-item.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Tracking } from '../tracking/tracking.ts'
import type { Closing } from './closing.ts'
import type { Deciding } from './deciding.ts'
import { createEvidence } from './evidence.ts'
import { landedBy } from './landing.ts'
import { beginLateAfterMs, type GuardOptions, requestLastsMs, sweptAtOnce } from './options.ts'
import type { Watching } from './watching.ts'

/** What one sweep did, for the log and for whoever ran it. */
export interface Swept {
  /** Updates whose sender has died: now in doubt. */
  readonly doubted: string[]
  /** Settled by evidence, or released by a person before and corrected by it. */
  readonly proven: string[]
  /** In doubt for seven days without evidence: settled at their hold. */
  readonly settledByTime: string[]
  readonly begun: string[]
  readonly expired: string[]
  /** What failed; the next sweep tries again. */
  readonly failed: string[]
}

/**
 * A service that hangs must not take the time of what a sweep does without it, nor of the plans that it goes on with: up to
 * these parts of its time evidence is looked for, and what waits is begun. The next sweep goes on.
 */
const seeksInPart = 1 / 4
const beginsInPart = 1 / 2

/** The date that proves that it ran; `null`: none does; `undefined`: nobody has looked. */
type Seek = (update: Update) => Promise<string | null | undefined>
/** The record afterwards; `null`: it was not begun. */
type Start = (id: string) => Promise<Update | null>

/** Where an update is noted; `null`: its time has not come, or somebody else was faster. */
type Became = keyof Swept | null

/**
 * Finishes what nobody else will: every step is a conditional write, so that it may be repeated and interrupted. It
 * never gives units back.
 */
export function createSweeping(parts: {
  ledger: Ledger
  tracking: Tracking
  closing: Closing
  deciding: Deciding
  start: (id: string, endsAt: number) => Promise<Update | null>
  advance: (id: string, endsAt: number) => Promise<Occurrence | null>
  watching: Watching
  clock: Clock
  log: Log
  options: GuardOptions
}) {
  const { ledger, tracking, closing, deciding, watching, clock, log, options } = parts
  const { evidenceFor } = createEvidence({ ledger, tracking })

  async function sweep(endsAt: number): Promise<Swept> {
    const swept: Swept = { doubted: [], proven: [], settledByTime: [], begun: [], expired: [], failed: [] }
    const from = clock.now()
    const isPast = (part: number) => clock.now() >= from + (endsAt - from) * part
    const seek: Seek = async (update) => (isPast(seeksInPart) ? undefined : evidenceFor(update))
    const start: Start = async (id) => (isPast(beginsInPart) ? null : parts.start(id, endsAt))
    await each('running', doubt)
    await each('in-doubt', (update) => clear(update, seek))
    await each('watched', (update) => watch(update, seek))
    await each('awaiting-approval', expireApproval)
    await each('requested', (update) => beginLate(update, start))
    await watching.watchThresholds()
    await watching.watchRefusals()
    if (Object.values(swept).some((ids) => ids.length > 0)) log.info('swept', { ...swept })
    return swept

    async function each(as: OpenAs, step: (update: Update) => Promise<Became>): Promise<void> {
      for await (const { rows } of pagesOf((cursor) => ledger.open(as, sweptAtOnce, cursor))) {
        for (const update of rows) {
          // One update that cannot be finished must not keep the sweep from the others.
          const became = await step(update).catch((cause): Became => {
            log.error('not-swept', { update: update.id, cause })
            return 'failed'
          })
          if (became) swept[became].push(update.id)
        }
      }
    }
  }

  async function doubt(update: Update): Promise<Became> {
    if (update.state !== 'running' || !update.hold || clock.now() < update.hold.leaseUntil) return null
    const note = 'whoever sent it has not reported; it may have run'
    const { changed } = await closing.close(update, { kind: 'unknown', from: 'sweep', by: 'sweep', note })
    return changed ? 'doubted' : null
  }

  async function clear(update: Update, seek: Seek): Promise<Became> {
    const { hold, doubt } = update
    if (update.state !== 'in-doubt' || !hold || !doubt) return null
    const date = clock.now() < landedBy(update, options) ? null : await seek(update)
    if (date) return prove(update, hold, `the service has data of ${date} that it did not have before`)
    if (clock.now() - doubt.at < doubtLastsMs) return null
    const note = 'no evidence within seven days; charged as held, because it may have run'
    const { changed } = await closing.close(update, { kind: 'ran', units: hold.units, from: 'time', by: 'sweep', note })
    return changed ? 'settledByTime' : null
  }

  /** A person said that it did not run. People err, so the evidence is looked at for seven days more. */
  async function watch(update: Update, seek: Seek): Promise<Became> {
    const { hold, finishedAt } = update
    if (!hold || finishedAt === undefined) return null
    const date = await seek(update)
    if (date === undefined) return null
    if (date !== null) {
      return prove(update, hold, `it did run: the service has data of ${date} that it did not have before`)
    }
    if (clock.now() - finishedAt < doubtLastsMs) return null
    const line = { at: clock.now(), by: 'sweep', note: 'no evidence to the contrary within seven days' }
    await ledger.record(next(update, update.state, { unwatched: true }, line), update)
    return null
  }

  /** At the hold: a date says that it ran, and not what it cost. */
  async function prove(update: Update, { units }: Hold, note: string): Promise<Became> {
    const { changed } = await closing.close(update, { kind: 'ran', units, from: 'evidence', by: 'sweep', note })
    return changed ? 'proven' : null
  }

  async function expireApproval(update: Update): Promise<Became> {
    if (clock.now() >= (update.approvableUntil ?? 0)) return expire(update, 'nobody approved it in time')
    await watching.remind(update)
    return null
  }

  async function beginLate(update: Update, start: Start): Promise<Became> {
    const age = clock.now() - (update.requestedAt ?? update.createdAt)
    if (age >= requestLastsMs) return expire(update, 'nobody could begin it within an hour')
    if (age < beginLateAfterMs) return null
    const begun = await start(update.id)
    return begun && begun.state !== 'requested' ? 'begun' : null
  }

  async function expire(update: Update, note: string): Promise<Became> {
    const { kind } = await deciding.expire(update, note)
    return kind === 'done' ? 'expired' : null
  }

  /** Goes on with every occurrence whose time has come: a task for itself, because it may take long. */
  async function goOn(endsAt: number): Promise<readonly Occurrence[]> {
    const advanced: Occurrence[] = []
    for await (const { rows } of pagesOf((cursor) => ledger.occurrences.open(sweptAtOnce, cursor))) {
      for (const { id, nextAt } of rows) {
        if (clock.now() < nextAt) continue
        const occurrence = await parts.advance(id, endsAt).catch((cause) => {
          log.error('occurrence-failed', { occurrence: id, cause })
          return null
        })
        if (occurrence) advanced.push(occurrence)
      }
    }
    return advanced
  }

  return { sweep, goOn }
}
