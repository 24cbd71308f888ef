import type { BudgetDifference } from '../../../shared/guard/people/apply-budgets.ts'
import { type Moves, membersInWords, movesIn } from '../../../shared/guard/people/differences.ts'
import { countOf } from '../../../shared/guard/sentences.ts'
import { folded } from '../../../shared/ledger/definitions/definitions.ts'
import type { Member } from '../../../shared/ledger/definitions/difference.ts'
import { parseStrictJson } from '../../../shared/platform/json.ts'
import { type ListedProject, type ProjectLists, projectsIn } from '../../../shared/tracking/project-list.ts'
import { answerOf, apiAccess, createSend, type Refused } from '../api-client.ts'
import { CannotContinue } from '../failures.ts'
import { type BudgetsFile, readBudgetsFile, type ShownBudget, toBudgetsCsv, type WantedBudget } from './budgets-file.ts'
import { mustBeOneOf, WrongUsage } from './command.ts'
import { withIds } from './projects.ts'
import type { Run } from './table.ts'

type Service = ReturnType<typeof createBudgetsService>

type Flags = Parameters<Run<'budgets'>>[0]
type How = Flags & { readonly etag: string }

export const run: Run<'budgets'> = async (flags, verb = '', file) => {
  const what = mustBeOneOf(verb, ['apply', 'ids', 'export'])
  if (what !== 'apply' && file !== undefined) throw new WrongUsage(`${what} takes no file`)
  if (what === 'apply' && file === undefined) throw new WrongUsage('apply needs a file, such as clients.csv')
  if (file !== undefined && !/\.(csv|json)$/i.test(file)) throw new WrongUsage('The file must end in .csv or .json')
  const service = createBudgetsService(apiAccess())
  const read = await service.read()
  const how = { ...read, ...flags }
  if (what === 'export') process.stdout.write(toBudgetsCsv(read.budgets))
  else if (what === 'apply') await apply(service, await readBudgetsFile(file ?? '', read.budgets, how), how)
  else await apply(service, allBudgets(read.budgets), { ...how, prune: false })
  return true
}

function allBudgets(budgets: readonly ShownBudget[]): BudgetsFile {
  return {
    budgets: budgets.map(({ name, projects }) => ({ name, projects })),
    reason: 'ids from the service',
    removableMembers: [],
    placeOf: (position) => budgets[position]?.name ?? '',
  }
}

async function apply(
  service: Service,
  file: BudgetsFile,
  how: How & { readonly budgets: readonly ShownBudget[] },
): Promise<void> {
  const asked = { ...how, 'dry-run': true }
  const { differences: before } = await service.apply(file, asked)
  const seen = { budgets: how.budgets, differences: before }
  const { file: wanted, lines: aboutIds } = withIds(file, seen, await service.listProjects())
  const { revision, differences, notes } = await service.apply(wanted, asked)
  const unnamed = how.prune ? 0 : countUnnamed(wanted.budgets, how.budgets)
  const lines = [
    ...linesOf(differences, wanted.budgets),
    ...(unnamed > 0
      ? [`= ${countOf(unnamed, 'project stays', 'projects stay')} that the file does not name; --prune removes them`]
      : []),
    ...aboutIds,
    ...notes.map((note) => `! ${note}`).filter((line) => !aboutIds.some((about) => about.startsWith(line))),
  ]
  for (const line of lines) console.log(line)
  if (differences.length === 0) return console.log(`Nothing to apply; revision ${revision}.`)
  if (how['dry-run']) return console.log(`Not applied (--dry-run); revision ${revision}.`)
  console.log(`Applied: revision ${(await service.apply(wanted, how)).revision}.`)
}

export interface Applied {
  readonly revision: number
  readonly differences: readonly BudgetDifference[]
  readonly notes: readonly string[]
}

/** The lists only help, so a hanging service must not block the budgets. */
const listsWithinMs = 10_000

const wrongToken =
  'UNIT_GUARD_TOKEN is not valid there: source the env file again, or make a token with npm run --silent token.'

