import {
  type Budget,
  chainOf,
  type Definitions,
  folded,
  type Listing,
  listingsOf,
  type OwnedProject,
  ownerOf,
} from '../../ledger/definitions/definitions.ts'
import type { Fault } from '../../platform/faults.ts'
import type { Plan } from '../plans-file.ts'
import { whyNotPaidBy } from '../rules/projects.ts'
import { list } from '../sentences.ts'

type Budgets = Definitions['budgets']

export interface Move {
  /** The project as the old owner lists it. */
  readonly project: OwnedProject
  readonly from: string
  readonly to: string
}

interface Moved {
  readonly budgets: Budgets
  readonly faults: readonly Fault[]
}

interface NamedRow {
  readonly to: string
  readonly row: OwnedProject
  readonly path: string
}

/**
 * Moves new rows of a budget out of the budgets that list them now, with name and id.
 *
 * @param named the rows that the change itself names, by budget.
 * @param how.mayMove if false, each such row is a fault that names the owner.
 * @param how.pathOf the path of a row in the request.
 */
export function moveRows(
  before: Definitions,
  after: Budgets,
  named: ReadonlyMap<string, readonly OwnedProject[]>,
  how: { readonly mayMove: boolean; pathOf(budget: number, row: number): string },
): Moved {
  const budgets: Record<string, Budget> = { ...after }
  const rows = [...named].flatMap(([to, projects], position) =>
    projects.map((row, at): NamedRow => ({ to, row, path: how.pathOf(position, at) })),
  )
  const faults: Fault[] = namedTwice(before, rows)
  if (faults.length > 0) return { budgets, faults }
  for (const { to, row, path } of rows) {
    const fail = (message: string) => faults.push({ path, message })
    const own = ownRow(before, to, row)
    // A repeated move keeps the id, too.
    if (own && how.mayMove) budgets[to] = withRow(budgets[to], row, { ...own, ...row })
    // Looks at the lists before the change. If the change also removes the old row, the project still keeps its id.
    for (const { budget, project } of own ? [] : listingsBeside(before, to, row)) {
      const from = budget.name
      if (!isWhole(project, row))
        fail(
          `${shown(row)} is ${shown(project)} in ${from}: a project has one owner, and moves with its name and its id`,
        )
      else if (!how.mayMove)
        fail(`${row.name} belongs to ${from}. To move it to ${to}, add move=true (in a file: apply --move)`)
      else {
        budgets[from] = withRow(budgets[from], project)
        budgets[to] = withRow(budgets[to], row, { ...project, ...row })
      }
    }
  }
  return { budgets, faults }
}

/** Finds one project in two budgets. One row may have the new name or id, and the other row the old name or id. */
function namedTwice(before: Definitions, rows: readonly NamedRow[]): Fault[] {
  const first = new Map<string, NamedRow>()
  return rows.flatMap((named) => {
    const { to, row } = named
    const known = textsOf(row).flatMap((text) => listingsOf(before, text).flatMap(({ project }) => textsOf(project)))
    const texts = [...new Set([...textsOf(row), ...known])]
    const others = texts.flatMap((text) => first.get(text) ?? []).filter((each) => each.to !== to)
    for (const text of texts) if (!first.has(text)) first.set(text, named)
    // Old collisions do not block other changes.
    const isOld = ({ to: budget, row: project }: NamedRow) => ownRow(before, budget, project) !== undefined
    const other = others.find((each) => !isOld(each) || !isOld(named))
    if (!other) return []
    const { row: otherRow } = other
    const names =
      folded(otherRow.name) === folded(row.name)
        ? `${row.name} stands`
        : `${shown(otherRow)} and ${shown(row)} are one project, which stands`
    const message = `${names} in two budgets of this change, ${other.to} and ${to}; name it in one`
    return [other.path, named.path].map((path) => ({ path, message }))
  })
}

