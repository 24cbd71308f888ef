import type { Child } from 'hono/jsx'
import type { BudgetOutlook } from '../../../shared/guard/reports/outlook.ts'
import { unlistedInWords } from '../../../shared/guard/reports/unlisted.ts'
import { count, type Figures, percent, zoneOf } from '../../../shared/guard/sentences.ts'
import { rootBudget } from '../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { BudgetLink, bookAddress, budgetAddress, dayAndTime, planAddress, Section, shortDay } from './parts.tsx'
import { Stopped, StoppedBy } from './people.tsx'

type Reason = BudgetOutlook['reasons'][number]
type Remedy = NonNullable<BudgetOutlook['remedy']>

/** `null`: unlimited. */
export const totalOf = ({ limit, granted }: Pick<Figures, 'limit' | 'granted'>): number | null =>
  limit === 'unlimited' ? null : limit + granted

function reasonWords(reason: Reason, zone: string): readonly [short: string, long: string] {
  switch (reason.kind) {
    case 'frozen':
      return ['frozen', `frozen since ${shortDay(reason.stop.at, zone)}`]
    case 'exhausted':
      return reason.window === 'day' ? ['nothing today', 'nothing left today'] : ['nothing left', 'nothing left']
    case 'cannot-pay':
      return ['cannot pay', 'cannot pay for an update']
    case 'plans-run-out':
    case 'pace-runs-out':
      return [`out ${shortDay(reason.at, zone)}`, `runs out ${dayAndTime(reason.at, zone)}`]
    case 'ancestor-binds':
      return [`${reason.budget} short`, `${reason.budget} has too little`]
    case 'threshold':
      return [`${percent(reason.used, reason.of)} used`, `${percent(reason.used, reason.of)} used`]
    case 'plan-paused':
      return ['plan paused', 'plan paused']
    case 'reconcile-overdue':
      return ['reconcile', 'not reconciled']
  }
}

export function Pill({ reason, zone, isLong }: { reason: Reason | undefined; zone: string; isLong?: true }) {
  const kind = reason ? (isGrave(reason) ? ' at-risk' : '') : ' on-track'
  return <span class={`pill${kind}`}>{reason ? reasonWords(reason, zone)[isLong ? 1 : 0] : 'on track'}</span>
}

/** Others do not stop an update that is asked for today. */
const isGrave = ({ kind }: Reason) => !['frozen', 'plan-paused', 'reconcile-overdue'].includes(kind)

/** A budget, or a paused plan with its budgets. */
interface Risk {
  readonly name: string
  readonly reason: Reason
  readonly remedy: Remedy | null
  readonly budgets: readonly string[]
  /** Of the last update, where nothing is left this month. */
  readonly price?: number | null
}

/** A paused plan has one row, however many budgets pay for it. */
function risksIn(outlooks: readonly BudgetOutlook[]): readonly Risk[] {
  const ofPlans = new Map<string, Risk>()
  for (const { budget, reasons } of outlooks)
    for (const reason of reasons) {
      if (reason.kind !== 'plan-paused') continue
      const { plan: name } = reason
      const budgets = [...(ofPlans.get(name)?.budgets ?? []), budget]
      ofPlans.set(name, { name, reason, remedy: { kind: 'resume', plan: name }, budgets })
    }
  const ofBudgets = outlooks.flatMap(({ budget: name, reasons, remedy }): Risk[] => {
    const reason = reasons.find(({ kind }) => kind !== 'plan-paused')
    if (!reason) return []
    if (reason.kind === 'exhausted' && reason.window === 'month') return [exhaustedRisk(name, reason, reasons)]
    if (reason === reasons[0]) return [{ name, reason, remedy, budgets: [] }]
    return [{ name, reason, remedy: reason.kind === 'reconcile-overdue' ? { kind: 'reconcile' } : null, budgets: [] }]
  })
  return [...ofBudgets, ...ofPlans.values()]
}

/** The price of its last update says how many units to grant. */
function exhaustedRisk(name: string, reason: Reason, reasons: readonly Reason[]): Risk {
  const unpaid = reasons.find((each) => each.kind === 'cannot-pay')
  if (!unpaid) return { name, reason, remedy: null, budgets: [], price: null }
  const { budget, price, left } = unpaid
  return { name, reason, remedy: { kind: 'grant', budget, window: 'month', units: price - left }, budgets: [], price }
}

/** One count for the title, the list and its heading. A frozen budget, a paused plan or a late reconciliation is no risk. */
export const gravesIn = (outlooks: readonly BudgetOutlook[]): readonly Risk[] =>
  risksIn(outlooks).filter(({ reason }) => isGrave(reason))

export const isAtRisk = (outlook: BudgetOutlook): boolean => gravesIn([outlook]).length > 0

const maxRisks = 5

interface RiskProps {
  readonly budgets: readonly BudgetOutlook[]
  readonly isAdmin: boolean
  readonly view: View
}

export function RiskSection({ budgets, ...others }: RiskProps) {
  const graves = gravesIn(budgets)
  const stopped = risksIn(budgets).filter(({ reason }) => !isGrave(reason))
  const title = (
    <>
      At risk{' '}
      <small>
        {count(graves.length)} of {count(budgets.length)} budgets
      </small>
    </>
  )
  return (
    <Section id="risk" title={title}>
      {graves.length === 0 ? <p class="empty">Every budget is on track.</p> : null}
      <RiskRows risks={graves.slice(0, maxRisks)} {...others} />
      {graves.length > maxRisks ? (
        <p>
          <a href="/?sort=risk#budgets">{count(graves.length - maxRisks)} more</a>
        </p>
      ) : null}
      {stopped.length > 0 ? <h3>Frozen, paused or not reconciled</h3> : null}
      <RiskRows risks={stopped} {...others} />
    </Section>
  )
}

