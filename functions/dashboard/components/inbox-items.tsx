import type { Child } from 'hono/jsx'
import { type Decision, isResolution } from '../../../shared/guard/people/decisions.ts'
import type { ApprovalRow, DoubtEntry } from '../../../shared/guard/people/inbox.ts'
import { count, thisWindow, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { fieldsOf } from '../kit/action.tsx'
import type { PageServices, Visit } from '../session.tsx'
import { actionLabels, choicesFor, Evidence, ShownUnitsField } from './decide.tsx'
import { TextField } from './fields.tsx'
import { BudgetLink, dayAndTime, ProjectLink, say, Time, updateAddress, Warning, words } from './parts.tsx'
import { inView } from './people.tsx'

export type ItemRow = ApprovalRow | DoubtEntry

interface ItemProps {
  readonly row: ItemRow
  readonly view: View
  readonly visit: Visit
  readonly services: PageServices
  readonly isChosen: boolean
}

export function InboxItem({ row, view, visit, services, isChosen }: ItemProps) {
  const { update, owner, sameWork } = row
  const { id, kind, project, reason, approvableUntil } = update
  const zone = zoneOf(view)
  const { possible, whyNot } = choicesFor(update, view, visit, services.options)
  const isDoubt = 'deadline' in row
  const ends = approvableUntil !== undefined && `ends ${dayAndTime(approvableUntil, zone)}`
  const deadline = isDoubt ? `in doubt; settles ${dayAndTime(row.deadline, zone)}` : ends
  const why = update.history.findLast(({ state }) => state === 'awaiting-approval')?.note
  const { time, who } = inView(view)
  const askedBy = (by: Update, how = '') => say`${who(by.caller, by)} asked${how} on ${time(by.createdAt)}`
  return (
    <li>
      {possible.length > 0 ? (
        <input
          type="checkbox"
          name="id"
          value={id}
          aria-label={`Choose the ${kind} update of ${project}`}
          checked={isChosen}
        />
      ) : (
        <span class="no-box" />
      )}
      <div>
        <p class="what">
          <ProjectLink of={update} definitions={view.definitions} />{' '}
          <a href={updateAddress(id)} aria-label={`${kind} update of ${project}`}>
            {kind}
          </a>{' '}
          on <BudgetLink name={update.budget} />
          {owner === null ? '' : `, for ${owner}`} {deadline && <span class="pill">{deadline}</span>}
        </p>
        <p>{isDoubt ? doubtText(row, zone) : approvalText(row, zone)}</p>
        <p>
          {askedBy(update, ` via ${update.via}`)}
          {reason === undefined ? '' : `: “${reason}”`}
        </p>
        {why === undefined || isDoubt ? null : <p class="note">Needs approval: {why}.</p>}
        {sameWork.map((other) => (
          <Warning>
            <a href={updateAddress(other.id)}>Another request</a> for this project is {words(other.state)}:{' '}
            {askedBy(other)}.
          </Warning>
        ))}
        <Controls {...{ update, view, visit, services, offered: possible, isDoubt }} />
        {whyNot.map((sentence) => (
          <p class="note">{sentence}</p>
        ))}
      </div>
    </li>
  )
}

function approvalText({ update: { estimated }, lastRun, effect }: ApprovalRow, zone: string): Child {
  const { figures, after } = effect ?? {}
  const lastText =
    lastRun?.units != null && say` last run ${count(lastRun.units)} on ${<Time at={lastRun.at} zone={zone} />}`
  return [
    <strong>{estimated === undefined ? 'Price unknown' : units(estimated)}</strong>,
    lastText && <span class="note">{lastText}</span>,
    figures &&
      ` · ${figures.shownAs ?? figures.budget} has ${count(figures.available)} → ${count(after ?? 0)} left ${thisWindow(figures.window)}`,
  ]
}

function doubtText({ update: { hold, doubt, createdAt, history } }: DoubtEntry, zone: string): Child {
  const since = <Time at={doubt?.at ?? createdAt} zone={zone} />
  const why = history.findLast(({ state }) => state === 'in-doubt')?.note ?? 'no reason was noted'
  return say`${<strong>{units(hold?.units ?? 0)}</strong>} held · in doubt since ${since}: ${why}`
}

interface ControlProps extends Omit<ItemProps, 'row' | 'isChosen'> {
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
        <Evidence {...{ update, view, ...services }} />
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
      <div class="row-decide">
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
      </div>
      <ShownUnitsField update={update} />
    </>
  ) : null
}
