import * as z from 'zod/mini'
import { count, countOf, shownCounter, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import type { Counter } from '../../../../shared/ledger/definitions/counters.ts'
import type { AuditedCounter, LastAudit } from '../../../../shared/ledger/views/audit.ts'
import { Who } from '../../components/people.tsx'
import { readFields } from '../../forms.ts'
import { ActionForm } from '../../kit/action.tsx'
import type { Frame } from '../../kit/layout.tsx'
import { List } from '../../kit/list.tsx'
import { activityPath, dayNamed, Section, Sign, Time } from '../../kit/parts.tsx'
import type { PageRoutes } from '../../kit/session.tsx'

const auditPath = '/dashboard/activity/audit'

const formSchema = z.strictObject({})

export function addAudit({ page }: PageRoutes): void {
  page(auditPath, {
    /** Reads every update of three months while the user waits. */
    POST: async ({ c, form, mustHave, mustReadAll, session, redirect, guard }) => {
      mustHave('read')
      mustReadAll()
      readFields(form, formSchema)
      const reads = c.get('expensiveReads')
      reads.admit(session.sub)
      await reads.keptAudit(async () => (await guard.jobs()).audit(session.sub))
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
    <ActionForm frame={frame} id="audit" action={auditPath} buttons={[{ text: 'Audit now' }]} />
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
            <span aria-hidden="true">?</span> {countOf(moved, 'counter')} changed during the audit. Audit again later.
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
        Audited on <Time at={at} zone={zoneOf(view)} /> by{' '}
        {by === 'digest' ? by : <Who name={by} definitions={view.definitions} />}.
      </p>
    </>
  )
}

const allMatchText = (counters: number): string =>
  counters === 0 ? 'Nothing is counted yet.' : `All ${count(counters)} counters match.`

const figures = { granted: 'Granted', spent: 'Spent', held: 'Held', inDoubt: 'In doubt', available: 'Left' } as const
type Figure = keyof typeof figures

const WrongCounters = ({ audit: { rows }, view: { definitions } }: { audit: LastAudit; view: View }) => (
  <List
    caption="Counters that differ from the sum of their lines"
    rows={rows.filter(({ ok }) => ok === false)}
    columns={[
      {
        name: 'Counter',
        isHead: true,
        cell: ({ budget }) => shownCounter(definitions, budget),
        note: ({ window }) => windowNamed(window),
      },
      ...Object.entries(figures).map(([figure, name]) => ({
        name,
        isNumber: true,
        cell: ({ recorded, recomputed }: AuditedCounter) => (
          <Comparison recorded={recorded} recomputed={recomputed} figure={figure as Figure} />
        ),
      })),
    ]}
  />
)

/** `month from 1 Nov 2026` for the window `month:2026-11-01`. */
function windowNamed(name: string): string {
  const [kind = '', day = ''] = name.split(':')
  return `${kind === 'month' ? 'month from' : kind} ${dayNamed(day)}`
}

const figureText = (counter: Counter, figure: Figure): string =>
  counter.limit === 'unlimited' && figure === 'available' ? 'no limit' : count(counter[figure])

function Comparison({
  recorded,
  recomputed,
  figure,
}: Pick<AuditedCounter, 'recorded' | 'recomputed'> & { figure: Figure }) {
  const [text, sum] = [figureText(recorded, figure), figureText(recomputed, figure)]
  return (
    <>
      {text}
      {text === sum ? null : <strong class="differs"> ≠ {sum}</strong>}
    </>
  )
}
