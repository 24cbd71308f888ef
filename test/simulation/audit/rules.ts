import { dayMs, type World } from '../world.ts'
import {
  type Approved,
  asRow,
  broken,
  countersOf,
  definitionsIn,
  type Items,
  isUpdate,
  type Lacked,
  type Row,
  rowsOf,
} from './stored.ts'

/**
 * Checks every hold and every approval against the definitions stored at that moment, without the guard's code.
 * @throws Broken
 */
export function lookAtRules(before: World, after: World): void {
  for (const [name, item] of after.items) {
    const old = before.items.get(name)
    if (old === item || !isUpdate(item)) continue
    const row = asRow(item)
    const seen = old && asRow(old)
    if (row.approval && seen?.approval?.by !== row.approval.by) lookAtApprover(row, row.approval.by, after.items)
    if (seen?.approval && seen.state === 'requested') lookAtReturn(row, seen.approval, after.items)
    if (row.state !== 'running' || seen?.state === 'running') continue
    lookAtCover(row, after.items)
    lookAtAllowance(row, after.items)
    lookAtPolicies(row, after.items)
    lookAtCallerLimits(row, after.items)
    lookAtShortages(row, after.items)
  }
}

function chainIn(items: Items, budget: string): string[] {
  const { budgets } = definitionsIn(items)
  const chain: string[] = []
  for (let name: string | null = budget; name !== null; name = budgets[name]?.parent ?? null) chain.push(name)
  return chain
}

const shortestMonthMs = 28 * dayMs

/** A changed renewal makes a month longer, and never begins a second allowance within it. */
function lookAtAllowance({ id, month }: Row, items: Items): void {
  const startOf = (name: string) => Date.parse(name.slice('month:'.length))
  const other = rowsOf(items).find(
    (row) => row.hold && row.month !== month && Math.abs(startOf(row.month) - startOf(month)) < shortestMonthMs,
  )
  if (other) broken(`${id} holds in ${month}, and ${other.id} in ${other.month}`)
}

function lookAtPolicies({ id, kind, caller, budget, hold, approval }: Row, items: Items): void {
  const { budgets, callers = {} } = definitionsIn(items)
  const units = hold?.units ?? 0
  if (approval && units > approval.units) broken(`${id} holds ${units}, approved up to ${approval.units}`)
  if (callers[caller]?.disabled) broken(`${id} runs for ${caller}, who is disabled`)
  for (const name of chainIn(items, budget)) {
    const { kinds, perUpdate, approvalAbove } = budgets[name] ?? {}
    if (kinds && !kinds.includes(kind)) broken(`${id} is a ${kind} update, which ${name} does not allow`)
    if (perUpdate !== undefined && units > perUpdate) broken(`${id} holds ${units}, and ${name} allows ${perUpdate}`)
    if (approvalAbove !== undefined && units > approvalAbove && !approval)
      broken(`${id} holds ${units} without an approval, which ${name} asks for above ${approvalAbove}`)
  }
  const { perUpdate } = callers[caller] ?? {}
  if (perUpdate !== undefined && units > perUpdate)
    broken(`${id} holds ${units}, and ${caller} may ask for ${perUpdate}`)
}

function lookAtApprover({ id, budget }: Row, by: string, items: Items): void {
  if (!mayApproveIn(items, budget, by)) broken(`${by} has approved ${id}, and may not`)
}

function mayApproveIn(items: Items, budget: string, by: string): boolean {
  const { budgets, callers = {} } = definitionsIn(items)
  const named = chainIn(items, budget)
    .map((name) => budgets[name]?.approvers ?? [])
    .find(({ length }) => length > 0)
  const person = callers[by]?.person ?? by
  return !named || named.includes(by) || named.includes(person)
}

/** What an approved update uses above a limit was covered by its approval, and nothing was lowered since. */
function lookAtCover({ id, month, hold, approval }: Row, items: Items): void {
  for (const { budget, window, units } of hold?.grants ?? []) {
    if (units <= 0) continue
    if (budget === 'account' || budget.startsWith('caller:')) broken(`${id} is granted ${units} units of ${budget}`)
    if (!approval) broken(`${id} is granted ${units} units of ${budget} without an approval`)
    if (!mayApproveIn(items, budget, approval.by)) broken(`${approval.by} grants units of ${budget}, and may not`)
    const why = loweredIn(items, approval, { budget, window, month, day: hold?.day ?? '' })
    if (why) broken(`${id} uses ${units} units above a limit, and ${why}`)
  }
}

