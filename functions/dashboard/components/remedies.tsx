import type { Permissions } from '../../../shared/guard/people/permissions.ts'
import { count, units as inUnits, list, shownCaller, shownCounter } from '../../../shared/guard/sentences.ts'
import { counterOf } from '../../../shared/ledger/book/book.ts'
import {
  callerOfCounter,
  pauseOf,
  rootBudget,
  unseenBudget,
  type WindowKind,
} from '../../../shared/ledger/book/definitions.ts'
import type { Problem, Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { runBefore } from './last-run.tsx'
import { askAddress, budgetAddress, callerAddress, planAddress, updateAddress } from './parts.tsx'

interface Remedy {
  readonly label: string
  readonly to: string
}

type RefusedWork = Pick<Update, 'kind' | 'project' | 'budget' | 'byDefault' | 'plan' | 'problem'>

export function Remedies(props: { update: RefusedWork; view: View; permissions: Permissions; mayAskAgain: boolean }) {
  const { update, view, permissions, mayAskAgain } = props
  const again = mayAskAgain && (permissions.scopes.has('run') || permissions.scopes.has('propose'))
  const remedies = [
    ...(update.problem ? remediesOf(update.problem, view, permissions.scopes.has('admin')) : []),
    ...(again ? [{ label: 'Ask again…', to: askAgainAddress(update) }] : []),
  ]
  return remedies.length === 0 ? null : (
    <p class="buttons">
      {remedies.map(({ label, to }) => (
        <a class="button" href={to}>
          {label}
        </a>
      ))}
    </p>
  )
}

const askAgainAddress = ({ kind, project, budget, byDefault, plan }: RefusedWork): string =>
  askAddress({ kind, project, ...(byDefault || plan !== undefined || budget === unseenBudget ? {} : { budget }) })

function remediesOf({ slug, members }: Problem, view: View, isAdmin: boolean): readonly Remedy[] {
  const { update, budget, plan } = members
  switch (slug) {
    case 'already-updated':
    case 'duplicate-work':
      return typeof update === 'string' ? [{ label: 'See that update', to: updateAddress(update) }] : []
    case 'over-budget':
      return isAdmin ? shortCounters(members.budgets).flatMap((each) => grantOf(each, view)) : []
    case 'budget-frozen': {
      const isFrozen = typeof budget === 'string' && view.definitions.budgets[budget]?.frozen !== undefined
      return isAdmin && isFrozen ? [{ label: `Unfreeze ${budget}…`, to: budgetAddress(budget, '/unfreeze') }] : []
    }
    case 'plan-paused': {
      const isPaused = typeof plan === 'string' && pauseOf(view.definitions, plan) !== undefined
      return isAdmin && isPaused ? [{ label: `Resume ${plan}…`, to: planAddress(plan) }] : []
    }
    case 'over-update-limit':
    case 'kind-not-allowed':
      return isAdmin && typeof budget === 'string' ? [changeOf(budget, view)] : []
    case 'project-unowned':
      return isAdmin ? [changeOf(rootBudget, view)] : []
    default:
      return []
  }
}

const changeOf = (name: string, { definitions }: View): Remedy => ({
  label: `Change the rules of ${shownCaller(definitions, name)}…`,
  to: Object.hasOwn(definitions.budgets, name) ? budgetAddress(name, '/edit') : callerAddress(name),
})

interface ShortCounter {
  readonly budget: string
  readonly window: WindowKind
  readonly available: number
  /** `null`: nothing was left, so no price was asked for. */
  readonly short: number | null
}

/** Without the budgets that the reader does not see. */
const shortCounters = (budgets: Problem['members'][string] | undefined): readonly ShortCounter[] =>
  Array.isArray(budgets) ? (budgets as unknown as readonly ShortCounter[]).filter(({ budget }) => budget !== null) : []

/** Approving cannot grant units to the account, nor to a caller. */
export function isGrantable({ slug, members: { budgets } }: Problem): boolean {
  const counters = shortCounters(budgets)
  // One that the reader may not see may be the account.
  const isAnyUnseen = Array.isArray(budgets) && counters.length < budgets.length
  return (
    slug === 'over-budget' &&
    !isAnyUnseen &&
    counters.every(({ budget }) => budget !== rootBudget && callerOfCounter(budget) === null)
  )
}

/** At the price of the estimate or of the last run; `null`: no price is known. */
function missingNow({ budget, window, short, available }: ShortCounter, view: View): number | null {
  const needed = short === null ? lastPrice(view) : short + available
  return needed === null ? null : needed - (counterOf(view.book, window, budget)?.available ?? available)
}

function lastPrice({ results: [asked], now }: View): number | null {
  return (asked && runBefore(asked, now)?.units) ?? null
}

function grantOf(counter: ShortCounter, view: View): readonly Remedy[] {
  const { budget, window } = counter
  const caller = callerOfCounter(budget)
  if (caller !== null)
    return [{ label: `Raise the limit of ${shownCaller(view.definitions, caller)}…`, to: callerAddress(caller) }]
  const missing = missingNow(counter, view)
  if (missing !== null && missing <= 0) return []
  const query = new URLSearchParams({ type: 'grant', window, ...(missing !== null && { units: String(missing) }) })
  const what = missing === null ? 'units' : count(missing)
  return [{ label: `Grant ${what} to ${budget}…`, to: budgetAddress(budget, `/book?${query}#grant`) }]
}

export function PriceNote({ problem: { slug, members }, view }: { problem: Problem; view: View }) {
  const unpriced = slug === 'over-budget' ? shortCounters(members.budgets).filter(({ short }) => short === null) : []
  if (unpriced.length === 0) return null
  const price = lastPrice(view)
  const limits = unpriced.map(
    ({ budget, window }) => `the ${window} limit of ${shownCounter(view.definitions, budget)}`,
  )
  if (price === null)
    return <p>Its price is not known yet: {list(limits)} stopped it before the service was asked for an estimate.</p>
  const missing = unpriced.map((counter) => {
    const units = Math.max(0, missingNow(counter, view) ?? 0)
    const { budget, window } = counter
    return `${shownCounter(view.definitions, budget)} ${units === 0 ? 'has enough now' : `lacks ${count(units)}`} for the ${window}`
  })
  return (
    <p>
      It was stopped before its price was asked for. Its last run cost {inUnits(price)}: at that price, {list(missing)}.
    </p>
  )
}
