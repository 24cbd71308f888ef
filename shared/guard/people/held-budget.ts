import { counterOf } from '../../ledger/book/book.ts'
import type { View } from '../../ledger/book/view.ts'
import { budgetNamed, childrenOf, rootBudget } from '../../ledger/definitions/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { noBudget, problem } from '../problems.ts'
import { count, list } from '../sentences.ts'

const maxRead = 200
const maxNamed = 3

/** Why a budget without holds cannot be deleted. */
export function whyNotDeleted({ definitions }: View, name: string): Problem | null {
  if (!budgetNamed(definitions, name)) return noBudget(name)
  if (name === rootBudget) return cannotDelete(name, ': it is the root of all budgets.')
  const children = childrenOf(definitions, name)
  if (children.length === 0) return null
  return cannotDelete(name, `: it has the children ${list(children.map((child) => child.name))}.`)
}

const cannotDelete = (name: string, why: string): Problem =>
  problem('wrong-state', `${name} cannot be deleted${why}`, { budget: name })

export function hasHolds({ book }: View, name: string): boolean {
  const counter = counterOf(book, 'month', name)
  return counter !== undefined && counter.held + counter.inDoubt > 0
}

/** Names the updates that hold units of the budget. The list of updates may lag, so it may name none. */
export async function heldProblem(
  { oldestOpen }: Pick<Ledger, 'oldestOpen'>,
  view: View,
  name: string,
): Promise<Problem> {
  const pages = await Promise.all((['in-doubt', 'running'] as const).map((state) => oldestOpen(state, maxRead)))
  const holders = pages
    .flatMap(({ rows }) => rows)
    .filter(({ hold, month }) => month === view.book.month && hold?.budgets.includes(name))
  const has = (state: Update['state']) => holders.some((update) => update.state === state)
  const toDo = [
    ...(has('running') || holders.length === 0 ? ['wait until the running updates end'] : []),
    ...(has('in-doubt') || holders.length === 0
      ? ['resolve the updates in doubt (in the inbox, or POST /updates/<id>/resolve)']
      : []),
  ]
  const [first = '', ...rest] = toDo
  const steps = list([first.charAt(0).toUpperCase() + first.slice(1), ...rest])
  const who = holders.length === 0 ? '' : `: ${namesOf(holders)}`
  return cannotDelete(name, ` while units of it are held or in doubt${who}. ${steps}; then delete it.`)
}

function namesOf(holders: readonly Update[]): string {
  const more = holders.length - maxNamed
  const names = holders
    .slice(0, maxNamed)
    .map(({ id, state }) => `${id} is ${state === 'in-doubt' ? 'in doubt' : state}`)
  return list(more > 0 ? [...names, `${count(more)} more`] : names)
}
