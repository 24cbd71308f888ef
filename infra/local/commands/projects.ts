import type { BudgetDifference } from '../../../shared/guard/people/apply-budgets.ts'
import { contradictionsIn } from '../../../shared/guard/people/listed-ids.ts'
import { few } from '../../../shared/guard/sentences.ts'
import { folded, rootBudget, type Unowned } from '../../../shared/ledger/definitions/definitions.ts'
import type { Json } from '../../../shared/platform/json.ts'
import { jsonOf, type ListedProject } from '../../../shared/tracking/project-list.ts'
import { integerOf } from '../../../shared/tracking/read-units.ts'
import type { Exchange } from '../../../shared/tracking/transport.ts'
import type { BudgetsFile, ShownBudget, WantedBudget } from './budgets-file.ts'

const maxPointers = 6
/** An integer in the service's envelope, but never units. */
const envelopeCode = 'response_code'

export function pointersToUnits(exchange: Exchange): string[] {
  if (exchange.kind === 'failed') return []
  return [...pointersIn(jsonOf(exchange), '')].slice(0, maxPointers)
}

function* pointersIn(value: Json | undefined, path: string): Generator<string> {
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (name === envelopeCode) continue
      yield* pointersIn(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    }
  } else if ((integerOf(value) ?? -1) >= 0 && path !== '') yield path
}

interface Owner {
  readonly name: string
  readonly projects: readonly ListedProject[]
}

/** `unknown` has the budgets' projects that are in no list of the service, `contradicted` a sentence for each wrong id. */
export function findIds(budgets: readonly Owner[], lists: readonly (readonly ListedProject[])[]) {
  const owners = new Map<string, { budget: string; project: string }>()
  const listings = budgets.flatMap(({ name: budget, projects }) =>
    projects.map((project) => ({ budget, project: project.name, id: project.id })),
  )
  for (const { budget, project, id } of listings) {
    for (const spelling of [project, id ?? project]) owners.set(folded(spelling), { budget, project })
  }
  const found = listings.flatMap(({ budget, project, id }) => {
    const listed = id === undefined ? idOf(project, lists) : undefined
    return listed === undefined || folded(listed) === folded(project) ? [] : [{ budget, project, id: listed }]
  })
  const takenBy = ({ id }: { id: string }) => owners.get(folded(id))
  const spellings = new Set(lists.flat().flatMap(({ name, id }) => [folded(name), folded(id ?? name)]))
  const hasIds = lists.flat().some(({ id }) => id !== undefined)
  const isKnown = ({ project, id }: { project: string; id?: string | undefined }) =>
    [project, id ?? project].some((spelling) => spellings.has(folded(spelling))) ||
    // A service that shows no ids cannot say whether a number is an id.
    (!hasIds && /^\d+$/.test(project))
  const withId = listings.flatMap(({ budget, project, id }) =>
    id === undefined ? [] : [{ budget, name: project, id }],
  )
  const known = new Map(lists.flat().map((project) => [project.name, project]))
  return {
    contradicted: lists.length === 0 ? [] : contradictionsIn(withId, lists),
    missing: found.filter((row) => !takenBy(row)),
    twice: found.flatMap(({ project, budget, id }) => {
      const other = takenBy({ id })
      const both = `${project} of ${budget} and ${other?.project} of ${other?.budget}`
      return other ? [`${both} are one project (id ${id})`] : []
    }),
    unknown: listings
      .filter((listing) => !isKnown(listing))
      .map((listing) => `${listing.project} of ${listing.budget}`),
    unowned: [...known.values()]
      .filter(({ name, id }) => ![name, id ?? name].some((spelling) => owners.has(folded(spelling))))
      .map(({ name }) => name),
  }
}

/** `undefined` if no id or several ids fit. */
function idOf(name: string, lists: readonly (readonly ListedProject[])[]): string | undefined {
  const rows = lists.map((list) => list.filter((project) => project.name === name))
  const ids = new Set(rows.flat().flatMap(({ id }) => id ?? []))
  return rows.every(({ length }) => length <= 1) && ids.size === 1 ? [...ids][0] : undefined
}

const effects = { pay: 'pays for', approve: 'wants approval for', refuse: 'refuses' } as const

export const unownedInWords = (names: readonly string[], rule: Unowned = 'pay'): string =>
  `no budget owns ${few(names)}; account ${effects[rule]} ${names.length === 1 ? 'its' : 'their'} updates`

export const unknownInWords = (listings: readonly string[]): string =>
  `the service does not list ${few(listings)}; correct the name, or create the project there`

/**
 * Adds the service's ids to the projects of the file.
 *
 * @param differences the differences that the file would make in `budgets`.
 * @param lists `null` if unavailable.
 */
export function withIds(
  file: BudgetsFile,
  { budgets, differences }: { budgets: readonly ShownBudget[]; differences: readonly BudgetDifference[] },
  lists: readonly (readonly ListedProject[])[] | null,
): { readonly file: BudgetsFile; readonly lines: readonly string[] } {
  if (lists === null) {
    const hasProjects = file.budgets.some((budget) => rowsOf(budget).length > 0)
    const line = '! the service does not list its projects now: no id is filled in, and no name is checked'
    return { file, lines: hasProjects ? [line] : [] }
  }
  const after = new Map<string, Owner & { readonly unowned?: Unowned }>(budgets.map((each) => [each.name, each]))
  for (const { budget: name, members } of differences) {
    const made = Object.fromEntries(members.map(({ member, to }) => [member, to]))
    after.set(name, { projects: [], ...after.get(name), ...made, name })
  }
  const named = new Set(file.budgets.flatMap(rowsOf).map(({ name }) => folded(name)))
  const isUnnamed = ({ name }: ListedProject) => Number(!named.has(folded(name)))
  // The projects of the file come first, because long lists are cut.
  const owners = [...after.values()].map(({ name, projects }) => {
    return { name, projects: projects.toSorted((a, b) => isUnnamed(a) - isUnnamed(b)) }
  })
  const { missing, twice, unowned, unknown, contradicted } = findIds(owners, lists)
  const filled: string[] = []
  const wanted = file.budgets.map((budget) => {
    const found = new Map(missing.filter((row) => row.budget === budget.name).map((row) => [row.project, row.id]))
    const rows = rowsOf(budget)
    if (!rows.some(({ name }) => found.has(name))) return budget
    const projects = rows.map((row) => {
      const id = found.get(row.name)
      if (id !== undefined) filled.push(`    ${row.name} has the id ${id} at the service`)
      return id === undefined ? row : { ...row, id }
    })
    return { ...budget, projects }
  })
  const lines = [
    ...filled,
    ...contradicted.map((sentence) => `! ${sentence}`),
    ...twice.map((sentence) => `! ${sentence}: keep one of them`),
    ...(unknown.length > 0 ? [`! ${unknownInWords(unknown)}`] : []),
    ...(unowned.length > 0 ? [`! ${unownedInWords(unowned, after.get(rootBudget)?.unowned ?? 'pay')}`] : []),
  ]
  return { file: { ...file, budgets: wanted }, lines }
}

const rowsOf = ({ projects }: WantedBudget): readonly ListedProject[] =>
  Array.isArray(projects) && projects.every((row) => typeof row?.name === 'string') ? projects : []
