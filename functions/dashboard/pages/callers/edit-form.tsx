import { figuresOf, left, list } from '../../../../shared/guard/sentences.ts'
import {
  type Definitions,
  limitOf,
  limitsOfCaller,
  personOf,
  windowKinds,
} from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { type Scope, scopes } from '../../../../shared/platform/words.ts'
import {
  ChangesSection,
  ConfirmForm,
  type Edit,
  OthersChanges,
  PreviewSection,
  shownFields,
} from '../../components/edit.tsx'
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
import { allBudgets, differences, isSlack, labels, type Texts } from './caller-texts.ts'

export interface CallerEdit extends Edit<Texts> {
  readonly sub: string
}

const scopeTexts: Readonly<Record<Scope, string>> = {
  read: 'see budgets, updates and figures',
  run: 'have updates run, which spends units',
  propose: 'ask for updates, each of which awaits approval',
  write: 'create and change projects at the service',
  approve: 'approve, reject and resolve what others asked for',
  admin: 'change budgets and callers, pause plans, book entries',
}

export function CallerForm({ edit, faults, frame }: { edit: CallerEdit; faults: readonly string[]; frame: Frame }) {
  const { sub, texts } = edit
  const { field, numberField } = editFields(labels, texts)
  return (
    <form method="post" action={`${callersAddress}/edit`} class="sheet">
      <Faults faults={faults} />
      <OthersChanges edit={edit} name={sub} />
      <FormToken frame={frame} />
      <HiddenFields values={{ sub, ...shownFields(edit) }} />
      <PermissionFields sub={sub} texts={texts} />
      <Section id="who" title="Who they are">
        <div class="fields">
          <TextField
            {...field('person')}
            maxLength={200}
            note="The same for every name that one person asks under, such as the sub of their token: nobody approves what they asked for themselves. Empty: a person of their own."
          />
        </div>
      </Section>
      <Section id="limits" title="Limits of their own">
        <p class="note">They count whatever budget is charged, beside the budget’s own.</p>
        <div class="fields">
          <TextField {...numberField('month')} note="Units, or “unlimited”." />
          <TextField {...numberField('day')} note="Units, or “unlimited”." />
          <TextField {...numberField('perUpdate')} note="Units; more than this is refused. Empty: no such rule." />
          <TextField {...numberField('ratePerMinute')} note="Empty: as many as they like." />
        </div>
      </Section>
      <PreviewSection reason={edit.reason} back={callersAddress} />
    </form>
  )
}

const adminOrYes = [
  ['no', 'only with the scope admin'],
  ['yes', 'yes'],
] as const

function PermissionFields({ sub, texts }: { sub: string; texts: Texts }) {
  const { field } = editFields(labels, texts)
  const isAll = texts.budgets === allBudgets
  return (
    <Section id="may" title="What they may do">
      <p class="note">
        {isSlack(sub)
          ? 'Whoever is in Slack brings no token: what is ticked here is all that they may do.'
          : 'A token says what they may do; what is not ticked here they may not, whatever it says. All ticked: as it says.'}
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
            ['all', isSlack(sub) ? 'all budgets' : 'all budgets that their token names'],
            ['some', 'only those named under Budgets'],
          ]}
        />
        <LinesField
          {...field('budgets')}
          value={isAll ? '' : texts.budgets}
          note="One on a line, each with those below it."
        />
        <ChoiceField
          {...field('mayForce')}
          options={adminOrYes}
          note="Skip the cool-down of work that was just done, and pay again."
        />
        <ChoiceField
          {...field('mayChargeAncestors')}
          options={adminOrYes}
          note="Charge a budget above the one that owns a project. The owner's rules hold, its limits do not."
        />
        <ChoiceField {...field('disabled')} options={noOrYes} note="Nothing at all, from the next request on." />
      </div>
    </Section>
  )
}

export function CallerPreview({ edit, frame, after }: { edit: CallerEdit; frame: Frame; after: View }) {
  const { sub, current, texts, reason } = edit
  return (
    <>
      <OthersChanges edit={edit} name={sub} />
      <ChangesSection differences={differences(current, texts)} reason={reason} />
      <Section id="confirm" title="Confirm">
        {consequences(edit, after).map((sentence) => (
          <p>{sentence}</p>
        ))}
        <p class="note">It holds from the next request on. What runs already goes on and is accounted for.</p>
        <ConfirmForm
          action={`${callersAddress}/edit`}
          frame={frame}
          hidden={{ sub, ...shownFields(edit), ...texts, ...(reason !== undefined && { reason }) }}
          confirmLabel="Change it"
          leaveLabel="Leave it as it is"
          back={callersAddress}
        />
      </Section>
    </>
  )
}

function consequences(edit: CallerEdit, after: View): readonly string[] {
  const { sub, current, texts } = edit
  if (texts.disabled === 'yes') return [`${sub} can then do nothing at all, with whatever token.`]
  const scopesBefore = current.disabled === 'yes' ? [] : wordsIn(current.scopes)
  const scopesAfter = wordsIn(texts.scopes)
  const lost = scopesBefore.filter((scope) => !scopesAfter.includes(scope))
  const gained = scopesAfter.filter((scope) => !scopesBefore.includes(scope))
  const others = otherNamesOf(after.definitions, sub)
  return [
    ...(lost.length > 0 ? [`${sub} loses: ${list(lost)}.`] : []),
    ...(gained.length > 0
      ? [`${sub} gains: ${list(gained)}${isSlack(sub) ? '' : ', as far as their token says so'}.`]
      : []),
    ...(scopesAfter.length === 0 ? [`${sub} may then do nothing.`] : []),
    ...(others.length > 0
      ? [`${list([sub, ...others])} are then one person: none approves what another asked for.`]
      : []),
    ...limitsOfCaller(after.definitions, sub).flatMap((limitedCaller) =>
      windowKinds
        .filter((window) => limitOf(limitedCaller, window) !== 'unlimited')
        .map((window) => `Of their own limit, ${left(figuresOf(after, limitedCaller, window))}.`),
    ),
  ]
}

const wordsIn = (text: string): readonly string[] => text.split(' ').filter(Boolean)

/** The other listed callers of the same person. */
function otherNamesOf(definitions: Definitions, sub: string): readonly string[] {
  const person = personOf(definitions, sub)
  const all = new Set([person, ...Object.keys(definitions.callers ?? {})])
  return [...all].filter((each) => each !== sub && personOf(definitions, each) === person)
}
