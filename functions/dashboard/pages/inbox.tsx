import { figuresOfChain, left, tightest, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { ownerPaidFor } from '../../../shared/guard/update/projects.ts'
import { budgetNamed, chainOf } from '../../../shared/ledger/book/definitions.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import {
  type Action,
  ActionButtons,
  Consequences,
  choicesFor,
  Evidence,
  ShownUnitsField,
} from '../components/decide.tsx'
import { ReasonLine } from '../components/fields.tsx'
import { FormToken } from '../components/layout.tsx'
import { Section, Time, updateAddress, ZoneNote } from '../components/parts.tsx'
import type { PageRoutes, Visit } from '../session.tsx'

const maxShown = 100

interface InboxProps {
  readonly visit: Visit
  readonly view: View
  readonly options: Services['options']
  readonly kinds: Services['kinds']
}

/** The inbox: approvals in the order in which they expire, and doubts, the oldest first. */
export function addInbox({ page }: PageRoutes, { guard, options, kinds }: Services): void {
  page('/dashboard/inbox', {
    GET: async (visit) => {
      visit.mustHave('read')
      const [view, approvals, doubts] = await Promise.all([
        guard.ledger.view(),
        guard.ledger.open('awaiting-approval', maxShown),
        guard.ledger.open('in-doubt', maxShown),
      ])
      const choose = visit.query.get('choose')
      const inbox = { visit, view, options, kinds }
      const approvalRows = approvals.rows.toSorted((a, b) => (a.approvableUntil ?? 0) - (b.approvableUntil ?? 0))
      const doubtRows = doubts.rows.toSorted((a, b) => (a.doubt?.at ?? 0) - (b.doubt?.at ?? 0))
      return visit.show(
        'Inbox',
        <>
          <Section id="approvals" title="Awaiting approval">
            {approvalRows.length === 0 ? (
              <p class="empty">
                Nothing waits for an approval. What a budget wants approved, or an agent proposes, comes up here.
              </p>
            ) : (
              <DecisionForm
                {...inbox}
                rows={approvalRows}
                actions={['approve', 'reject']}
                Row={ApprovalRow}
                isAllChosen={choose === 'approvals'}
              />
            )}
            {approvals.next === undefined ? null : <MoreNote />}
          </Section>
          <Section id="doubts" title="In doubt">
            <p class="note">
              It was sent, and nobody knows whether it ran. Its units stay counted until evidence, or somebody who has
              looked at the vendor’s screen, says otherwise.
            </p>
            {doubtRows.length === 0 ? (
              <p class="empty">Nothing is in doubt.</p>
            ) : (
              <DecisionForm
                {...inbox}
                rows={doubtRows}
                actions={['ran', 'did-not-run']}
                Row={DoubtRow}
                isAllChosen={choose === 'doubts'}
              />
            )}
            {doubts.next === undefined ? null : <MoreNote />}
          </Section>
          <ZoneNote zone={zoneOf(view)} />
        </>,
      )
    },
  })
}

const MoreNote = () => <p class="note">There are more than these; they come up here when these are done.</p>

interface FormProps extends InboxProps {
  readonly rows: readonly Update[]
  readonly actions: readonly [Action, Action]
  readonly Row: typeof ApprovalRow | typeof DoubtRow
  readonly isAllChosen: boolean
}

function DecisionForm({ rows, actions, Row, isAllChosen, ...inbox }: FormProps) {
  const choices = rows.map((update) => choicesFor(update, inbox.view, inbox.visit, inbox.options))
  const offeredActions = choices.map(({ possible }) => possible.filter((action) => actions.includes(action)))
  const possible = actions.filter((action) => offeredActions.some((each) => each.includes(action)))
  const [name] = actions
  const input = inbox.visit.frame.flash?.input
  return (
    <form method="post" action="/dashboard/decide" class="decide">
      <FormToken frame={inbox.visit.frame} />
      <input type="hidden" name="from" value="inbox" />
      {offeredActions.filter((each) => each.length > 0).length > 1 ? (
        <ChooseAll list={name === 'approve' ? 'approvals' : 'doubts'} isAllChosen={isAllChosen} />
      ) : null}
      <ul class="waiting-list">
        {rows.map((update, position) => (
          <li>
            {offeredActions[position]?.length ? (
              <ChooseBox update={update} isChosen={isAllChosen || rows.length === 1} />
            ) : (
              <span class="no-box" />
            )}
            <div>
              <Row {...inbox} update={update} />
              <ShownUnitsField update={update} />
              {choices[position]?.whyNot.map((sentence) => (
                <p class="note">{sentence}</p>
              ))}
            </div>
          </li>
        ))}
      </ul>
      {possible.length === 0 ? null : (
        <div class="together">
          <Consequences actions={possible} />
          <ReasonLine
            id={`reason-${name}`}
            label={`Reason, for all that are chosen${name === 'ran' ? '' : ' (may be left out)'}`}
            value={actions.some((action) => action === input?.do) ? input?.reason : ''}
            required={name === 'ran'}
          />
          <ActionButtons actions={possible} />
        </div>
      )}
    </form>
  )
}

