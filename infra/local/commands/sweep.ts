import type { Occurrence } from '../../../shared/guard/plans/stored-occurrence.ts'
import { count } from '../../../shared/guard/sentences.ts'
import type { SweepResult } from '../../../shared/guard/sweep/sweep.ts'
import { systemClock, toRfc3339 } from '../../../shared/platform/clock.ts'
import { tryAgain } from '../database/changes.ts'
import { workLastsMs } from '../shutdown.ts'
import { commandEnvironment } from '../where.ts'
import { parseDuration, parseInstant } from './command.ts'
import { openGuard } from './open.ts'
import type { Run } from './table.ts'

const meanings: Readonly<Record<keyof SweepResult, string>> = {
  doubted: 'in doubt: its sender did not report an outcome, and it may have run',
  proven: 'settled: the service has new data for it',
  settledByTime: 'settled at its hold: seven days without evidence',
  begun: 'started: it had waited too long',
  expired: 'expired: no one approved or started it in time',
  failed: 'failed: the next sweep retries it',
}

export const run: Run<'sweep'> = async ({ at }) => {
  const now = at === undefined ? undefined : toInstant(at)
  const clock = now === undefined ? systemClock : { ...systemClock, now: () => now }
  const { triggers, file } = await openGuard(clock, commandEnvironment(), { mustCheck: true })
  const again = file ? await tryAgain(file) : 0
  const { swept, advanced } = await triggers.sweep(clock.now() + workLastsMs)
  const lines = [
    ...(again > 0 ? [`changes that were set aside, and are tried again while Unit Guard runs: ${count(again)}`] : []),
    ...(swept ? linesOf(swept) : []),
    ...advanced.map(lineOf),
  ]
  console.log(`The sweep as of ${toRfc3339(clock.now())}: ${lines.length === 0 ? 'nothing to do' : ''}`.trim())
  for (const line of lines) console.log(`  ${line}`)
  return swept?.failed.length === 0
}

function linesOf(swept: SweepResult): string[] {
  return Object.entries(meanings).flatMap(([list, meaning]) =>
    swept[list as keyof SweepResult].map((id) => `${id}  ${meaning}`),
  )
}

function lineOf({ plan, time, state, reason, doneAt, nextAt }: Occurrence): string {
  const became = reason === undefined ? state : `${state}: ${reason}`
  return `the plan ${plan} of ${toRfc3339(time)}  ${doneAt === undefined ? `continues at ${toRfc3339(nextAt)}` : became}`
}

function toInstant(text: string): number {
  const duration = text.startsWith('+') ? parseDuration(text.slice(1)) : null
  return duration !== null ? systemClock.now() + duration : parseInstant(text, '--at', '2026-11-20T09:00:00Z, or +2m')
}
