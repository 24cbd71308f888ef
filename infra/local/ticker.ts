import * as z from 'zod/mini'
import type { Plan } from '../../shared/guard/plans-file.ts'
import { type Schedule, timesOf } from '../../shared/guard/schedule.ts'
import { noteIn, type SqliteFile, setNote } from '../../shared/ledger/store/sqlite-file.ts'
import { type Clock, dayMs, hourMs, minuteMs, toRfc3339 } from '../../shared/platform/clock.ts'
import { createSlots } from '../../shared/platform/parallel.ts'
import type { createBackgroundTasks } from './shutdown.ts'

const digest: Schedule = { kind: 'rate', text: 'rate(1 day)', everyMs: dayMs }
const digestAnchor = 6 * hourMs

/** How old an event may be that a machine fires after it slept or was off. */
const looksBackMs = 7 * dayMs
const max = looksBackMs / minuteMs
const maxAtOnce = 60

interface Due {
  readonly schedule: string
  readonly at: number
  readonly event: object
}

/**
 * Rates count from the epoch, so that a restart keeps their times.
 *
 * @param fired the latest times in earlier processes, by schedule. New schedules begin at `from`.
 */
export function createTicker(plans: readonly Plan[], from: number, fired: Readonly<Record<string, number>> = {}) {
  const schedules = [
    ...plans
      .filter(({ enabled }) => enabled)
      .map(({ name, schedule }) => ({
        name: `${name} ${schedule.text}`,
        schedule,
        anchor: 0,
        most: maxAtOnce,
        eventAt: (at: number) => ({ plan: name, time: toRfc3339(at) }),
      })),
    { name: 'digest', schedule: digest, anchor: digestAnchor, most: 1, eventAt: () => ({ task: 'digest' }) },
  ]
  const begun = new Map(schedules.map(({ name }) => [name, Math.min(fired[name] ?? from, from)]))
  const sent = new Map(begun)

  return {
    /** The time up to which earlier processes had fired each schedule. */
    fired: begun,
    /** The events that became due since the last call. */
    due: (now: number): readonly Due[] =>
      schedules.flatMap(({ name, schedule, anchor, most, eventAt }) => {
        const after = sent.get(name) ?? now
        // A clock that is set back sends no event twice.
        sent.set(name, Math.max(after, now))
        const span = { from: Math.max(after, now - looksBackMs), until: now, max, anchor }
        return timesOf(schedule, span)
          .slice(-most)
          .map((at) => ({ schedule: name, at, event: eventAt(at) }))
      }),
  }
}

/** Notes the latest fired time of each schedule, so that the next process fires the later ones. */
const plansFired = 'plans-fired'
const firedSchema = z.record(z.string(), z.number())

const firesAtOnce = 3
/** As many attempts as Lambda makes. */
const maxTries = 3

/** @param parts.tried resolves to `true` if the work succeeded. */
export async function createClockwork(
  plans: readonly Plan[],
  parts: {
    file: SqliteFile
    clock: Clock
    tasks: ReturnType<typeof createBackgroundTasks>
    handle: (event: object) => Promise<void>
    tried: (work: () => Promise<void>) => Promise<boolean>
  },
): Promise<() => Promise<void>> {
  const { file, clock, tasks, handle, tried } = parts
  const before = await file.read(() => noteIn(file.db, plansFired))
  const ticker = createTicker(plans, clock.now(), firedSchema.parse(JSON.parse(before ?? '{}')))
  const fired = new Map(ticker.fired)
  const keep = () => file.write(() => setNote(file.db, plansFired, JSON.stringify(Object.fromEntries(fired))))
  const slots = createSlots(firesAtOnce)
  const latest = new Map<string, Promise<void>>()
  await keep()

  async function fire({ schedule, at, event }: Due): Promise<void> {
    const work = async () => {
      await slots.use(() => handle(event))
      fired.set(schedule, at)
      await keep()
    }
    for (let tries = 1; tries <= maxTries && !tasks.isStopping() && !(await tried(work)); tries++)
      await tasks.pause(tries * minuteMs)
  }

  return async () => {
    for (const due of ticker.due(clock.now())) {
      // The events of a schedule fire one after another, because the note has only the latest time.
      const before = latest.get(due.schedule) ?? Promise.resolve()
      latest.set(
        due.schedule,
        before.then(() => fire(due)),
      )
    }
  }
}
