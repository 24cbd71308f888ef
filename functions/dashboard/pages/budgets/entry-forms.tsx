import { entryIdentity, entryRequest, reconciliation } from '../../../../shared/api/entries.ts'
import { invalid } from '../../../../shared/api/refusal.ts'
import { asOfExamples, readAsOf } from '../../../../shared/guard/people/as-of.ts'
import type { EntryRequest } from '../../../../shared/ledger/book/entry-request.ts'
import type { OldDoubt } from '../../../../shared/ledger/book/figure.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import { rootBudget } from '../../../../shared/ledger/definitions/definitions.ts'
import { systemIds } from '../../../../shared/platform/ids.ts'
import { DoubtFields, isDoubtField, readDoubts } from '../../components/doubts.tsx'
import type { FormValues } from '../../flash.ts'
import { parse, toNumber } from '../../forms.ts'
import { ActionForm } from '../../kit/action.tsx'
import { ChoiceField, type Choices, ReasonField, TextField } from '../../kit/fields.tsx'
import { FoldedSection } from '../../kit/fold.tsx'
import type { Frame } from '../../kit/layout.tsx'
import { budgetAddress, EntryLink } from '../../kit/parts.tsx'

type EntryField = Omit<Parameters<typeof TextField>[0], 'formId'> & { readonly options?: Choices }

interface EntryForm {
  readonly title: string
  readonly button: string
  readonly note: string
  readonly fields: readonly (EntryField | false)[]
}

const entryTypes = ['grant', 'transfer', 'external-spend', 'reconcile', 'correction'] as const
type EntryType = (typeof entryTypes)[number]

const windowTexts = { month: 'this month', day: 'today', 'next-month': 'next month' } as const

/** `null`: this budget does not have the form. */
function formsFor(budget: string, others: readonly string[]): Readonly<Record<EntryType, EntryForm | null>> {
  const isRoot = budget === rootBudget
  const units = { name: 'units', label: 'Units', isNumber: true, isRequired: true }
  const inWindow = (...names: readonly (keyof typeof windowTexts)[]) => ({
    name: 'window',
    label: 'For',
    options: names.map((name) => [name, windowTexts[name]] as const),
  })
  const receivers = [['', `${budget} alone`] as const, ['yes', `${budget} and all above it`] as const]
  return {
    grant: {
      title: 'Grant units',
      button: 'Preview grant',
      note: isRoot
        ? 'More units than the limit, for one window: bought in addition, or given by the vendor.'
        : 'More units than the limit, for one window. Budgets above keep theirs, unless you grant there as well.',
      fields: [
        units,
        inWindow('month', 'day', 'next-month'),
        !isRoot && { name: 'wholeChain', label: 'Who gets them', options: receivers },
      ],
    },
    transfer:
      others.length === 0
        ? null
        : {
            title: 'Transfer units',
            button: 'Preview transfer',
            note: `Takes units from ${budget}, as far as it has any left.`,
            fields: [units, { name: 'to', label: 'To', options: named(others) }, inWindow('month', 'day')],
          },
    'external-spend': {
      title: 'Book outside spending',
      button: 'Preview spending',
      note: 'Units that were used without Unit Guard. They count today and this month, here and in all above.',
      fields: [units],
    },
    reconcile: isRoot
      ? {
          title: 'Reconcile with the vendor',
          button: 'Preview',
          note: 'Enter the units that the vendor’s screen shows as left. The difference to the book is booked. Updates that run or are newly in doubt are assumed not to be in that figure. Only a figure of now gives units back.',
          fields: [
            { ...units, name: 'unitsLeft', label: 'Units left at the vendor' },
            { name: 'asOf', label: 'As of', note: `Empty: now. Or ${asOfExamples}.` },
          ],
        }
      : null,
    correction: {
      title: 'Correct an entry',
      button: 'Preview correction',
      note: 'Enter the correct units. The entry stays, and the difference is booked on the same counters. If account was reconciled since, it gets no units back, because the vendor’s figure includes them.',
      fields: [{ ...units, label: 'Correct units' }],
    },
  }
}

const named = (names: readonly string[]): Choices => names.map((name) => [name, name])

