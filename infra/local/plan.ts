import { setTimeout as sleep } from 'node:timers/promises'
import { readPlans } from '../../shared/guard/plans-file.ts'
import { list } from '../../shared/guard/sentences.ts'
import { type Occurrence, occurrenceId } from '../../shared/ledger/occurrence.ts'
import type { Problem } from '../../shared/ledger/update.ts'
import { minuteMs, systemClock, toRfc3339 } from '../../shared/platform/clock.ts'
import { workLastsMs } from './background.ts'
import { command, commandEnvironment, WrongUsage } from './command.ts'
import { openTriggers } from './command-triggers.ts'
import { CannotGoOn } from './failures.ts'
import { parseInstant } from './instant.ts'
import { createProgress } from './plan-progress.ts'

const usage = `Fires a plan as its rule would, waits for its updates to end, and says what became of each.

  npm run plan -- <name> [--time <instant>]

  <name>  of a plan in the plans file
  --time  the time that it is fired for, in RFC 3339: 2026-11-20T09:00:00Z; the current minute without it. The same
          plan and time never runs a project twice.`

const lookEveryMs = 500
/** Whoever waits at a terminal waits this long for what is to be tried next. */
const worthWaitingMs = 10_000

const { now } = systemClock
const endsAt = () => now() + workLastsMs

await command(
  usage,
  { time: { type: 'string' } },
  ({ time }, name = '') => fire(name, time === undefined ? Math.floor(now() / minuteMs) * minuteMs : toInstant(time)),
  ['<name>'],
)

/** Whether it was run, whatever became of it. */
async function fire(name: string, time: number): Promise<boolean> {
  const { settings, guard, triggers, reached } = openTriggers(commandEnvironment(), systemClock)
  const progress = createProgress(guard, `The plan ${name} of ${toRfc3339(time)}`)
  const id = occurrenceId(name, time)

  /** Tells what ends while `work` is under way. */
  async function watched<Result>(work: Promise<Result>): Promise<Result> {
    const isOver = work.then(
      () => true,
      () => true,
    )
    while (!(await Promise.race([isOver, sleep(lookEveryMs, false)]))) {
      const occurrence = await guard.ledger.occurrences.get(id)
      if (occurrence) await progress.tell(occurrence)
    }
    return work
  }

  async function run(): Promise<Occurrence> {
    const seen = await guard.ledger.occurrences.get(id)
    if (seen?.doneAt !== undefined) progress.note('It was fired before: nothing is run anew.')
    const fired = await watched(triggers.fire(name, time, endsAt()))
    if (fired.kind === 'problem') throw new CannotGoOn(sentenceOf(fired.problem, settings.PLANS))
    let { occurrence } = fired
    for (;;) {
      await progress.tell(occurrence)
      const isHeld = now() < (occurrence.lease?.until ?? 0)
      const waitsLong = !isHeld && occurrence.nextAt > now() + worthWaitingMs
      if (occurrence.doneAt !== undefined || waitsLong) return occurrence
      // Somebody else is at it, such as npm start, or there was not enough time for all.
      await sleep(lookEveryMs)
      occurrence = (await watched(guard.advance(id, endsAt()))) ?? occurrence
    }
  }

  const occurrence = await reached(run())
  await reached(progress.sum(occurrence))
  return occurrence.state === 'running' || occurrence.state === 'done'
}

function sentenceOf({ slug, detail }: Problem, file: string | undefined): string {
  if (slug !== 'not-found') return detail
  const names = readPlans(file).map(({ name }) => name)
  const hint = names.length === 0 ? 'PLANS names a file of plans; it is not set.' : `The plans file has ${list(names)}.`
  return `${detail} ${hint}`
}

function toInstant(text: string): number {
  const instant = parseInstant(text)
  if (instant === null) throw new WrongUsage('--time takes a time such as 2026-11-20T09:00:00Z')
  return instant
}
