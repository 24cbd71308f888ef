import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { reason } from '../../../shared/api/schemas.ts'
import type { Guard } from '../../../shared/guard/guard.ts'
import type { Author, ChangeResult, Preview } from '../../../shared/guard/people/budgets.ts'
import { differencesInWords } from '../../../shared/guard/people/differences.ts'
import { when, zoneOf } from '../../../shared/guard/sentences.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import { personOf, rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import { digest } from '../../../shared/platform/ids.ts'
import type { FieldFaults } from '../flash.ts'
import { isConflict, notDone, readFields, retryUntilAnswered, step } from '../forms.ts'
import { Buttons, ConfirmForm } from './action.tsx'
import {
  ChoiceField,
  type Choices,
  Faults,
  HiddenFields,
  type HiddenValues,
  LinesField,
  ReasonField,
  TextField,
  TicksField,
} from './fields.tsx'
import { FormToken } from './layout.tsx'
import { Section } from './parts.tsx'
import type { Visit } from './session.tsx'

const formSchema = z.looseObject({ step, reason: z.exactOptional(reason) })

type Texts = Readonly<Record<string, string>>

/** One field of a form. Without `as` it is a line of text. */
export interface EditField {
  readonly name: string
  readonly label?: string
  readonly note?: Child | undefined
  readonly as?: 'number' | 'lines' | 'ticks'
  readonly choices?: Choices
  readonly isRequired?: boolean
  readonly maxLength?: number
  /** Set if the field shows another value than the text of the member. */
  readonly value?: string
}

export interface FieldGroup {
  readonly id: string
  readonly title: string
  readonly note?: string
  readonly fields: readonly EditField[]
}

/** The edited record, with its members as texts. */
interface Subject {
  readonly view: View
  readonly name: string
  readonly current: Texts
}

type Edit<Own extends Subject> = Own & {
  /** The texts as the user typed them. */
  readonly texts: Own['current']
  readonly reason: string | undefined
  /** Another user changed the record since the page was shown. */
  readonly isStale: boolean
}

type Change =
  | { readonly faults: FieldFaults }
  | { put(by: Author): Promise<ChangeResult>; preview(by: Author): Promise<Preview> }

interface Effect {
  readonly above?: Child
  readonly beside: Child
}

type Possible = Extract<Preview, { kind: 'possible' }>

/** Describes how a kind of record is edited. `Own` holds the data that the page reads. */
export interface EditedRecord<Own extends Subject> {
  readonly kind: 'budget' | 'caller'
  readonly labels: Texts
  /** @throws Refusal 404 */
  open(visit: Visit): Promise<Own | Response>
  textsIn(form: URLSearchParams, otherwise: Own['current']): Own['current']
  /** Returns a text as the list of differences shows it. */
  shownText(name: string, text: string): string
  groups(edit: Edit<Own>): readonly FieldGroup[]
  /** Returns the reason why this user may not make the change. */
  whyNot?(edit: Edit<Own>, visit: Visit): string | undefined
  changeOf(edit: Edit<Own>, guard: Guard): Change
  /** Shows what the change does, above the question and beside its button. */
  effect(edit: Edit<Own>, possible: Possible, guard: Guard): Effect | Promise<Effect>
  /** The form is posted to `path` and returns to `back`. */
  readonly path: (own: Own) => string
  readonly back: (own: Own) => string
  hidden?(own: Own): HiddenValues
  readonly words: Record<'title' | 'question' | 'changed' | 'already', (own: Own) => string>
  above?(own: Own): Child
  below?(own: Own, visit: Visit): Child
}

/** Serves the form, the preview of the differences and the change, for administrators only. */
export function editPage<Own extends Subject>(record: EditedRecord<Own>) {
  return {
    GET: async (visit: Visit): Promise<Response> => {
      visit.mustHave('admin')
      const own = await record.open(visit)
      return own instanceof Response
        ? own
        : showForm(record, visit, { ...own, texts: own.current, reason: undefined, isStale: false })
    },

    POST: async (visit: Visit): Promise<Response> => {
      visit.mustHave('admin')
      const { form } = visit
      const { step, reason } = readFields(form, formSchema)
      return retryUntilAnswered(async () => {
        const own = await record.open(visit)
        if (own instanceof Response) return own
        const texts = record.textsIn(form, own.current)
        const edit = { ...own, texts, reason, isStale: form.get('seen') !== seenOf(own.current) }
        return step === 'edit' ? showForm(record, visit, edit) : previewOrChange(record, visit, edit, step)
      })
    },
  }
}

const hiddenIn = <Own extends Subject>(record: EditedRecord<Own>, own: Own) => ({
  ...record.hidden?.(own),
  seen: seenOf(own.current),
})

async function showForm<Own extends Subject>(
  record: EditedRecord<Own>,
  visit: Visit,
  edit: Edit<Own>,
  details: readonly string[] = [],
  faults: FieldFaults = {},
) {
  const stale = await stalenessOf(visit.guard, edit, record.kind)
  return visit.show(
    record.words.title(edit),
    <>
      {record.above?.(edit)}
      <form method="post" action={record.path(edit)} class="sheet">
        <Faults faults={[...stale, ...details]} />
        <FormToken frame={visit.frame} />
        <HiddenFields values={hiddenIn(record, edit)} />
        {record.groups(edit).map((group) => (
          <Group group={group} labels={record.labels} texts={edit.texts} faults={faults} />
        ))}
        <Section id="save" title="Save">
          <ReasonField formId="edit" value={edit.reason} isOptional />
          <Buttons
            of={[{ text: 'Preview', name: 'step', value: 'preview', tone: 'primary' }]}
            cancel={record.back(edit)}
          />
          <p class="note">Nothing is saved before you confirm the preview.</p>
        </Section>
      </form>
      {record.below?.(edit, visit)}
    </>,
  )
}

