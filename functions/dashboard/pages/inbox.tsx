import type { Inbox } from '../../../shared/guard/inbox/inbox.ts'
import { type Decision, decisions } from '../../../shared/guard/people/decisions.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { AnsweredDoubtsForm } from '../components/answered-doubts.tsx'
import { CloseMonthOffer } from '../components/close-offer.tsx'
import { ActionButtons, AfterApproval, Consequences, choicesFor } from '../components/decide.tsx'
import { UndeliveredSection } from '../components/delivery.tsx'
import { InboxItem, type ItemRow } from '../components/inbox-items.tsx'
import { RiskSection } from '../components/outlook.tsx'
import { inView } from '../components/people.tsx'
import { fieldsOf } from '../kit/action.tsx'
import { IgnoreEnter, ReasonField, TextField } from '../kit/fields.tsx'
import { FoldedSection } from '../kit/fold.tsx'
import { FormToken, type Frame } from '../kit/layout.tsx'
import { inboxPath, joined, ProjectLink, Section, updateAddress, ZoneNote } from '../kit/parts.tsx'
import type { PageRoutes, PageServices, Visit } from '../kit/session.tsx'

export function addInbox({ page }: PageRoutes, services: PageServices): void {
  page(inboxPath, {
    GET: async (visit) => {
      visit.mustHave('read')
      const inbox = await visit.guard.inbox()
      const reports = await reportsOf(visit.guard)
      const { budgets } = await reports.outlook(inbox.view)
      const number = inbox.entries.flatMap(rowsOf).length
      return visit.show(
        'Inbox',
        <>
          <CloseMonthOffer view={inbox.view} isOffered={visit.permissions.readsBudgets === '*'} />
          {number === 0 ? (
            <Section id="waiting" title="To decide: 0">
              <p class="empty">Nothing waits for a decision: no approval, and no doubt.</p>
            </Section>
          ) : (
            <>
              <AnsweredDoubtsForm answered={inbox.answered} view={inbox.view} visit={visit} />
              <DecisionForm visit={visit} services={services} inbox={inbox} />
            </>
          )}
          <UndeliveredSection updates={inbox.undelivered} view={inbox.view} />
          <RiskSection budgets={budgets} isAdmin={visit.permissions.scopes.has('admin')} view={inbox.view} />
          <Section id="decided" title="Decided lately">
            <DecidedList {...inbox} />
          </Section>
          <ZoneNote zone={zoneOf(inbox.view)} />
        </>,
      )
    },
  })
}

const rowsOf = (entry: Inbox['entries'][number]): readonly ItemRow[] => (entry.kind === 'doubt' ? [entry] : entry.rows)

interface Work {
  readonly row: ItemRow
  readonly others: readonly ItemRow[]
}

/** A row does not name the requests that stand with it. */
function workOf(row: ItemRow, others: readonly ItemRow[]): Work {
  const ids = new Set([row, ...others].map(({ update }) => update.id))
  const shown = (each: ItemRow): ItemRow => ({ ...each, sameWork: each.sameWork.filter(({ id }) => !ids.has(id)) })
  return { row: shown(row), others: others.map(shown) }
}

/** The rows of each entry, without those that stand below another request for the same work: the one for the most projects. */
function worksIn(entries: Inbox['entries']): ReadonlyMap<Inbox['entries'][number], readonly Work[]> {
  const left = new Map(entries.flatMap(rowsOf).map((row) => [row.update.id, row]))
  const take = (id: string) => {
    const row = left.get(id)
    left.delete(id)
    return row ? [row] : []
  }
  const worksOf = (entry: Inbox['entries'][number]) =>
    rowsOf(entry)
      .flatMap(({ update }) => take(update.id))
      .map((row) =>
        workOf(
          row,
          row.sameWork.flatMap(({ id }) => take(id)),
        ),
      )
  const largestFirst = entries.toSorted((one, other) => rowsOf(other).length - rowsOf(one).length)
  return new Map(largestFirst.map((entry) => [entry, worksOf(entry)]))
}

interface FormProps {
  readonly visit: Visit
  readonly services: PageServices
  readonly inbox: Inbox
}

