import { count, leftOrOver, list, thisWindow, units } from '../../../../shared/guard/sentences.ts'
import { type Book, counterOf } from '../../../../shared/ledger/book/book.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import { type Counter, usedOf } from '../../../../shared/ledger/definitions/counters.ts'
import { type Definitions, isObserved, windowKinds } from '../../../../shared/ledger/definitions/definitions.ts'
import type { Forecast } from '../../../../shared/reports/plans/forecast.ts'
import { List } from '../../kit/list.tsx'
import { say, Time, Warning } from '../../kit/parts.tsx'

interface EffectProps {
  readonly before: Book
  readonly after: Book
  readonly budgets: readonly string[]
  readonly definitions: Definitions
  readonly month?: string | undefined
}

/** The day of a budget has a row only if the budget limits the day. */
export function EffectTable({ before, after, budgets, definitions, month = thisMonth }: EffectProps) {
  const windows = windowKinds.filter((window) => window === 'month' || month === thisMonth)
  const rows = budgets.flatMap((budget) =>
    windows.flatMap((window) => {
      const [from, to] = [counterOf(before, window, budget), counterOf(after, window, budget)]
      const isLimited = [from, to].some((counter) => counter && counter.limit !== 'unlimited')
      return to && (window === 'month' || isLimited) ? [{ budget, window, from, to }] : []
    }),
  )
  const isOverdrawn = ({ to }: (typeof rows)[number]) => to.limit !== 'unlimited' && to.available < 0
  return (
    <>
      {rows.filter(isOverdrawn).map(({ budget, window, to: { available } }) => (
        <Warning isAlert>
          <strong>{`${budget} would have ${units(available)} left ${window === 'month' ? month : thisWindow(window)}.`}</strong>{' '}
          {isObserved(definitions, budget)
            ? 'It is only observed, so its limit refuses nothing.'
            : `No update is admitted on it or on any budget below it until ${units(1 - available)} are added. Running updates continue.`}
        </Warning>
      ))}
      <List
        caption="Before and after"
        rows={rows}
        rowClass={(row) => (isOverdrawn(row) ? 'short' : undefined)}
        columns={[
          { name: 'Budget', isHead: true, cell: ({ budget }) => budget, note: ({ window }) => window },
          {
            name: 'Limit and grants',
            isNumber: true,
            cell: ({ from, to }) => fromTo(from && totalText(from), totalText(to)),
          },
          {
            name: 'Spent, held, in doubt',
            isNumber: true,
            cell: ({ from, to }) => fromTo(from && count(usedOf(from)), count(usedOf(to))),
          },
          { name: 'Left now', isNumber: true, cell: ({ from }) => (from ? availableText(from) : '–') },
          { name: 'Left then', isNumber: true, cell: ({ to }) => <strong>{availableText(to)}</strong> },
        ]}
      />
    </>
  )
}

const availableText = ({ limit, available }: Counter): string => (limit === 'unlimited' ? 'no limit' : count(available))

const totalText = ({ limit, granted }: Counter): string => (limit === 'unlimited' ? 'no limit' : count(limit + granted))

const fromTo = (from: string | undefined, to: string) =>
  from === undefined || from === to
    ? to
    : say`${from} ${<span aria-hidden="true">→</span>}${<span class="hidden">then</span>} ${<strong>{to}</strong>}`

export function TightestLimit({ budget, tightest }: { budget: string; tightest: Entry['binds'] }) {
  if (!tightest) return <p>Nothing limits what updates of {budget} can cost then.</p>
  if (tightest.budget !== budget) return <Warning>{boundText(tightest, budget)}</Warning>
  const left = units(Math.max(0, tightest.available))
  return <p>{`Updates of ${budget} can then cost ${left} together ${thisWindow(tightest.window)}.`}</p>
}

/** Says that an ancestor's limit is tighter than the limits of the budget. */
export function boundText({ budget, available, window }: NonNullable<Entry['binds']>, below: string): string {
  const has = `${budget} ${leftOrOver(available)} ${thisWindow(window)}`
  return available < 0
    ? `${has}, so nothing is left for updates of ${below}.`
    : `${has}, so updates of ${below} can cost no more than that together.`
}

const thisMonth = 'this month'

export function ForecastChanges(props: { before: readonly Forecast[]; after: readonly Forecast[]; zone: string }) {
  const { before, after, zone } = props
  const exhaustedBefore = (row: Forecast) =>
    before.find(({ budget, window }) => budget === row.budget && window === row.window)?.exhaustedAt ?? null
  const changes = after.filter((row) => row.exhaustedAt !== exhaustedBefore(row))
  const named = ({ budget, window }: Forecast) => `${budget} ${thisWindow(window)}`
  const sufficient = changes.filter((row) => row.exhaustedAt === null).map(named)
  return (
    <>
      {changes.map((row) => {
        if (row.exhaustedAt === null) return null
        const until = exhaustedBefore(row)
        const instead = until === null ? '. It has enough now' : say` instead of ${<Time at={until} zone={zone} />}`
        const at = <Time at={row.exhaustedAt} zone={zone} />
        if (row.available !== null && row.available <= 0)
          return <Warning>{say`${named(row)} would have nothing left already: its plans need units on ${at}.`}</Warning>
        return <Warning>{say`Plans would exhaust ${named(row)} on ${at}${instead}.`}</Warning>
      })}
      {sufficient.length === 0 ? null : <p>Plans would no longer exhaust {list(sufficient)}.</p>}
    </>
  )
}
