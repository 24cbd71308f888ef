import { count } from '../../../../shared/guard/sentences.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { Page } from '../../../../shared/ledger/views/lists.ts'
import { budgetAddress, Time, words } from '../../components/parts.tsx'

const correctable: readonly Entry['type'][] = ['grant', 'transfer', 'external-spend', 'opening', 'correction']

/** What was booked on a budget this month, beside its updates. */
export const Entries = ({
  of,
  name,
  zone,
  isAdmin,
}: {
  of: Page<Entry>
  name: string
  zone: string
  isAdmin: boolean
}) => (
  <section aria-labelledby="entries">
    <h2 id="entries">Booked this month</h2>
    {of.rows.length === 0 ? (
      <p class="empty">Nothing was booked by hand this month. What updates cost is on their own pages.</p>
    ) : (
      <ul class="entries">
        {of.rows.map(({ id, type, budget, units, to, at, by, reason }) => (
          <li>
            <p>
              <strong>{words(type)}</strong>
              {units === 0 ? null : `, ${count(units)}`}
              {to === undefined ? null : `, ${budget} to ${to}`}
              {to === undefined && budget !== name ? `, asked for ${budget}` : null}
            </p>
            <p>{reason}</p>
            <p class="note">
              <Time at={at} zone={zone} /> by {by} <code>{id}</code>
              {isAdmin && correctable.includes(type) ? (
                <>
                  {' '}
                  <a href={budgetAddress(name, `/book?corrects=${id}`)} aria-label={`Correct the entry ${id}`}>
                    Correct
                  </a>
                </>
              ) : null}
            </p>
          </li>
        ))}
      </ul>
    )}
    <p class="buttons">
      <a href={`/dashboard/ledger?budget=${name}`}>All entries of {name}</a>
    </p>
  </section>
)
