import { doubtLastsMs } from '../ledger/finding.ts'
import type { Ledger } from '../ledger/ledger.ts'
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
import { beginLateAfterMs, type GuardOptions, planStepMs, requestLastsMs } from './options.ts'
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
 * A hanging service must not take the time of what a sweep does without it: each list asks it up to this part of the
 * sweep's time. The next sweep continues where this one stopped.
 */
const asksUpTo = { 'in-doubt': 1 / 4, watched: 1 / 3, requested: 1 / 2 } as const

/** Whether there is time left to ask the service about an update. */
type MayAsk = () => boolean

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
    await each('running', doubt)
    await each('in-doubt', clear)
    await each('watched', watch)
    await each('awaiting-approval', expireApproval)
    await each('requested', (update, mayAsk) => beginLate(update, mayAsk, endsAt))
    await watching.watchThresholds()
    await watching.watchRefusals()
    if (Object.values(swept).some((ids) => ids.length > 0)) log.info('swept', { ...swept })
    return swept

    async function each(as: OpenAs, step: (update: Update, mayAsk: MayAsk) => Promise<Became>): Promise<void> {
      const askedUntil = from + (endsAt - from) * ((asksUpTo as Partial<Record<OpenAs, number>>)[as] ?? 1)
      await ledger.openRound(
        as,
        () => clock.now() < askedUntil,
        async (update, mayAsk) => {
          const became = await step(update, mayAsk).catch((cause): Became => {
            log.error('not-swept', { update: update.id, cause })
            return 'failed'
          })
          if (became) swept[became].push(update.id)
        },
      )
    }
  }

  async function doubt(update: Update): Promise<Became> {
    if (update.state !== 'running' || !update.hold || clock.now() < update.hold.leaseUntil) return null
    const note = 'whoever sent it has not reported; it may have run'
    const { changed } = await closing.close(update, { kind: 'unknown', from: 'sweep', by: 'sweep', note })
    return changed ? 'doubted' : null
  }

  async function clear(update: Update, mayAsk: MayAsk): Promise<Became> {
    const { hold, doubt } = update
    if (update.state !== 'in-doubt' || !hold || !doubt) return null
    const date = clock.now() >= landedBy(update, options) && mayAsk() ? await evidenceFor(update) : null
    if (date) return prove(update, hold, `the service has data of ${date} that it did not have before`)
    if (clock.now() - doubt.at < doubtLastsMs) return null
    const note = 'no evidence within seven days; charged as held, because it may have run'
    const { changed } = await closing.close(update, { kind: 'ran', units: hold.units, from: 'time', by: 'sweep', note })
    return changed ? 'settledByTime' : null
  }

  /** A person said that it did not run. People err, so the evidence is looked at for seven days more. */
  async function watch(update: Update, mayAsk: MayAsk): Promise<Became> {
    const { hold, finishedAt } = update
    if (!hold || finishedAt === undefined || !mayAsk()) return null
    const date = await evidenceFor(update)
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

  async function beginLate(update: Update, mayAsk: MayAsk, endsAt: number): Promise<Became> {
    const age = clock.now() - (update.requestedAt ?? update.createdAt)
    if (age >= requestLastsMs) return expire(update, 'nobody could begin it within an hour')
    if (age < beginLateAfterMs || !mayAsk()) return null
    const begun = await parts.start(update.id, endsAt)
    return begun && begun.state !== 'requested' ? 'begun' : null
  }

  async function expire(update: Update, note: string): Promise<Became> {
    const { kind } = await deciding.expire(update, note)
    return kind === 'done' ? 'expired' : null
  }

  /** Continues every occurrence whose time has come: a task for itself, because it may take long. */
  async function goOn(endsAt: number): Promise<readonly Occurrence[]> {
    const advanced: Occurrence[] = []
    await ledger.occurrences.round(
      () => clock.now() + planStepMs(options) <= endsAt,
      async ({ id, nextAt }, mayTake) => {
        if (clock.now() < nextAt) return
        mayTake()
        const occurrence = await parts.advance(id, endsAt).catch((cause) => {
          log.error('occurrence-failed', { occurrence: id, cause })
          return null
        })
        if (occurrence) advanced.push(occurrence)
      },
    )
    return advanced
  }

  return { sweep, goOn }
}
