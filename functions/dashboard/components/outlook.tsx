import type { Child } from 'hono/jsx'
import { count, type Figures, percent, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import type { BudgetOutlook } from '../../../shared/reports/outlook.ts'
import { BudgetLink, bookAddress, budgetAddress, joined, planAddress, Section, say, shortDay } from '../kit/parts.tsx'
import { PlanName } from './people.tsx'

type Reason = BudgetOutlook['reasons'][number]
type Remedy = NonNullable<BudgetOutlook['remedy']>

/** `null`: unlimited. */
export const totalOf = ({ limit, granted }: Pick<Figures, 'limit' | 'granted'>): number | null =>
  limit === 'unlimited' ? null : limit + granted

/** Returns a few words for a pill. The sentence of the reason has the details. */
function shortText(reason: Reason, view: View): string {
  switch (reason.kind) {
    case 'frozen':
      return 'frozen'
    case 'exhausted':
      return reason.window === 'day' ? 'nothing today' : 'nothing left'
    case 'cannot-pay':
      return 'cannot pay'
    case 'cannot-pay-today':
      return 'cannot pay today'
    case 'plans-run-out':
    case 'pace-runs-out':
      return `out ${reason.isAtLeast ? 'by ' : ''}${shortDay(reason.at, zoneOf(view))}`
    case 'ancestor-binds':
      return `${reason.budget} short`
    case 'threshold':
      return `${percent(reason.used, reason.of)} used`
    case 'plan-paused':
      return 'plan paused'
    case 'reconcile-overdue':
      return 'not reconciled'
  }
}

interface PillProps {
  readonly reason: Reason | undefined
  readonly view: View
  readonly title?: string | undefined
}

export function Pill({ reason, view, title }: PillProps) {
  const [style, text] = reason
    ? [isGrave(reason) ? 'pill at-risk' : 'pill', shortText(reason, view)]
    : ['pill on-track', 'on track']
  return (
    <span class={style} title={title}>
      {text}
    </span>
  )
}

/** Frozen budgets, paused plans and overdue reconciliations are listed apart from the risks. */
const isGrave = ({ kind }: Reason) => !['frozen', 'plan-paused', 'reconcile-overdue'].includes(kind)

/** A budget, or a paused plan with its budgets. */
interface Risk {
  readonly name: string
  readonly reason: Reason
  readonly remedy: Remedy | null
  /** Set for a paused plan, which has one row for all budgets that pay for it. */
  readonly budgets?: readonly string[]
  /** The price of the last update, if nothing is left this month: a hint how many units to grant. */
  readonly price?: number | null
}

function risksIn(outlooks: readonly BudgetOutlook[]): readonly Risk[] {
  const ofPlans = new Map<string, Risk>()
  for (const { budget, reasons } of outlooks)
    for (const reason of reasons) {
      if (reason.kind !== 'plan-paused') continue
      const { plan: name } = reason
      const budgets = [...(ofPlans.get(name)?.budgets ?? []), budget]
      ofPlans.set(name, { name, reason, remedy: reason.remedy, budgets })
    }
  const ofBudgets = outlooks.flatMap(({ budget: name, reasons }): Risk[] => {
    const reason = reasons.find(({ kind }) => kind !== 'plan-paused')
    if (!reason) return []
    if (reason.kind !== 'exhausted' || reason.window !== 'month') return [{ name, reason, remedy: reason.remedy }]
    const unpaid = reasons.find((each) => each.kind === 'cannot-pay')
    return [{ name, reason, remedy: unpaid?.remedy ?? null, price: unpaid?.price ?? null }]
  })
  return [...ofBudgets, ...ofPlans.values()]
}

/** The page's title, the list and the list's heading count the same risks. */
export const gravesIn = (outlooks: readonly BudgetOutlook[]): readonly Risk[] =>
  risksIn(outlooks).filter(({ reason }) => isGrave(reason))

export const isAtRisk = (outlook: BudgetOutlook): boolean => gravesIn([outlook]).length > 0

const maxRisks = 5

interface RiskProps {
  readonly budgets: readonly BudgetOutlook[]
  readonly isAdmin: boolean
  readonly view: View
}

export function RiskSection({ budgets, isAdmin, view }: RiskProps) {
  const graves = gravesIn(budgets)
  const stopped = risksIn(budgets).filter(({ reason }) => !isGrave(reason))
  const of = `${count(graves.length)} of ${count(budgets.length)} budgets`
  const rowsOf = (risks: readonly Risk[]) => (
    <ul class="risks">
      {risks.map(({ name, reason, remedy, ...risk }) => (
        <ReasonRow
          name={risk.budgets ? <PlanName name={name} /> : <BudgetLink name={name} />}
          reason={reason}
          view={view}
          remedy={isAdmin ? remedy : null}
          row={name}
          {...risk}
        />
      ))}
    </ul>
  )
  return (
    <Section id="risk" title={say`At risk ${<small>{of}</small>}`}>
      {graves.length === 0 ? <p class="empty">Every budget is on track.</p> : null}
      {rowsOf(graves.slice(0, maxRisks))}
      {graves.length > maxRisks ? (
        <p>
          <a href="/?sort=risk#budgets">{count(graves.length - maxRisks)} more</a>
        </p>
      ) : null}
      {stopped.length > 0 ? <h3>Frozen, paused or not reconciled</h3> : null}
      {rowsOf(stopped)}
    </Section>
  )
}

interface RowProps extends Pick<Risk, 'reason' | 'remedy' | 'budgets' | 'price'> {
  readonly view: View
  readonly name?: Child
  /** The budget or plan of the row. The button does not repeat this name. */
  readonly row: string
}

export function ReasonRow({ name, reason, budgets, price, remedy, row, view }: RowProps) {
  const cost =
    price === null ? 'The price of its next update is not known yet.' : `The last update cost ${count(price ?? 0)}.`
  return (
    <li>
      {name && <span>{name}</span>}
      <span>
        <Pill reason={reason} view={view} />
      </span>
      <span class="why">
        {budgets && say`Paid by ${budgetLinks(budgets)}. `}
        {reason.sentence} {price === undefined ? null : cost}
      </span>
      <span class="remedy">{remedy && <RemedyLink remedy={remedy} row={row} />}</span>
    </li>
  )
}

const maxNamed = 5

const budgetLinks = (names: readonly string[]): Child => [
  joined(names.slice(0, maxNamed).map((name) => <BudgetLink name={name} />)),
  names.length > maxNamed ? ` and ${count(names.length - maxNamed)} more` : '',
]

function RemedyLink({ remedy, row }: { remedy: Remedy; row: string }) {
  const [label, address] = remedyLink(remedy, row)
  return (
    <a class="button small" href={address}>
      {label}
    </a>
  )
}

/** Links to the form with its fields filled in. @param row is the name beside the link; the label does not repeat it. */
export function remedyLink(remedy: Remedy, row?: string): readonly [label: string, address: string] {
  const named = (name: string, before = '') => (name === row ? '' : ` ${before}${name}`)
  switch (remedy.kind) {
    case 'grant': {
      const { budget, window, units } = remedy
      const address = bookAddress(budget, 'grant', { units: String(units), window })
      return [`Grant ${count(units)}${named(budget, 'to ')}…`, address]
    }
    case 'unfreeze':
      return [`Unfreeze${named(remedy.budget)}…`, budgetAddress(remedy.budget, '/unfreeze')]
    case 'resume':
      return [`Resume${named(remedy.plan)}…`, planAddress(remedy.plan, '#stopping')]
    case 'reconcile':
      return ['Reconcile…', bookAddress(rootBudget, 'reconcile')]
  }
}

/** Without a known price of each update, the sum is only a lower bound. */
export function PlansToCome({ month: { committed, unpriced } }: Pick<BudgetOutlook, 'month'>) {
  if (unpriced > 0 && committed === 0) return <span class="unknown">unknown</span>
  return <>{unpriced > 0 ? `at least ${count(committed)}` : count(committed)}</>
}

/** Shows `5,100 to 5,642`: the units left at the recent pace, and with plans only. */
export function LeftAtReset({ outlook: { figures, month } }: { outlook: BudgetOutlook }) {
  const total = totalOf(figures)
  if (total === null) return <span class="unknown">–</span>
  const [low, high] = [total - (month.projectedAtPace ?? month.projected), total - month.projected]
  const most = month.unpriced > 0 ? 'at most ' : ''
  return (
    <span
      class={low < 0 ? 'none' : ''}
    >{`${most}${low === high ? count(low) : `${count(low)} to ${count(high)}`}`}</span>
  )
}