const RiskRows = ({ risks, isAdmin, view }: { risks: readonly Risk[] } & Omit<RiskProps, 'budgets'>) => (
  <ul class="risks">
    {risks.map((risk) => (
      <li>
        <span>
          <RiskName risk={risk} />
        </span>
        <span>
          <Pill reason={risk.reason} zone={zoneOf(view)} isLong />
        </span>
        <span class="why">
          <RiskDetail risk={risk} view={view} />
        </span>
        <span class="remedy">
          {isAdmin && risk.remedy ? <RemedyLink remedy={risk.remedy} budget={risk.name} /> : null}
        </span>
      </li>
    ))}
  </ul>
)

const RiskName = ({ risk: { name, reason } }: { risk: Risk }) =>
  reason.kind === 'plan-paused' ? (
    <>
      plan <a href={planAddress(name)}>{name}</a>
    </>
  ) : (
    <BudgetLink name={name} />
  )

const RiskDetail = ({ risk: { reason, budgets, price }, view }: { risk: Risk; view: View }) =>
  reason.kind === 'plan-paused' ? (
    <>
      of <BudgetLinks names={budgets} />, since <Stopped stop={reason.stop} view={view} />
    </>
  ) : (
    <>
      <ReasonDetail reason={reason} view={view} />
      {price === undefined
        ? null
        : price === null
          ? '; the price of its next update is not known yet'
          : `; the last update cost ${count(price)}`}
    </>
  )

export function ReasonDetail({ reason, view }: { reason: Reason; view: View }): Child {
  switch (reason.kind) {
    case 'frozen':
      return <StoppedBy stop={reason.stop} view={view} />
    case 'exhausted':
      return (
        <>
          all {count(reason.of)} are used
          {reason.over === undefined
            ? null
            : `${reason.over > 0 ? `, and ${count(reason.over)} more` : ''}; only observed, so nothing is refused`}
        </>
      )
    case 'cannot-pay':
      return (
        <>
          <BudgetLink name={reason.budget} /> has {count(reason.left)} left; the last update cost {count(reason.price)}
          {reason.refusedSince === null ? null : `; refused since ${shortDay(reason.refusedSince, zoneOf(view))}`}
        </>
      )
    case 'plans-run-out':
      return (
        <>
          plans need {count(reason.needed)}, {count(reason.left)} are left: short {count(reason.short)}
          {reason.plan === null ? null : (
            <>
              , first for <a href={planAddress(reason.plan)}>{reason.plan}</a>
            </>
          )}
        </>
      )
    case 'pace-runs-out':
      return (
        <>
          {count(reason.perDay)} a day beside its plans: short {count(reason.short)} at the reset
        </>
      )
    case 'ancestor-binds':
      return (
        <>
          its plans need {count(reason.needed)}, <BudgetLink name={reason.budget} /> has {count(reason.left)} left
        </>
      )
    case 'threshold':
      return (
        <>
          {count(reason.used)} of {count(reason.of)} are used
        </>
      )
    case 'plan-paused':
      return (
        <>
          <a href={planAddress(reason.plan)}>{reason.plan}</a> since <Stopped stop={reason.stop} view={view} />
        </>
      )
    case 'reconcile-overdue':
      return <>not compared with the vendor’s figure for {reason.days} days or more</>
  }
}

const maxNamed = 5

const BudgetLinks = ({ names }: { names: readonly string[] }) => (
  <>
    {names.slice(0, maxNamed).map((name, position) => (
      <>
        {position === 0 ? null : ', '}
        <BudgetLink name={name} />
      </>
    ))}
    {names.length > maxNamed ? ` and ${count(names.length - maxNamed)} more` : null}
  </>
)

/** Leads to the form, filled in. */
export function RemedyLink({ remedy, budget }: { remedy: Remedy; budget: string }) {
  const [label, address] = remedyLink(remedy, budget)
  return (
    <a class="button small" href={address}>
      {label}
    </a>
  )
}

function remedyLink(remedy: Remedy, row: string): readonly [label: string, address: string] {
  switch (remedy.kind) {
    case 'grant': {
      const { budget, window, units } = remedy
      const to = budget === row ? '' : ` to ${budget}`
      return [`Grant ${count(units)}${to}…`, bookAddress(budget, 'grant', { units: String(units), window })]
    }
    case 'unfreeze':
      return [
        remedy.budget === row ? 'Unfreeze…' : `Unfreeze ${remedy.budget}…`,
        budgetAddress(remedy.budget, '/unfreeze'),
      ]
    case 'resume':
      return ['Resume…', planAddress(remedy.plan, '#stopping')]
    case 'reconcile':
      return ['Reconcile…', bookAddress(rootBudget, 'reconcile')]
  }
}

/** `5,100 to 5,642`: at the recent pace, and with plans only. */
export function LeftAtReset({ outlook: { figures, month } }: { outlook: BudgetOutlook }) {
  const total = totalOf(figures)
  if (total === null) return <span class="unknown">–</span>
  const ends = [month.projectedAtPace ?? month.projected, month.projected].map((projected) => total - projected)
  const [low = 0, high = 0] = ends
  return <span class={low < 0 ? 'none' : ''}>{low === high ? count(low) : `${count(low)} to ${count(high)}`}</span>
}

export const Unlisted = ({ projects, isAdmin }: { projects: readonly string[]; isAdmin: boolean }) =>
  projects.length === 0 ? null : (
    <div class="warning">
      <p>{unlistedInWords(projects)}</p>
      {isAdmin ? (
        <p class="buttons">
          <a class="button" href={budgetAddress(rootBudget, '/edit')}>
            Change the rules of {rootBudget}…
          </a>
        </p>
      ) : null}
    </div>
  )
