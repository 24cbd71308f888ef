import type { MonthFigures } from '../../../../shared/guard/reports/history.ts'
import type { BudgetOutlook } from '../../../../shared/guard/reports/outlook.ts'
import type { SpentOn } from '../../../../shared/guard/reports/spenders.ts'
import { count, units, zoneOf } from '../../../../shared/guard/sentences.ts'
import { budgetNamed, limitOf, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { Update } from '../../../../shared/ledger/updates/update.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { Bar, ChartFigure } from '../../components/charts.tsx'
import { LeftAtReset, totalOf } from '../../components/outlook.tsx'
import { Fact, Facts, Section, StateName, Time, UnitsFact, updateAddress } from '../../components/parts.tsx'
import { Who } from '../../components/people.tsx'
import { shortLabel } from '../../components/period.tsx'
import { Shares } from '../../components/spenders.tsx'

interface UnitsProps {
  readonly outlook: BudgetOutlook
  readonly view: View
  /** Of what is spent. */
  readonly cost: string | undefined
  /** What an observed budget would have refused. */
  readonly over: SpentOn['wouldHaveRefused'] | null
}

export function UnitsSection({ outlook, view, cost, over }: UnitsProps) {
  const { budget, figures, month, day, history } = outlook
  const zone = zoneOf(view)
  const definition = budgetNamed(view.definitions, budget)
  const hasDay = definition !== undefined && limitOf(definition, 'day') !== 'unlimited'
  const total = totalOf(figures)
  return (
    <Section
      id="figures"
      title={total === null ? 'No limit this month' : `${count(figures.available)} of ${units(total)} left`}
    >
      <p class="note">
        {figures.limit === 'unlimited' ? 'No limit' : `Limit ${count(figures.limit)}`}
        {figures.granted === 0 ? null : `, ${count(figures.granted)} granted`}; resets{' '}
        <Time at={figures.end} zone={zone} />
      </p>
      {over === null ? null : <Observed over={over} />}
      <Bar figures={figures} committed={month.committed} />
      <Facts>
        <UnitsFact name="Spent" units={figures.spent} cost={cost} />
        <UnitsFact name="Held" units={figures.held} />
        <UnitsFact name="In doubt" units={figures.inDoubt} />
        <UnitsFact name="Plans to come" units={month.committed} />
        {month.ifResumed > 0 ? <UnitsFact name="If paused plans resumed" units={month.ifResumed} /> : null}
        <Fact name="Left at reset">
          <LeftAtReset outlook={outlook} />
        </Fact>
        <Fact name="Pace beside plans">
          {month.pace.last7Days === null && month.pace.month === null
            ? 'fewer than three days known'
            : `${count(Math.round(month.pace.last7Days ?? month.pace.month ?? 0))} a day`}
        </Fact>
        <UnitsFact name="Updates it can still pay" units={month.updatesLeft} />
        {hasDay && day.available !== null ? <UnitsFact name="Left today" units={day.available} /> : null}
      </Facts>
      {month.unpriced === 0 ? null : (
        <p class="note">
          {month.unpriced === 1 ? 'One project of a plan has' : `${count(month.unpriced)} projects of plans have`} no
          known price yet, and {month.unpriced === 1 ? 'is' : 'are'} missing in “Plans to come”.
        </p>
      )}
      <ChartFigure
        {...{ name: budget, view, history, forecast: month }}
        budget={budget === rootBudget ? undefined : budget}
      />
    </Section>
  )
}

const Observed = ({ over: { updates, units: charged } }: { over: SpentOn['wouldHaveRefused'] }) => (
  <p class={updates === 0 ? 'note' : 'warning'}>
    Its limits are only observed and refuse nothing.{' '}
    {updates === 0
      ? 'Enforcing would have refused no update that ended this month.'
      : `Enforcing would have refused ${updates === 1 ? '1 update' : `${count(updates)} updates`} of ${units(charged)} this month.`}
  </p>
)

export const MonthsSection = ({ months, zone }: { months: readonly MonthFigures[]; zone: string }) => (
  <Section id="months" title="Month by month">
    <Shares
      of={Math.max(...months.map((each) => Math.max(each.spent, totalOf(each) ?? 0)))}
      rows={months.map((each) => {
        const total = totalOf(each)
        return [shortLabel(each.month, zone), each.spent, total === null ? 'no limit' : `of ${count(total)}`]
      })}
    />
  </Section>
)

export const UpdatesSection = ({ name, updates, view }: { name: string; updates: readonly Update[]; view: View }) => (
  <Section id="updates" title="Latest updates">
    {updates.length === 0 ? <p class="empty">None among the newest updates of the last seven days.</p> : null}
    <ul class="lines">
      {updates.map(({ id, project, state, charged, estimated, createdAt, ...update }) => (
        <li>
          <a href={updateAddress(id)}>{project}</a> <StateName state={state} />{' '}
          {(charged ?? estimated) ? units(charged ?? estimated ?? 0) : null}{' '}
          <span class="note">
            <Time at={createdAt} zone={zoneOf(view)} /> by{' '}
            <Who name={update.caller} of={update} definitions={view.definitions} />
          </span>
        </li>
      ))}
    </ul>
    <p>
      <a href={`/dashboard/updates?budget=${name}`}>All updates of {name}</a>
    </p>
  </Section>
)
