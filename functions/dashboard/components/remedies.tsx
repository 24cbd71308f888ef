import type { Permissions } from '../../../shared/guard/people/permissions.ts'
import { count } from '../../../shared/guard/sentences.ts'
import { counterOf } from '../../../shared/ledger/book/book.ts'
import { callerOfCounter, pauseOf, type WindowKind } from '../../../shared/ledger/book/definitions.ts'
import type { Problem, Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { runBefore } from './last-run.tsx'
import { askAddress, budgetAddress, callerAddress, planAddress, updateAddress } from './parts.tsx'

interface Remedy {
  readonly label: string
  readonly to: string
}

type RefusedWork = Pick<Update, 'kind' | 'project' | 'budget' | 'byDefault' | 'plan' | 'problem'>

/** Leads to whatever would let a refused update pass. */
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
  askAddress({ kind, project, ...(byDefault || plan !== undefined ? {} : { budget }) })

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
    default:
      return []
  }
}

const changeOf = (name: string, { definitions }: View): Remedy => ({
  label: `Change the rules of ${name}…`,
  to: Object.hasOwn(definitions.budgets, name) ? budgetAddress(name, '/edit') : callerAddress(name),
})

interface ShortCounter {
  readonly budget: string
  readonly window: WindowKind
  readonly available: number
  /** `null`: nothing was left, so no price was asked for. */
  readonly short: number | null
}

export const shortCounters = (budgets: Problem['members'][string] | undefined): readonly ShortCounter[] =>
  Array.isArray(budgets) ? (budgets as unknown as readonly ShortCounter[]) : []

/** What is short now. Without a price, the last run's price is assumed. */
function grantOf({ budget, window, short, available }: ShortCounter, view: View): readonly Remedy[] {
  const caller = callerOfCounter(budget)
  if (caller !== null) return [{ label: `Raise the limit of ${caller}…`, to: callerAddress(caller) }]
  const [asked] = view.results
  const needed = short === null ? (asked && runBefore(asked, view.now))?.units : short + available
  const missing = needed === undefined ? null : needed - (counterOf(view.book, window, budget)?.available ?? available)
  if (missing !== null && missing <= 0) return []
  const query = new URLSearchParams({ type: 'grant', window, ...(missing !== null && { units: String(missing) }) })
  const what = missing === null ? 'units' : count(missing)
  return [{ label: `Grant ${what} to ${budget}…`, to: budgetAddress(budget, `/book?${query}#grant`) }]
}
