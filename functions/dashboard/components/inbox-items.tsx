import type { Child } from 'hono/jsx'
import type { ApprovalRow, DoubtEntry } from '../../../shared/guard/people/inbox.ts'
import { count, thisWindow, units, zoneOf } from '../../../shared/guard/sentences.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { View } from '../../../shared/ledger/views/views.ts'
import { type Action, actionLabels, type Choices, Evidence, ShownUnitsField } from './decide.tsx'
import { type FieldProps, TextField } from './fields.tsx'
import { BudgetLink, dayAndTime, Sign, Time, updateAddress, words } from './parts.tsx'
import { Who } from './people.tsx'

interface Given {
  readonly choices: Choices
  readonly isChosen: boolean
  readonly field: (name: string) => Omit<FieldProps, 'label'>
}

const hasFault = (...fields: readonly Omit<FieldProps, 'label'>[]): boolean =>
  fields.some(({ name, faults = {} }) => Object.hasOwn(faults, name))

export function ApprovalItem({ row, view, choices, isChosen, field }: Given & { row: ApprovalRow; view: View }) {
  const { update, owner, lastRun, effect, sameWork } = row
  const { caller, via, reason, estimated, approvableUntil, history } = update
  const zone = zoneOf(view)
  const [cap, note] = [field(`units-${update.id}`), field(`note-${update.id}`)]
  const why = history.findLast(({ state }) => state === 'awaiting-approval')?.note
  return (
    <Item
      {...{ update, owner, choices, isChosen }}
      deadline={approvableUntil === undefined ? undefined : `ends ${dayAndTime(approvableUntil, zone)}`}
    >
      <p>
        <strong>{estimated === undefined ? 'Price unknown' : units(estimated)}</strong>
        {lastRun?.units == null ? null : (
          <span class="note">
            {' '}
            last run {count(lastRun.units)} on <Time at={lastRun.at} zone={zone} />
          </span>
        )}
        {effect === null ? null : (
          <>
            {' · '}
            {effect.figures.shownAs ?? effect.figures.budget} has {count(effect.figures.available)} →{' '}
            {count(effect.after)} left {thisWindow(effect.figures.window)}
          </>
        )}
      </p>
      <p>
        <Who name={caller} of={update} definitions={view.definitions} /> asked via {via} on{' '}
        <Time at={update.createdAt} zone={zone} />
        {reason === undefined ? null : <>: “{reason}”</>}
      </p>
      {why === undefined ? null : <p class="note">Needs approval: {why}.</p>}
      <SameWork updates={sameWork} view={view} />
      {choices.possible.includes('approve') ? (
        <div class="row-decide">
          <RowButton action="approve" update={update} />
          <details open={hasFault(cap, note)}>
            <summary>Approve up to…, or reject</summary>
            <div class="fields">
              <TextField {...cap} label="Up to (units)" isNumber />
              <TextField {...note} label="Note (optional)" maxLength={500} />
            </div>
            <p class="buttons">
              <RowButton action="approve" update={update} label="Approve up to" />
              <RowButton action="reject" update={update} />
            </p>
          </details>
        </div>
      ) : null}
    </Item>
  )
}

type DoubtProps = Given & { entry: DoubtEntry; view: View } & Pick<Services, 'options' | 'kinds'>

export function DoubtItem({ entry, view, options, kinds, choices, isChosen, field }: DoubtProps) {
  const { update, owner, sameWork, deadline } = entry
  const { caller, via, hold, doubt, reason } = update
  const zone = zoneOf(view)
  const note = field(`note-${update.id}`)
  const offered = choices.possible.filter((action) => action === 'ran' || action === 'did-not-run')
  return (
    <Item {...{ update, owner, choices, isChosen }} deadline={`in doubt; settles ${dayAndTime(deadline, zone)}`}>
      <p>
        <strong>{units(hold?.units ?? 0)}</strong> held · in doubt since{' '}
        <Time at={doubt?.at ?? update.createdAt} zone={zone} />:{' '}
        {update.history.findLast(({ state }) => state === 'in-doubt')?.note ?? 'no reason was noted'}
      </p>
      <p>
        <Who name={caller} of={update} definitions={view.definitions} /> asked via {via}
        {reason === undefined ? null : <>: “{reason}”</>}
      </p>
      <SameWork updates={sameWork} view={view} />
      <details open={hasFault(note)}>
        <summary>{offered.length > 0 ? 'Evidence, and say whether it ran' : 'Evidence'}</summary>
        <Evidence {...{ update, view, options, kinds }} />
        {offered.length > 0 ? (
          <>
            <div class="fields">
              <TextField {...note} label="How you know" maxLength={500} />
            </div>
            <p class="buttons">
              {offered.map((action) => (
                <RowButton action={action} update={update} />
              ))}
            </p>
          </>
        ) : null}
      </details>
    </Item>
  )
}

interface ItemProps extends Omit<Given, 'field'> {
  readonly update: Update
  /** The owner of the project, if another budget pays. */
  readonly owner: string | null
  readonly deadline: string | undefined
  readonly children: Child
}

const Item = ({ update, owner, choices, isChosen, deadline, children }: ItemProps) => (
  <li>
    {choices.possible.length > 0 ? (
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
      <p class="what">
        <a href={updateAddress(update.id)}>{update.project}</a> {update.kind} on <BudgetLink name={update.budget} />
        {owner === null ? null : `, for ${owner}`} {deadline ? <span class="pill">{deadline}</span> : null}
      </p>
      {children}
      {choices.possible.includes('approve') ? <ShownUnitsField update={update} /> : null}
      {choices.whyNot.map((sentence) => (
        <p class="note">{sentence}</p>
      ))}
    </div>
  </li>
)

const SameWork = ({ updates, view }: { updates: readonly Update[]; view: View }) => (
  <>
    {updates.map((update) => (
      <p class="warning">
        <Sign name="warning" /> <a href={updateAddress(update.id)}>Another request</a> for this project is{' '}
        {words(update.state)}: <Who name={update.caller} of={update} definitions={view.definitions} /> asked on{' '}
        <Time at={update.createdAt} zone={zoneOf(view)} />.
      </p>
    ))}
  </>
)

const RowButton = ({
  action,
  update,
  label = actionLabels[action],
}: {
  action: Action
  update: Update
  label?: string
}) => (
  <button type="submit" name="one" value={`${action} ${update.id}`} aria-label={`${label}: ${update.project}`}>
    {label}
  </button>
)
