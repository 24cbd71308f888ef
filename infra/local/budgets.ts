import * as z from 'zod/mini'
import { parseSettings } from '../../shared/platform/settings.ts'
import { isUsableToken } from '../../shared/tracking/service-token.ts'
import { countUnnamed, linesOf } from './budgets-difference.ts'
import { readBudgetsFile, type ShownBudget, toBudgetsCsv } from './budgets-file.ts'
import { createBudgetsService } from './budgets-service.ts'
import { command, commandEnvironment, WrongUsage } from './command.ts'

const usage = `Makes and changes many budgets from a file, as one revision. It shows the difference first; no budget is deleted.

  npm run budgets -- apply <file.csv|json> [--dry-run] [--prune] [--reason <text>]
  npm run budgets -- export

  apply      JSON: {"budgets": [{"name", "parent", "limits", "projects", …}]}, as PUT /budgets takes it.
             CSV: a header with any of budget,parent,month,day,project,id,perUpdate,approvalAbove,approvers (separated
             by ;), with commas, semicolons or tabs between the cells. More rows of a budget name more of its projects.
             Rows add and change: what is not named, or is empty, stays as it is.
  --dry-run  shows the difference, and applies nothing
  --prune    takes away, from the budgets that the file names, every project and rule that it does not name; what a
             CSV has no column for stays. The difference shows it.
  --reason   what the entry says
  export     all budgets as such a CSV, to begin a file from

It speaks to UNIT_GUARD_URL with UNIT_GUARD_TOKEN (scope admin): those of npm start, or of AWS where they are set so.`

const settings = z.object({
  UNIT_GUARD_URL: z.url('takes the address of Unit Guard'),
  UNIT_GUARD_TOKEN: z
    .string('takes a bearer token')
    // What `fetch` says of any other shows it.
    .check(z.refine(isUsableToken, 'takes a bearer token alone, as npm run --silent token prints it')),
})
const flags = { 'dry-run': { type: 'boolean' }, prune: { type: 'boolean' }, reason: { type: 'string' } } as const

const isExport = process.argv[2] === 'export'

await command(
  usage,
  flags,
  async ({ 'dry-run': dryRun, prune, reason }, what, file = '') => {
    if (what !== 'apply' && what !== 'export') throw new WrongUsage(`takes apply or export, not ${what}`)
    if (!isExport && !/\.(csv|json)$/i.test(file)) throw new WrongUsage('takes a file that ends in .csv or .json')
    const { UNIT_GUARD_URL: url, UNIT_GUARD_TOKEN: token } = parseSettings(settings, commandEnvironment())
    const service = createBudgetsService({ url, token })
    const { budgets, etag } = await service.read()
    if (isExport) process.stdout.write(toBudgetsCsv(budgets))
    else
      await apply(service, {
        file,
        budgets,
        etag,
        dryRun: dryRun !== undefined,
        prune: prune !== undefined,
        ...(reason && { reason }),
      })
    return true
  },
  isExport ? ['export'] : ['apply', '<file>'],
)

async function apply(
  service: ReturnType<typeof createBudgetsService>,
  how: {
    file: string
    budgets: readonly ShownBudget[]
    etag: string
    dryRun: boolean
    prune: boolean
    reason?: string
  },
): Promise<void> {
  const wanted = await readBudgetsFile(how.file, how.budgets, how)
  const { revision, differences } = await service.apply(wanted, { ...how, dryRun: true })
  for (const line of linesOf(differences, wanted.budgets.length)) console.log(line)
  const staying = how.prune ? 0 : countUnnamed(wanted.budgets, how.budgets)
  if (staying > 0)
    console.log(
      `= ${staying} ${staying === 1 ? 'project stays' : 'projects stay'} that the file does not name; --prune takes them away`,
    )
  if (differences.length === 0) return console.log(`Nothing to apply; revision ${revision}.`)
  if (how.dryRun) return console.log(`Not applied (--dry-run); revision ${revision}.`)
  console.log(`Applied: revision ${(await service.apply(wanted, { ...how, dryRun: false })).revision}.`)
}
