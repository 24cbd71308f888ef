import { count } from '../../../../shared/guard/sentences.ts'
import type { Book } from '../../../../shared/ledger/book/book.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { EntryRequest } from '../../../../shared/ledger/book/entry-request.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { Hidden } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, dayNamed } from '../../components/parts.tsx'
import { Binding, Effect } from './effect.tsx'
import { titleOf } from './entry-request.ts'

/** What an entry would do, and the button that books it. */
export function EntryPreview(of: {
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
      <section aria-labelledby="what">
        <h2 id="what">{titleOf(request)}</h2>
        {request.type === 'reconcile' ? <Difference of={entry.units} /> : null}
        <p>Reason: {request.reason}</p>
      </section>
      <Effect {...{ before, after, budgets, month }} />
      <section aria-labelledby="confirm">
        <h2 id="confirm">Confirm</h2>
        <Binding of={request.type === 'transfer' ? request.to : request.budget} binds={entry.binds} month={month} />
        <form method="post" action={budgetAddress(request.budget, '/book')}>
          <FormToken of={of.frame} />
          <Hidden of={fields} />
          <p class="buttons">
            <button type="submit" name="step" value="confirm" class="primary">
              Book it
            </button>
            <button type="submit" name="step" value="edit">
              Back to the form
            </button>
            <a href={budgetAddress(request.budget)}>Book nothing</a>
          </p>
        </form>
      </section>
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
