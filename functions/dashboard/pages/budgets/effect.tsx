import type { Forecast } from '../../../../shared/guard/plans/forecast.ts'
import { count, list, units } from '../../../../shared/guard/sentences.ts'
import { type Book, type Counter, counterOf, usedOf } from '../../../../shared/ledger/book/book.ts'
import { type WindowKind, windowKinds } from '../../../../shared/ledger/book/definitions.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import { numberColumns, TableHead, Time } from '../../components/parts.tsx'

interface Row {
  readonly budget: string
  readonly window: WindowKind
  readonly before: Counter | undefined
  readonly after: Counter
}

interface Books {
  readonly before: Book
  readonly after: Book
  readonly budgets: readonly string[]
  /** The words for the books' month. */
  readonly month?: string
}

/** The counters before and after a change: each budget's month, and its day if limited. */
export function Effect({ before, after, budgets, month = thisMonth }: Books) {
  const shown = windowKinds.filter((window) => window === 'month' || month === thisMonth)
  const rows = budgets.flatMap((budget) => shown.flatMap((window) => rowOf(budget, window, before, after)))
  const below = rows.filter((row) => isLimited(row) && row.after.available < 0)
  return (
    <>
      {below.map((row) => (
        <p class="failed" role="alert">
          <span aria-hidden="true">⚠</span>{' '}
          <strong>
            {row.budget} would have {units(row.after.available)} left {spanOf(row.window, month)}.
          </strong>{' '}
          Nothing more is admitted on it, nor on any budget below it, before {units(-row.after.available + 1)} are there
          again. What is held or in doubt goes on.
        </p>
      ))}
      <div class="wide">
        <table class="effect">
          <caption>What it does, as the ledger is now</caption>
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
                  <Changed from={totalOf(row.before)} to={totalOf(row.after)} />
                </td>
                <td data-name="Spent, held, in doubt" class="number">
                  <Changed from={row.before && count(usedOf(row.before))} to={count(usedOf(row.after))} />
                </td>
                <td data-name="Left now" class="number">
                  {row.before ? leftOf(row.before) : '–'}
                </td>
                <td data-name="Left then" class="number">
                  <strong>{leftOf(row.after)}</strong>
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

const leftOf = ({ limit, available }: Counter): string => (limit === 'unlimited' ? 'no limit' : count(available))

const totalOf = (counter: Counter | undefined): string | undefined =>
  counter && (counter.limit === 'unlimited' ? 'no limit' : count(counter.limit + counter.granted))

const Changed = ({ from, to = '' }: { from: string | undefined; to: string | undefined }) =>
  from === undefined || from === to ? (
    <span>{to}</span>
  ) : (
    <>
      {from} <span aria-hidden="true">→</span>
      <span class="hidden">then</span> <strong>{to}</strong>
    </>
  )

/** The most that updates of a budget may cost then, and the counter that bounds it. */
export const Binding = ({ of, binds, month = thisMonth }: { of: string; binds: Entry['binds']; month?: string }) =>
  binds ? (
    <p>
      Updates of {of} may then cost {units(Math.max(0, binds.available))} together: that is what{' '}
      {binds.budget === of ? 'it' : binds.budget} has left {spanOf(binds.window, month)}.
    </p>
  ) : (
    <p>Nothing limits what updates of {of} may cost then.</p>
  )

const thisMonth = 'this month'

/** Only the open month has days. */
function spanOf(window: WindowKind, month: string): string {
  if (window === 'month') return month
  return month === thisMonth ? 'today' : 'in a day'
}

/** The counters that plans would exhaust then and did not before, and the reverse. */
export function PlansThen(of: { before: readonly Forecast[]; after: readonly Forecast[]; zone: string }) {
  const { before, after, zone } = of
  const was = (row: Forecast) =>
    before.find(({ budget, window }) => budget === row.budget && window === row.window)?.exhaustedAt ?? null
  const moved = after.filter((row) => row.exhaustedAt !== was(row))
  const enough = moved.filter((row) => row.exhaustedAt === null)
  const ends = moved.flatMap((row) => (row.exhaustedAt === null ? [] : [{ ...row, exhaustedAt: row.exhaustedAt }]))
  return (
    <>
      {ends.map((row) => {
        const until = was(row)
        return (
          <p class="warning">
            <span aria-hidden="true">⚠</span> Plans would want more than {row.budget} has{' '}
            {row.window === 'day' ? 'today' : 'this month'} from <Time at={row.exhaustedAt} zone={zone} /> on
            {until === null ? (
              ', where now there is enough for them'
            ) : (
              <>
                , and now from <Time at={until} zone={zone} /> on
              </>
            )}
            .
          </p>
        )
      })}
      {enough.length === 0 ? null : (
        <p>
          There would be enough for all that plans will take from{' '}
          {list(enough.map(({ budget, window }) => (window === 'day' ? `${budget} today` : `${budget} this month`)))},
          which there is not now.
        </p>
      )}
    </>
  )
}
