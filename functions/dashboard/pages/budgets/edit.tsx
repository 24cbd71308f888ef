import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { figuresOfChain, tightest, units, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { View } from '../../../../shared/ledger/book/view.ts'
import { type Budget, budgetNamed, chainOf } from '../../../../shared/ledger/definitions/definitions.ts'
import { reportsOf } from '../../../../shared/reports/reports.ts'
import { type EditedRecord, editPage } from '../../kit/edit.tsx'
import { budgetAddress } from '../../kit/parts.tsx'
import type { PageRoutes, PageServices } from '../../kit/session.tsx'
import { type BudgetWords, budgetWords, labels, type Texts, textsIn } from './budget-texts.ts'
import { BudgetTrail } from './chain.tsx'
import { EffectTable, ForecastChanges, TightestLimit } from './effect.tsx'

interface OpenBudget {
  readonly view: View
  readonly name: string
  readonly budget: Budget
  readonly current: Texts
  /** Units that plans still take this month. */
  readonly planned: number
  /** Whether `planned` leaves out updates without a known price. */
  readonly isPlannedAtLeast: boolean
}

export function addBudgetEdit({ page }: PageRoutes, { kinds }: PageServices): void {
  page('/dashboard/budgets/:name/edit', editPage(editedBudget(budgetWords(kinds))))
}

const editedBudget = (words: BudgetWords): EditedRecord<OpenBudget> => ({
  kind: 'budget',
  labels,
  textsIn,
  shownText: words.valueText,
  open: async ({ c, guard }) => {
    const name = budgetNameOf(c)
    const view = await guard.ledger.view()
    const budget = budgetNamed(view.definitions, name)
    if (!budget) throw new Refusal(noBudget(name))
    const reports = await reportsOf(guard)
    const counters = await reports.forecast(view)
    const ofMonth = counters.find((each) => each.budget === name && each.window === 'month')
    return {
      view,
      name,
      budget,
      current: words.textsOf(budget),
      planned: ofMonth?.committed ?? 0,
      isPlannedAtLeast: (ofMonth?.unpriced ?? 0) > 0,
    }
  },
  groups: ({ view, name, texts, planned, isPlannedAtLeast }) => {
    const parents = Object.keys(view.definitions.budgets).filter((each) => each !== name)
    const proposal =
      planned > 0 ? ` Plans still take ${isPlannedAtLeast ? 'at least ' : ''}${units(planned)} this month.` : ''
    const fieldsIn = (section: string) =>
      words
        .fieldsIn(section, { name, texts, parents })
        .map((field) => (field.name === 'keep' ? { ...field, note: `${field.note}${proposal}` } : field))
    const note = 'A number of units, or “unlimited”. 0 lets nothing pass.'
    return [
      { id: 'limits', title: 'Limits', note, fields: fieldsIn('limits') },
      { id: 'rules', title: 'Rules', fields: fieldsIn('rules') },
    ]
  },
  changeOf: ({ name, texts, budget }, guard) => {
    const parsed = words.toRequest(texts, budget.projects)
    if (parsed.kind === 'invalid') return parsed
    const request = { ...parsed.request, name }
    return { put: (by) => guard.putBudget(request, by), preview: (by) => guard.previewBudget(request, by) }
  },
  effect: async ({ name }, { before, after }, guard) => {
    const reports = await reportsOf(guard)
    const [forecast, then] = await Promise.all([reports.forecast(before), reports.forecast(after)])
    const { definitions } = after
    const chain = chainOf(definitions, name)
    const budgets = chain.map((each) => each.name)
    return {
      above: <EffectTable before={before.book} after={after.book} budgets={budgets} definitions={definitions} />,
      beside: (
        <>
          <TightestLimit budget={name} tightest={tightest(figuresOfChain(after, chain))} />
          <ForecastChanges before={forecast} after={then} zone={zoneOf(before)} />
        </>
      ),
    }
  },
  path: ({ name }) => budgetAddress(name, '/edit'),
  back: ({ name }) => budgetAddress(name),
  words: {
    title: ({ name }) => `Limits and rules of ${name}`,
    question: ({ name }) => `Change ${name}?`,
    changed: ({ name }) => `${name} is changed.`,
    already: ({ name }) => `${name} already has these values, so nothing more was changed.`,
  },
  above: ({ view, name }) => <BudgetTrail budget={name} definitions={view.definitions} here="limits and rules" />,
})
