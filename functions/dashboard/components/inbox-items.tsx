import type { ApprovalRow, DoubtEntry } from '../../../shared/guard/inbox/inbox.ts'
import { type Decision, isResolution } from '../../../shared/guard/people/decisions.ts'
import { count, countOf, thisWindow, units } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { fieldsOf } from '../kit/action.tsx'
import { TextField } from '../kit/fields.tsx'
import { Ago, BudgetLink, linked, ProjectLink, say, updateAddress, Warning, words } from '../kit/parts.tsx'
import type { PageServices, Visit } from '../kit/session.tsx'
import { actionLabels, choicesFor, Evidence, ShownUnitsField } from './decide.tsx'
import { inView } from './people.tsx'

export type ItemRow = ApprovalRow | DoubtEntry

interface ItemProps {
  readonly row: ItemRow
  /** More requests for the same work. They are folded, so that each work has one row. */
  readonly others: readonly ItemRow[]
  readonly view: View
  readonly visit: Visit
  readonly services: PageServices
  readonly isChosen: boolean
}

export function InboxItem({ row, others, view, visit, services, isChosen }: ItemProps) {
  const { update, owner, sameWork } = row
  const { possible, whyNot } = choicesFor(update, view, visit, services.options)
  const isDoubt = 'deadline' in row
  const why = update.history.findLast(({ state }) => state === 'awaiting-approval')?.note
  return (
    <li class="work">
      {possible.length > 0 ? (
        <input
          type="checkbox"
          name="id"
          value={update.id}
          aria-label={`Choose the ${update.kind} update of ${update.project}`}
          checked={isChosen}
        />
      ) : (
        <span class="no-box" />
      )}
      <div>
        <What update={update} owner={owner} view={view} />
        <p class="note">
          <Asked update={update} view={view} />
          {why === undefined || isDoubt ? null : say` · Needs approval: ${linked(why)}.`}
        </p>
        {sameWork.map((other) => (
          <SameWork other={other} view={view} />
        ))}
        {whyNot.map((sentence) => (
          <p class="note">{sentence}</p>
        ))}
      </div>
      <div>
        {isDoubt ? <DoubtText row={row} view={view} /> : <ApprovalText row={row} view={view} />}
        <Deadline row={row} view={view} />
      </div>
      <Controls update={update} view={view} visit={visit} services={services} offered={possible} isDoubt={isDoubt} />
      {others.length === 0 ? null : (
        <details class="others">
          <summary>{countOf(others.length, 'more request')} for the same work</summary>
          <ul>
            {others.map((other) => (
              <InboxItem row={other} others={[]} view={view} visit={visit} services={services} isChosen={false} />
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

const What = ({ update, owner, view }: { update: Update; owner: string | null; view: View }) => (
  <p class="what">
    <ProjectLink of={update} definitions={view.definitions} />{' '}
    <a href={updateAddress(update.id)} aria-label={`${update.kind} update of ${update.project}`}>
      {update.kind}
    </a>{' '}
    on <BudgetLink name={update.budget} />
    {owner === null ? '' : `, for ${owner}`}
  </p>
)

function Asked({ update, view }: { update: Update; view: View }) {
  const { ago, who } = inView(view)
  const said = update.reason === undefined ? '' : `: “${update.reason}”`
  return say`${who(update.caller, update)} asked via ${update.via} ${ago(update.createdAt)}${said}`
}

const SameWork = ({ other, view }: { other: Update; view: View }) => (
  <Warning>
    <a href={updateAddress(other.id)}>Another request</a> for this project is {words(other.state)}:{' '}
    <Asked update={other} view={view} />.
  </Warning>
)

function ApprovalText({ row: { update, lastRun, effect }, view }: { row: ApprovalRow; view: View }) {
  const { figures, after } = effect ?? {}
  const { ago } = inView(view)
  return (
    <>
      <p>
        <strong>{update.estimated === undefined ? 'Price unknown' : units(update.estimated)}</strong>
        {lastRun?.units == null ? null : (
          <span class="note">{say` last run ${count(lastRun.units)}, ${ago(lastRun.at)}`}</span>
        )}
      </p>
      {figures ? (
        <p class="note">
          {`${figures.shownAs ?? figures.budget} has ${count(figures.available)} → ${count(after ?? 0)} left ${thisWindow(figures.window)}`}
        </p>
      ) : null}
    </>
  )
}

function DoubtText({ row, view }: { row: DoubtEntry; view: View }) {
  const { hold, doubt, createdAt, history } = row.update
  const why = history.findLast(({ state }) => state === 'in-doubt')?.note ?? 'no reason was noted'
  return (
    <>
      <p>
        <strong>{units(hold?.units ?? 0)}</strong> held
      </p>
      <p class="note">{say`${linked(why)}, ${inView(view).ago(doubt?.at ?? createdAt)}`}</p>
    </>
  )
}

function Deadline({ row, view }: { row: ItemRow; view: View }) {
  const at = 'deadline' in row ? row.deadline : row.update.approvableUntil
  if (at === undefined) return null
  return (
    <span class="pill">
      {'deadline' in row ? 'in doubt; settles' : 'ends'} <Ago at={at} view={view} />
    </span>
  )
}

interface ControlProps extends Omit<ItemProps, 'row' | 'others' | 'isChosen'> {
  readonly update: Update
  readonly offered: readonly Decision[]
  readonly isDoubt: boolean
}

function Controls({ update, view, visit, services, offered, isDoubt }: ControlProps) {
  const field = (name: string) => fieldsOf(visit.frame, 'row')(`${name}-${update.id}`)
  const [cap, note] = [field('units'), field('note')]
  const hasFault = [cap, note].some(({ name, faults = {} }) => Object.hasOwn(faults, name))
  const button = (action: Decision, label = actionLabels[action]) => (
    <button type="submit" name="one" value={`${action} ${update.id}`} aria-label={`${label}: ${update.project}`}>
      {label}
    </button>
  )
  if (isDoubt) {
    const answers = offered.filter(isResolution)
    return (
      <details open={hasFault}>
        <summary>{answers.length > 0 ? 'Evidence and your answer' : 'Evidence'}</summary>
        <Evidence update={update} view={view} {...services} />
        {answers.length > 0 ? (
          <>
            <div class="fields">
              <TextField {...note} label="How you know" maxLength={500} />
            </div>
            <p class="buttons">{answers.map((action) => button(action))}</p>
          </>
        ) : null}
      </details>
    )
  }
  return offered.includes('approve') ? (
    <>
      {button('approve')}
      <details open={hasFault}>
        <summary>Approve up to…, or reject</summary>
        <div class="fields">
          <TextField {...cap} label="Up to (units)" isNumber />
          <TextField {...note} label="Note (optional)" maxLength={500} />
        </div>
        <p class="buttons">
          {button('approve', 'Approve up to')}
          {button('reject')}
        </p>
      </details>
      <ShownUnitsField update={update} />
    </>
  ) : null
}
