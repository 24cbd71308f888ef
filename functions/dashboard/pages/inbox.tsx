import type { Child } from 'hono/jsx'
import type { DecisionMade, Inbox } from '../../../shared/guard/people/inbox.ts'
import type { BudgetOutlook } from '../../../shared/guard/reports/outlook.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { ActionButtons, type Choices, Consequences, choicesFor } from '../components/decide.tsx'
import { IgnoreEnter, ReasonField, TextField } from '../components/fields.tsx'
import { ApprovalItem, DoubtItem } from '../components/inbox-items.tsx'
import { FormToken } from '../components/layout.tsx'
import { Pill, RemedyLink, RiskDetail, RiskName, risksIn } from '../components/outlook.tsx'
import { inboxPath, Section, Time, updateAddress, ZoneNote } from '../components/parts.tsx'
import type { PageRoutes, PageServices, Visit } from '../session.tsx'

export function addInbox({ page }: PageRoutes, services: PageServices): void {
  page(inboxPath, {
    GET: async (visit) => {
      visit.mustHave('read')
      const background = await visit.guard.background()
      const inbox = await background.inbox()
      const { budgets } = await background.outlook(inbox.view)
      const items = [
        ...inbox.entries.map((entry) => ({ deadline: entry.deadline, item: entryItem(visit, services, inbox, entry) })),
        ...riskItems(budgets, inbox, visit.permissions.scopes.has('admin')),
      ].toSorted((a, b) => a.deadline - b.deadline)
      return visit.show(
        'Inbox',
        <>
          <Section id="waiting" title="Needs you" isHidden>
            {items.length === 0 ? (
              <p class="empty">Nothing needs you: no approval, no doubt, and no budget at risk.</p>
            ) : (
              <DecisionForm visit={visit} services={services} inbox={inbox}>
                {items.map(({ item }) => item)}
              </DecisionForm>
            )}
            {inbox.hasMore ? <p class="note">There are more; they appear when these are decided.</p> : null}
          </Section>
          <Section id="decided" title="Decided lately">
            <DecidedList decided={inbox.decided} zone={zoneOf(inbox.view)} />
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
function DecisionForm(props: { visit: Visit; services: PageServices; inbox: Inbox; children: Child }) {
  const { visit, services, inbox, children } = props
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
      <ul class="waiting-list">{children}</ul>
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
                note="Approves from the top what fits into the sum: of those chosen, or of all if none is chosen."
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
  const zone = zoneOf(view)
  if (entry.kind === 'doubt') return <DoubtItem {...{ entry, view, options, kinds, ...given(entry.update) }} />
  const items = entry.rows.map((row) => <ApprovalItem {...{ row, zone, ...given(row.update) }} />)
  if (entry.rows.length === 1) return items[0]
  const [first] = entry.rows
  return (
    <li class="group">
      <p class="what">
        {first?.update.caller} asked for {count(entry.rows.length)} updates: {units(entry.units)}
      </p>
      <ul>{items}</ul>
    </li>
  )
}

const noDeadline = Number.MAX_SAFE_INTEGER
/** A threshold alone needs no one. */
const quietReasons: readonly string[] = ['threshold', 'frozen']

const riskItems = (budgets: readonly BudgetOutlook[], { view }: Inbox, isAdmin: boolean) =>
  risksIn(budgets).flatMap((risk) => {
    const { name, reason, remedy } = risk
    if (quietReasons.includes(reason.kind)) return []
    const item = (
      <li class="budget-item">
        <p class="what">
          <RiskName risk={risk} /> <Pill reason={reason} zone={zoneOf(view)} isLong />
        </p>
        <p class="note">
          <RiskDetail risk={risk} zone={zoneOf(view)} />
        </p>
        {isAdmin && remedy ? <RemedyLink remedy={remedy} budget={name} /> : null}
      </li>
    )
    return [{ deadline: 'at' in reason ? reason.at : noDeadline, item }]
  })

const decisions: Readonly<Record<DecisionMade['what'], string>> = {
  approved: 'approved',
  rejected: 'rejected',
  cancelled: 'cancelled',
  ran: 'found to have run',
  'did-not-run': 'found not to have run',
}

const DecidedList = ({ decided, zone }: { decided: readonly DecisionMade[]; zone: string }) =>
  decided.length === 0 ? (
    <p class="empty">Nothing was decided in the last seven days.</p>
  ) : (
    <ul class="lines">
      {decided.map(({ update, what, at, by, note }) => (
        <li>
          <a href={updateAddress(update.id)}>{update.project}</a> {decisions[what]} by {by}{' '}
          <span class="note">
            <Time at={at} zone={zone} />
            {note === undefined || note === what ? null : `: ${note}`}
          </span>
        </li>
      ))}
    </ul>
  )
