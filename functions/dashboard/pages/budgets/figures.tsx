import type { MonthFigures } from '../../../../shared/guard/reports/history.ts'
import type { BudgetOutlook } from '../../../../shared/guard/reports/outlook.ts'
import type { SpentOn } from '../../../../shared/guard/reports/spenders.ts'
import { count, units, zoneOf } from '../../../../shared/guard/sentences.ts'
import { rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { Update } from '../../../../shared/ledger/updates/update.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { Bar, ChartFigure } from '../../components/charts.tsx'
import { LeftAtReset, totalOf } from '../../components/outlook.tsx'
import { Section, StateName, Time, Units, updateAddress } from '../../components/parts.tsx'
import { Who } from '../../components/people.tsx'
import { shortLabel } from '../../components/period.tsx'
import { Shares } from '../../components/spenders.tsx'
import { Facts } from '../../kit/facts.tsx'

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
  const { limit, granted, spent, held, inDoubt } = figures
  const total = totalOf(figures)
  const pace = month.pace.last7Days ?? month.pace.month
  const unpriced =
    month.unpriced === 1
      ? ['One project of a plan has', 'is']
      : [`${count(month.unpriced)} projects of plans have`, 'are']
  return (
    <Section
      id="figures"
      title={total === null ? 'No limit this month' : `${count(figures.available)} of ${units(total)} left`}
    >
      <p class="note">
        {limit === 'unlimited' ? 'No limit' : `Limit ${count(limit)}`}
        {granted === 0 ? '' : `, ${count(granted)} granted`}; resets <Time at={figures.end} zone={zoneOf(view)} />
      </p>
      {over === null ? null : <Observed over={over} />}
      <Bar figures={figures} committed={month.committed} />
      <Facts
        rows={[
          ['Spent', <Units units={spent} cost={cost} />],
          ['Held', count(held)],
          ['In doubt', count(inDoubt)],
          ['Plans to come', count(month.committed)],
          month.ifResumed > 0 && ['If paused plans resumed', count(month.ifResumed)],
          ['Left at reset', <LeftAtReset outlook={outlook} />],
          ['Pace beside plans', pace === null ? 'fewer than three days known' : `${count(Math.round(pace))} a day`],
          ['Updates it can still pay', <Units units={month.updatesLeft} />],
          day.available !== null && ['Left today', count(day.available)],
        ]}
      />
      {month.unpriced === 0 ? null : (
        <p class="note">{`${unpriced[0]} no known price yet, and ${unpriced[1]} missing in “Plans to come”.`}</p>
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
      {updates.map((update) => (
        <li>
          <a href={updateAddress(update.id)}>{update.project}</a> <StateName state={update.state} />{' '}
          {(update.charged ?? update.estimated) ? units(update.charged ?? update.estimated ?? 0) : null}{' '}
          <span class="note">
            <Time at={update.createdAt} zone={zoneOf(view)} /> by{' '}
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
