import { Refusal } from '../../../shared/api/refusal.ts'
import { noUpdate } from '../../../shared/guard/inbox/approvals.ts'
import { decisionOf, decisions } from '../../../shared/guard/people/decisions.ts'
import { describe } from '../../../shared/guard/problem-types.ts'
import { count, units, zoneOf } from '../../../shared/guard/sentences.ts'
import { endsWithoutRun } from '../../../shared/guard/states.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { whyNotCorrected } from '../../../shared/ledger/updates/correctable.ts'
import {
  isTerminal,
  isUnderWay,
  type ServiceAnswer,
  tagEntries,
  type Update,
} from '../../../shared/ledger/updates/update.ts'
import { CostSection } from '../components/cost.tsx'
import { ActionButtons, Consequences, choicesFor, Evidence, ShownUnitsField } from '../components/decide.tsx'
import { DeliverySection } from '../components/delivery.tsx'
import { CallerName, inView } from '../components/people.tsx'
import { PriceNote, Remedies } from '../components/remedies.tsx'
import { reasonText } from '../components/update-table.tsx'
import { asSentence } from '../forms.ts'
import { fieldsOf } from '../kit/action.tsx'
import { type FactRow, Facts } from '../kit/facts.tsx'
import { HiddenFields, ReasonField, TextField } from '../kit/fields.tsx'
import { FormToken } from '../kit/layout.tsx'
import { addressWith } from '../kit/list.tsx'
import {
  BudgetLink,
  chargeAddress,
  dayNamed,
  joined,
  LinkButtons,
  linked,
  ProjectLink,
  Section,
  StateName,
  say,
  updateAddress,
  Warning,
  ZoneNote,
} from '../kit/parts.tsx'
import type { PageRoutes, PageServices, Visit } from '../kit/session.tsx'

const maxBodyLength = 4_000
/** An update that waits for a person may wait for days, so its page loads again rarely. */
const refreshSeconds = { soon: 3, later: 60 }

export function addUpdate({ page }: PageRoutes, { options, kinds }: PageServices): void {
  page('/dashboard/updates/:id', {
    GET: async (visit) => {
      visit.mustHave('read')
      const { guard } = visit
      const update = await updateIn(visit)
      const { kind, project } = update
      const view = await guard.ledger.view([{ work: { kind, project } }])
      const zone = zoneOf(view)
      const choices = choicesFor(update, view, visit, options)
      const isDeciding = choices.possible.length > 0 && (update.state !== 'requested' || visit.query.has('decide'))
      const seconds = isTerminal(update.state) || isDeciding ? null : refreshSecondsOf(update)
      if (seconds !== null) visit.c.header('Refresh', String(seconds))
      return visit.show(
        `Update of ${project}`,
        <>
          <Summary visit={visit} update={update} view={view} seconds={seconds} />
          <CostSection update={update} view={view} />
          {update.state === 'in-doubt' ? (
            <Section id="evidence" title="Evidence">
              <Evidence update={update} view={view} options={options} kinds={kinds} />
            </Section>
          ) : null}
          <DeliverySection visit={visit} update={update} view={view} />
          <DecisionSection visit={visit} update={update} choices={choices} isDeciding={isDeciding} />
          <History update={update} view={view} />
          <DetailsSection update={update} view={view} />
          <CorrectionLink visit={visit} update={update} view={view} />
          {update.service ? <AnswerSection answer={update.service} /> : null}
          <ZoneNote zone={zone} />
        </>,
      )
    },
  })
}

/** @throws Refusal 404 */
export async function updateIn({ c, guard }: Visit): Promise<Update> {
  const id = c.req.param('id') ?? ''
  if (!/^[\x21-\x7e]{1,100}$/.test(id)) throw new Refusal(noUpdate('of that name'))
  const update = await guard.ledger.update(id)
  if (!update) throw new Refusal(noUpdate(id))
  return update
}

const refreshSecondsOf = ({ state }: Update): number => (isUnderWay(state) ? refreshSeconds.soon : refreshSeconds.later)

interface SummaryProps {
  readonly visit: Visit
  readonly update: Update
  readonly view: View
  readonly seconds: number | null
}

function Summary({ visit: { permissions }, update, view, seconds }: SummaryProps) {
  const { state, problem, overrun, kind, reason, createdAt, finishedAt, approvableUntil } = update
  const why = problem === undefined ? reasonText(update, view) : ''
  const { time } = inView(view)
  return (
    <Section id="summary" title="Summary" isHidden>
      <p class="headline">
        <StateName state={state} />
        <span>
          <CallerName update={update} definitions={view.definitions} />
          {say` asked for this ${kind} update on ${time(createdAt)}${reason === undefined ? '.' : `: “${reason}”`}`}
        </span>
      </p>
      {problem ? (
        <>
          <p class="problem">
            <strong>{describe(problem.slug).title}.</strong>
            {say` The answer of ${time(finishedAt ?? createdAt)}: “${linked(problem.detail)}”`}
          </p>
          <PriceNote problem={problem} view={view} />
        </>
      ) : null}
      {why !== '' && why !== reason ? <p>{linked(asSentence(why))}</p> : null}
      {state === 'awaiting-approval' && approvableUntil !== undefined ? (
        <p>It can be approved until {time(approvableUntil)}.</p>
      ) : null}
      {overrun === undefined ? null : <Warning>It cost {units(overrun)} more than were held.</Warning>}
      {endsWithoutRun(state) ? (
        <Remedies update={update} view={view} permissions={permissions} mayAskAgain={!update.query && !update.target} />
      ) : null}
      {seconds === null ? null : <p class="note">This page loads again every {seconds} seconds.</p>}
    </Section>
  )
}

