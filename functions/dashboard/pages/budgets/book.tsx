import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { invalid, Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget, notEntered } from '../../../../shared/guard/problems.ts'
import {
  count,
  differenceToVendor,
  figuresOf,
  left,
  spentSince,
  units,
  when,
  zoneOf,
} from '../../../../shared/guard/sentences.ts'
import type { Book } from '../../../../shared/ledger/book/book.ts'
import { budgetNamed, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { Reconciliation } from '../../../../shared/ledger/book/entry-request.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { systemIds } from '../../../../shared/platform/ids.ts'
import { Faults } from '../../components/fields.tsx'
import type { Frame } from '../../components/layout.tsx'
import { budgetAddress, dayNamed, Section } from '../../components/parts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { stepOf, toNumber } from '../../forms.ts'
import { ConfirmForm } from '../../kit/edit.tsx'
import type { PageRoutes, Visit } from '../../session.tsx'
import { BudgetTrail } from './chain.tsx'
import { EffectTable } from './effect.tsx'
import { EntryForms, type EntryFormType, entryTypes, readEntry } from './entry-forms.tsx'

export function addBook({ page }: PageRoutes): void {
  page('/dashboard/budgets/:name/book', {
    GET: async (visit) => {
      visit.mustHave('admin')
      const { view, budget } = await budgetOf(visit)
      const input = new URLSearchParams(visit.query)
      if (input.has('corrects')) input.set('type', 'correction')
      return showForms(visit, { view, budget, input })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const { form: input, session, frame, guard } = visit
      const { view, budget } = await budgetOf(visit)
      const step = stepOf(input)
      const key = keyOf(input)
      if (step === 'edit') return showForms(visit, { view, budget, input })
      const parsed = readEntry(input, { budget, by: session.sub, key, now: view.now, zone: zoneOf(view) })
      if (parsed.kind === 'invalid') return showForms(visit, { view, budget, input, ...parsed })
      const { request } = parsed
      // Only a reconciliation computes what it books.
      if (step === 'preview' && request.type !== 'reconcile') return showForms(visit, { view, budget, input })
      const book = async () =>
        step === 'confirm' ? await guard.ledger.enter(request) : await guard.ledger.previewEntry(request)
      const reads = visit.c.get('expensiveReads')
      if (request.type === 'reconcile') reads.admit(session.sub)
      const outcome = await (request.type === 'reconcile' ? reads.inTurn(book) : book())
      switch (outcome.kind) {
        case 'entered':
          return visit.redirect(
            {
              done: [outcome.again ? alreadyBooked : bookedText(outcome.entry), ...boundText(outcome.entry)],
              failed: [],
            },
            budgetAddress(budget),
          )
        case 'possible':
          return visit.show('Book this?', <ReconcilePreview {...{ ...outcome, input, frame, view }} />)
        default:
          return showForms(visit, {
            view,
            budget,
            input: withUsableKey(input, outcome.kind),
            detail: faultOf(outcome),
          })
      }
    },
  })
}

async function budgetOf({ c, guard }: Visit): Promise<{ view: View; budget: string }> {
  const budget = budgetNameOf(c)
  const view = await guard.ledger.view()
  if (!budgetNamed(view.definitions, budget)) throw new Refusal(noBudget(budget))
  return { view, budget }
}

interface FormsInput {
  readonly view: View
  readonly budget: string
  readonly input: URLSearchParams
  readonly faults?: FieldFaults
  readonly detail?: string
}

function showForms(visit: Visit, { view, budget, input, faults = {}, detail }: FormsInput) {
  const type = entryTypes.find((each) => each === input.get('type'))
  const others = Object.keys(view.definitions.budgets).filter((name) => name !== budget)
  const keyFor = (formType: EntryFormType) =>
    (formType === type ? input.get('key') : null) ?? `page-${systemIds.random()}`
  return visit.show(
    `Book units of ${budget}`,
    <>
      <BudgetTrail budget={budget} definitions={view.definitions} here="book units" />
      {detail === undefined ? null : <Faults faults={[detail]} />}
      <UnitsLeft budget={budget} view={view} />
      <EntryForms {...{ budget, otherBudgets: others, input, filledType: type, faults, keyFor, frame: visit.frame }} />
    </>,
  )
}

function UnitsLeft({ budget, view }: { budget: string; view: View }) {
  const definition = budgetNamed(view.definitions, budget)
  if (!definition) return null
  const figures = figuresOf(view, definition, 'month')
  return (
    <p>
      {left(figures)}, with {count(figures.held)} held and {count(figures.inDoubt)} in doubt.
    </p>
  )
}

/** Without a key, pressing twice would book twice. @throws Refusal 400 */
function keyOf(form: URLSearchParams): string {
  const key = form.get('key') ?? ''
  if (/^page-[0-9a-z]{26}$/.test(key)) return key
  throw invalid([{ path: 'key', message: 'is missing: load the page again' }])
}

/** Drops the key if another entry was booked with it. */
function withUsableKey(input: URLSearchParams, kind: string): URLSearchParams {
  const copy = new URLSearchParams(input)
  if (kind === 'key-reused') copy.delete('key')
  return copy
}

const faultOf = (outcome: Parameters<typeof notEntered>[0]): string =>
  outcome.kind === 'key-reused'
    ? 'This form was booked before with other figures; nothing more was booked now. To book this as well, continue.'
    : notEntered(outcome).detail

const alreadyBooked = 'It was already booked when you sent it first; nothing more was booked.'

function bookedText({ type, budget, units: number, to }: Entry): string {
  switch (type) {
    case 'transfer':
      return `Booked: ${units(number)} from ${budget} to ${to}.`
    case 'reconcile':
      return number === 0
        ? 'The book and the vendor agree: no units were moved.'
        : `Booked ${units(Math.abs(number))} ${number > 0 ? 'fewer' : 'more'}, so that the book shows the vendor’s figure.`
    case 'correction':
      return `Booked: the entry of ${budget} counts as ${units(number)} now.`
    default:
      return `Booked: ${units(number)} on ${budget}.`
  }
}

/** The tightest limit above what got the units. */
function boundText({ type, binds, budget, to = budget }: Entry): readonly string[] {
  if (!binds || binds.budget === to || !['grant', 'transfer'].includes(type)) return []
  const has = `${binds.budget} has ${count(Math.max(0, binds.available))} left ${binds.window === 'day' ? 'for the day' : 'for the month'}`
  return [`${has}, so updates of ${to} can cost no more than that together.`]
}

function ReconcilePreview(props: {
  entry: Entry
  before: Book
  after: Book
  input: URLSearchParams
  frame: Frame
  view: View
  reconciliation?: Reconciliation
}) {
  const { entry, before, after, input, view, reconciliation } = props
  const month =
    before.month === view.month.name ? undefined : `in the month from ${dayNamed(before.month.slice('month:'.length))}`
  const { step: _step, ...entered } = Object.fromEntries(input)
  return (
    <>
      <Section id="what" title={`Reconcile with ${units(toNumber(entered.unitsLeft ?? ''))} left at the vendor`}>
        {reconciliation ? <ReconcileParts parts={reconciliation} zone={zoneOf(view)} /> : null}
        <p>Reason: {entry.reason}</p>
      </Section>
      <EffectTable
        {...{ before, after, budgets: [rootBudget] }}
        definitions={view.definitions}
        {...(month !== undefined && { month })}
      />
      <Section id="confirm" title="Confirm">
        <ConfirmForm
          action={budgetAddress(rootBudget, '/book')}
          frame={props.frame}
          hidden={reconciliation ? { ...entered, shown: String(reconciliation.difference) } : entered}
          confirmLabel="Book"
          back={budgetAddress(rootBudget)}
        />
      </Section>
    </>
  )
}

const ReconcileParts = ({ parts, zone }: { parts: Reconciliation; zone: string }) => (
  <>
    <p>{differenceToVendor(parts)}</p>
    <p class="note">
      The figure is of {parts.asOf === null ? 'now' : when(parts.asOf, zone)}. Taken as not in it: {count(parts.since)}{' '}
      {spentSince(parts)}, {count(parts.held)} held, {count(parts.inDoubt)} in doubt.
      {parts.open.length === 0 ? '' : ` Open then: ${parts.open.slice(0, maxOpenShown).join(', ')}.`}
    </p>
  </>
)

const maxOpenShown = 10