/** The budget's own listing of a row, unless the row changes its name or id. */
const ownRow = (before: Definitions, budget: string, row: OwnedProject): OwnedProject | undefined =>
  listingsOf(before, row.name).find(
    (each) =>
      each.budget.name === budget &&
      isWhole(each.project, row) &&
      (row.id === undefined || each.project.id !== undefined),
  )?.project

const listingsBeside = (before: Definitions, to: string, row: OwnedProject): readonly Listing[] => {
  const listings = textsOf(row).flatMap((text) => listingsOf(before, text))
  return listings.filter(
    ({ budget, project }, at) => budget.name !== to && listings.findIndex((each) => each.project === project) === at,
  )
}

const textsOf = ({ name, id }: OwnedProject): readonly string[] => [name, ...(id === undefined ? [] : [id])].map(folded)

const isWhole = (listed: OwnedProject, row: OwnedProject): boolean =>
  folded(listed.name) === folded(row.name) &&
  (listed.id === undefined || row.id === undefined || folded(listed.id) === folded(row.id))

const shown = ({ name, id }: OwnedProject): string => (id === undefined ? name : `${name} (id ${id})`)

/** @param row absent: the project leaves the list. */
const withRow = (budget: Budget | undefined, { name }: OwnedProject, row?: OwnedProject): Budget => {
  if (!budget) throw new Error('both budgets of a move must exist')
  const changed = (each: OwnedProject) => (folded(each.name) === folded(name) ? (row ?? []) : each)
  return { ...budget, projects: budget.projects.flatMap(changed) }
}

/** Projects that have another owner after the change. */
export function movesBetween(before: Definitions, after: Definitions): readonly Move[] {
  return Object.values(before.budgets).flatMap(({ name: from, projects }) =>
    projects.flatMap((project): Move[] => {
      const to = ownerOf(after, project.name)?.name
      return to === undefined || to === from || listingsOf(before, project.name).length > 1
        ? []
        : [{ project, from, to }]
    }),
  )
}

const maxNotes = 20

interface Change {
  readonly before: { readonly definitions: Definitions }
  readonly after: { readonly definitions: Definitions }
}

/** Sentences about each move: its owners, freezes that it leaves behind, and plans that may no longer pay. */
export function moveNotes(change: Change, plans: readonly Plan[]): readonly string[] {
  const [before, after] = [change.before.definitions, change.after.definitions]
  const moves = movesBetween(before, after)
  if (moves.length === 0) return []
  const unpaid = unpaidAfter(before, after, plans)
  const more = moves.length - maxNotes
  return [
    ...moves.slice(0, maxNotes).map((move) => noteOf(move, before, after, unpaid)),
    ...(more > 0 ? [`${more} more projects move.`] : []),
  ]
}

interface Unpaid {
  readonly plan: string
  readonly budget: string
  readonly project: OwnedProject | undefined
}

const unpaidAfter = (before: Definitions, after: Definitions, plans: readonly Plan[]): readonly Unpaid[] =>
  plans.flatMap((plan) => {
    const { name, budget, projects, enabled } = plan
    if (budget === undefined || !enabled) return []
    const lost = projects.filter(
      (project) => whyNotPaidBy(before, plan, project) === null && whyNotPaidBy(after, plan, project) !== null,
    )
    return lost.map((project) => ({ plan: name, budget, project: listingsOf(before, project)[0]?.project }))
  })

function noteOf({ project, from, to }: Move, before: Definitions, after: Definitions, unpaid: readonly Unpaid[]) {
  const frozen = (definitions: Definitions, budget: string) =>
    chainOf(definitions, budget)
      .filter((each) => each.frozen)
      .map((each) => each.name)
  const kept = frozen(after, to)
  const left = frozen(before, from).filter((budget) => !kept.includes(budget))
  const plans = new Map(unpaid.filter((each) => each.project === project).map((each) => [each.plan, each.budget]))
  return [
    `${project.name} moves from ${from} to ${to}.`,
    ...(left.length > 0 ? [`It leaves behind the freeze of ${list(left)}.`] : []),
    ...[...plans].map(([plan, budget]) => `The plan ${plan} charges ${budget}, which may no longer pay for it.`),
  ].join(' ')
}
