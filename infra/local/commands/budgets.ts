import { parseSettings } from '../../../shared/platform/settings.ts'
import { apiSettings } from '../api-client.ts'
import { type BudgetsFile, readBudgetsFile, type ShownBudget, toBudgetsCsv } from './budgets/file.ts'
import { countUnnamed, createBudgetsService, linesOf } from './budgets/service.ts'
import { command, commandEnvironment, WrongUsage } from './command.ts'
import { withIds } from './projects.ts'

const usage = `Makes and changes many budgets from a file, as one revision. It shows the difference first; no budget is deleted.

  npm run budgets -- apply <file.csv|json> [--dry-run] [--prune] [--reason <text>]
  npm run budgets -- ids [--dry-run]
  npm run budgets -- export

  apply      JSON: {"budgets": [{"name", "parent", "limits", "projects", …}]}, as PUT /budgets takes it.
             CSV: a header with any of budget,parent,month,day,project,id,perUpdate,approvalAbove,approvers (separated
             by ;), with commas, semicolons or tabs between the cells. More rows of a budget name more of its projects.
             Rows add and change: what is not named, or is empty, stays as it is.
  --dry-run  shows the difference, and applies nothing
  --prune    takes away, from the budgets that the file names, every project and rule that it does not name; what a
             CSV has no column for stays. The difference shows it.
  --reason   what the entry says
  ids        gives every owned project without an id the one that the service lists under exactly that name, as apply does
             for the projects of its file; an id that is there is never replaced
  export     all budgets as such a CSV, to begin a file from

It speaks to UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scope admin): those of npm start, or of AWS where they are set so.`

const flags = { 'dry-run': { type: 'boolean' }, prune: { type: 'boolean' }, reason: { type: 'string' } } as const

type Service = ReturnType<typeof createBudgetsService>

interface How {
  readonly budgets: readonly ShownBudget[]
  readonly etag: string
  readonly dryRun: boolean
  readonly prune: boolean
  readonly reason?: string
}

const verb = process.argv[2]

await command(
  usage,
  flags,
  async ({ 'dry-run': dryRun, prune, reason }, what, file = '') => {
    if (what !== 'apply' && what !== 'ids' && what !== 'export')
      throw new WrongUsage(`takes apply, ids or export, not ${what}`)
    if (what === 'apply' && !/\.(csv|json)$/i.test(file)) throw new WrongUsage('the file must end in .csv or .json')
    const { UNIT_GUARD_URL: url, UNIT_GUARD_TOKEN: token } = parseSettings(apiSettings, commandEnvironment())
    const service = createBudgetsService({ url, token })
    const read = await service.read()
    const how = { ...read, dryRun: dryRun !== undefined, prune: prune !== undefined, ...(reason && { reason }) }
    if (what === 'export') process.stdout.write(toBudgetsCsv(read.budgets))
    else if (what === 'apply') await apply(service, await readBudgetsFile(file, read.budgets, how), how)
    else await apply(service, allBudgets(read.budgets), { ...how, prune: false })
    return true
  },
  verb === 'export' || verb === 'ids' ? [verb] : ['apply', '<file>'],
)

function allBudgets(budgets: readonly ShownBudget[]): BudgetsFile {
  return {
    budgets: budgets.map(({ name, projects }) => ({ name, projects })),
    reason: 'ids from the service',
    prunable: [],
    placeOf: (position) => budgets[position]?.name ?? '',
  }
}

async function apply(service: Service, file: BudgetsFile, how: How): Promise<void> {
  const { file: wanted, lines: aboutIds } = withIds(file, how, await service.listProjects())
  const { revision, differences } = await service.apply(wanted, { ...how, dryRun: true })
  const unnamed = how.prune ? 0 : countUnnamed(wanted.budgets, how.budgets)
  const lines = [
    ...linesOf(differences, wanted.budgets.length),
    ...(unnamed > 0 ? [`= ${staying(unnamed)} that the file does not name; --prune takes them away`] : []),
    ...aboutIds,
  ]
  for (const line of lines) console.log(line)
  if (differences.length === 0) return console.log(`Nothing to apply; revision ${revision}.`)
  if (how.dryRun) return console.log(`Not applied (--dry-run); revision ${revision}.`)
  console.log(`Applied: revision ${(await service.apply(wanted, { ...how, dryRun: false })).revision}.`)
}

function staying(count: number): string {
  return `${count} ${count === 1 ? 'project stays' : 'projects stay'}`
}