/** A row's own buttons decide that row. The section below the list decides the chosen rows. */
function DecisionForm({ visit, services, inbox }: FormProps) {
  const { view, entries } = inbox
  const { frame, query } = visit
  const updates = entries.flatMap(rowsOf).map(({ update }) => update)
  const offered = updates.map((update) => choicesFor(update, view, visit, services.options).possible)
  const chosen = query.get('choose')
  const item = ({ row, others }: Work, list: string) => (
    <InboxItem
      row={row}
      others={others}
      view={view}
      visit={visit}
      services={services}
      isChosen={updates.length === 1 || chosen === list}
    />
  )
  const works = worksIn(entries)
  const number = count(updates.length)
  return (
    <form method="post" action="/dashboard/decide" class="decide sheet">
      <FormToken frame={frame} />
      <IgnoreEnter />
      <input type="hidden" name="from" value="inbox" />
      <Section id="waiting" title={`To decide: ${number}${inbox.hasMore ? ' or more' : ''}`}>
        {offered.filter((each) => each.length > 0).length > 1 ? <p class="note">{chooseLinks(chosen)}</p> : null}
        <ul class="waiting-list">
          {entries.map((entry) => {
            const shown = works.get(entry) ?? []
            const items = shown.map((work) => item(work, `${entry.kind}s`))
            const [first] = shown
            if (!first || items.length === 1) return items
            const { caller } = first.row.update
            const sum = shown.reduce((all, { row }) => all + (row.update.estimated ?? 0), 0)
            return (
              <li class="group">
                <p class="what">
                  {inView(view).who(caller, first.row.update)}
                  {` asked for ${count(items.length)} updates: ${units(sum)}`}
                </p>
                <ul>{items}</ul>
              </li>
            )
          })}
        </ul>
        {inbox.hasMore ? <p class="note">There are more; they appear when these are decided.</p> : null}
      </Section>
      <DecideChosen frame={frame} offered={offered} chosen={chosen} />
    </form>
  )
}

interface ChosenProps {
  readonly frame: Frame
  readonly offered: readonly (readonly Decision[])[]
  readonly chosen: string | null
}

/** Stands apart, because its buttons act on many updates. */
function DecideChosen({ frame, offered, chosen }: ChosenProps) {
  const isOffered = (decision: Decision) => offered.some((each) => each.includes(decision))
  const possible = (['approve', 'reject', 'ran', 'did-not-run'] as const).filter(isOffered)
  if (possible.length === 0) return null
  const field = fieldsOf(frame, 'all')
  const isFilled = ['inAll', 'reason'].some((name) => frame.flash?.input?.[name])
  const isOnly = offered.length === 1
  return (
    <FoldedSection id="together" title="Decide all that are chosen" isOpen={chosen !== null || isFilled || isOnly}>
      <Consequences actions={possible} />
      <div class="fields">
        {offered.filter((each) => each.includes('approve')).length > 1 ? (
          <TextField
            {...field('inAll')}
            label="Approve up to … units in all (optional)"
            note="Approves chosen updates from the top, if they fit into the sum."
            isNumber
          />
        ) : null}
        <ReasonField
          {...field('reason')}
          label={possible.includes('ran') ? 'Note (optional; needed to say whether it ran)' : 'Note (optional)'}
          isOptional
        />
      </div>
      <ActionButtons actions={possible} labels={bulkLabels} />
    </FoldedSection>
  )
}

/** The choices are links, because the pages have no script that could tick the boxes. */
const chooseLinks = (chosen: string | null) =>
  joined(
    ['approvals', 'doubts'].map((list) =>
      chosen === list ? (
        <a href={inboxPath}>Choose none</a>
      ) : (
        <a href={`${inboxPath}?choose=${list}`}>Choose all {list}</a>
      ),
    ),
    ' · ',
  )

const bulkLabels = {
  approve: 'Approve chosen',
  reject: 'Reject chosen',
  ran: 'Chosen ran',
  'did-not-run': 'Chosen did not run',
} as const

const DecidedList = ({ decided, view }: Pick<Inbox, 'decided' | 'view'>) =>
  decided.length === 0 ? (
    <p class="empty">Nothing was decided in the last seven days.</p>
  ) : (
    <ul class="lines">
      {decided.map(({ update, what, at, by, note }) => (
        <li>
          <ProjectLink of={update} definitions={view.definitions} />{' '}
          <a href={updateAddress(update.id)}>{decisions[what].done}</a> by {inView(view).who(by, update)}
          <AfterApproval what={what} update={update} />{' '}
          <span class="note">
            {inView(view).ago(at)}
            {note === undefined || note === decisions[what].done ? null : `: ${note}`}
          </span>
        </li>
      ))}
    </ul>
  )