export function createBudgetsService({ url, token }: { url: string; token: string }) {
  const request = createSend({ url, token })

  /** @throws CannotContinue */
  async function read() {
    const response = await request('GET', '/budgets')
    if (response.status === 401) throw new CannotContinue(wrongToken)
    const { budgets } = (await answerOf(response)) as { budgets: readonly ShownBudget[] }
    return { budgets, etag: response.headers.get('etag') ?? '' }
  }

  /** @throws CannotContinue also if a budget changed since `etag`. */
  async function apply(file: BudgetsFile, how: How): Promise<Applied> {
    const reason = how.reason || file.reason
    const body = { budgets: file.budgets, ...(reason !== undefined && { reason }) }
    const query = new URLSearchParams()
    for (const flag of ['dry-run', 'move', 'release'] as const) if (how[flag]) query.set(flag, 'true')
    if (how['as-written']) query.set('asWritten', 'true')
    for (const member of how.prune ? file.removableMembers : []) query.append('prune', member)
    const response = await request('PUT', `/budgets?${query}`, { etag: how.etag, body })
    if (response.status === 412)
      throw new CannotContinue('The budgets changed while this command ran, so nothing was applied: run it again.')
    return (await answerOf(response, (refused) => inWords(refused, file))) as Applied
  }

  /** The second list has the ids if the first list has none. `null` if unavailable. */
  async function listProjects(): Promise<ProjectLists | null> {
    const first = await list('/v3/projects')
    if (first === null || first.some(({ id }) => id !== undefined)) return first && [first]
    return [first, (await list('/v3/marketshare/projects')) ?? []]
  }

  async function list(path: string): Promise<readonly ListedProject[] | null> {
    const response = await request('GET', path, { signal: AbortSignal.timeout(listsWithinMs) }).catch(() => null)
    const json = parseStrictJson((await response?.text().catch(() => '')) ?? '')
    return response?.ok && json.ok ? projectsIn(json.value) : null
  }

  return { read, apply, listProjects }
}

function inWords({ type, detail, errors, asWritten }: Refused, file: BudgetsFile): string | undefined {
  const isContradicted = type === '/problems/contradicted'
  const lines = errors?.map(({ path, message }) => {
    const [, position, row, member] = /^budgets\.(\d+)(?:\.projects\.(\d+))?\.?(.*)$/.exec(path) ?? []
    const at = row === undefined ? undefined : Number(row)
    const place =
      position === undefined ? path : [file.placeOf(Number(position), at), member].filter(Boolean).join(', ')
    return isContradicted ? `! ${message} (${place})` : `${place}: ${message}`
  })
  if (!lines) return detail
  return [
    'Nothing was applied:',
    ...lines.map((line) => `  ${line}`),
    ...(asWritten ? ['If these rows are right, add --as-written.'] : []),
  ].join('\n')
}

export function linesOf(differences: readonly BudgetDifference[], named: readonly WantedBudget[]): string[] {
  const moves = movesIn(differences.map(({ budget: name, members }) => ({ name, members })))
  const unchanged = named.filter(({ name }) => differences.every(({ budget }) => budget !== name)).length
  return [
    ...differences.flatMap(({ budget, isNew, members }) => {
      const told = membersInWords(members, isNew, { moves })
      const gone = members.flatMap((member) => takenAway(member, moves))
      return [
        `${isNew ? '+' : '~'} ${budget}  ${isNew ? 'new: ' : ''}${told.join(', ')}`,
        ...(gone.length > 0 ? [`    removes ${gone.join(', ')}`] : []),
      ]
    }),
    ...(unchanged > 0 ? [`= ${unchanged} unchanged`] : []),
  ]
}

type Projects = readonly { readonly name: string }[]
type Limits = readonly { readonly window: string }[]

/** Names every removed project, because the line above names only three. A project that moves is not removed. */
function takenAway({ member, from, to }: Member, moves: Moves): string[] {
  if (member === 'limits') {
    const stay = (to as Limits).map(({ window }) => window)
    const gone = ((from ?? []) as Limits).filter(({ window }) => !stay.includes(window))
    return gone.map(({ window }) => `the limit of the ${window}`)
  }
  if (member === 'enforce') return []
  if (member !== 'projects') return from !== null && to === null ? [member] : []
  const stay = new Set((to as Projects).map(({ name }) => folded(name)))
  return ((from ?? []) as Projects)
    .filter(({ name }) => !stay.has(folded(name)) && !moves.has(folded(name)))
    .map(({ name }) => `the project ${name}`)
}

/** Counts, in the budgets that the file names, the projects that the file does not name. */
export function countUnnamed(wanted: readonly WantedBudget[], current: readonly ShownBudget[]): number {
  const rows = wanted.flatMap(({ projects }) => (Array.isArray(projects) ? (projects as Projects) : []))
  const named = new Set(rows.map(({ name }) => folded(name)))
  const listed = wanted.flatMap(({ name, projects }) =>
    Array.isArray(projects) ? (current.find((budget) => budget.name === name)?.projects ?? []) : [],
  )
  return listed.filter(({ name }) => !named.has(folded(name))).length
}
