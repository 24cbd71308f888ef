import type { PlanStatus } from '../../../shared/guard/plans/statuses.ts'
import { budgetFor } from '../../../shared/guard/rules/projects.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { budgetNamed } from '../../../shared/ledger/definitions/definitions.ts'
import type { DayAhead } from '../../../shared/reports/plans/calendar.ts'
import type { Verdict } from '../../../shared/reports/plans/verdict.ts'
import { verdictInWords } from '../../../shared/reports/plans/verdict-words.ts'
import { planAddress, Sign, Time } from '../kit/parts.tsx'
import { Who } from './people.tsx'

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
      by <Who name={paused.by} definitions={view.definitions} /> since <Time at={paused.at} zone={zone} />:{' '}
      {paused.reason}. {next === null ? null : ['If resumed, it runs on ', <Time at={next} zone={zone} />, '. ']}
      {savedUnits === 0 ? null : `Until the reset, the pause saves ${units(savedUnits)}. `}
      {isAdmin ? <a href={planAddress(plan.name, '#stopping')}>Resume {plan.name}…</a> : null}
    </p>
  )
}

export function NextTime({ status: { plan, paused, next }, view }: { status: PlanStatus; view: View }) {
  if (!plan.enabled) return <span class="unknown">not enabled in the plans file</span>
  if (paused)
    return (
      <strong class="stopped">
        paused by <Who name={paused.by} definitions={view.definitions} />
      </strong>
    )
  return next === null ? <span class="unknown">not known yet</span> : <Time at={next} zone={zoneOf(view)} />
}

export function WillItPass(props: { status: PlanStatus; verdict: Verdict | undefined; view: View }) {
  const { status, verdict, view } = props
  const { plan, paused, next } = status
  if (!plan.enabled || paused) return <span class="unknown">does not run</span>
  if (next === null) return <span class="unknown">–</span>
  // The reader does not see the budget that pays.
  const isHidden = plan.projects.some(
    (project) => !budgetNamed(view.definitions, budgetFor(view.definitions, plan, project)),
  )
  if (!verdict || isHidden || verdict.kind === 'unknown') return <span class="unknown">unknown</span>
  const passes = verdict.kind === 'passes'
  return (
    <span class={passes ? 'passes' : 'differs'}>
      <Sign name={passes ? 'check' : 'cross'} /> {verdictInWords(verdict, zoneOf(view))}
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
