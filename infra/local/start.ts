import { environment } from '../../shared/platform/settings.ts'
import { runUntilStopped } from './commands/command.ts'
import { withoutFound } from './data-directory.ts'
import { mustBeHere, openLedger } from './database/open.ts'
import { readSettings } from './settings.ts'
import { startTrial } from './trial.ts'

const usage = `Starts Unit Guard on this machine, with a stand-in of the service, until it is stopped with Ctrl-C.

  npm start

It takes nothing but settings, from the environment: PORT=9000 npm start. docs/settings.md lists them.`

await runUntilStopped('unit-guard', usage, async (shutdown) => {
  const env = withoutFound(environment())
  mustBeHere(env)
  const settings = readSettings(env)
  await startTrial(settings, shutdown, () => openLedger(settings.keptIn, shutdown))
})
