import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { settleMarginMs } from '../../shared/guard/options.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { createLog } from '../../shared/platform/log.ts'
import { version } from '../../shared/platform/version.ts'
import { settingsFiles } from '../settings-files.ts'
import { settingsHere } from './commands/command.ts'
import type { Run } from './commands/table.ts'
import { writeEnvFile } from './data-directory.ts'
import { openLedger } from './database/open.ts'
import { CannotContinue } from './failures.ts'
import { createListener } from './listener.ts'
import { onceAMinute } from './log/error-lines.ts'
import { startServer } from './server.ts'
import { ledgerFile, readServedSettings } from './settings.ts'
import { type Shutdown, untilStopped } from './shutdown.ts'

/** The time to write the outcome of the last call of the service, and to close. */
const finishMs = settleMarginMs + 2_000

export const run: Run<'serve'> = () => untilStopped(serve)

async function serve(shutdown: Shutdown): Promise<void> {
  const local = settingsHere(readServedSettings)
  const plans = settingsFiles.plans(local.guard.PLANS)
  settingsFiles.issuers(local.guard)
  // Without this check, a new ledger with all units left would begin in the empty folder of a volume that is not mounted.
  const folder = local.directory
  if (!existsSync(join(folder, ledgerFile)))
    throw new CannotContinue(
      `${folder} holds no ledger: mount the volume that has it, restore a backup (npm run restore -- from <file>), or begin one with npm run account -- begin`,
    )
  const main = await createListener({ port: local.port, host: local.host, setting: 'PORT' })
  const write = (line: string) => void process.stdout.write(`${line}\n`)
  const log = createLog({ write: onceAMinute(write, systemClock.now), now: systemClock.now })
  shutdown.change({ tell: () => log.info('stopping') })
  const ledger = await openLedger(folder, shutdown)
  const { settings, text, found } = await startServer(local, {
    shutdown,
    main,
    ledger,
    log,
    fires: plans,
    begins: false,
  })
  shutdown.change({ patienceMs: settings.SERVICE_TIMEOUT_MS + finishMs, mayEnd: true })
  // Commands find the server with this file. Its secrets end with this process.
  const place = { DATA_DIR: folder, UNIT_GUARD_URL: main.url, UNIT_GUARD_PID: String(process.pid) }
  await writeEnvFile(folder, { ...place, ...text }, found)
  log.info('serving', { version, url: main.url, ledger: ledger.where })
}
