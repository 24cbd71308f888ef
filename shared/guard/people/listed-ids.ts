import { type Definitions, folded, listingsOf } from '../../ledger/definitions/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem } from '../../ledger/updates/update.ts'
import type { ProjectLists } from '../../tracking/project-list.ts'
import type { Tracking } from '../../tracking/tracking.ts'
import { problem } from '../problems.ts'
import { count, few, list } from '../sentences.ts'

type Budgets = Definitions['budgets']

interface RowWithId {
  readonly name: string
  readonly id: string
}

/** A row that a change adds to a budget, or changes in it. */
interface ChangedRow extends RowWithId {
  readonly budget: string
  /** A budget already listed this name with this id. */
  readonly isKnown: boolean
}

/** What the service lists when a change is made. `lists` is `null` if it cannot list its projects now. */
export interface IdLists {
  readonly lists: ProjectLists | null
}

const pairOf = ({ name, id }: { readonly name: string; readonly id?: string }) => JSON.stringify([folded(name), id])

function changedRows(before: Budgets, after: Budgets): readonly ChangedRow[] {
  return Object.values(after).flatMap(({ name: budget, projects }) => {
    const old = (Object.hasOwn(before, budget) && before[budget]?.projects) || []
    if (projects === old) return []
    const kept = new Set(old.map(pairOf))
    return projects.flatMap(({ name, id }) => {
      if (id === undefined) return []
      const pair = pairOf({ name, id })
      if (kept.has(pair)) return []
      const isKnown = listingsOf({ budgets: before }, name).some(({ project }) => pairOf(project) === pair)
      return [{ budget, name, id, isKnown }]
    })
  })
}

type Make = (view: {
  readonly definitions: Definitions
}) => { readonly definitions: { readonly budgets: Budgets } } | Problem

/** Asks the service only if the change adds or changes ids. @param make does not look at ids yet. */
export async function idListsFor(
  { ledger, tracking }: { readonly ledger: Pick<Ledger, 'view'>; readonly tracking: Pick<Tracking, 'projects'> },
  make: Make,
): Promise<IdLists> {
  const view = await ledger.view()
  const made = make(view)
  if ('slug' in made || changedRows(view.definitions.budgets, made.definitions.budgets).length === 0)
    return { lists: null }
  return { lists: await tracking.projects().catch(() => null) }
}

interface CheckOptions extends IdLists {
  /** A person says that the rows are right, whatever the service lists. */
  readonly asWritten: boolean | undefined
  pathOf(budget: string, name: string): string
}

interface Fault {
  readonly path: string
  readonly message: string
}

/** Refuses ids that the service gives to other projects, because another client would pay. */
export function checkIds(
  before: { readonly budgets: Budgets },
  after: { readonly budgets: Budgets },
  { lists, asWritten = false, pathOf }: CheckOptions,
): { readonly notes: readonly string[] } | Problem {
  const [faults, notes, unchecked]: [Fault[], string[], string[]] = [[], [], []]
  let asWrittenPasses = true
  const verdictOf = lists === null ? () => unread : createVerdicts(lists)
  for (const row of changedRows(before.budgets, after.budgets)) {
    const { isListed, contradiction, ambiguity } = verdictOf(row)
    const path = pathOf(row.budget, row.name)
    if (ambiguity !== null) notes.push(`ambiguous: ${ambiguity}`)
    if (!row.isKnown && !isListed && !plainId.test(row.id)) {
      asWrittenPasses = false
      faults.push({ path, message: unlistedIdReason(row, contradiction) })
    } else if (lists === null && (row.isKnown || asWritten)) unchecked.push(`${row.id} of ${row.name}`)
    else if (contradiction !== null && asWritten) notes.push(contradiction)
    else if (contradiction !== null)
      faults.push({ path, message: lists === null ? uncheckedIdReason(row) : contradiction })
  }
  if (unchecked.length > 0) notes.push(`${notListed}, so these ids are not checked: ${few(unchecked)}`)
  return faults.length > 0 ? contradicted(faults, asWrittenPasses) : { notes }
}

const notListed = 'the service does not list its projects now'
const plainId = /^(?:0|[1-9]\d*)$/

