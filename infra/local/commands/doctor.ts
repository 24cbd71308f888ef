import { project as isProject } from '../../../shared/guard/fields.ts'
import { guardSettings } from '../../../shared/guard/options.ts'
import { readPlans } from '../../../shared/guard/plans/plans-file.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { anyOf, kindsBy, productKinds } from '../../../shared/tracking/kinds.ts'
import { command, commandEnvironment, isInMemory, WrongUsage } from './command.ts'
import { examineLedger } from './doctor/ledger.ts'
import { examineService } from './doctor/service.ts'

const usage = `Looks at the service and the ledger, and says what to set. It only reads: nothing is spent.

  npm run doctor -- [--project <name>] [--id <id>]

  --project  the project to estimate a ${anyOf(kindsBy(productKinds, 'name'))} update of, by name; the account's first one without it
  --id       the same project's id, for ${anyOf(kindsBy(productKinds, 'id'))} updates; looked up without it`

await command(usage, { project: { type: 'string' }, id: { type: 'string' } }, async ({ project, id }) => {
  for (const given of [project, id]) {
    if (given !== undefined && !isProject.safeParse(given).success)
      throw new WrongUsage(`no project is called ${given}`)
  }
  const env = commandEnvironment()
  const settings = parseSettings(guardSettings, env)
  const service = await examineService(settings, { project, id })
  tell(`The service at ${settings.TRACKING_BASE_URL}`, service.lines)
  const plans = readPlans(settings.PLANS)
  const ledger = await examineLedger(settings, { inMemory: isInMemory(env), plans, lists: service.lists ?? [] })
  tell(`The ledger: the table ${settings.TABLE_NAME}`, ledger.lines)
  const toDo = [...new Set([...service.toDo, ...ledger.toDo])]
  tell('What to do next', toDo.length === 0 ? ['nothing: updates can be guarded as it is'] : toDo)
  return toDo.length === 0
})

function tell(heading: string, lines: readonly string[]): void {
  console.log(heading)
  for (const line of lines) console.log(`  ${line}`)
  console.log()
}
