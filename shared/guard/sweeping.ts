import { doubtLastsMs } from '../ledger/finding.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Page } from '../ledger/lists.ts'
import type { Occurrence } from '../ledger/occurrence.ts'
import { next, type Update } from '../ledger/update.ts'
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
    const note = (list: keyof Swept) => (update: Update) => void swept[list].push(update.id)
    const from = clock.now()
    const isPast = (part: number) => clock.now() >= from + (endsAt - from) * part
    const seek: Seek = async (update) => (isPast(seeksInPart) ? undefined : evidenceFor(update))
    const start: Start = async (id) => (isPast(beginsInPart) ? null : parts.start(id, endsAt))
    await each('running', (update) => doubt(update, note('doubted')))
    await each('in-doubt', (update) => clear(update, seek, note('proven'), note('settledByTime')))
    await each('watched', (update) => watch(update, seek, note('proven')))
    await each('awaiting-approval', (update) => expireApproval(update, note('expired')))
    await each('requested', (update) => beginLate(update, start, note('begun'), note('expired')))
    await watching.watchThresholds()
    await watching.watchRefusals()
    if (Object.values(swept).some((ids) => ids.length > 0)) log.info('swept', { ...swept })
    return swept

    async function each(as: OpenAs, handle: (update: Update) => Promise<void>): Promise<void> {
      let cursor: string | undefined
      do {
        const page: Page<Update> = await ledger.open(as, sweptAtOnce, cursor)
        for (const update of page.rows) {
          // One update that cannot be finished must not keep the sweep from the others.
          await handle(update).catch((cause) => {
            log.error('not-swept', { update: update.id, cause })
            swept.failed.push(update.id)
          })
        }
        cursor = page.next
      } while (cursor !== undefined)
    }
  }

  async function doubt(update: Update, done: (update: Update) => void): Promise<void> {
    if (update.state !== 'running' || !update.hold || clock.now() < update.hold.leaseUntil) return
    const note = 'whoever sent it has not reported; it may have run'
    const { changed } = await closing.close(update, { kind: 'unknown', from: 'sweep', by: 'sweep', note })
    if (changed) done(update)
  }

  async function clear(
    update: Update,
    seek: Seek,
    proven: (update: Update) => void,
    late: (update: Update) => void,
  ): Promise<void> {
    const { hold, doubt } = update
    if (update.state !== 'in-doubt' || !hold || !doubt) return
    const date = clock.now() < landedBy(update, options) ? null : await seek(update)
    if (date) {
      const note = `the service has data of ${date} that it did not have before`
      const { changed } = await closing.close(update, {
        kind: 'ran',
        units: hold.units,
        from: 'evidence',
        by: 'sweep',
        note,
      })
      if (changed) proven(update)
      return
    }
    if (clock.now() - doubt.at < doubtLastsMs) return
    const note = 'no evidence within seven days; charged as held, because it may have run'
    const { changed } = await closing.close(update, { kind: 'ran', units: hold.units, from: 'time', by: 'sweep', note })
    if (changed) late(update)
  }

  /** A person said that it did not run. People err, so the evidence is looked at for seven days more. */
  async function watch(update: Update, seek: Seek, proven: (update: Update) => void): Promise<void> {
    const { hold, finishedAt } = update
    if (!hold || finishedAt === undefined) return
    const date = await seek(update)
    if (date === undefined) return
    if (date !== null) {
      const note = `it did run: the service has data of ${date} that it did not have before`
      const { changed } = await closing.close(update, {
        kind: 'ran',
        units: hold.units,
        from: 'evidence',
        by: 'sweep',
        note,
      })
      if (changed) proven(update)
      return
    }
    if (clock.now() - finishedAt < doubtLastsMs) return
    const line = { at: clock.now(), by: 'sweep', note: 'no evidence to the contrary within seven days' }
    await ledger.record(next(update, update.state, { unwatched: true }, line), update)
  }

  async function expireApproval(update: Update, expired: (update: Update) => void): Promise<void> {
    if (clock.now() < (update.approvableUntil ?? 0)) return watching.remind(update)
    const { kind } = await deciding.expire(update, 'nobody approved it in time')
    if (kind === 'done') expired(update)
  }

  async function beginLate(
    update: Update,
    start: Start,
    begun: (update: Update) => void,
    expired: (update: Update) => void,
  ): Promise<void> {
    const age = clock.now() - (update.requestedAt ?? update.createdAt)
    if (age >= requestLastsMs) {
      const { kind } = await deciding.expire(update, 'nobody could begin it within an hour')
      if (kind === 'done') expired(update)
    } else if (age >= beginLateAfterMs && ((await start(update.id)) ?? update).state !== 'requested') begun(update)
  }

  /** Goes on with every occurrence whose time has come: a task for itself, because it may take long. */
  async function goOn(endsAt: number): Promise<readonly Occurrence[]> {
    const advanced: Occurrence[] = []
    let cursor: string | undefined
    do {
      const page: Page<Occurrence> = await ledger.occurrences.open(sweptAtOnce, cursor)
      for (const { id, nextAt } of page.rows) {
        if (clock.now() < nextAt) continue
        const occurrence = await parts.advance(id, endsAt).catch((cause) => {
          log.error('occurrence-failed', { occurrence: id, cause })
          return null
        })
        if (occurrence) advanced.push(occurrence)
      }
      cursor = page.next
    } while (cursor !== undefined)
    return advanced
  }

  return { sweep, goOn }
}