const unlistedIdReason = ({ name, id }: RowWithId, contradiction: string | null): string =>
  `${id} of ${name} is not an id that the service lists, and other ids are digits without leading zeros${contradiction === null ? '' : ` (${contradiction})`}`

const uncheckedIdReason = ({ name, id }: RowWithId) => `${notListed}, so the id ${id} of ${name} cannot be checked`

const maxShown = 5

/** @param asWritten whether the same request passes with `asWritten=true`. */
function contradicted(faults: readonly Fault[], asWritten: boolean): Problem {
  const texts = [...new Set(faults.map(({ message }) => message))]
  const more = texts.length - maxShown
  const detail = `${texts.slice(0, maxShown).join('; ')}${more > 0 ? `; and ${count(more)} more` : ''}.`
  const advice = asWritten ? ' If the rows are right, add asWritten=true (in a file: apply --as-written).' : ''
  const errors = faults.map(({ path, message }) => ({ path, message }))
  return problem('contradicted', `${detail}${advice}`, { errors, asWritten })
}

interface Verdict {
  /** The service lists exactly this id. */
  readonly isListed: boolean
  /** A sentence about the id, without its full stop. */
  readonly contradiction: string | null
  readonly ambiguity: string | null
}

const unread: Verdict = { isListed: false, contradiction: notListed, ambiguity: null }

/** Compares rows with the lists of the service. Two projects of one name contradict no row. */
function createVerdicts(lists: ProjectLists): (row: RowWithId) => Verdict {
  const idsOf = new Map<string, Map<string, string>>()
  const namesOf = new Map<string, Map<string, string>>()
  const exact = new Set<string>()
  for (const { name, id } of lists.flat()) {
    if (id === undefined) continue
    exact.add(id)
    into(idsOf, folded(name)).set(folded(id), id)
    into(namesOf, folded(id)).set(folded(name), name)
  }
  return ({ name, id }) => {
    const ids = idsOf.get(folded(name)) ?? new Map<string, string>()
    const names = namesOf.get(folded(id)) ?? new Map<string, string>()
    const isOwn = ids.has(folded(id))
    const [onlyId] = ids.size === 1 && !isOwn ? ids.values() : []
    const others = isOwn || folded(name) === folded(id) ? [] : [...names.values()]
    const ambiguities = [
      ...(ids.size > 1 ? [`the service lists ${name} under ${list([...ids.values()])}`] : []),
      ...(names.size > 1 ? [`the service lists ${list([...names.values()])} under ${id}`] : []),
    ]
    return {
      isListed: exact.has(id),
      contradiction: contradictionOf({ name, id }, onlyId, others),
      ambiguity: ambiguities.join('; ') || null,
    }
  }
}

function contradictionOf(
  { name, id }: RowWithId,
  onlyId: string | undefined,
  others: readonly string[],
): string | null {
  if (onlyId !== undefined && others.length > 0)
    return `the service lists ${name} under ${onlyId}; ${id} is ${list(others)}`
  if (onlyId !== undefined) return `the service lists ${name} under ${onlyId}, not under ${id}`
  return others.length > 0 ? `the service lists ${list(others)} under ${id}, not ${name}` : null
}

function into(map: Map<string, Map<string, string>>, key: string): Map<string, string> {
  const found = map.get(key) ?? new Map<string, string>()
  map.set(key, found)
  return found
}

/** Says which rows of existing budgets the service contradicts. */
export function contradictionsIn(
  rows: readonly (RowWithId & { readonly budget: string })[],
  lists: ProjectLists,
): readonly string[] {
  const verdictOf = createVerdicts(lists)
  return rows.flatMap(({ budget, ...row }) => {
    const { isListed, contradiction, ambiguity } = verdictOf(row)
    const why = isListed || plainId.test(row.id) ? contradiction : unlistedIdReason(row, contradiction)
    const texts = [why, ambiguity === null ? null : `ambiguous: ${ambiguity}`]
    return texts.filter((text) => text !== null).map((text) => `${text} (${row.name} of ${budget} has ${row.id})`)
  })
}
