import { Refusal } from '../../../shared/api/refusal.ts'
import { noUpdate } from '../../../shared/guard/people/approvals.ts'
import { describe } from '../../../shared/guard/problems.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { isTerminal, type Problem, type ServiceAnswer, type Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { ActionButtons, Consequences, choicesFor, Evidence, ShownUnitsField } from '../components/decide.tsx'
import { HiddenFields, ReasonLine } from '../components/fields.tsx'
import { FormToken } from '../components/layout.tsx'
import {
  budgetAddress,
  dayNamed,
  Fact,
  Facts,
  planAddress,
  Section,
  StateName,
  Time,
  UnitsFact,
  updateAddress,
  ZoneNote,
} from '../components/parts.tsx'
import type { PageRoutes, Visit } from '../session.tsx'

const maxBodyLength = 4_000

export function addUpdate({ page }: PageRoutes, { guard, options, kinds }: Services): void {
  page('/dashboard/updates/:id', {
    GET: async (visit) => {
      visit.mustHave('read')
      const id = visit.c.req.param('id') ?? ''
      if (!/^[\x21-\x7e]{1,100}$/.test(id)) throw new Refusal(noUpdate('of that name'))
      const view = await guard.ledger.view([{ id }])
      const update = view.results[0]?.update
      if (!update) throw new Refusal(noUpdate(id))
      const zone = zoneOf(view)
      return visit.show(
        `Update of ${update.project}`,
        <>
          <Summary update={update} zone={zone} />
          {update.state === 'in-doubt' ? (
            <Section id="evidence" title="Evidence">
              <Evidence {...{ update, view, options, kinds }} />
            </Section>
          ) : null}
          <DecisionSection {...{ visit, update, view, options }} />
          <History update={update} zone={zone} />
          {update.service ? <AnswerSection answer={update.service} /> : null}
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

function Summary({ update, zone }: { update: Update; zone: string }) {
  const { state, problem, overrun } = update
  return (
    <Section id="summary" title="Summary" isHidden>
      <p class="headline">
        <StateName state={state} /> <code>{update.id}</code>
      </p>
      {problem ? <ProblemLine problem={problem} /> : null}
      {overrun === undefined ? null : (
        <p class="warning">
          <span aria-hidden="true">⚠</span> It cost {units(overrun)} more than were held.
        </p>
      )}
      <Facts isLong>
        <UnitsFact name="Estimated" units={update.estimated} />
        <UnitsFact name="Held" units={update.hold?.units ?? 0} />
        <UnitsFact name="Charged" units={update.charged ?? (isTerminal(state) ? 0 : null)} />
        <RequestFacts update={update} zone={zone} />
        <ApprovalFacts update={update} zone={zone} />
      </Facts>
    </Section>
  )
}

const ProblemLine = ({ problem: { slug, detail, members } }: { problem: Problem }) => (
  <p class="problem">
    <strong>{describe(slug).title}.</strong> {detail}
    {typeof members.update === 'string' ? (
      <>
        {' '}
        <a href={updateAddress(members.update)}>See that update</a>
      </>
    ) : null}
  </p>
)

function RequestFacts({ update, zone }: { update: Update; zone: string }) {
  const { kind, budget, caller, via, plan, reason, force, maxUnits, query } = update
  const owner = update.hold?.owners?.[0]
  return (
    <>
      <Fact name="Kind">{kind}</Fact>
      <Fact name="Budget">
        <a href={budgetAddress(budget)}>{budget}</a>
      </Fact>
      {owner === undefined ? null : (
        <Fact name="Paid for">
          <a href={budgetAddress(owner)}>{owner}</a>
        </Fact>
      )}
      <Fact name="Window">month from {dayNamed(update.month.slice('month:'.length))}</Fact>
      <Fact name="Asked for by">
        {caller}, via {via}
        {plan === undefined ? null : (
          <>
            , for the plan <a href={planAddress(plan)}>{plan}</a>
          </>
        )}
      </Fact>
      <Fact name="Asked for">
        <Time at={update.createdAt} zone={zone} />
      </Fact>
      {update.finishedAt === undefined ? null : (
        <Fact name="Ended">
          <Time at={update.finishedAt} zone={zone} />
        </Fact>
      )}
      <Fact name="Reason">{reason ?? <span class="unknown">none given</span>}</Fact>
      {force ? <Fact name="Forced">yes: cool-down and freshness were not asked about</Fact> : null}
      {maxUnits === undefined ? null : <UnitsFact name="At most" units={maxUnits} />}
      {query ? (
        <Fact name="Query">
          <code>{new URLSearchParams(query).toString()}</code>
        </Fact>
      ) : null}
    </>
  )
}

const ApprovalFacts = ({
  update: { state, approval, approvableUntil, short = [] },
  zone,
}: {
  update: Update
  zone: string
}) => (
  <>
    {approval ? (
      <Fact name="Approved by">
        {approval.by}, up to {units(approval.units)}, on <Time at={approval.at} zone={zone} />
      </Fact>
    ) : null}
    {state === 'awaiting-approval' && approvableUntil !== undefined ? (
      <Fact name="Can be approved until">
        <Time at={approvableUntil} zone={zone} />
      </Fact>
    ) : null}
    {short.map(({ budget, window, units }) => (
      <Fact name={`Short on ${budget}`}>
        {count(units)} this {window}: to approve it grants them, once
      </Fact>
    ))}
  </>
)

interface DecisionProps {
  readonly visit: Visit
  readonly update: Update
  readonly view: View
  readonly options: Services['options']
}

function DecisionSection({ visit, update, view, options }: DecisionProps) {
  const { possible, whyNot } = choicesFor(update, view, visit, options)
  if (possible.length + whyNot.length === 0) return null
  const isDoubt = update.state === 'in-doubt'
  const input = visit.frame.flash?.input
  return (
    <Section id="decide" title="Decide" class="decide">
      {whyNot.map((sentence) => (
        <p class="note">{sentence}</p>
      ))}
      {possible.length === 0 ? null : (
        <form method="post" action="/dashboard/decide">
          <FormToken frame={visit.frame} />
          <HiddenFields values={{ id: update.id, from: 'update' }} />
          <ShownUnitsField update={update} />
          <Consequences actions={possible} />
          <ReasonLine
            id="reason"
            label={`Reason${isDoubt ? '' : ' (may be left out)'}`}
            value={input?.reason}
            required={isDoubt}
          />
          {possible.includes('ran') ? <UnitsField held={update.hold?.units ?? 0} value={input?.units} /> : null}
          <ActionButtons actions={possible} />
        </form>
      )}
    </Section>
  )
}

const UnitsField = ({ held, value }: { held: number; value: string | undefined }) => (
  <p>
    <label for="units">Units that it cost, if it ran (left empty: the {count(held)} held)</label>
    <input id="units" name="units" type="text" value={value ?? ''} inputmode="numeric" autocomplete="off" />
  </p>
)

const History = ({ update, zone }: { update: Update; zone: string }) => (
  <Section id="history" title="History">
    <ol class="history">
      {update.history.map(({ state, at, by, note }) => (
        <li>
          <p>
            <StateName state={state} /> <Time at={at} zone={zone} /> <span class="note">by {by}</span>
          </p>
          {note === undefined ? null : <p>{note}</p>}
        </li>
      ))}
    </ol>
  </Section>
)

function AnswerSection({ answer: { status, contentType, body, truncated } }: { answer: ServiceAnswer }) {
  const visibleBody = body.slice(0, maxBodyLength).toWellFormed()
  return (
    <Section id="answer" title="The service’s answer">
      <p>
        Status {status}, {contentType ?? 'no content type'}
        {body.length > visibleBody.length ? `; the first ${count(maxBodyLength)} characters` : null}
        {truncated ? '; it was cut when it was stored' : null}
      </p>
      {body === '' ? (
        <p class="empty">It had no body.</p>
      ) : (
        <pre>
          <code>{visibleBody}</code>
        </pre>
      )}
    </Section>
  )
}