/** What was approved runs, unless a limit or a grant was lowered, the price rose, or the approver may not grant any more. */
function lookAtReturn(
  { id, state, problem, estimated = 0, month, budget }: Row,
  approval: Approved,
  items: Items,
): void {
  const { covers, units, by } = approval
  if (!covers) return
  const isShort = problem?.slug === 'over-budget'
  const isAlwaysEnforced = problem?.budget === 'account' || problem?.budget?.startsWith('caller:')
  if (state === 'refused' && isShort && !isAlwaysEnforced)
    broken(`${id} was approved by ${by} and is refused, because ${problem.budget} has too little`)
  if (state !== 'awaiting-approval' || estimated > units) return
  const { callers = {} } = definitionsIn(items)
  const chain = chainIn(items, budget).filter((name) => name !== 'account')
  if (callers[by]?.disabled || chain.some((name) => !mayApproveIn(items, name, by))) return
  const book = [...items.values()].find(({ pk, sk }) => pk === 'book' && sk === month)
  const day = covers.day
  const lowered = (book ? countersOf(book) : []).some(
    ([window, name]) => chain.includes(name) && loweredIn(items, approval, { budget: name, window, month, day }),
  )
  if (!lowered) broken(`${id} was approved by ${by} up to ${units}, needs ${estimated} and awaits approval again`)
}

interface CounterPlace {
  readonly budget: string
  readonly window: string
  readonly month: string
  readonly day: string
}

/** How a limit or its lasting grants are lower than at the approval. `null`: they are not. */
function loweredIn(
  items: Items,
  { covers }: Approved,
  { budget: name, window: of, month, day }: CounterPlace,
): string | null {
  const [book] = [...items.values()].filter(({ pk, sk }) => pk === 'book' && sk === month)
  const counter = (book ? countersOf(book) : []).find(([window, budget]) => window === of && budget === name)?.[2]
  if (!covers || !counter || counter.l === 'u') return null
  const seen = covers.limits.find(({ budget, window }) => budget === name && window === of)
  if (!seen) return `${name} had no limit for the ${of} then`
  const isSame = of === 'month' ? covers.month === month : covers.day === day
  const lasting = isSame ? counter.g - (counter.o ?? 0) : 0
  const before = seen.limit + (isSame ? seen.granted : 0)
  return counter.l + lasting < before ? `${name} had ${before} then, and has ${counter.l + lasting}` : null
}

function lookAtCallerLimits({ id, caller, month, hold }: Row, items: Items): void {
  const limits = definitionsIn(items).callers?.[caller]?.limits
  if (!limits) return
  const counter = `caller:${caller}`
  if (!hold?.budgets.includes(counter)) broken(`${id} is not counted for ${caller}, who has limits`)
  const own = rowsOf(items).filter(
    (row) => row.caller === caller && row.month === month && row.hold?.budgets.includes(counter),
  )
  for (const { window, units } of limits) {
    const used = own
      .filter((row) => window === 'month' || row.hold?.day === hold.day)
      .reduce((sum, { state, charged, hold }) => sum + (isOpen(state) ? (hold?.units ?? 0) : (charged ?? 0)), 0)
    if (units !== 'unlimited' && used > units) broken(`${caller} has used ${used} units in a ${window}, of ${units}`)
  }
  const [book] = [...items.values()].filter(({ pk, sk }) => pk === 'book' && sk === month)
  if (!book || !countersOf(book).some(([, name]) => name === counter)) broken(`${counter} is not in the book`)
}

/** Checks that a hold leaves what it must, and records exactly the units that each observed limit lacked. */
function lookAtShortages(
  { id, month, plan, leave = 0, hold, approval, wouldHaveRefused = [] }: Row,
  items: Items,
): void {
  const { budgets } = definitionsIn(items)
  const [book] = [...items.values()].filter(({ pk, sk }) => pk === 'book' && sk === month)
  const counters = book ? countersOf(book).filter(([, budget]) => hold?.budgets.includes(budget)) : []
  const units = hold?.units ?? 0
  const lacked = counters.flatMap(([window, budget, { l, a, o = 0 }]): Lacked[] => {
    if (l === 'u') return []
    const isObserved = budgets[budget]?.enforce === false
    const ofPlan = typeof leave === 'number' ? leave : (leave[budget] ?? 0)
    const left = plan === undefined ? (budgets[budget]?.keep ?? 0) : ofPlan
    const needed = units + left
    const before = a + units
    if (!isObserved && !approval && a < o)
      broken(`${id} uses a one-time grant of another update on the ${window} of ${budget}`)
    if (!isObserved && a < left) broken(`${id} leaves ${a} of the ${window} of ${budget}, and must leave ${left}`)
    if (!isObserved || (before > 0 && before >= needed)) return []
    return [{ budget, window, units: needed - Math.max(0, before) }]
  })
  const inOrder = (rows: readonly Lacked[]) =>
    rows.map(({ budget, window, units }) => `${window} ${budget} ${units}`).toSorted()
  if (`${inOrder(lacked)}` !== `${inOrder(wouldHaveRefused)}`)
    broken(`${id} would have been refused by ${inOrder(lacked)}, and says ${inOrder(wouldHaveRefused)}`)
}

const isOpen = (state: string): boolean => state === 'running' || state === 'in-doubt'
