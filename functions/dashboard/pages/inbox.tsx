import type { DecisionMade, Inbox } from '../../../shared/guard/people/inbox.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { ActionButtons, type Choices, Consequences, choicesFor } from '../components/decide.tsx'
import { IgnoreEnter, ReasonField, TextField } from '../components/fields.tsx'
import { ApprovalItem, DoubtItem } from '../components/inbox-items.tsx'
import { FormToken } from '../components/layout.tsx'
import { RiskSection } from '../components/outlook.tsx'
import { inboxPath, Section, Time, updateAddress, ZoneNote } from '../components/parts.tsx'
import { Who } from '../components/people.tsx'
import type { PageRoutes, PageServices, Visit } from '../session.tsx'

export function addInbox({ page }: PageRoutes, services: PageServices): void {
  page(inboxPath, {
    GET: async (visit) => {
      visit.mustHave('read')
      const inbox = await visit.guard.inbox()
      const { budgets } = await visit.guard.outlook(inbox.view)
      const number = updatesOf(inbox).length
      return visit.show(
        'Inbox',
        <>
          <Section id="waiting" title={`To decide: ${count(number)}${inbox.hasMore ? ' or more' : ''}`}>
            {number === 0 ? (
              <p class="empty">Nothing waits for a decision: no approval, and no doubt.</p>
            ) : (
              <DecisionForm visit={visit} services={services} inbox={inbox} />
            )}
            {inbox.hasMore ? <p class="note">There are more; they appear when these are decided.</p> : null}
          </Section>
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

const updatesOf = ({ entries }: Inbox): readonly Update[] =>
  entries.flatMap((entry) => (entry.kind === 'doubt' ? [entry.update] : entry.rows.map(({ update }) => update)))

const fieldsWith =
  ({ frame: { flash } }: Visit, formId: string) =>
  (name: string) => ({ formId, name, value: flash?.input?.[name], faults: flash?.faults })

/** A row's own buttons decide that row, those below what is chosen. */
function DecisionForm({ visit, services, inbox }: { visit: Visit; services: PageServices; inbox: Inbox }) {
  const offered = updatesOf(inbox).map((update) => choicesFor(update, inbox.view, visit, services.options).possible)
  const possible = (['approve', 'reject', 'ran', 'did-not-run'] as const).filter((action) =>
    offered.some((each) => each.includes(action)),
  )
  const approvals = offered.filter((each) => each.includes('approve')).length
  const field = fieldsWith(visit, 'all')
  return (
    <form method="post" action="/dashboard/decide" class="decide">
      <FormToken frame={visit.frame} />
      <IgnoreEnter />
      <input type="hidden" name="from" value="inbox" />
      {offered.filter((each) => each.length > 0).length > 1 ? <ChooseAll chosen={visit.query.get('choose')} /> : null}
      <ul class="waiting-list">{inbox.entries.map((entry) => entryItem(visit, services, inbox, entry))}</ul>
      {possible.length === 0 ? null : (
        <fieldset class="together">
          <legend>Decide all that are chosen</legend>
          <details>
            <summary>What each choice does</summary>
            <Consequences actions={possible} />
          </details>
          <div class="fields">
            {approvals > 1 ? (
              <TextField
                {...field('inAll')}
                label="Approve up to … units in all (optional)"
                note="Approves from the top, of those chosen, what fits into the sum."
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

const lists = ['approvals', 'doubts'] as const

/** Links, because pages have no scripts that could tick the boxes. */
const ChooseAll = ({ chosen }: { chosen: string | null }) => (
  <p class="note">
    {lists.map((list, position) => (
      <>
        {position === 0 ? null : ' · '}
        {chosen === list ? (
          <a href={inboxPath}>Choose none</a>
        ) : (
          <a href={`${inboxPath}?choose=${list}`}>Choose all {list}</a>
        )}
      </>
    ))}
  </p>
)

const bulkLabels = {
  approve: 'Approve chosen',
  reject: 'Reject chosen',
  ran: 'Chosen ran',
  'did-not-run': 'Chosen did not run',
} as const

function entryItem(visit: Visit, services: PageServices, { view, entries }: Inbox, entry: Inbox['entries'][number]) {
  const { kinds, options } = services
  const isOnly = entries.length === 1 && (entry.kind === 'doubt' || entry.rows.length === 1)
  const given = (update: Update) => {
    const choices: Choices = choicesFor(update, view, visit, options)
    return {
      choices,
      isChosen: isOnly || visit.query.get('choose') === `${entry.kind}s`,
      field: fieldsWith(visit, 'row'),
    }
  }
  if (entry.kind === 'doubt') return <DoubtItem {...{ entry, view, options, kinds, ...given(entry.update) }} />
  const items = entry.rows.map((row) => <ApprovalItem {...{ row, view, ...given(row.update) }} />)
  if (entry.rows.length === 1) return items[0]
  const [first] = entry.rows
  return (
    <li class="group">
      <p class="what">
        {first ? <Who name={first.update.caller} of={first.update} definitions={view.definitions} /> : null} asked for{' '}
        {count(entry.rows.length)} updates: {units(entry.units)}
      </p>
      <ul>{items}</ul>
    </li>
  )
}

const decisions: Readonly<Record<DecisionMade['what'], string>> = {
  approved: 'approved',
  rejected: 'rejected',
  cancelled: 'cancelled',
  ran: 'found to have run',
  'did-not-run': 'found not to have run',
}

const DecidedList = ({ decided, view }: Pick<Inbox, 'decided' | 'view'>) =>
  decided.length === 0 ? (
    <p class="empty">Nothing was decided in the last seven days.</p>
  ) : (
    <ul class="lines">
      {decided.map(({ update, what, at, by, note }) => (
        <li>
          <a href={updateAddress(update.id)}>{update.project}</a> {decisions[what]} by{' '}
          <Who name={by} of={update} definitions={view.definitions} />{' '}
          <span class="note">
            <Time at={at} zone={zoneOf(view)} />
            {note === undefined || note === what ? null : `: ${note}`}
          </span>
        </li>
      ))}
    </ul>
  )
