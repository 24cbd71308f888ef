import type { Child } from 'hono/jsx'
import { entryIdentity, entryRequest, reconciliation } from '../../../../shared/api/entries.ts'
import { asOfExamples, readAsOf } from '../../../../shared/guard/as-of.ts'
import { rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { EntryRequest } from '../../../../shared/ledger/book/entry-request.ts'
import { allFaults } from '../../../../shared/platform/faults.ts'
import { ChoiceField, HiddenFields, ReasonField, TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { asSentence, toNumber } from '../../forms.ts'

type Filled = Pick<Parameters<typeof TextField>[0], 'formId' | 'name' | 'value' | 'faults'>

interface EntryFormsProps {
  readonly budget: string
  readonly otherBudgets: readonly string[]
  readonly input: URLSearchParams
  readonly filledType: EntryFormType | undefined
  readonly faults: FieldFaults
  /** Each key books at most one entry. */
  readonly keyFor: (type: EntryFormType) => string
  readonly frame: Frame
}

/** A correction starts from its entry, so its form stands alone. */
export function EntryForms(forms: EntryFormsProps) {
  const { budget, otherBudgets, input, filledType } = forms
  if (filledType === 'correction') return <Correction {...forms} />
  return (
    <>
      <Grant {...forms} />
      {otherBudgets.length === 0 ? null : <Transfer {...forms} />}
      <EntryForm
        {...forms}
        type="external-spend"
        title="Book outside spending"
        note="Units that were used without Unit Guard. They count today and this month, here and in all above."
      >
        {(field) => <TextField {...field('units')} label="Units" isNumber isRequired />}
      </EntryForm>
      {budget === rootBudget ? <Reconciliation {...forms} /> : null}
      {input.size === 0 ? null : <p class="note">Only the form whose button you press is sent.</p>}
    </>
  )
}

function Grant(forms: EntryFormsProps) {
  const { budget } = forms
  const isRoot = budget === rootBudget
  const note = isRoot
    ? 'More units than the limit, for one window: bought in addition, or given by the vendor.'
    : 'More units than the limit, for one window. Budgets above keep theirs, unless you grant there as well.'
  return (
    <EntryForm {...forms} type="grant" title="Grant units" button="Grant" note={note}>
      {(field) => (
        <>
          <TextField {...field('units')} label="Units" isNumber isRequired />
          <ChoiceField {...field('window')} label="For" options={Object.entries(windowTexts)} />
          {isRoot ? null : (
            <ChoiceField
              {...field('wholeChain')}
              label="Who gets them"
              options={[
                ['', `${budget} alone`],
                ['yes', `${budget} and all above it`],
              ]}
            />
          )}
        </>
      )}
    </EntryForm>
  )
}

const Transfer = (forms: EntryFormsProps) => (
  <EntryForm
    {...forms}
    type="transfer"
    title="Transfer units"
    button="Transfer"
    note={`Takes units from ${forms.budget}, as far as it has any left.`}
  >
    {(field) => (
      <>
        <TextField {...field('units')} label="Units" isNumber isRequired />
        <ChoiceField {...field('to')} label="To" options={forms.otherBudgets.map((name) => [name, name])} />
        <ChoiceField
          {...field('window')}
          label="For"
          options={[
            ['month', windowTexts.month],
            ['day', windowTexts.day],
          ]}
        />
      </>
    )}
  </EntryForm>
)

const Reconciliation = (forms: EntryFormsProps) => (
  <EntryForm
    {...forms}
    type="reconcile"
    title="Reconcile with the vendor"
    button="Preview"
    note="Enter what the vendor’s screen shows as left. The difference to the book is booked; units that are held, in doubt or spent since are taken as not yet in that figure. Only a figure of now gives units back."
  >
    {(field) => (
      <>
        <TextField {...field('unitsLeft')} label="Units left at the vendor" isNumber isRequired />
        <TextField {...field('asOf')} label="As of" note={`Empty: now. Or ${asOfExamples}.`} />
      </>
    )}
  </EntryForm>
)

const Correction = (forms: EntryFormsProps) => (
  <EntryForm
    {...forms}
    type="correction"
    title="Correct an entry"
    button="Correct"
    note="Enter what it should have said. The difference is booked beside it, on the same counters; the entry itself stays."
  >
    {(field) => (
      <>
        <HiddenFields values={{ corrects: field('corrects').value ?? '' }} />
        <p class="field">
          Entry <code>{field('corrects').value}</code>
        </p>
        <TextField {...field('units')} label="Correct units" isNumber isRequired />
      </>
    )}
  </EntryForm>
)

function EntryForm({
  type,
  title,
  note,
  button = 'Book',
  children,
  ...forms
}: EntryFormsProps & {
  type: EntryFormType
  title: string
  button?: string
  note: string
  children: (field: (name: string) => Filled) => Child
}) {
  const isFilled = forms.filledType === type
  const field = (name: string): Filled => ({
    ...{ formId: type, name },
    ...(isFilled && { value: forms.input.get(name) ?? undefined, faults: forms.faults }),
  })
  return (
    <Section id={type} title={title}>
      <p class="note">{note}</p>
      <form method="post" action={budgetAddress(forms.budget, '/book')}>
        <FormToken frame={forms.frame} />
        <HiddenFields values={{ type: type, key: forms.keyFor(type) }} />
        <div class="fields">
          {children(field)}
          <ReasonField {...field('reason')} />
        </div>
        <p class="buttons">
          <button type="submit" name="step" value={button === 'Preview' ? 'preview' : 'confirm'} class="primary">
            {button}
          </button>
          <a href={budgetAddress(forms.budget)}>Cancel</a>
        </p>
      </form>
    </Section>
  )
}

export const entryTypes = ['grant', 'transfer', 'external-spend', 'correction', 'reconcile'] as const
export type EntryFormType = (typeof entryTypes)[number]

const formFields = ['step', 'key']

type ParsedEntry =
  | { readonly kind: 'request'; readonly request: EntryRequest }
  | { readonly kind: 'invalid'; readonly faults: FieldFaults; readonly detail?: string }

export function readEntry(
  form: URLSearchParams,
  { budget, by, key, ...clock }: { budget: string; by: string; key: string; now: number; zone: string },
): ParsedEntry {
  const { type, ...body } = bodyOf(form)
  if (type === 'reconcile') {
    const { asOf: typed, shown, ...figure } = body
    const asOf = typed === undefined ? undefined : readAsOf(String(typed), clock)
    if (asOf === null || (asOf && asOf.rest !== ''))
      return { kind: 'invalid', faults: { asOf: `Write a time of ${clock.zone} such as ${asOfExamples}.` } }
    const parsed = reconciliation.safeParse(figure)
    if (!parsed.success) return invalidEntry(parsed.error)
    const content = { type, ...parsed.data, ...(asOf && { asOf: asOf.at }) } as const
    const request = { ...content, ...entryIdentity(by, key, content), budget: rootBudget, by }
    return { kind: 'request', request: { ...request, ...(shown !== undefined && { shown: Number(shown) }) } }
  }
  const parsed = entryRequest.safeParse({ type, ...body })
  if (!parsed.success) return invalidEntry(parsed.error)
  const content = parsed.data
  return { kind: 'request', request: { ...content, ...entryIdentity(by, key, { ...content, budget }), budget, by } }
}

function bodyOf(form: URLSearchParams): Record<string, unknown> {
  const filled = [...form].filter(([name, value]) => value.trim() !== '' && !formFields.includes(name))
  return Object.fromEntries(filled.map(([name, value]) => [name, toMember(name, value.trim())]))
}

function toMember(name: string, value: string): unknown {
  if (name === 'units' || name === 'unitsLeft') return toNumber(value)
  return name === 'wholeChain' ? value === 'yes' : value
}

const shownFields = ['units', 'unitsLeft', 'asOf', 'to', 'window', 'wholeChain', 'reason']

/** The first fault of each field, and in `detail` what is not about a field. */
function invalidEntry({ issues }: { issues: Parameters<typeof allFaults>[1] }): ParsedEntry {
  const faults = allFaults([], issues).map(({ path, message }) => [path, message] as const)
  const [ofFields, others] = [true, false].map((isShown) =>
    faults.filter(([path]) => shownFields.includes(path) === isShown),
  )
  const detail = others?.map(([path, message]) => `${path}: ${message}.`).join(' ')
  return {
    kind: 'invalid',
    faults: Object.fromEntries((ofFields ?? []).map(([path, message]) => [path, asSentence(message)]).toReversed()),
    ...(detail && { detail }),
  }
}

const windowTexts = { month: 'this month', day: 'today', 'next-month': 'next month' } as const
