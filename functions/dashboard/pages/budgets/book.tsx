import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { invalid, Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget, notEntered } from '../../../../shared/guard/problems.ts'
import { count, figuresOf, left, units } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import type { Book } from '../../../../shared/ledger/book/book.ts'
import { budgetNamed, chainOf } from '../../../../shared/ledger/book/definitions.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { EntryRequest } from '../../../../shared/ledger/book/entry-request.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { systemIds } from '../../../../shared/platform/ids.ts'
import { ConfirmForm } from '../../components/edit.tsx'
import type { Frame } from '../../components/layout.tsx'
import { budgetAddress, dayNamed, Section } from '../../components/parts.tsx'
import { stepOf } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { Chain } from './chain.tsx'
import { Binding, Effect } from './effect.tsx'
import { EntryForms, type EntryFormType, entryTypes, readEntry, titleOf } from './entry-forms.tsx'

/** Books entries: filled in, previewed, confirmed. */
export function addBook({ page }: PageRoutes, { guard }: Services): void {
  const { ledger } = guard

  page('/dashboard/budgets/:name/book', {
    GET: async (visit) => {
      visit.mustHave('admin')
      const { view, budget } = await budgetOf(visit)
      const corrects = visit.c.req.query('corrects')
      const given = new URLSearchParams(corrects === undefined ? {} : { type: 'correction', corrects })
      return showForms(visit, { view, budget, given, wrong: [] })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const { form: given, session, frame } = visit
      const { view, budget } = await budgetOf(visit)
      const step = stepOf(given)
      const key = keyOf(given)
      if (step === 'edit') return showForms(visit, { view, budget, given, wrong: [] })
      const read = readEntry(given, { budget, by: session.sub, key })
      if (read.kind === 'wrong') return showForms(visit, { view, budget, given, wrong: read.wrong })
      const { request } = read
      const outcome = step === 'confirm' ? await ledger.enter(request) : await ledger.previewEntry(request)
      switch (outcome.kind) {
        case 'entered':
          return visit.tell(
            { done: [outcome.again ? bookedBefore : sayBooked(outcome.entry)], failed: [] },
            budgetAddress(budget),
          )
        case 'possible': {
          const { entry, before, after } = outcome
          const budgets = concerned(view, request, entry)
          return visit.show(
            'Book this?',
            <EntryPreview {...{ request, entry, before, after, budgets, given, frame, view }} />,
          )
        }
        default:
          return showForms(visit, { view, budget, given: again(given, outcome.kind), wrong: [whyNot(outcome)] })
      }
    },
  })

  async function budgetOf({ c }: Visit): Promise<{ view: View; budget: string }> {
    const budget = budgetNameOf(c)
    const view = await ledger.view()
    if (!budgetNamed(view.definitions, budget)) throw new Refusal(noBudget(budget))
    return { view, budget }
  }
}

interface Shown {
  readonly view: View
  readonly budget: string
  /** The input so far. */
  readonly given: URLSearchParams
  readonly wrong: readonly string[]
}

function showForms(visit: Visit, { view, budget, given, wrong }: Shown) {
  const type = entryTypes.find((each) => each === given.get('type'))
  const others = Object.keys(view.definitions.budgets).filter((name) => name !== budget)
  const keyFor = (of: EntryFormType) => (of === type ? given.get('key') : null) ?? `page-${systemIds.random()}`
  return visit.show(
    `Book units of ${budget}`,
    <>
      <Chain of={budget} in={view.definitions} here="book units" />
      <NowLeft budget={budget} view={view} />
      <EntryForms {...{ budget, others, given, type, wrong, keyFor, frame: visit.frame }} />
    </>,
  )
}

function NowLeft({ budget, view }: { budget: string; view: View }) {
  const found = budgetNamed(view.definitions, budget)
  if (!found) return null
  const figures = figuresOf(view, found, 'month')
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

/** Drops a key that stands for another entry. */
function again(given: URLSearchParams, kind: string): URLSearchParams {
  const kept = new URLSearchParams(given)
  if (kind === 'key-reused') kept.delete('key')
  return kept
}

const whyNot = (outcome: Parameters<typeof notEntered>[0]): string =>
  outcome.kind === 'key-reused'
    ? 'This form was booked before, with other figures, and nothing more was booked now. If you want this as well, go on.'
    : notEntered(outcome).detail

const bookedBefore = 'It was booked already when you sent it first; nothing more was booked.'

function sayBooked({ type, budget, units: number, to }: Entry): string {
  switch (type) {
    case 'transfer':
      return `Booked: ${units(number)} from ${budget} to ${to}.`
    case 'reconcile':
      return number === 0
        ? 'The book and the vendor agree: no units were moved.'
        : `Booked: ${count(Math.abs(number))} ${number > 0 ? 'more as spent' : 'of what was spent given back'}, so that the book shows the vendor’s figure.`
    case 'correction':
      return `Booked: the entry of ${budget} counts as ${units(number)} now.`
    default:
      return `Booked: ${units(number)} on ${budget}.`
  }
}

/** The budgets above the entry's own, then the others that it moves. */
function concerned({ definitions }: View, request: EntryRequest, { moves }: Entry): readonly string[] {
  const from = [request.budget, ...(request.type === 'transfer' ? [request.to] : [])]
  const chains = from.flatMap((name) => chainOf(definitions, name).map((budget) => budget.name))
  return [...new Set([...chains, ...moves.map(({ budget }) => budget)])]
}

function EntryPreview(of: {
  request: EntryRequest
  entry: Entry
  before: Book
  after: Book
  budgets: readonly string[]
  given: URLSearchParams
  frame: Frame
  view: View
}) {
  const { request, entry, before, after, budgets, given, view } = of
  const month = monthOf(before, view, request)
  const { form: _form, step: _step, ...fields } = Object.fromEntries(given)
  return (
    <>
      <Section id="what" title={titleOf(request)}>
        {request.type === 'reconcile' ? <Difference of={entry.units} /> : null}
        <p>Reason: {request.reason}</p>
      </Section>
      <Effect {...{ before, after, budgets, month }} />
      <Section id="confirm" title="Confirm">
        <Binding of={request.type === 'transfer' ? request.to : request.budget} binds={entry.binds} month={month} />
        <ConfirmForm
          action={budgetAddress(request.budget, '/book')}
          frame={of.frame}
          hidden={fields}
          confirmLabel="Book it"
          leaveLabel="Book nothing"
          back={budgetAddress(request.budget)}
        />
      </Section>
    </>
  )
}

function monthOf({ month }: Book, view: View, request: EntryRequest): string {
  if (month === view.month.name) return 'this month'
  return request.type === 'grant' ? 'next month' : `in the month from ${dayNamed(month.slice('month:'.length))}`
}

const Difference = ({ of }: { of: number }) => (
  <p>
    {of === 0
      ? 'The book and the vendor agree: no units are moved.'
      : of > 0
        ? `The vendor has ${count(of)} fewer left than the book: they are booked as spent outside.`
        : `The vendor has ${count(-of)} more left than the book: so many are given back of what counts as spent.`}
  </p>
)
