import type { Child } from 'hono/jsx'
import { rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import { ChoiceField, Hidden, ReasonField, TextField, Wrong } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress } from '../../components/parts.tsx'
import { type EntryFormType, spans } from './entry-request.ts'

interface Forms {
  readonly budget: string
  readonly others: readonly string[]
  /** What was filled in before, in the form of this type. */
  readonly given: URLSearchParams
  readonly type: EntryFormType | undefined
  readonly wrong: readonly string[]
  /** Each form is booked once, however often it is sent. */
  readonly keyFor: (type: EntryFormType) => string
  readonly frame: Frame
}

/** One form for each thing that can be booked; of a correction, that alone. */
export function EntryForms(forms: Forms) {
  const { budget, others, given, type } = forms
  if (type === 'correction') return <Correction {...forms} />
  const isLast = budget === rootBudget
  return (
    <>
      <EntryForm
        {...forms}
        of="grant"
        title="Grant units"
        note={
          isLast
            ? 'More units than the limit, once: bought in addition, or given by the vendor.'
            : 'More units than the limit, once. What is above it stays as it is, unless you grant there as well.'
        }
      >
        {(value) => (
          <>
            <TextField of="grant" name="units" label="Units" value={value('units')} units required />
            <ChoiceField of="grant" name="window" label="For" value={value('window')} options={Object.entries(spans)} />
            {isLast ? null : (
              <ChoiceField
                of="grant"
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
      {others.length === 0 ? null : (
        <EntryForm
          {...forms}
          of="transfer"
          title="Transfer units"
          note={`Takes units from ${budget}, as far as it has any left.`}
        >
          {(value) => (
            <>
              <TextField of="transfer" name="units" label="Units" value={value('units')} units required />
              <ChoiceField
                of="transfer"
                name="to"
                label="To"
                value={value('to')}
                options={others.map((name) => [name, name])}
              />
              <ChoiceField
                of="transfer"
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
      )}
      <EntryForm
        {...forms}
        of="external-spend"
        title="Book what was spent outside"
        note="Units that somebody used without Unit Guard. They count today and this month, here and in all above."
      >
        {(value) => <TextField of="external-spend" name="units" label="Units" value={value('units')} units required />}
      </EntryForm>
      {isLast ? (
        <EntryForm
          {...forms}
          of="reconcile"
          title="Reconcile with the vendor"
          note="What the vendor’s screen shows as left. The difference to the book is booked; what is held or in doubt is taken as not yet in that figure."
        >
          {(value) => (
            <TextField
              of="reconcile"
              name="unitsLeft"
              label="Units left at the vendor"
              value={value('unitsLeft')}
              units
              required
            />
          )}
        </EntryForm>
      ) : null}
      {given.size === 0 ? null : (
        <p class="note">Each form is on its own: only the one whose button you press is sent.</p>
      )}
    </>
  )
}

const Correction = (forms: Forms) => (
  <EntryForm
    {...forms}
    of="correction"
    title="Correct an entry"
    note="Say what it ought to have said. The difference is booked beside it, on the same counters; the entry itself stays."
  >
    {(value) => (
      <>
        <Hidden of={{ corrects: value('corrects') ?? '' }} />
        <p class="field">
          Entry <code>{value('corrects')}</code>
        </p>
        <TextField
          of="correction"
          name="units"
          label="Units that it ought to have said"
          value={value('units')}
          units
          required
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
    <section aria-labelledby={of}>
      <h2 id={of}>{title}</h2>
      <p class="note">{note}</p>
      {isThis ? <Wrong of={forms.wrong} /> : null}
      {/* What is wrong with it is shown where it stands, below the other forms. */}
      <form method="post" action={budgetAddress(forms.budget, `/book#${of}`)}>
        <FormToken of={forms.frame} />
        <Hidden of={{ type: of, key: forms.keyFor(of) }} />
        <div class="fields">
          {children(value)}
          <ReasonField of={of} value={value('reason')} />
        </div>
        <p class="buttons">
          <button type="submit" name="step" value="preview" class="primary">
            Preview
          </button>
          <a href={budgetAddress(forms.budget)}>Book nothing</a>
        </p>
      </form>
    </section>
  )
}
