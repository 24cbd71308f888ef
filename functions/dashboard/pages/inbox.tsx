import type { Child } from 'hono/jsx'
import type { DecisionMade, Inbox } from '../../../shared/guard/people/inbox.ts'
import type { BudgetOutlook } from '../../../shared/guard/reports/outlook.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { ActionButtons, type Choices, Consequences, choicesFor } from '../components/decide.tsx'
import { IgnoreEnter, ReasonLine } from '../components/fields.tsx'
import { ApprovalItem, DoubtItem } from '../components/inbox-items.tsx'
import { FormToken } from '../components/layout.tsx'
import { Pill, ReasonDetail, RemedyLink } from '../components/outlook.tsx'
import { budgetAddress, inboxPath, Section, Time, updateAddress, ZoneNote } from '../components/parts.tsx'
import type { PageRoutes, Visit } from '../session.tsx'

/** What waits for a person, the nearest deadline first, and what was decided lately. */
export function addInbox({ page }: PageRoutes, services: Services): void {
  const { guard } = services
  page(inboxPath, {
    GET: async (visit) => {
      visit.mustHave('read')
      const background = await guard.background()
      const inbox = await background.inbox()
      const { budgets } = await background.outlook(inbox.view)
      const items = [
        ...inbox.entries.map((entry) => ({ deadline: entry.deadline, item: entryItem(visit, services, inbox, entry) })),
        ...budgetItems(budgets, inbox, visit.permissions.scopes.has('admin')),
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

/** One form for all: a row's own buttons decide that row, those below decide what is chosen. */
function DecisionForm(props: { visit: Visit; services: Services; inbox: Inbox; children: Child }) {
  const { visit, services, inbox, children } = props
  const offered = updatesOf(inbox).map((update) => choicesFor(update, inbox.view, visit, services.options).possible)
  const possible = (['approve', 'reject', 'ran', 'did-not-run'] as const).filter((action) =>
    offered.some((each) => each.includes(action)),
  )
  const approvals = offered.filter((each) => each.includes('approve')).length
  const input = visit.frame.flash?.input
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
          <Consequences actions={possible} />
          <div class="fields">
            {approvals > 1 ? (
              <div class="field">
                <label for="in-all">Approve up to … units in all (optional)</label>
                <input
                  id="in-all"
                  name="inAll"
                  type="text"
                  inputmode="numeric"
                  autocomplete="off"
                  aria-describedby="in-all-note"
                  value={input?.inAll ?? ''}
                />
                <p class="note" id="in-all-note">
                  Approves from the top what fits into the sum: of those chosen, or of all if none is chosen.
                </p>
              </div>
            ) : null}
            <ReasonLine
              id="reason"
              label={possible.includes('ran') ? 'Note (optional; needed to say whether it ran)' : 'Note (optional)'}
              value={input?.reason ?? ''}
              required={false}
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

function entryItem(visit: Visit, services: Services, { view, entries }: Inbox, entry: Inbox['entries'][number]) {
  const { kinds, options } = services
  const isOnly = entries.length === 1 && (entry.kind === 'doubt' || entry.rows.length === 1)
  const given = (update: Update) => {
    const choices: Choices = choicesFor(update, view, visit, options)
    return { choices, isChosen: isOnly || visit.query.get('choose') === `${entry.kind}s` }
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

/** Later than any deadline. */
const noDeadline = Number.MAX_SAFE_INTEGER
/** A threshold alone needs no one. */
const quietReasons: readonly string[] = ['threshold', 'frozen']

const budgetItems = (budgets: readonly BudgetOutlook[], { view }: Inbox, isAdmin: boolean) =>
  budgets.flatMap((outlook) => {
    const [reason] = outlook.reasons
    if (!reason || quietReasons.includes(reason.kind)) return []
    const item = (
      <li class="budget-item">
        <p class="what">
          <a href={budgetAddress(outlook.budget)}>{outlook.budget}</a>{' '}
          <Pill outlook={outlook} zone={zoneOf(view)} isLong />
        </p>
        <p class="note">
          <ReasonDetail reason={reason} zone={zoneOf(view)} />
        </p>
        {isAdmin && outlook.remedy ? <RemedyLink remedy={outlook.remedy} budget={outlook.budget} /> : null}
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