interface EntryFormsProps {
  readonly budget: string
  readonly others: readonly string[]
  /** The form books in the open month and day of this view. */
  readonly view: Pick<View, 'month' | 'day'>
  /** The values of the form that `type` names. */
  readonly input: FormValues
  readonly frame: Frame
  /** The doubts that a figure of now has. */
  readonly doubts: readonly OldDoubt[]
}

/** A correction starts from its entry, so the page shows only its form. */
export function EntryForms({ budget, others, view, input, frame, doubts }: EntryFormsProps) {
  const { type: filled, corrects = '' } = input
  const isCorrection = filled === 'correction'
  const forms = formsFor(budget, others)
  const formFor = (type: EntryType) => {
    const form = (type === 'correction') === isCorrection ? forms[type] : null
    if (form === null) return null
    const isFilled = type === filled
    const field = (name: string) => ({
      formId: type,
      name,
      ...(isFilled && { value: input[name], faults: frame.flash?.faults }),
    })
    // Each key books at most one entry.
    const key = (isFilled && input.key) || `page-${systemIds.random()}`
    return (
      <FoldedSection id={type} title={form.title} isOpen={isFilled}>
        <p class="note">{form.note}</p>
        <ActionForm
          frame={frame}
          id={type}
          action={budgetAddress(budget, '/book')}
          cancel={budgetAddress(budget)}
          hidden={{ type, key, month: view.month.name, day: view.day.name, ...(isCorrection && { corrects }) }}
          buttons={[{ text: form.button, name: 'step', value: 'preview', tone: 'primary' }]}
        >
          {isCorrection ? (
            <p class="field">
              Corrects <EntryLink id={corrects} text="this entry" />
            </p>
          ) : null}
          {form.fields.map((each) => each && <EntryFieldOf {...field(each.name)} {...each} />)}
          {type === 'reconcile' ? (
            <DoubtFields doubts={doubts} formId={type} input={isFilled ? input : {}} faults={frame.flash?.faults} />
          ) : null}
          <ReasonField {...field('reason')} />
        </ActionForm>
      </FoldedSection>
    )
  }
  return (
    <>
      {entryTypes.map(formFor)}
      {filled && !isCorrection ? <p class="note">Only the form whose button you press is sent.</p> : null}
    </>
  )
}

const EntryFieldOf = ({ options, ...field }: EntryField & { formId: string }) =>
  options ? <ChoiceField {...field} options={options} /> : <TextField {...field} />

/** Fields that show their faults. */
export const entryFields = ['units', 'unitsLeft', 'asOf', 'to', 'window', 'wholeChain', 'reason']

/** @throws Refusal 400 */
export function readEntry(
  form: URLSearchParams,
  { budget, by, ...clock }: { budget: string; by: string; now: number; zone: string },
): EntryRequest {
  const { step: _step, key, month: _month, day: _day, ...given } = Object.fromEntries(form)
  const filled = Object.entries(given).filter(([, value]) => value.trim() !== '')
  const body = Object.fromEntries(filled.map(([name, value]) => [name, toMember(name, value.trim())]))
  const identityOf = (content: object) => entryIdentity(by, key ?? '', content)
  if (body.type !== 'reconcile') {
    const content = parse(entryRequest, body)
    return { ...content, ...identityOf({ ...content, budget }), budget, by }
  }
  const fields = Object.entries(body).filter(([name]) => !isDoubtField(name))
  const { type: _type, asOf: typed, shown, enteredAt, closing, ...figure } = Object.fromEntries(fields)
  const doubts = readDoubts(form)
  const said = { ...figure, ...(doubts && { doubts }), ...(closing === 'yes' && { closing: true }) }
  const asOf = typed === undefined ? undefined : readAsOf(String(typed), clock)
  if (asOf === null || (asOf && asOf.rest !== ''))
    throw invalid([{ path: 'asOf', message: `write a time of ${clock.zone} such as ${asOfExamples}` }])
  const content = { type: 'reconcile', ...parse(reconciliation, said), ...(asOf && { asOf: asOf.at }) } as const
  const isShown = shown !== undefined && { shown: Number(shown), enteredAt: Number(enteredAt) }
  return { ...content, ...identityOf(content), budget: rootBudget, by, ...isShown }
}

function toMember(name: string, value: string): unknown {
  if (name === 'units' || name === 'unitsLeft') return toNumber(value)
  return name === 'wholeChain' ? value === 'yes' : value
}
