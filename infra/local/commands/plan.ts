import { setTimeout as sleep } from 'node:timers/promises'
import type { Guard } from '../../../shared/guard/guard.ts'
import { countsInWords } from '../../../shared/guard/plans/plan-words.ts'
import { type Occurrence, occurrenceId, occurrences } from '../../../shared/guard/plans/stored-occurrence.ts'
import { readPlans } from '../../../shared/guard/plans-file.ts'
import { list, units } from '../../../shared/guard/sentences.ts'
import { isTerminal, type Problem, type Update, wasUpToDate } from '../../../shared/ledger/updates/update.ts'
import { minuteMs, systemClock, toRfc3339 } from '../../../shared/platform/clock.ts'
import { nearest } from '../../../shared/platform/misspelt.ts'
import { CannotContinue } from '../failures.ts'
import { workLastsMs } from '../shutdown.ts'
import { commandEnvironment } from '../where.ts'
import { parseInstant } from './command.ts'
import { openGuard } from './open.ts'
import type { Run } from './table.ts'

const lookEveryMs = 500
const worthWaitingMs = 10_000

const { now } = systemClock
const endsAt = () => now() + workLastsMs

export const run: Run<'plan'> = ({ time }, name = '') =>
  fire(name, time === undefined ? Math.floor(now() / minuteMs) * minuteMs : parseInstant(time, '--time'))

async function fire(name: string, time: number): Promise<boolean> {
  const { settings, services, triggers } = await openGuard(systemClock, commandEnvironment(), { mustCheck: true })
  const { guard } = services
  const progress = createProgress(guard, `The plan ${name} of ${toRfc3339(time)}`)
  const id = occurrenceId(name, time)

  async function watched<Result>(work: Promise<Result>): Promise<Result> {
    const isOver = Promise.allSettled([work])
    while (!(await Promise.race([isOver, sleep(lookEveryMs, null)]))) {
      const occurrence = await guard.ledger.queue(occurrences).get(id)
      if (occurrence) await progress.tell(occurrence)
    }
    return work
  }

  async function run(): Promise<Occurrence> {
    const seen = await guard.ledger.queue(occurrences).get(id)
    if (seen?.doneAt !== undefined) progress.note('It was fired before: nothing runs again.')
    const fired = await watched(triggers.fire(name, time, endsAt(), true))
    if (fired.kind === 'problem') throw new CannotContinue(sentenceOf(fired.problem, name, settings.PLANS))
    let { occurrence } = fired
    for (;;) {
      await progress.tell(occurrence)
      const isHeld = now() < (occurrence.lease?.until ?? 0)
      const waitsLong = !isHeld && occurrence.nextAt > now() + worthWaitingMs
      if (occurrence.doneAt !== undefined || waitsLong) return occurrence
      // Another process, such as npm start, runs the plan, or the time was too short to finish it.
      await sleep(lookEveryMs)
      occurrence = (await watched(guard.jobs().then(({ advance }) => advance(id, endsAt())))) ?? occurrence
    }
  }

  const occurrence = await run()
  await progress.sum(occurrence)
  return occurrence.state === 'running' || occurrence.state === 'done'
}

function sentenceOf({ slug, detail }: Problem, name: string, file: string | undefined): string {
  if (slug !== 'not-found') return detail
  const names = readPlans(file).map(({ name }) => name)
  if (names.length === 0) return `${detail} Set PLANS to a file of plans.`
  const meant = nearest(name, names)
  return `${detail} ${meant === null ? `The plans file has ${list(names)}.` : `Did you mean ${meant}?`}`
}

function createProgress(guard: Guard, heading: string) {
  const told = new Set<string>()

  function note(line: string): void {
    if (told.size === 0) console.log(heading)
    if (!told.has(line)) console.log(`  ${line}`)
    told.add(line)
  }

  async function tell(occurrence: Occurrence): Promise<void> {
    for (const { project, update } of (await guard.report(occurrence)).rows) {
      if (update && hasEnded(update)) note(`${project}  ${lineOf(update)}`)
    }
  }

  async function sum(occurrence: Occurrence): Promise<void> {
    const report = await guard.report(occurrence)
    const { state, reason, doneAt, nextAt } = occurrence
    if (state === 'missed' || state === 'paused') return note(`not run, ${reason}`)
    note(`${countsInWords(report.counts).join(', ')}; ${units(report.unitsCharged)} charged`)
    if (state === 'stopped') note(`stopped before its end, ${reason}`)
    if (doneAt === undefined) {
      note(
        `unfinished projects are retried at ${toRfc3339(nextAt)}; the plan continues by itself while Unit Guard runs`,
      )
    }
  }

  return { note, tell, sum }
}

function hasEnded({ state }: Update): boolean {
  return isTerminal(state) || state === 'in-doubt' || state === 'awaiting-approval'
}

function lineOf(update: Update): string {
  const { state, charged, hold, problem } = update
  if (state === 'settled') return `settled, ${units(charged ?? 0)}`
  if (state === 'in-doubt') return `in doubt: it may have run, and its ${units(hold?.units ?? 0)} stay counted`
  const words = wasUpToDate(update) ? 'up to date' : state.replace('-', ' ')
  return problem ? `${words}: ${problem.detail}` : words
}
