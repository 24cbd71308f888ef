import { count, shownCounter } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { AuditedCounter } from '../../../shared/ledger/audit.ts'
import type { Counter } from '../../../shared/ledger/book.ts'
import type { Visiting } from './visiting.tsx'

/** Every counter of the books against the sum of its lines. It reads all of them: only when somebody asks for it. */
export function addAudit({ page }: Visiting, { guard: { ledger } }: Services): void {
  page('/dashboard/ledger/audit', {
    GET: async ({ mustHave, show }) => {
      mustHave('read')
      const rows = await ledger.audit()
      const sorted = rows.toSorted((a, b) => Number(a.ok ?? false) - Number(b.ok ?? false))
      return show(
        'Audit',
        <>
          <Result rows={rows} />
          {rows.length === 0 ? null : <Table rows={sorted} />}
          <p>
            <a href="/dashboard/ledger">Back to the ledger</a>
          </p>
        </>,
      )
    },
  })
}

function Result({ rows }: { rows: readonly AuditedCounter[] }) {
  const wrong = rows.filter(({ ok }) => ok === false).length
  const moved = rows.filter(({ ok }) => ok === null).length
  if (rows.length === 0) return <p class="empty">Nothing has been counted yet, so there is nothing to audit.</p>
  return (
    <div class="outcome" role="status">
      {wrong > 0 ? (
        <p class="failed">
          <span aria-hidden="true">✕</span> {count(wrong)} of {count(rows.length)} counters differ from the sum of their
          lines. Something else has written the table: the runbook says what to look at.
        </p>
      ) : null}
      {moved > 0 ? (
        <p>
          <span aria-hidden="true">?</span> {count(moved)} counters moved while they were read: audit again in a quieter
          moment.
        </p>
      ) : null}
      {wrong + moved === 0 ? (
        <p class="done">
          <span aria-hidden="true">✓</span> All {count(rows.length)} counters are the sum of their lines.
        </p>
      ) : null}
    </div>
  )
}

const figures = ['granted', 'spent', 'held', 'inDoubt', 'available'] as const
const names: Readonly<Record<(typeof figures)[number], string>> = {
  granted: 'Granted',
  spent: 'Spent',
  held: 'Held',
  inDoubt: 'In doubt',
  available: 'Left',
}

const Table = ({ rows }: { rows: readonly AuditedCounter[] }) => (
  <div class="wide">
    <table class="rows">
      <caption>Counters as the books have them; where the sum of the lines is another, it stands below</caption>
      <thead>
        <tr>
          <th scope="col">Counter</th>
          <th scope="col">Adds up</th>
          {figures.map((figure) => (
            <th scope="col" class="number">
              {names[figure]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ window, budget, recorded, recomputed, ok }) => (
          <tr>
            <th scope="row">
              {shownCounter(budget)}
              <span class="note">{window.replace(':', ' of ')}</span>
            </th>
            <td data-name="Adds up">
              {ok === null ? '? it moved' : ok ? '✓ yes' : <strong class="differs">✕ no</strong>}
            </td>
            {figures.map((figure) => (
              <td data-name={names[figure]} class="number">
                <Compared one={shown(recorded, figure)} other={shown(recomputed, figure)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const shown = (counter: Counter, figure: (typeof figures)[number]): string =>
  counter.limit === 'unlimited' && figure === 'available' ? 'no limit' : count(counter[figure])

const Compared = ({ one, other }: { one: string; other: string }) => (
  <>
    {one}
    {one === other ? null : <strong class="differs"> ≠ {other}</strong>}
  </>
)