async function showPreview<Own extends Subject>(
  record: EditedRecord<Own>,
  visit: Visit,
  edit: Edit<Own>,
  possible: Possible,
) {
  const { current, texts, reason } = edit
  const names = Object.keys(record.labels).filter((name) => current[name] !== texts[name])
  const { above, beside } = await record.effect(edit, possible, visit.guard)
  const stale = await stalenessOf(visit.guard, edit, record.kind)
  return visit.show(
    record.words.question(edit),
    <>
      <Faults faults={stale} />
      <Section id="changes" title="What changes">
        <dl class="differences">
          {names.map((name) => (
            <div>
              <dt>{record.labels[name]}</dt>
              <dd>
                {record.shownText(name, current[name] ?? '')} <span aria-hidden="true">→</span>
                <span class="hidden">then</span> <strong>{record.shownText(name, texts[name] ?? '')}</strong>
              </dd>
            </div>
          ))}
        </dl>
        <p>Reason: {reason ?? <span class="unknown">none given</span>}</p>
      </Section>
      {above}
      <Section id="confirm" title="Confirm">
        {beside}
        <ConfirmForm
          action={record.path(edit)}
          frame={visit.frame}
          confirmLabel="Save"
          back={record.back(edit)}
          hidden={{ ...hiddenIn(record, edit), ...texts, reason }}
        />
      </Section>
    </>,
  )
}

/** `null`: another change was faster. */
async function previewOrChange<Own extends Subject>(
  record: EditedRecord<Own>,
  visit: Visit,
  edit: Edit<Own>,
  step: 'preview' | 'confirm',
): Promise<Response | null> {
  const { view, current, texts, reason, isStale } = edit
  const finish = (sentence: string) => visit.redirect({ done: [sentence], failed: [] }, record.back(edit))
  const isUnchanged = Object.keys(current).every((name) => texts[name] === current[name])
  // Without a change, a stale form means that the user pressed the button twice.
  if (isUnchanged)
    return isStale ? finish(record.words.already(edit)) : showForm(record, visit, edit, ['Nothing has changed.'])
  const whyNot = record.whyNot?.(edit, visit)
  if (whyNot !== undefined) return showForm(record, visit, edit, [whyNot])
  const change = record.changeOf(edit, visit.guard)
  if ('faults' in change) return showForm(record, visit, edit, [notDone], change.faults)
  const by = {
    caller: visit.session.sub,
    onlyAt: [view.definitions.revision],
    ...(reason !== undefined && { reason }),
  }
  // The user has to see the changes of other users first.
  const outcome = step === 'confirm' && !isStale ? await change.put(by) : await change.preview(by)
  if (isConflict(outcome)) return null
  switch (outcome.kind) {
    case 'problem':
      return showForm(record, visit, edit, [outcome.problem.detail])
    case 'changed':
      return finish(record.words.changed(edit))
    case 'possible':
      return showPreview(record, visit, edit, outcome)
  }
}

interface GroupProps {
  readonly group: FieldGroup
  readonly labels: Texts
  readonly texts: Texts
  readonly faults: FieldFaults
}

const Group = ({ group: { id, title, note, fields }, ...form }: GroupProps) => (
  <Section id={id} title={title}>
    {note === undefined ? null : <p class="note">{note}</p>}
    <div class="fields">
      {fields.map((field) => (
        <Field field={field} {...form} />
      ))}
    </div>
  </Section>
)

function Field({ field, labels, texts, faults }: Omit<GroupProps, 'group'> & { field: EditField }) {
  const { as, choices, ...given } = field
  const props = { formId: 'edit', label: labels[field.name] ?? '', value: texts[field.name] ?? '', faults, ...given }
  if (as === 'ticks') return <TicksField {...props} value={props.value.split(' ')} options={choices ?? []} isWhole />
  if (choices) return <ChoiceField {...props} options={choices} />
  const lines = props.value.replaceAll(' ', '\n')
  return as === 'lines' ? <LinesField {...props} value={lines} /> : <TextField {...props} isNumber={as === 'number'} />
}

const seenOf = (texts: Texts): string => digest('seen', JSON.stringify(texts))

async function stalenessOf(
  { ledger }: Guard,
  { view, name, isStale }: Edit<Subject>,
  kind: 'budget' | 'caller',
): Promise<readonly string[]> {
  if (!isStale) return []
  const filter = { month: view.month.name, budget: kind === 'budget' ? name : rootBudget }
  const { rows } = await ledger.entries(filter, maxEntries)
  const made = rows.flatMap((entry) => {
    const { changed = [] } = entry
    const at = changed.findIndex((difference) => difference.kind === kind && difference.name === name)
    return at === -1 ? [] : [{ entry, words: differencesInWords(changed)[at] }]
  })[0]
  const who = made
    ? `${personOf(view.definitions, made.entry.by)} changed it on ${when(made.entry.at, zoneOf(view))} (${made.words})`
    : 'someone changed it'
  return [
    `Nothing was saved: ${who} since you opened the page. Your input is kept. Check it, because saving it may undo that change.`,
  ]
}

const maxEntries = 50
