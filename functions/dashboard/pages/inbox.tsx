import { decisions } from '../../../shared/guard/people/decisions.ts'
import type { Inbox } from '../../../shared/guard/people/inbox.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { AnsweredDoubtsForm } from '../components/answered-doubts.tsx'
import { CloseMonthOffer } from '../components/close-offer.tsx'
import { ActionButtons, Consequences, choicesFor } from '../components/decide.tsx'
import { UndeliveredSection } from '../components/delivery.tsx'
import { IgnoreEnter, ReasonField, TextField } from '../components/fields.tsx'
import { InboxItem, type ItemRow } from '../components/inbox-items.tsx'
import { FormToken } from '../components/layout.tsx'
import { RiskSection } from '../components/outlook.tsx'
import { inboxPath, joined, ProjectLink, Section, updateAddress, ZoneNote } from '../components/parts.tsx'
import { inView } from '../components/people.tsx'
import { fieldsOf } from '../kit/action.tsx'
import type { PageRoutes, PageServices, Visit } from '../session.tsx'

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
          <Section id="waiting" title={`To decide: ${count(number)}${inbox.hasMore ? ' or more' : ''}`}>
            {number === 0 ? (
              <p class="empty">Nothing waits for a decision: no approval, and no doubt.</p>
            ) : (
              <>
                <AnsweredDoubtsForm answered={inbox.answered} view={inbox.view} visit={visit} />
                <DecisionForm visit={visit} services={services} inbox={inbox} />
              </>
            )}
            {inbox.hasMore ? <p class="note">There are more; they appear when these are decided.</p> : null}
          </Section>
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

/** A row's own buttons decide that row. The buttons below the list decide the chosen rows. */
function DecisionForm({ visit, services, inbox }: { visit: Visit; services: PageServices; inbox: Inbox }) {
  const { view, entries } = inbox
  const { frame, query } = visit
  const updates = entries.flatMap(rowsOf).map(({ update }) => update)
  const offered = updates.map((update) => choicesFor(update, view, visit, services.options).possible)
  const possible = (['approve', 'reject', 'ran', 'did-not-run'] as const).filter((action) =>
    offered.some((each) => each.includes(action)),
  )
  const chosen = query.get('choose')
  const field = fieldsOf(frame, 'all')
  const item = (row: ItemRow, list: string) => (
    <InboxItem {...{ row, view, visit, services, isChosen: updates.length === 1 || chosen === list }} />
  )
  return (
    <form method="post" action="/dashboard/decide" class="decide">
      <FormToken frame={frame} />
      <IgnoreEnter />
      <input type="hidden" name="from" value="inbox" />
      {offered.filter((each) => each.length > 0).length > 1 ? <p class="note">{chooseLinks(chosen)}</p> : null}
      <ul class="waiting-list">
        {entries.map((entry) => {
          const items = rowsOf(entry).map((row) => item(row, `${entry.kind}s`))
          const [first] = rowsOf(entry)
          if (!first || items.length === 1) return items
          const { caller } = first.update
          return (
            <li class="group">
              <p class="what">
                {inView(view).who(caller, first.update)}
                {` asked for ${count(items.length)} updates: ${units(entry.units)}`}
              </p>
              <ul>{items}</ul>
            </li>
          )
        })}
      </ul>
      {possible.length === 0 ? null : (
        <fieldset class="together">
          <legend>Decide all that are chosen</legend>
          <details>
            <summary>What each choice does</summary>
            <Consequences actions={possible} />
          </details>
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
        </fieldset>
      )}
    </form>
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
          <a href={updateAddress(update.id)}>{decisions[what].done}</a> by {inView(view).who(by, update)}{' '}
          <span class="note">
            {inView(view).time(at)}
            {note === undefined || note === decisions[what].done ? null : `: ${note}`}
          </span>
        </li>
      ))}
    </ul>
  )
