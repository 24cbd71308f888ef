import {
  type Budget,
  budgetNamed,
  chainOf,
  type Definitions,
  folded,
  listingsOf,
  type OwnedProject,
  ownerOf,
} from '../../ledger/book/definitions.ts'
import type { Plan } from '../plans/plans-file.ts'
import { list } from '../sentences.ts'
import { wrongBudget } from '../update/projects.ts'

type Budgets = Definitions['budgets']

export interface Move {
  /** As the old owner lists it. */
  readonly project: OwnedProject
  readonly from: string
  readonly to: string
}

interface Fault {
  readonly path: string
  readonly message: string
}

interface Moved {
  readonly budgets: Budgets
  readonly faults: readonly Fault[]
}

/**
 * Takes new rows of a budget out of the budgets that list them now, whole: with name and id.
 *
 * @param named the rows that the change itself names, by budget.
 * @param mayMove without it, each such row is a fault that names the owner.
 */
export function moveRows(
  before: Definitions,
  after: Budgets,
  named: ReadonlyMap<string, readonly OwnedProject[]>,
  mayMove: boolean,
): Moved {
  const budgets: Record<string, Budget> = { ...after }
  const faults: Fault[] = []
  const fail = (to: string, message: string) => faults.push({ path: named.size === 1 ? 'projects' : to, message })
  for (const [to, rows] of named) {
    // Old collisions do not block other changes.
    const old = budgetNamed(before, to)?.projects ?? []
    for (const row of rows.filter((each) => !old.some((listed) => isSameRow(listed, each)))) {
      for (const { name: from, projects } of Object.values(before.budgets).filter(({ name }) => name !== to)) {
        // Also where the same change takes it out of the old list: a project must not lose its id on the way.
        const listed = projects.find((each) => isSharing(each, row))
        if (!listed) continue
        if (named.get(from)?.some((each) => isSharing(each, row)))
          fail(to, `${row.name} stands in two budgets of this change, ${from} and ${to}; name it in one`)
        else if (!isWhole(listed, row))
          fail(
            to,
            `${shown(row)} is ${shown(listed)} in ${from}: a project has one owner, and moves with its name and its id`,
          )
        else if (!mayMove)
          fail(to, `${row.name} belongs to ${from}. To move it to ${to}, add move=true (in a file: apply --move)`)
        else {
          budgets[from] = without(budgets[from], listed)
          budgets[to] = withRow(budgets[to], { ...listed, ...row })
        }
      }
    }
  }
  return { budgets, faults }
}

const textsOf = ({ name, id }: OwnedProject): readonly string[] => [name, ...(id === undefined ? [] : [id])].map(folded)

const isSharing = (one: OwnedProject, other: OwnedProject): boolean =>
  textsOf(one).some((text) => textsOf(other).includes(text))

const isSameRow = (one: OwnedProject, other: OwnedProject): boolean => one.name === other.name && one.id === other.id

const isWhole = (listed: OwnedProject, row: OwnedProject): boolean =>
  folded(listed.name) === folded(row.name) &&
  (listed.id === undefined || row.id === undefined || folded(listed.id) === folded(row.id))

const shown = ({ name, id }: OwnedProject): string => (id === undefined ? name : `${name} (id ${id})`)

const without = (budget: Budget | undefined, project: OwnedProject): Budget => {
  if (!budget) throw new Error('a project moves out of a budget that there is')
  return { ...budget, projects: budget.projects.filter((each) => !isSharing(each, project)) }
}

const withRow = (budget: Budget | undefined, row: OwnedProject): Budget => {
  if (!budget) throw new Error('a project moves into a budget that there is')
  return { ...budget, projects: budget.projects.map((each) => (folded(each.name) === folded(row.name) ? row : each)) }
}

/** Projects that have another owner afterwards, however the change says it. */
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

/** What a move changes, in sentences: the owner, a freeze that it leaves, and plans that may no longer pay. */
export function moveNotes(change: Change, plans: readonly Plan[]): readonly string[] {
  const [before, after] = [change.before.definitions, change.after.definitions]
  const moves = movesBetween(before, after)
  const more = moves.length - maxNotes
  return [
    ...moves.slice(0, maxNotes).map((move) => noteOf(move, before, after, plans)),
    ...(more > 0 ? [`${more} more projects move.`] : []),
  ]
}

function noteOf(
  { project: { name }, from, to }: Move,
  before: Definitions,
  after: Definitions,
  plans: readonly Plan[],
) {
  const frozen = (definitions: Definitions, budget: string) =>
    chainOf(definitions, budget).flatMap((each) => (each.frozen ? [each.name] : []))
  const kept = frozen(after, to)
  const left = frozen(before, from).filter((budget) => !kept.includes(budget))
  const unpaid = plans.filter(
    ({ budget, projects }) =>
      budget !== undefined &&
      projects.some((each) => ownerOf(after, each)?.name === to && folded(each) === folded(name)) &&
      wrongBudget(after, { budget }, [name]) !== null,
  )
  return [
    `${name} moves from ${from} to ${to}.`,
    ...(left.length > 0 ? [`It leaves behind the freeze of ${list(left)}.`] : []),
    ...unpaid.map((plan) => `The plan ${plan.name} charges ${plan.budget}, which may no longer pay for it.`),
  ].join(' ')
}
