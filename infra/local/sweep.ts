import { createServices } from '../../shared/guard/services.ts'
import type { Swept } from '../../shared/guard/sweeping.ts'
import { systemClock, toRfc3339 } from '../../shared/platform/clock.ts'
import { guardSettings, parseSettings } from '../../shared/platform/settings.ts'
import { workLastsMs } from './background.ts'
import { command, commandEnvironment, isInMemory, WrongUsage } from './command.ts'
import { CannotGoOn, reasonOf } from './failures.ts'
import { createQuietLog } from './guard-log.ts'

const usage = `Finishes what nobody else will, as the schedule does every minute, and says what it did.

  npm run sweep -- [--at <instant>]

  --at  as if it were that time, in RFC 3339: 2026-11-20T09:00:00Z, or so much later: +2m, +1h, +7d; now without it.
        What it does then is written down with that time.`

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** What became of the updates in each list, in the words of the design. */
const meanings: Readonly<Record<keyof Swept, string>> = {
  doubted: 'in doubt: whoever sent it has not reported, and it may have run',
  proven: 'settled: the service has data that it did not have before',
  settledByTime: 'settled at its hold: seven days without evidence',
  begun: 'begun: it had waited too long',
  expired: 'expired: nobody approved or began it in time',
  failed: 'not finished, something failed: the next sweep tries again',
}

await command(usage, { at: { type: 'string' } }, async ({ at }) => {
  const env = commandEnvironment()
  const now = at === undefined ? undefined : toInstant(at)
  const settings = parseSettings(guardSettings, env)
  if (isInMemory(env)) {
    throw new CannotGoOn('The ledger is in the memory of npm start, where no other process can reach it.')
  }
  const clock = now === undefined ? systemClock : { ...systemClock, now: () => now }
  const { guard } = createServices(settings, { clock, log: createQuietLog() })
  const swept = await guard.sweep(clock.now() + workLastsMs).catch((error) => {
    const where = settings.DYNAMODB_ENDPOINT ?? 'AWS'
    throw new CannotGoOn(`The ledger ${settings.TABLE_NAME} at ${where} does not answer: ${reasonOf(error)}`)
  })
  tell(swept, clock.now())
  return swept.failed.length === 0
})

function tell(swept: Swept, now: number): void {
  const lines = Object.entries(meanings).flatMap(([list, meaning]) =>
    swept[list as keyof Swept].map((id) => `  ${id}  ${meaning}`),
  )
  console.log(`The sweep as of ${toRfc3339(now)}: ${lines.length === 0 ? 'nothing to do' : ''}`.trim())
  for (const line of lines) console.log(line)
}

function toInstant(text: string): number {
  const [, count, unit] = /^\+(\d{1,4})([mhd])$/.exec(text) ?? []
  if (count !== undefined) return systemClock.now() + Number(count) * unitMs[unit as keyof typeof unitMs]
  const instant = Date.parse(text)
  const isRfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i.test(text)
  if (!isRfc3339 || Number.isNaN(instant))
    throw new WrongUsage('--at takes a time such as 2026-11-20T09:00:00Z, or +2m')
  return instant
}
