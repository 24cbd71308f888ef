import * as z from 'zod/mini'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget, notEntered } from '../../../../shared/guard/problems.ts'
import {
  count,
  differenceToVendor,
  few,
  figuresOf,
  left,
  spentSince,
  thisWindow,
  tooNewFor,
  units,
  when,
  zoneOf,
} from '../../../../shared/guard/sentences.ts'
import type { Book } from '../../../../shared/ledger/book/book.ts'
import type { EntryPreview } from '../../../../shared/ledger/book/enter.ts'
import type { Entry } from '../../../../shared/ledger/book/entry.ts'
import type { Reconciliation } from '../../../../shared/ledger/book/figure.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import {
  type Budget,
  budgetNamed,
  rootBudget,
  type WindowKind,
  windowKinds,
} from '../../../../shared/ledger/definitions/definitions.ts'
import { ClosedDoubts, isDoubtField } from '../../components/doubts.tsx'
import type { FormValues } from '../../flash.ts'
import { inputOf, step, toNumber } from '../../forms.ts'
import { action, ConfirmForm } from '../../kit/action.tsx'
import { bookAddress, budgetAddress, closePath, dayNamed, Section, Warning } from '../../kit/parts.tsx'
import type { PageRoutes, Visit } from '../../kit/session.tsx'
import { BudgetTrail } from './chain.tsx'
import { boundText, EffectTable } from './effect.tsx'
import { EntryForms, entryFields, readEntry } from './entry-forms.tsx'

const noKey = 'is missing: load the page again'
const formSchema = z.looseObject({
  step,
  /** Without the key, a second press would book a second entry. */
  key: z.string(noKey).check(z.regex(/^page-[0-9a-z]{26}$/, noKey)),
})

export function addBook({ page }: PageRoutes): void {
  page('/dashboard/budgets/:name/book', {
    GET: async (visit) => {
      visit.mustHave('admin')
      const { view, budget } = await budgetOf(visit)
      const given: FormValues = { ...Object.fromEntries(visit.query), ...visit.frame.flash?.input }
      const input = given.corrects ? { ...given, type: 'correction' } : given
      const others = Object.keys(view.definitions.budgets).filter((name) => name !== budget.name)
      const figures = figuresOf(view, budget, 'month')
      const doubts = budget.name === rootBudget ? await visit.guard.doubtsToClose(view) : []
      const forms = { budget: budget.name, others, input, frame: visit.frame, view, doubts }
      return visit.show(
        `Book units of ${budget.name}`,
        <>
          <BudgetTrail budget={budget.name} definitions={view.definitions} here="book units" />
          <p>
            {left(figures)}, with {count(figures.held)} held and {count(figures.inDoubt)} in doubt.
          </p>
          <EntryForms {...forms} />
        </>,
      )
    },

    POST: action({
      scopes: ['admin'],
      schema: formSchema,
      keeps: entryFields,
      carries: ['type', 'key', 'corrects'],
      isCarried: isDoubtField,
      back: ({ c, form }) => (isClosing(form) ? closePath : bookAddress(budgetNameOf(c), form.get('type') ?? '')),
      act: async (visit, { step }) => {
        const { view, budget } = await budgetOf(visit)
        const { form, guard, session, redirect } = visit
        if (step === 'edit') return { done: [], failed: [] }
        const window = form.get('window') === 'day' ? 'day' : 'month'
        if ((form.get(window) ?? view[window].name) !== view[window].name) return { done: [], failed: [turned(window)] }
        const request = readEntry(form, { budget: budget.name, by: session.sub, now: view.now, zone: zoneOf(view) })
        const isReconciliation = request.type === 'reconcile'
        const book = async () => {
          if (step !== 'confirm') return guard.ledger.previewEntry(request)
          return isReconciliation ? guard.reconcile(request, visit.permissions) : guard.ledger.enter(request)
        }
        const reads = visit.c.get('expensiveReads')
        if (isReconciliation) reads.admit(session.sub)
        const outcome = await (isReconciliation ? reads.inTurn(book) : book())
        switch (outcome.kind) {
          case 'entered': {
            const { entry, again } = outcome
            const { type, binds, to = budget.name } = entry
            const isBound = binds && binds.budget !== to && ['grant', 'transfer'].includes(type)
            const done = [again ? alreadyBooked : bookedText(entry, view), ...(isBound ? [boundText(binds, to)] : [])]
            return { done, failed: [], to: isClosing(form) ? closePath : budgetAddress(budget.name) }
          }
          case 'possible':
            return visit.show('Book this?', <EntryBookPreview {...outcome} visit={visit} view={view} />)
          case 'key-reused': {
            const { key: _key, ...input } = inputOf(form, 'type', 'corrects', ...entryFields)
            return redirect({ done: [], failed: [bookedBefore], input }, bookAddress(budget.name, request.type))
          }
          case 'problem':
            throw new Refusal(outcome.problem)
          default:
            throw new Refusal(notEntered(outcome))
        }
      },
    }),
  })
}

