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

interface Forms {
  readonly budget: string
  readonly others: readonly string[]
  /** The input so far, for the form of this type. */
  readonly given: URLSearchParams
  readonly type: EntryFormType | undefined
  readonly wrong: readonly string[]
  /** A form is booked once for each key. */
  readonly keyFor: (type: EntryFormType) => string
  readonly frame: Frame
}

/** A form for each type of entry; of a correction, that alone. */
export function EntryForms(forms: Forms) {
  const { budget, others, given, type } = forms
  if (type === 'correction') return <Correction {...forms} />
  return (
    <>
      <Grant {...forms} />
      {others.length === 0 ? null : <Transfer {...forms} />}
      <EntryForm
        {...forms}
        of="external-spend"
        title="Book what was spent outside"
        note="Units that somebody used without Unit Guard. They count today and this month, here and in all above."
      >
        {(value) => (
          <TextField formId="external-spend" name="units" label="Units" value={value('units')} isNumber isRequired />
        )}
      </EntryForm>
      {budget === rootBudget ? <Reconciliation {...forms} /> : null}
      {given.size === 0 ? null : (
        <p class="note">Each form is on its own: only the one whose button you press is sent.</p>
      )}
    </>
  )
}

function Grant(forms: Forms) {
  const { budget } = forms
  const isRoot = budget === rootBudget
  const note = isRoot
    ? 'More units than the limit, once: bought in addition, or given by the vendor.'
    : 'More units than the limit, once. What is above it stays as it is, unless you grant there as well.'
  return (
    <EntryForm {...forms} of="grant" title="Grant units" note={note}>
      {(value) => (
        <>
          <TextField formId="grant" name="units" label="Units" value={value('units')} isNumber isRequired />
          <ChoiceField
            formId="grant"
            name="window"
            label="For"
            value={value('window')}
            options={Object.entries(spans)}
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

const Transfer = (forms: Forms) => (
  <EntryForm
    {...forms}
    of="transfer"
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
          options={forms.others.map((name) => [name, name])}
        />
        <ChoiceField
          formId="transfer"
          name="window"
          label="For"
          value={value('window')}
          options={[
            ['month', spans.month],
            ['day', spans.day],
          ]}
        />
      </>
    )}
  </EntryForm>
)

const Reconciliation = (forms: Forms) => (
  <EntryForm
    {...forms}
    of="reconcile"
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

const Correction = (forms: Forms) => (
  <EntryForm
    {...forms}
    of="correction"
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
  of,
  title,
  note,
  children,
  ...forms
}: Forms & {
  of: EntryFormType
  title: string
  note: string
  children: (value: (name: string) => string | undefined) => Child
}) {
  const isThis = forms.type === of
  const value = (name: string) => (isThis ? (forms.given.get(name) ?? undefined) : undefined)
  return (
    <Section id={of} title={title}>
      <p class="note">{note}</p>
      {isThis ? <Faults faults={forms.wrong} /> : null}
      {/* The anchor leads back to this form, below the others. */}
      <form method="post" action={budgetAddress(forms.budget, `/book#${of}`)}>
        <FormToken frame={forms.frame} />
        <HiddenFields values={{ type: of, key: forms.keyFor(of) }} />
        <div class="fields">
          {children(value)}
          <ReasonField formId={of} value={value('reason')} />
        </div>
        <PreviewButtons leaveLabel="Book nothing" back={budgetAddress(forms.budget)} />
      </form>
    </Section>
  )
}

export const entryTypes = ['grant', 'transfer', 'external-spend', 'correction', 'reconcile'] as const
export type EntryFormType = (typeof entryTypes)[number]

/** Fields of the form that are not members of the entry. */
const ofTheForm = ['form', 'step', 'key']

type Read =
  | { readonly kind: 'request'; readonly request: EntryRequest }
  | { readonly kind: 'wrong'; readonly wrong: readonly string[] }

/** Parses with the API's schemas. */
export function readEntry(
  form: URLSearchParams,
  { budget, by, key }: { budget: string; by: string; key: string },
): Read {
  const { type, ...body } = bodyOf(form)
  if (type === 'reconcile') {
    const parsed = reconciliation.safeParse(body)
    if (!parsed.success) return wrong(parsed.error)
    const asked = { type, ...parsed.data } as const
    return { kind: 'request', request: { ...asked, ...entryIdentity(by, key, asked), budget: rootBudget, by } }
  }
  const parsed = entryRequest.safeParse({ type, ...body })
  if (!parsed.success) return wrong(parsed.error)
  const asked = parsed.data
  return { kind: 'request', request: { ...asked, ...entryIdentity(by, key, { ...asked, budget }), budget, by } }
}

function bodyOf(form: URLSearchParams): Record<string, unknown> {
  const filled = [...form].filter(([name, value]) => value.trim() !== '' && !ofTheForm.includes(name))
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

const wrong = ({ issues }: { issues: Parameters<typeof allFaults>[1] }): Read => ({
  kind: 'wrong',
  wrong: allFaults([], issues).map(({ path, message }) => `${memberNames[path] ?? path}: it ${message}.`),
})

/** `Grant 500 units to acme this month` */
export function titleOf(request: EntryRequest): string {
  const { budget } = request
  switch (request.type) {
    case 'grant':
      return `Grant ${units(request.units)} to ${budget}${request.wholeChain ? ' and all above it' : ''} ${spans[request.window]}`
    case 'transfer':
      return `Transfer ${units(request.units)} from ${budget} to ${request.to} ${spans[request.window]}`
    case 'external-spend':
      return `Book ${units(request.units)} spent outside on ${budget}`
    case 'correction':
      return `Correct an entry of ${budget} to ${units(request.units)}`
    case 'reconcile':
      return `Reconcile with ${units(request.unitsLeft)} left at the vendor`
  }
}

const spans = { month: 'this month', day: 'today', 'next-month': 'next month' } as const