const ChooseBox = ({ update: { id, kind, project }, isChosen }: { update: Update; isChosen: boolean }) => (
  <input
    type="checkbox"
    name="id"
    value={id}
    id={`of-${id}`}
    aria-label={`Choose the ${kind} update of ${project}`}
    checked={isChosen}
  />
)

/** A link, because pages have no scripts that could tick the boxes. */
const ChooseAll = ({ list, isAllChosen }: { list: 'approvals' | 'doubts'; isAllChosen: boolean }) => (
  <p class="note">
    {isAllChosen ? (
      <a href={`/dashboard/inbox#${list}`}>Choose none</a>
    ) : (
      <a href={`/dashboard/inbox?choose=${list}#${list}`}>Choose all</a>
    )}
  </p>
)

/** @param owner the owner of the project, if another budget pays. */
const UpdateTitle = ({ update, owner }: { update: Update; owner: string | null }) => (
  <p class="what">
    <a href={updateAddress(update.id)}>{update.project}</a>, {update.kind} update, on the budget {update.budget}
    {owner === null ? null : `, for ${owner}`}
  </p>
)

function ApprovalRow({ update, view }: InboxProps & { update: Update }) {
  const { caller, via, reason, estimated, approvableUntil, history } = update
  const zone = zoneOf(view)
  return (
    <>
      <UpdateTitle update={update} owner={ownerPaidFor(view.definitions, update)} />
      <p>
        <strong>{estimated === undefined ? 'Units not known' : units(estimated)}</strong>, asked for by {caller} via{' '}
        {via} on <Time at={update.createdAt} zone={zone} />
        {reason === undefined ? null : <>: “{reason}”</>}
      </p>
      <p class="note">
        Somebody has to agree because{' '}
        {history.findLast(({ state }) => state === 'awaiting-approval')?.note ?? 'a budget wants it'}.
        {approvableUntil === undefined ? null : (
          <>
            {' '}
            It expires on <Time at={approvableUntil} zone={zone} />.
          </>
        )}
      </p>
      <BudgetLeft update={update} view={view} />
    </>
  )
}

function BudgetLeft({ update: { budget, short = [] }, view }: { update: Update; view: View }) {
  if (!budgetNamed(view.definitions, budget)) return null
  const least = tightest(figuresOfChain(view, chainOf(view.definitions, budget)))
  return (
    <p class="note">
      {least ? `${left(least)}.` : 'Nothing limits it.'}
      {short.map((grant) => (
        <>
          {' '}
          To approve it grants {grant.budget} {units(grant.units)} {grant.window === 'day' ? 'today' : 'this month'},
          once.
        </>
      ))}
    </p>
  )
}

function DoubtRow({ update, view, options, kinds }: InboxProps & { update: Update }) {
  const zone = zoneOf(view)
  const { caller, via, hold, doubt, reason } = update
  return (
    <>
      <UpdateTitle update={update} owner={hold?.owners?.[0] ?? null} />
      <p>
        <strong>{units(hold?.units ?? 0)}</strong> held, asked for by {caller} via {via}
        {reason === undefined ? null : <>: “{reason}”</>}. In doubt since{' '}
        <Time at={doubt?.at ?? update.createdAt} zone={zone} />:{' '}
        {update.history.findLast(({ state }) => state === 'in-doubt')?.note ?? 'no reason was noted'}.
      </p>
      <Evidence {...{ update, view, options, kinds }} />
    </>
  )
}