/** @throws Refusal 404 */
async function budgetOf({ c, guard }: Visit): Promise<{ view: View; budget: Budget }> {
  const name = budgetNameOf(c)
  const view = await guard.ledger.view()
  const budget = budgetNamed(view.definitions, name)
  if (!budget) throw new Refusal(noBudget(name))
  return { view, budget }
}

const isClosing = (form: URLSearchParams): boolean => form.get('closing') === 'yes'

const bookedBefore =
  'This form already booked other figures, so nothing more was booked now. To book these as well, continue.'

const turned = (window: WindowKind): string =>
  `A new ${window} has begun since you opened this page, so nothing was booked. Check the form, and send it again.`

const alreadyBooked = 'This was already booked when you first sent it, so nothing more was booked.'

function bookedText({ type, budget, units: number, to, month }: Entry, view: View): string {
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
      return `Booked: ${units(number)} on ${budget}${month === view.month.name ? '' : `, for the ${monthText(month)}`}.`
  }
}

const monthText = (name: string): string => `month from ${dayNamed(name.slice('month:'.length))}`

interface PreviewProps extends Extract<EntryPreview, { kind: 'possible' }> {
  readonly visit: Visit
  readonly view: View
}

function EntryBookPreview({ entry, before, after, reconciliation, visit: { c, form, frame }, view }: PreviewProps) {
  const { step: _step, ...entered } = Object.fromEntries(form)
  const { definitions } = view
  const { type, binds, to = entry.budget, reason } = entry
  const budget = budgetNameOf(c)
  const month = before.month === view.month.name ? undefined : `in the ${monthText(before.month)}`
  const isBound = binds && binds.budget !== to && ['grant', 'transfer'].includes(type)
  const shown = reconciliation && { shown: String(reconciliation.difference), enteredAt: String(entry.at) }
  return (
    <>
      <Section id="what" title={previewTitle(entry, entered, month)}>
        {reconciliation ? <ReconcileParts parts={reconciliation} zone={zoneOf(view)} /> : null}
        {isBound ? <Warning>{boundText(binds, to)}</Warning> : null}
        <p>Reason: {reason}</p>
      </Section>
      <EffectTable
        before={before}
        after={after}
        budgets={movedBudgets(before, after)}
        definitions={definitions}
        month={month}
      />
      <Section id="confirm" title="Confirm">
        <ConfirmForm
          frame={frame}
          action={budgetAddress(budget, '/book')}
          back={isClosing(form) ? closePath : budgetAddress(budget)}
          confirmLabel="Book"
          hidden={{ ...entered, ...shown }}
        />
      </Section>
    </>
  )
}

function previewTitle({ type, budget, units: number, to }: Entry, entered: FormValues, month?: string): string {
  const { window, wholeChain, unitsLeft = '' } = entered
  const when = month ?? thisWindow(window === 'day' ? 'day' : 'month')
  switch (type) {
    case 'grant':
      return `Grant ${units(number)} to ${budget}${wholeChain === 'yes' ? ' and all above it' : ''} ${when}`
    case 'transfer':
      return `Transfer ${units(number)} from ${budget} to ${to} ${when}`
    case 'reconcile':
      return `Reconcile with ${units(toNumber(unitsLeft))} left at the vendor`
    case 'correction':
      return `Correct the entry of ${budget} to ${units(number)}`
    default:
      return `Book ${units(number)} as spent outside on ${budget}`
  }
}

/** The budgets with a counter that changes. A reconciliation may change none. */
function movedBudgets(before: Book, after: Book): readonly string[] {
  const moved = windowKinds.flatMap((window) =>
    Object.entries(after.counters[window]).flatMap(([name, counter]) => {
      const { granted, spent, available } = before.counters[window][name] ?? { granted: 0, spent: 0 }
      const isSame = counter.granted === granted && counter.spent === spent && counter.available === available
      return isSame ? [] : [name]
    }),
  )
  return moved.length > 0 ? [...new Set(moved)] : [rootBudget]
}

const ReconcileParts = ({ parts, zone }: { parts: Reconciliation; zone: string }) => (
  <>
    <p>{differenceToVendor(parts)}</p>
    <ClosedDoubts doubts={parts.doubts} />
    <p class="note">
      The figure is of {parts.asOf === null ? 'now' : when(parts.asOf, zone)}. Assumed not to be in it:{' '}
      {count(parts.since)} {spentSince(parts)}, {count(parts.held)} held, {count(parts.inDoubt)} in doubt.
      {parts.open.length === 0 ? '' : ` Open at that time: ${few(parts.open)}.`} {tooNewFor(parts.young, zone)}
      {parts.before.ids.length === 0
        ? ''
        : ` Of the month before, and no part of this: ${count(parts.before.held)} held, ${count(parts.before.inDoubt)} in doubt.`}
    </p>
  </>
)
