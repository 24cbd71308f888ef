import type { DayAhead, PlanStatus } from '../../../shared/guard/plans/calendar.ts'
import { count, list, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { budgetFor } from '../../../shared/guard/update/projects.ts'
import { chainOf } from '../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { planAddress, Sign, Time } from './parts.tsx'

export function PauseBanner(props: { status: PlanStatus; view: View; days: readonly DayAhead[]; isAdmin: boolean }) {
  const { status, view, days, isAdmin } = props
  const { plan, paused, next } = status
  if (!paused || !plan.enabled) return null
  const zone = zoneOf(view)
  const runs = days.flatMap(({ paused: due }) => due.filter((each) => each.plan === plan.name))
  const ofMonth = runs.flatMap(({ times, units }) => times.map((at) => ({ at, units: units / times.length })))
  const savedUnits = ofMonth.reduce((sum, { at, units }) => sum + (at < view.month.end ? units : 0), 0)
  return (
    <p class="frozen">
      <span aria-hidden="true">‖</span>{' '}
      <strong>
        <a href={planAddress(plan.name)}>{plan.name}</a> is paused
      </strong>{' '}
      by {paused.by} since <Time at={paused.at} zone={zone} />: {paused.reason}.{' '}
      {next === null ? null : (
        <>
          If resumed, it runs on <Time at={next} zone={zone} />.{' '}
        </>
      )}
      {savedUnits === 0 ? null : `Until the reset, the pause saves ${units(savedUnits)}. `}
      {isAdmin ? <a href={planAddress(plan.name, '#stopping')}>Resume {plan.name}…</a> : null}
    </p>
  )
}

export function NextTime({ status: { plan, paused, next }, zone }: { status: PlanStatus; zone: string }) {
  if (!plan.enabled) return <span class="unknown">not enabled in the plans file</span>
  if (paused) return <strong class="stopped">paused by {paused.by}</strong>
  return next === null ? <span class="unknown">not known yet</span> : <Time at={next} zone={zone} />
}

/** If only plans spend until then. */
export function WillItPass(props: { status: PlanStatus; days: readonly DayAhead[]; view: View }) {
  const { status, days, view } = props
  const { plan, paused, next } = status
  const { definitions } = view
  if (!plan.enabled || paused) return <span class="unknown">does not run</span>
  if (next === null) return <span class="unknown">–</span>
  const chains = plan.projects.map((project) => chainOf(definitions, budgetFor(definitions, plan, project)))
  // The reader does not see the budget that pays.
  if (chains.some((chain) => chain.length === 0)) return <span class="unknown">not known</span>
  const budgets = new Map(chains.flat().map((budget) => [budget.name, budget]))
  const frozen = [...budgets.values()].filter((budget) => budget.frozen).map(({ name }) => name)
  const short = days
    .flatMap(({ runsOut }) => runsOut)
    .filter(({ budget, at }) => at <= next && budgets.has(budget))
    .map(({ budget }) => budget)
  if (frozen.length + short.length === 0)
    return (
      <span class="passes">
        <Sign name="check" /> yes
      </span>
    )
  return (
    <span class="differs">
      <Sign name="cross" />{' '}
      {frozen.length > 0 ? `no: ${list(frozen)} frozen` : `not all: ${list([...new Set(short)])} has too little`}
    </span>
  )
}

export const CostText = ({ units: pricedUnits, unpriced }: { units: number; unpriced: number }) => (
  <span class="cost">
    {pricedUnits > 0 || unpriced === 0 ? units(pricedUnits) : null}
    {pricedUnits > 0 && unpriced > 0 ? ', and ' : null}
    {unpriced > 0 ? (
      <span class="unknown">
        {count(unpriced)} {unpriced === 1 ? 'update' : 'updates'} without a known price
      </span>
    ) : null}
  </span>
)
