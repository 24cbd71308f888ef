import type { Forecast } from '../../../../shared/guard/plans/forecast.ts'
import { count, list, thisWindow, units } from '../../../../shared/guard/sentences.ts'
import { type Book, type Counter, counterOf, usedOf } from '../../../../shared/ledger/book/book.ts'
import {
  type Definitions,
  isObserved,
  type WindowKind,
  windowKinds,
} from '../../../../shared/ledger/book/definitions.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import { numberColumns, Sign, TableHead, Time } from '../../components/parts.tsx'

interface Row {
  readonly budget: string
  readonly window: WindowKind
  readonly before: Counter | undefined
  readonly after: Counter
}

interface EffectProps {
  readonly before: Book
  readonly after: Book
  readonly budgets: readonly string[]
  readonly definitions: Definitions
  readonly month?: string
}

/** A day has a row only if it is limited. */
export function EffectTable({ before, after, budgets, definitions, month = thisMonth }: EffectProps) {
  const windows = windowKinds.filter((window) => window === 'month' || month === thisMonth)
  const rows = budgets.flatMap((budget) => windows.flatMap((window) => rowOf(budget, window, before, after)))
  const overdrawn = rows.filter((row) => isLimited(row) && row.after.available < 0)
  return (
    <>
      {overdrawn.map((row) => (
        <p class="failed" role="alert">
          <Sign name="warning" />{' '}
          <strong>
            {row.budget} would have {units(row.after.available)} left {windowText(row.window, month)}.
          </strong>{' '}
          {isObserved(definitions, row.budget)
            ? 'It is only observed, so its limit refuses nothing.'
            : `No update is admitted on it or on any budget below it until ${units(-row.after.available + 1)} are added. Running updates continue.`}
        </p>
      ))}
      <div class="wide">
        <table class="effect">
          <caption>Before and after</caption>
          <TableHead
            columns={['Budget', ...numberColumns('Limit and grants', 'Spent, held, in doubt', 'Left now', 'Left then')]}
          />
          <tbody>
            {rows.map((row) => (
              <tr class={isLimited(row) && row.after.available < 0 ? 'below' : ''}>
                <th scope="row">
                  {row.budget} <span class="note">{row.window === 'day' ? 'day' : 'month'}</span>
                </th>
                <td data-name="Limit and grants" class="number">
                  <FromTo from={totalText(row.before)} to={totalText(row.after)} />
                </td>
                <td data-name="Spent, held, in doubt" class="number">
                  <FromTo from={row.before && count(usedOf(row.before))} to={count(usedOf(row.after))} />
                </td>
                <td data-name="Left now" class="number">
                  {row.before ? availableText(row.before) : '–'}
                </td>
                <td data-name="Left then" class="number">
                  <strong>{availableText(row.after)}</strong>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function rowOf(budget: string, window: WindowKind, before: Book, after: Book): readonly Row[] {
  const row = { budget, window, before: counterOf(before, window, budget), after: counterOf(after, window, budget) }
  if (!row.after) return []
  const isShown =
    window === 'month' || [row.before?.limit ?? 'unlimited', row.after.limit].some((limit) => limit !== 'unlimited')
  return isShown ? [{ ...row, after: row.after }] : []
}

const isLimited = ({ after }: Row) => after.limit !== 'unlimited'

const availableText = ({ limit, available }: Counter): string => (limit === 'unlimited' ? 'no limit' : count(available))

const totalText = (counter: Counter | undefined): string | undefined =>
  counter && (counter.limit === 'unlimited' ? 'no limit' : count(counter.limit + counter.granted))

const FromTo = ({ from, to = '' }: { from: string | undefined; to: string | undefined }) =>
  from === undefined || from === to ? (
    <span>{to}</span>
  ) : (
    <>
      {from} <span aria-hidden="true">→</span>
      <span class="hidden">then</span> <strong>{to}</strong>
    </>
  )

export const TightestLimit = ({ budget, tightest }: { budget: string; tightest: Entry['binds'] }) =>
  tightest && tightest.budget !== budget ? (
    <p class="warning">
      <Sign name="warning" />{' '}
      <strong>
        {tightest.budget} has {count(Math.max(0, tightest.available))} left
      </strong>{' '}
      {windowText(tightest.window, thisMonth)}, so updates of {budget} can cost no more than that together.
    </p>
  ) : tightest ? (
    <p>
      Updates of {budget} can then cost {units(Math.max(0, tightest.available))} together{' '}
      {windowText(tightest.window, thisMonth)}.
    </p>
  ) : (
    <p>Nothing limits what updates of {budget} can cost then.</p>
  )

const thisMonth = 'this month'

/** Another month may have a day limit too, but no today. */
function windowText(window: WindowKind, month: string): string {
  if (window === 'month') return month
  return month === thisMonth ? 'today' : 'in a day'
}

export function ForecastChanges(props: { before: readonly Forecast[]; after: readonly Forecast[]; zone: string }) {
  const { before, after, zone } = props
  const exhaustedBefore = (row: Forecast) =>
    before.find(({ budget, window }) => budget === row.budget && window === row.window)?.exhaustedAt ?? null
  const changes = after.filter((row) => row.exhaustedAt !== exhaustedBefore(row))
  const sufficient = changes.filter((row) => row.exhaustedAt === null)
  const short = changes.flatMap((row) => (row.exhaustedAt === null ? [] : [{ ...row, exhaustedAt: row.exhaustedAt }]))
  return (
    <>
      {short.map((row) => {
        const until = exhaustedBefore(row)
        return (
          <p class="warning">
            <Sign name="warning" /> Plans would exhaust {row.budget} {thisWindow(row.window)} on{' '}
            <Time at={row.exhaustedAt} zone={zone} />
            {until === null ? (
              '; now it has enough for them'
            ) : (
              <>
                {' '}
                instead of <Time at={until} zone={zone} />
              </>
            )}
            .
          </p>
        )
      })}
      {sufficient.length === 0 ? null : (
        <p>
          Plans would no longer exhaust{' '}
          {list(
            sufficient.map(({ budget, window }) => (window === 'day' ? `${budget} today` : `${budget} this month`)),
          )}
          .
        </p>
      )}
    </>
  )
}
