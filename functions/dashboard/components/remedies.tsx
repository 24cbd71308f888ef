import type { Permissions } from '../../../shared/guard/people/permissions.ts'
import { ruleOf } from '../../../shared/guard/rules/recorded.ts'
import { count, units as inUnits, list, shownCaller, shownCounter } from '../../../shared/guard/sentences.ts'
import { counterOf } from '../../../shared/ledger/book/book.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import {
  callerOfCounter,
  pauseOf,
  rootBudget,
  unseenBudget,
  type WindowKind,
} from '../../../shared/ledger/definitions/definitions.ts'
import type { Problem, Update } from '../../../shared/ledger/updates/update.ts'
import { askAddress, bookAddress, budgetAddress, callerAddress, LinkButtons, updateAddress } from '../kit/parts.tsx'
import { runBefore } from './cost.tsx'
import { remedyLink } from './outlook.tsx'

type Link = ReturnType<typeof remedyLink>

type RefusedWork = Pick<Update, 'kind' | 'project' | 'budget' | 'byDefault' | 'plan' | 'problem'>

export function Remedies(props: { update: RefusedWork; view: View; permissions: Permissions; mayAskAgain: boolean }) {
  const { update, view, permissions, mayAskAgain } = props
  const { kind, project, budget, byDefault, plan, problem } = update
  const mayAsk = mayAskAgain && (permissions.scopes.has('run') || permissions.scopes.has('propose'))
  const isDefault = byDefault || plan !== undefined || budget === unseenBudget
  const again: Link = ['Ask again…', askAddress({ kind, project, ...(!isDefault && { budget }) })]
  const remedies = problem ? remediesOf(problem, view, permissions.scopes.has('admin')) : []
  return <LinkButtons links={[...remedies, ...(mayAsk ? [again] : [])]} />
}

function remediesOf({ slug, members }: Problem, view: View, isAdmin: boolean): readonly Link[] {
  const { update, budget, plan } = members
  if ((slug === 'already-updated' || slug === 'duplicate-work') && typeof update === 'string')
    return [['See that update', updateAddress(update)]]
  if (!isAdmin) return []
  if (slug === 'over-budget') return shortCounters(members.budgets).flatMap((each) => grantOf(each, view))
  if (slug === 'project-unowned') return [changeOf(rootBudget, view)]
  if (slug === 'plan-paused' && typeof plan === 'string' && pauseOf(view.definitions, plan))
    return [remedyLink({ kind: 'resume', plan })]
  if (typeof budget !== 'string') return []
  const remedy = ruleOf(slug)?.remedy
  if (remedy === 'unfreeze' && view.definitions.budgets[budget]?.frozen)
    return [remedyLink({ kind: 'unfreeze', budget })]
  return remedy === 'change' ? [changeOf(budget, view)] : []
}

const changeOf = (name: string, { definitions }: View): Link => [
  `Change the rules of ${shownCaller(definitions, name)}…`,
  Object.hasOwn(definitions.budgets, name) ? budgetAddress(name, '/edit') : callerAddress(name),
]

interface ShortCounter {
  readonly budget: string
  readonly window: WindowKind
  readonly available: number
  /** `null`: nothing was left, so the guard asked for no price. */
  readonly short: number | null
}

/** Leaves out the budgets that the reader does not see. */
const shortCounters = (budgets: Problem['members'][string] | undefined): readonly ShortCounter[] =>
  Array.isArray(budgets) ? (budgets as unknown as readonly ShortCounter[]).filter(({ budget }) => budget !== null) : []

/** An approval cannot grant units to `account` or to a caller. */
export function isGrantable({ slug, members: { budgets } }: Problem): boolean {
  const counters = shortCounters(budgets)
  // A budget that the reader does not see could be `account`.
  const isAnyUnseen = Array.isArray(budgets) && counters.length < budgets.length
  return (
    slug === 'over-budget' &&
    !isAnyUnseen &&
    counters.every(({ budget }) => budget !== rootBudget && callerOfCounter(budget) === null)
  )
}

/** Uses the price of the estimate or of the last run. `null`: no price is known. */
function missingNow({ budget, window, short, available }: ShortCounter, view: View): number | null {
  const needed = short === null ? lastPrice(view) : short + available
  return needed === null ? null : needed - (counterOf(view.book, window, budget)?.available ?? available)
}

const lastPrice = ({ results: [asked], now }: View): number | null => (asked && runBefore(asked, now)?.units) ?? null

function grantOf(counter: ShortCounter, view: View): readonly Link[] {
  const { budget, window } = counter
  const caller = callerOfCounter(budget)
  if (caller !== null) return [[`Raise the limit of ${shownCaller(view.definitions, caller)}…`, callerAddress(caller)]]
  const missing = missingNow(counter, view)
  if (missing === null) return [[`Grant units to ${budget}…`, bookAddress(budget, 'grant', { window })]]
  return missing <= 0 ? [] : [remedyLink({ kind: 'grant', budget, window, units: missing })]
}

export function PriceNote({ problem: { slug, members }, view }: { problem: Problem; view: View }) {
  const unpriced = slug === 'over-budget' ? shortCounters(members.budgets).filter(({ short }) => short === null) : []
  if (unpriced.length === 0) return null
  const price = lastPrice(view)
  const nameOf = ({ budget }: ShortCounter) => shownCounter(view.definitions, budget)
  const limits = unpriced.map((each) => `the ${each.window} limit of ${nameOf(each)}`)
  if (price === null)
    return <p>Its price is not known yet: {list(limits)} stopped it before the service was asked for an estimate.</p>
  const missing = unpriced.map((each) => {
    const units = Math.max(0, missingNow(each, view) ?? 0)
    return `${nameOf(each)} ${units === 0 ? 'has enough now' : `lacks ${count(units)}`} for the ${each.window}`
  })
  return (
    <p>
      It was refused before its price was read. Its last run cost {inUnits(price)}: at that price, {list(missing)}.
    </p>
  )
}
