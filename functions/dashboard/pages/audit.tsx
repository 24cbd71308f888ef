import * as z from 'zod/mini'
import { count, shownCounter, zoneOf } from '../../../shared/guard/sentences.ts'
import type { LastAudit } from '../../../shared/ledger/book/audit.ts'
import type { Counter } from '../../../shared/ledger/book/book.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { FormToken, type Frame } from '../components/layout.tsx'
import { activityPath, dayNamed, numberColumns, Section, Sign, TableHead, Time } from '../components/parts.tsx'
import { Who } from '../components/people.tsx'
import { readFields } from '../forms.ts'
import type { PageRoutes } from '../session.tsx'

const auditPath = '/dashboard/activity/audit'

const formSchema = z.strictObject({ form: z.string() })

export function addAudit({ page }: PageRoutes): void {
  page(auditPath, {
    /** Reads every update of three months while the user waits. */
    POST: async ({ c, form, mustHave, mustReadAll, session, redirect, guard }) => {
      mustHave('read')
      mustReadAll()
      readFields(form, formSchema)
      const reads = c.get('expensiveReads')
      reads.admit(session.sub)
      await reads.keptAudit(() => guard.audit(session.sub))
      return redirect({ done: ['Audit finished.'], failed: [] }, `${activityPath}#audit`)
    },
  })
}

export const AuditSection = ({ audit, view, frame }: { audit: LastAudit | null; view: View; frame: Frame }) => (
  <Section id="audit" title="Do the books add up?">
    <p>
      An audit compares each counter of the last, this and the next month with the sum of its entries and updates. It
      runs every night, and when you ask for it.
    </p>
    <AuditResult audit={audit} view={view} />
    <form method="post" action={auditPath}>
      <FormToken frame={frame} />
      <p class="buttons">
        <button type="submit">Audit now</button>
      </p>
    </form>
  </Section>
)

function AuditResult({ audit, view }: { audit: LastAudit | null; view: View }) {
  if (!audit) return <p class="empty">No audit yet. One runs every night, and when you ask for it.</p>
  const { at, by, counters, wrong, moved } = audit
  return (
    <>
      <div class="outcome">
        {wrong > 0 ? (
          <p class="failed">
            <Sign name="cross" /> {count(wrong)} of {count(counters)} counters do not match their lines. Something else
            has written the table: see the runbook.
          </p>
        ) : null}
        {moved > 0 ? (
          <p>
            <span aria-hidden="true">?</span> {count(moved)} counters changed while they were read. Audit again later.
          </p>
        ) : null}
        {wrong + moved === 0 ? (
          <p class="done">
            <Sign name="check" /> {allMatchText(counters)}
          </p>
        ) : null}
      </div>
      {wrong > 0 ? <WrongCounters audit={audit} view={view} /> : null}
      <p class="note">
        Audited on <Time at={at} zone={zoneOf(view)} /> by <Who name={by} definitions={view.definitions} />.
      </p>
    </>
  )
}

const allMatchText = (counters: number): string =>
  counters === 0 ? 'Nothing is counted yet.' : `All ${count(counters)} counters match.`

const figures = ['granted', 'spent', 'held', 'inDoubt', 'available'] as const
const names: Readonly<Record<(typeof figures)[number], string>> = {
  granted: 'Granted',
  spent: 'Spent',
  held: 'Held',
  inDoubt: 'In doubt',
  available: 'Left',
}

const WrongCounters = ({ audit: { rows }, view: { definitions } }: { audit: LastAudit; view: View }) => (
  <div class="wide">
    <table class="rows">
      <caption>Counters, and the different sums of their lines</caption>
      <TableHead columns={['Counter', ...numberColumns(...figures.map((figure) => names[figure]))]} />
      <tbody>
        {rows
          .filter(({ ok }) => ok === false)
          .map(({ window, budget, recorded, recomputed }) => (
            <tr>
              <th scope="row">
                {shownCounter(definitions, budget)}
                <span class="note">{windowNamed(window)}</span>
              </th>
              {figures.map((figure) => (
                <td data-name={names[figure]} class="number">
                  <FigureComparison
                    recorded={figureText(recorded, figure)}
                    recomputed={figureText(recomputed, figure)}
                  />
                </td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  </div>
)

/** `month from 1 Nov 2026` for the window `month:2026-11-01`. */
function windowNamed(name: string): string {
  const [kind = '', day = ''] = name.split(':')
  return `${kind === 'month' ? 'month from' : kind} ${dayNamed(day)}`
}

const figureText = (counter: Counter, figure: (typeof figures)[number]): string =>
  counter.limit === 'unlimited' && figure === 'available' ? 'no limit' : count(counter[figure])

const FigureComparison = ({ recorded, recomputed }: { recorded: string; recomputed: string }) => (
  <>
    {recorded}
    {recorded === recomputed ? null : <strong class="differs"> ≠ {recomputed}</strong>}
  </>
)
