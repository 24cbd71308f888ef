import { figuresOf, left, list } from '../../../../shared/guard/sentences.ts'
import {
  type Definitions,
  limitOf,
  limitsOfCaller,
  personOf,
  rootBudget,
  unlistedCallers,
  windowKinds,
} from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { type Scope, scopes } from '../../../../shared/platform/words.ts'
import { ChangesSection, ConfirmForm, type Edit, PreviewSection, shownFields } from '../../components/edit.tsx'
import {
  ChoiceField,
  editFields,
  Faults,
  HiddenFields,
  LinesField,
  noOrYes,
  TextField,
  TicksField,
} from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { callersAddress, Section } from '../../components/parts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { allBudgets, differences, isSlack, labels, namesIn, type Texts } from './caller-texts.ts'

export interface CallerEdit extends Edit<Texts> {
  readonly sub: string
}

const scopeTexts: Readonly<Record<Scope, string>> = {
  read: 'see budgets, updates and figures',
  run: 'run updates, which spends units',
  propose: 'ask for updates that need approval',
  write: 'create and change projects at the service',
  approve: 'approve, reject and resolve what others asked for',
  admin: 'change budgets and callers, pause plans, book entries',
}

interface FormProps {
  readonly edit: CallerEdit
  readonly faults: readonly string[]
  readonly fieldFaults: FieldFaults
  readonly frame: Frame
}

export function CallerForm({ edit, faults, fieldFaults, frame }: FormProps) {
  const { sub, texts } = edit
  const { field, numberField } = editFields(labels, texts, fieldFaults)
  const isEach = sub === unlistedCallers
  return (
    <form method="post" action={`${callersAddress}/edit`} class="sheet">
      <Faults faults={faults} />
      <FormToken frame={frame} />
      <HiddenFields values={{ sub, ...shownFields(edit) }} />
      {isEach ? null : (
        <>
          <PermissionFields sub={sub} texts={texts} fieldFaults={fieldFaults} />
          <Section id="who" title="Person">
            <div class="fields">
              <TextField
                {...field('person')}
                maxLength={256}
                note="The person behind several callers, such as a token and a Slack user. No person approves their own request. Empty: a person of its own."
              />
            </div>
          </Section>
        </>
      )}
      <Section id="limits" title={isEach ? 'Limits of each' : 'Own limits'}>
        <p class="note">
          {isEach
            ? 'A listed caller follows its own entry alone; plans follow none of this.'
            : 'They count in addition to the limits of budgets.'}
        </p>
        <div class="fields">
          {isEach ? null : (
            <>
              <TextField {...numberField('month')} note="Units, or “unlimited”." />
              <TextField {...numberField('day')} note="Units, or “unlimited”." />
            </>
          )}
          <TextField {...numberField('perUpdate')} note="Units. Empty: no limit." />
          <TextField {...numberField('ratePerMinute')} note="Empty: no limit." />
        </div>
      </Section>
      <PreviewSection reason={edit.reason} back={callersAddress} />
    </form>
  )
}

const adminOrYes = [
  ['no', 'only with admin'],
  ['yes', 'yes'],
] as const

function PermissionFields({ sub, texts, fieldFaults }: { sub: string; texts: Texts; fieldFaults: FieldFaults }) {
  const { field } = editFields(labels, texts, fieldFaults)
  const isAll = texts.budgets === allBudgets
  const readsAll = texts.readsBudgets === allBudgets
  return (
    <Section id="may" title="What they may do">
      <p class="note">
        {isSlack(sub)
          ? 'Users in Slack have no token: they may do only what is ticked here.'
          : 'A token says what its caller may do, as far as it is ticked here.'}
      </p>
      <div class="fields">
        <TicksField
          {...field('scopes')}
          value={texts.scopes.split(' ')}
          options={scopes.map((scope) => [scope, scope, scopeTexts[scope]])}
          isWhole
        />
        <ChoiceField
          formId="edit"
          name="charging"
          label="May charge"
          value={isAll ? 'all' : 'some'}
          options={[
            ['all', isSlack(sub) ? 'all budgets' : 'as the token says'],
            ['some', 'only those named'],
          ]}
        />
        <LinesField
          {...field('budgets')}
          value={isAll ? '' : texts.budgets}
          note="One per line; includes the budgets below each."
        />
        <ChoiceField
          formId="edit"
          name="reading"
          label="May read"
          value={readsAll ? 'all' : 'some'}
          options={[
            ['all', 'everything'],
            ['some', 'only those named'],
          ]}
        />
        <LinesField
          {...field('readsBudgets')}
          value={readsAll ? '' : texts.readsBudgets}
          note="One per line; includes the budgets below each. Their projects, updates and bookings, and nothing of others."
        />
        <ChoiceField
          {...field('mayForce')}
          options={adminOrYes}
          note="Skips the cool-down, so the same work is paid again."
        />
        <ChoiceField
          {...field('mayChargeAncestors')}
          options={adminOrYes}
          note="Charge a budget above the one that owns a project. The owner's rules hold, its limits do not."
        />
        <ChoiceField {...field('disabled')} options={noOrYes} note="Every request is refused from the next one on." />
      </div>
    </Section>
  )
}