function DetailsSection({ update, view }: { update: Update; view: View }) {
  const { id, kind, budget, caller, via, force, maxUnits, query, tags, finishedAt, month } = update
  const owner = update.hold?.owners?.[0]
  const tagLinks = tagEntries(tags).map(([key, value]) => [
    `${key}: `,
    <a href={addressWith('/dashboard/updates', { tag: `${key}:${value}` })}>{value}</a>,
  ])
  const rows: readonly FactRow[] = [
    ['Id', <code class="id">{id}</code>],
    ['Project', <ProjectLink of={update} definitions={view.definitions} />],
    ['Kind', kind],
    ['Budget', <BudgetLink name={budget} />],
    owner !== undefined && ['Paid for', <BudgetLink name={owner} />],
    ['Caller', [inView(view).who(caller, update), `, via ${via}`]],
    ['Month', `from ${dayNamed(month.slice('month:'.length))}`],
    finishedAt !== undefined && ['Ended', inView(view).time(finishedAt)],
    force && ['Forced', 'yes: skipped cool-down and freshness'],
    maxUnits !== undefined && ['At most', count(maxUnits)],
    tagLinks.length > 0 && ['Tags', joined(tagLinks)],
    query && ['Query', <code>{new URLSearchParams(query).toString()}</code>],
  ]
  return (
    <Section id="details" title="Details">
      <Facts isLong rows={rows} />
    </Section>
  )
}

const CorrectionLink = ({ visit, update, view }: Omit<SummaryProps, 'seconds'>) =>
  visit.permissions.scopes.has('admin') && whyNotCorrected(update, view) === null ? (
    <LinkButtons links={[['Correct charge…', chargeAddress(update.id)]]} />
  ) : null

interface DecisionProps {
  readonly visit: Visit
  readonly update: Update
  readonly choices: ReturnType<typeof choicesFor>
  readonly isDeciding: boolean
}

function DecisionSection({ visit: { frame }, update, choices: { possible, whyNot }, isDeciding }: DecisionProps) {
  if (possible.length + whyNot.length === 0) return null
  if (!isDeciding && possible.length > 0)
    return <LinkButtons links={[['Cancel update…', `${updateAddress(update.id)}?decide=`]]} />
  const field = fieldsOf(frame, 'decide')
  const held = count(update.hold?.units ?? 0)
  return (
    <Section id="decide" title="Decide" class="decide">
      {whyNot.map((sentence) => (
        <p class="note">{sentence}</p>
      ))}
      {possible.length === 0 ? null : (
        <form method="post" action="/dashboard/decide">
          <FormToken frame={frame} />
          <HiddenFields values={{ id: update.id, from: 'update' }} />
          <ShownUnitsField update={update} />
          <Consequences actions={possible} />
          <div class="fields">
            <ReasonField {...field('reason')} isOptional={update.state !== 'in-doubt'} />
            {possible.includes('ran') ? (
              <TextField {...field('units')} label={`Units charged, if it ran (empty: the ${held} held)`} isNumber />
            ) : null}
          </div>
          <ActionButtons actions={possible} />
        </form>
      )}
    </Section>
  )
}

const History = ({ update, view }: { update: Update; view: View }) => (
  <Section id="history" title="History">
    <ol class="history">
      {update.history.map((line, step, lines) => (
        <li>
          <p>
            <StateName
              state={line.state}
              text={decisionOf(line, lines[step - 1]) === 'approve' ? decisions.approve.done : undefined}
            />{' '}
            {inView(view).time(line.at)} <span class="note">by {inView(view).who(line.by, update)}</span>
          </p>
          {line.note === undefined || line.note === update.problem?.detail ? null : <p>{linked(line.note)}</p>}
        </li>
      ))}
    </ol>
  </Section>
)

function AnswerSection({ answer: { status, contentType, body, truncated } }: { answer: ServiceAnswer }) {
  const visibleBody = body.slice(0, maxBodyLength).toWellFormed()
  return (
    <details class="card">
      <summary>Answer of the service</summary>
      <p>
        Status {status}, {contentType ?? 'no content type'}
        {body.length > visibleBody.length ? `; the first ${count(maxBodyLength)} characters` : null}
        {truncated ? '; it was cut when it was stored' : null}
      </p>
      {body === '' ? (
        <p class="empty">The body was empty.</p>
      ) : (
        <pre>
          <code>{visibleBody}</code>
        </pre>
      )}
    </details>
  )
}
