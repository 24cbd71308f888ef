import type { Child } from 'hono/jsx'
import { entryIdentity, entryRequest, reconciliation } from '../../../../shared/api/entries.ts'
import { allFaults } from '../../../../shared/guard/fields.ts'
import { units } from '../../../../shared/guard/sentences.ts'
import { rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { EntryRequest } from '../../../../shared/ledger/book/entry-request.ts'
import { PreviewButtons } from '../../components/edit.tsx'
import { ChoiceField, Faults, HiddenFields, ReasonField, TextField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import { toNumber } from '../../forms.ts'

interface EntryFormsProps {
  readonly budget: string
  readonly otherBudgets: readonly string[]
  /** The input for the form of `filledType`. */
  readonly input: URLSearchParams
  readonly filledType: EntryFormType | undefined
  readonly faults: readonly string[]
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
        title="Book what was spent outside"
        note="Units that somebody used without Unit Guard. They count today and this month, here and in all above."
      >
        {(value) => (
          <TextField formId="external-spend" name="units" label="Units" value={value('units')} isNumber isRequired />
        )}
      </EntryForm>
      {budget === rootBudget ? <Reconciliation {...forms} /> : null}
      {input.size === 0 ? null : (
        <p class="note">Each form is on its own: only the one whose button you press is sent.</p>
      )}
    </>
  )
}

function Grant(forms: EntryFormsProps) {
  const { budget } = forms
  const isRoot = budget === rootBudget
  const note = isRoot
    ? 'More units than the limit, once: bought in addition, or given by the vendor.'
    : 'More units than the limit, once. What is above it stays as it is, unless you grant there as well.'
  return (
    <EntryForm {...forms} type="grant" title="Grant units" note={note}>
      {(value) => (
        <>
          <TextField formId="grant" name="units" label="Units" value={value('units')} isNumber isRequired />
          <ChoiceField
            formId="grant"
            name="window"
            label="For"
            value={value('window')}
            options={Object.entries(windowTexts)}
          />
          {isRoot ? null : (
            <ChoiceField
              formId="grant"
              name="wholeChain"
              label="Who gets them"
              value={value('wholeChain')}
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
    note={`Takes units from ${forms.budget}, as far as it has any left.`}
  >
    {(value) => (
      <>
        <TextField formId="transfer" name="units" label="Units" value={value('units')} isNumber isRequired />
        <ChoiceField
          formId="transfer"
          name="to"
          label="To"
          value={value('to')}
          options={forms.otherBudgets.map((name) => [name, name])}
        />
        <ChoiceField
          formId="transfer"
          name="window"
          label="For"
          value={value('window')}
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
    note="What the vendor’s screen shows as left. The difference to the book is booked; what is held or in doubt is taken as not yet in that figure."
  >
    {(value) => (
      <TextField
        formId="reconcile"
        name="unitsLeft"
        label="Units left at the vendor"
        value={value('unitsLeft')}
        isNumber
        isRequired
      />
    )}
  </EntryForm>
)

const Correction = (forms: EntryFormsProps) => (
  <EntryForm
    {...forms}
    type="correction"
    title="Correct an entry"
    note="Say what it ought to have said. The difference is booked beside it, on the same counters; the entry itself stays."
  >
    {(value) => (
      <>
        <HiddenFields values={{ corrects: value('corrects') ?? '' }} />
        <p class="field">
          Entry <code>{value('corrects')}</code>
        </p>
        <TextField
          formId="correction"
          name="units"
          label="Units that it ought to have said"
          value={value('units')}
          isNumber
          isRequired
        />
      </>
    )}
  </EntryForm>
)

function EntryForm({
  type,
  title,
  note,
  children,
  ...forms
}: EntryFormsProps & {
  type: EntryFormType
  title: string
  note: string
  children: (value: (name: string) => string | undefined) => Child
}) {
  const isFilled = forms.filledType === type
  const value = (name: string) => (isFilled ? (forms.input.get(name) ?? undefined) : undefined)
  return (
    <Section id={type} title={title}>
      <p class="note">{note}</p>
      {isFilled ? <Faults faults={forms.faults} /> : null}
      {/* With the anchor, the next page scrolls to this form. */}
      <form method="post" action={budgetAddress(forms.budget, `/book#${type}`)}>
        <FormToken frame={forms.frame} />
        <HiddenFields values={{ type: type, key: forms.keyFor(type) }} />
        <div class="fields">
          {children(value)}
          <ReasonField formId={type} value={value('reason')} />
        </div>
        <PreviewButtons leaveLabel="Book nothing" back={budgetAddress(forms.budget)} />
      </form>
    </Section>
  )
}

export const entryTypes = ['grant', 'transfer', 'external-spend', 'correction', 'reconcile'] as const
export type EntryFormType = (typeof entryTypes)[number]

const formFields = ['form', 'step', 'key']

type ParsedEntry =
  | { readonly kind: 'request'; readonly request: EntryRequest }
  | { readonly kind: 'invalid'; readonly faults: readonly string[] }

export function readEntry(
  form: URLSearchParams,
  { budget, by, key }: { budget: string; by: string; key: string },
): ParsedEntry {
  const { type, ...body } = bodyOf(form)
  if (type === 'reconcile') {
    const parsed = reconciliation.safeParse(body)
    if (!parsed.success) return invalidEntry(parsed.error)
    const content = { type, ...parsed.data } as const
    return { kind: 'request', request: { ...content, ...entryIdentity(by, key, content), budget: rootBudget, by } }
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

const memberNames: Readonly<Record<string, string>> = {
  units: 'Units',
  unitsLeft: 'Units left',
  to: 'To',
  reason: 'Reason',
  window: 'Window',
}

const invalidEntry = ({ issues }: { issues: Parameters<typeof allFaults>[1] }): ParsedEntry => ({
  kind: 'invalid',
  faults: allFaults([], issues).map(({ path, message }) => `${memberNames[path] ?? path}: it ${message}.`),
})

/** For example `Grant 500 units to acme this month`. */
export function entryTitle(request: EntryRequest): string {
  const { budget } = request
  switch (request.type) {
    case 'grant':
      return `Grant ${units(request.units)} to ${budget}${request.wholeChain ? ' and all above it' : ''} ${windowTexts[request.window]}`
    case 'transfer':
      return `Transfer ${units(request.units)} from ${budget} to ${request.to} ${windowTexts[request.window]}`
    case 'external-spend':
      return `Book ${units(request.units)} spent outside on ${budget}`
    case 'correction':
      return `Correct an entry of ${budget} to ${units(request.units)}`
    case 'reconcile':
      return `Reconcile with ${units(request.unitsLeft)} left at the vendor`
  }
}

const windowTexts = { month: 'this month', day: 'today', 'next-month': 'next month' } as const