export function CallerPreview({ edit, frame, after }: { edit: CallerEdit; frame: Frame; after: View }) {
  const { sub, current, texts, reason } = edit
  return (
    <>
      <ChangesSection differences={differences(current, texts)} reason={reason} />
      <Section id="confirm" title="Confirm">
        {consequences(edit, after).map((sentence) => (
          <p>{sentence}</p>
        ))}
        <p class="note">This applies from the next request on. Updates that run now finish.</p>
        <ConfirmForm
          action={`${callersAddress}/edit`}
          frame={frame}
          hidden={{ sub, ...shownFields(edit), ...texts, ...(reason !== undefined && { reason }) }}
          confirmLabel="Save"
          leaveLabel="Cancel"
          back={callersAddress}
        />
      </Section>
    </>
  )
}

function consequences(edit: CallerEdit, after: View): readonly string[] {
  const { sub, current, texts } = edit
  if (sub === unlistedCallers) return ['They hold for each caller that is not listed.']
  if (texts.disabled === 'yes') return [`${sub} can then do nothing, with any token.`]
  const scopesBefore = current.disabled === 'yes' ? [] : wordsIn(current.scopes)
  const scopesAfter = wordsIn(texts.scopes)
  const lost = scopesBefore.filter((scope) => !scopesAfter.includes(scope))
  const gained = scopesAfter.filter((scope) => !scopesBefore.includes(scope))
  const others = otherNamesOf(after.definitions, sub)
  return [
    ...(lost.length > 0 ? [`${sub} loses: ${list(lost)}.`] : []),
    ...(gained.length > 0
      ? [`${sub} gains: ${list(gained)}${isSlack(sub) ? '' : ', as far as the token says so'}.`]
      : []),
    ...readsAfter(edit),
    ...(scopesAfter.length === 0 ? [`${sub} may then do nothing.`] : []),
    ...(others.length > 0
      ? [`${list([sub, ...others])} are then one person, who cannot approve their own requests.`]
      : []),
    ...limitsOfCaller(after.definitions, sub).flatMap((limitedCaller) =>
      windowKinds
        .filter((window) => limitOf(limitedCaller, window) !== 'unlimited')
        .map((window) => `Of their own limit, ${left(figuresOf(after, limitedCaller, window))}.`),
    ),
  ]
}

function readsAfter({ sub, current, texts }: CallerEdit): readonly string[] {
  if (texts.readsBudgets === current.readsBudgets) return []
  if (texts.readsBudgets === allBudgets) return [`${sub} can then read everything.`]
  const budgets = namesIn(texts.readsBudgets)
  return [
    budgets.length === 0
      ? `${sub} can then read no budget.`
      : `${sub} can then read ${list(budgets)} and the budgets below, and nothing of others: not their names, projects, updates or figures.`,
    ...(wordsIn(texts.scopes).includes('admin') && !budgets.includes(rootBudget)
      ? ['The scope admin does not count for who reads only some budgets.']
      : []),
  ]
}

const wordsIn = (text: string): readonly string[] => text.split(' ').filter(Boolean)

function otherNamesOf(definitions: Definitions, sub: string): readonly string[] {
  const person = personOf(definitions, sub)
  const all = new Set([person, ...Object.keys(definitions.callers ?? {})])
  return [...all].filter((each) => each !== sub && personOf(definitions, each) === person)
}
