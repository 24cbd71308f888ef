import type { BudgetDifference } from '../../../shared/guard/people/apply-budgets.ts'
import { few } from '../../../shared/guard/sentences.ts'
import { folded, rootBudget, type Unowned } from '../../../shared/ledger/book/definitions.ts'
import { isObject, type Json, parseStrictJson } from '../../../shared/platform/json.ts'
import { textOf } from '../../../shared/tracking/answer.ts'
import { integerOf } from '../../../shared/tracking/read-units.ts'
import { type Exchange, isSuccess } from '../../../shared/tracking/transport.ts'
import type { BudgetsFile, ShownBudget, WantedBudget } from './budgets-file.ts'

const maxPointers = 6
/** An integer in the service's envelope, but never units. */
const envelopeCode = 'response_code'

interface Listing {
  readonly projects: readonly { readonly name: string; readonly id: string | undefined }[]
  readonly reason: string
  readonly isRead: boolean
}

/** The service documents `projects` with names only. Ids are read if there are any. */
export function readProjects(exchange: Exchange): Listing {
  const none = (reason: string) => ({ projects: [], reason, isRead: false })
  if (exchange.kind === 'failed') return none(`cannot be listed (${exchange.reason})`)
  if (!isSuccess(exchange.status)) return none(`cannot be listed (status ${exchange.status})`)
  const projects = projectsIn(jsonOf(exchange))
  if (projects === null) return none('cannot be listed (no list of projects in the body)')
  return { projects, reason: projects.length === 0 ? 'none is listed' : `${projects.length} are listed`, isRead: true }
}

export function projectsIn(json: Json | undefined): Listing['projects'] | null {
  const rows = listIn(json)
  if (rows === null) return null
  return rows.flatMap((row) => {
    const name = isObject(row) ? row.name : row
    const id = isObject(row) ? row.id : undefined
    const hasId = typeof id === 'string' || typeof id === 'number'
    return typeof name === 'string' ? [{ name, id: hasId ? String(id) : undefined }] : []
  })
}

function listIn(json: Json | undefined): Json[] | null {
  if (!isObject(json)) return null
  if (Array.isArray(json.projects)) return json.projects
  return isObject(json.data) ? listIn(json.data) : null
}

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

function jsonOf(exchange: Exclude<Exchange, { kind: 'failed' }>): Json | undefined {
  const text = textOf(exchange)
  const json = parseStrictJson(text.ok ? text.text : '')
  return json.ok ? json.value : undefined
}

export interface OwnedProject {
  readonly name: string
  readonly id?: string | undefined
}

interface Owner {
  readonly name: string
  readonly projects: readonly OwnedProject[]
}

/** `unknown` has the budgets' projects that are in no list of the service. */
export function findIds(budgets: readonly Owner[], lists: readonly (readonly OwnedProject[])[]) {
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
  const known = new Map(lists.flat().map((project) => [project.name, project]))
  return {
    missing: found.filter((row) => !takenBy(row)),
    twice: found.flatMap(({ project, budget, id }) => {
      const other = takenBy({ id })
      const both = `${project} of ${budget} and ${other?.project} of ${other?.budget}`
      return other ? [`${both} are one project (id ${id})`] : []
    }),
    unknown: listings.flatMap((listing) => (isKnown(listing) ? [] : [`${listing.project} of ${listing.budget}`])),
    unowned: [...known.values()].flatMap(({ name, id }) =>
      [name, id ?? name].some((spelling) => owners.has(folded(spelling))) ? [] : [name],
    ),
  }
}

/** `undefined` if no id or several ids fit. */
function idOf(name: string, lists: readonly (readonly OwnedProject[])[]): string | undefined {
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
  lists: readonly (readonly OwnedProject[])[] | null,
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
  const isUnnamed = ({ name }: OwnedProject) => Number(!named.has(folded(name)))
  // The projects of the file come first, because long lists are cut.
  const owners = [...after.values()].map(({ name, projects }) => {
    return { name, projects: projects.toSorted((a, b) => isUnnamed(a) - isUnnamed(b)) }
  })
  const { missing, twice, unowned, unknown } = findIds(owners, lists)
  const filled: string[] = []
  const wanted = file.budgets.map((budget) => {
    const found = new Map(missing.flatMap((row) => (row.budget === budget.name ? [[row.project, row.id]] : [])))
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
    ...twice.map((sentence) => `! ${sentence}: keep one of them`),
    ...(unknown.length > 0 ? [`! ${unknownInWords(unknown)}`] : []),
    ...(unowned.length > 0 ? [`! ${unownedInWords(unowned, after.get(rootBudget)?.unowned ?? 'pay')}`] : []),
  ]
  return { file: { ...file, budgets: wanted }, lines }
}

const rowsOf = ({ projects }: WantedBudget): readonly OwnedProject[] =>
  Array.isArray(projects) && projects.every((row) => typeof row?.name === 'string') ? projects : []
