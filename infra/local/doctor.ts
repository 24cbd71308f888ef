import { guardSettings, parseSettings } from '../../shared/platform/settings.ts'
import { command, commandEnvironment, isInMemory } from './command.ts'
import { examineLedger } from './doctor-ledger.ts'
import { examineService } from './doctor-service.ts'

const usage = `Looks at the service and the ledger, and says what to set. It only reads: nothing is spent.

  npm run doctor -- [--project <name>] [--id <id>]

  --project  the project to estimate a ranking update of, by name; the account's first one without it
  --id       the same project's id, for keyword difficulty; looked up without it`

/** What a part of the examination has found out. */
export interface Findings {
  /** Each a line, indented under a heading. */
  readonly lines: readonly string[]
  /** What a person has to do before updates can be guarded; each a line. */
  readonly toDo: readonly string[]
}

await command(usage, { project: { type: 'string' }, id: { type: 'string' } }, async ({ project, id }) => {
  const env = commandEnvironment()
  const settings = parseSettings(guardSettings, env)
  const service = await examineService(settings, { project, id })
  tell(`The service at ${settings.TRACKING_BASE_URL}`, service.lines)
  const ledger = await examineLedger(settings, { inMemory: isInMemory(env) })
  tell(`The ledger: the table ${settings.TABLE_NAME}`, ledger.lines)
  const toDo = [...service.toDo, ...ledger.toDo]
  tell('What to do next', toDo.length === 0 ? ['nothing: updates can be guarded as it is'] : toDo)
  return toDo.length === 0
})

function tell(heading: string, lines: readonly string[]): void {
  console.log(heading)
  for (const line of lines) console.log(`  ${line}`)
  console.log()
}
