import { Refusal } from '../../../shared/api/refusal.ts'
import { noUpdate } from '../../../shared/guard/people/approvals.ts'
import { describe } from '../../../shared/guard/problems.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import { isTerminal, type ServiceAnswer, type Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { Evidence } from '../components/evidence.tsx'
import { FormToken } from '../components/layout.tsx'
import {
  addressOf,
  budgetAddress,
  dayNamed,
  Fact,
  Facts,
  InZone,
  planAddress,
  StateName,
  Time,
  Units,
} from '../components/parts.tsx'
import type { PageRoutes, Visit } from '../session.tsx'
import { Buttons, Consequences, choicesFor, ShownUnits } from './decisions.tsx'

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
            <section aria-labelledby="evidence">
              <h2 id="evidence">Evidence</h2>
              <Evidence {...{ update, view, options, kinds }} />
            </section>
          ) : null}
          <Decide {...{ visit, update, view, options }} />
          <History update={update} zone={zone} />
          {update.service ? <Answer of={update.service} /> : null}
          <InZone zone={zone} />
        </>,
      )
    },
  })
}

function Summary({ update, zone }: { update: Update; zone: string }) {
  const { kind, state, budget, caller, via, plan, reason, force, maxUnits, query, approval, problem, overrun } = update
  const charged = update.charged ?? (isTerminal(state) ? 0 : null)
  return (
    <section aria-labelledby="summary">
      <h2 id="summary" class="hidden">
        Summary
      </h2>
      <p class="headline">
        <StateName of={state} /> <code>{update.id}</code>
      </p>
      {problem ? (
        <p class="problem">
          <strong>{describe(problem.slug).title}.</strong> {problem.detail}
          {typeof problem.members.update === 'string' ? (
            <>
              {' '}
              <a href={addressOf(problem.members.update)}>See that update</a>
            </>
          ) : null}
        </p>
      ) : null}
      {overrun === undefined ? null : (
        <p class="warning">
          <span aria-hidden="true">⚠</span> It cost {units(overrun)} more than were held.
        </p>
      )}
      <Facts long>
        <Fact name="Estimated">
          <Units of={update.estimated} />
        </Fact>
        <Fact name="Held">
          <Units of={update.hold?.units ?? 0} />
        </Fact>
        <Fact name="Charged">
          <Units of={charged} />
        </Fact>
        <Fact name="Kind">{kind}</Fact>
        <Fact name="Budget">
          <a href={budgetAddress(budget)}>{budget}</a>
        </Fact>
        {update.hold?.owners?.[0] === undefined ? null : (
          <Fact name="Paid for">
            <a href={budgetAddress(update.hold.owners[0])}>{update.hold.owners[0]}</a>
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
        {maxUnits === undefined ? null : (
          <Fact name="At most">
            <Units of={maxUnits} />
          </Fact>
        )}
        {query ? (
          <Fact name="Query">
            <code>{new URLSearchParams(query).toString()}</code>
          </Fact>
        ) : null}
        {approval ? (
          <Fact name="Approved by">
            {approval.by}, up to {units(approval.units)}, on <Time at={approval.at} zone={zone} />
          </Fact>
        ) : null}
        {state === 'awaiting-approval' && update.approvableUntil !== undefined ? (
          <Fact name="Can be approved until">
            <Time at={update.approvableUntil} zone={zone} />
          </Fact>
        ) : null}
        {(update.short ?? []).map(({ budget, window, units }) => (
          <Fact name={`Short on ${budget}`}>
            {count(units)} this {window}: to approve it grants them, once
          </Fact>
        ))}
      </Facts>
    </section>
  )
}

function Decide({
  visit,
  update,
  view,
  options,
}: {
  visit: Visit
  update: Update
  view: View
  options: Services['options']
}) {
  const { possible, barred } = choicesFor(update, view, visit, options)
  if (possible.length + barred.length === 0) return null
  const isDoubt = update.state === 'in-doubt'
  const typed = visit.frame.flash?.typed
  return (
    <section aria-labelledby="decide" class="decide">
      <h2 id="decide">Decide</h2>
      {barred.map((sentence) => (
        <p class="note">{sentence}</p>
      ))}
      {possible.length === 0 ? null : (
        <form method="post" action="/dashboard/decide">
          <FormToken of={visit.frame} />
          <input type="hidden" name="id" value={update.id} />
          <input type="hidden" name="from" value="update" />
          <ShownUnits of={update} />
          <Consequences of={possible} />
          <p>
            <label for="reason">Reason{isDoubt ? '' : ' (may be left out)'}</label>
            <input
              id="reason"
              name="reason"
              type="text"
              value={typed?.reason ?? ''}
              maxlength={500}
              required={isDoubt}
              autocomplete="off"
            />
          </p>
          {possible.includes('ran') ? (
            <p>
              <label for="units">
                Units that it cost, if it ran (left empty: the {count(update.hold?.units ?? 0)} held)
              </label>
              <input
                id="units"
                name="units"
                type="text"
                value={typed?.units ?? ''}
                inputmode="numeric"
                autocomplete="off"
              />
            </p>
          ) : null}
          <Buttons of={possible} />
        </form>
      )}
    </section>
  )
}

const History = ({ update, zone }: { update: Update; zone: string }) => (
  <section aria-labelledby="history">
    <h2 id="history">History</h2>
    <ol class="history">
      {update.history.map(({ state, at, by, note }) => (
        <li>
          <p>
            <StateName of={state} /> <Time at={at} zone={zone} /> <span class="note">by {by}</span>
          </p>
          {note === undefined ? null : <p>{note}</p>}
        </li>
      ))}
    </ol>
  </section>
)

function Answer({ of: { status, contentType, body, truncated } }: { of: ServiceAnswer }) {
  const shown = body.slice(0, maxBodyLength).toWellFormed()
  return (
    <section aria-labelledby="answer">
      <h2 id="answer">The service’s answer</h2>
      <p>
        Status {status}, {contentType ?? 'no content type'}
        {body.length > shown.length ? `; the first ${count(maxBodyLength)} characters` : null}
        {truncated ? '; it was cut when it was stored' : null}
      </p>
      {body === '' ? (
        <p class="empty">It had no body.</p>
      ) : (
        <pre>
          <code>{shown}</code>
        </pre>
      )}
    </section>
  )
}
