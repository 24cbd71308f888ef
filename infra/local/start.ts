import { environment } from '../../shared/platform/settings.ts'
import { runUntilStopped } from './commands/command.ts'
import { commands } from './commands/table.ts'
import { withoutFound } from './data-directory.ts'
import { mustBeHere, openLedger } from './database/open.ts'
import { readSettings } from './settings.ts'
import { startTrial } from './trial.ts'

await runUntilStopped('unit-guard', commands.start.usage, async (shutdown) => {
  const env = withoutFound(environment())
  mustBeHere(env)
  const settings = readSettings(env)
  await startTrial(settings, shutdown, () => openLedger(settings.keptIn, shutdown))
})
