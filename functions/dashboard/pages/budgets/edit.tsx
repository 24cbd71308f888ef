import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { type Budget, budgetNamed, chainOf, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { type Difference, merged, seenIn } from '../../components/differences.tsx'
import { budgetAddress } from '../../components/parts.tsx'
import { isOvertaken, reasonOf, stepOf, untilAnswered } from '../../form-steps.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { type BudgetWords, budgetWords, type Texts, textsIn } from './budget-texts.ts'
import { Chain } from './chain.tsx'
import { EditForm, EditPreview } from './edit-form.tsx'

/** What a user wants of a budget: from the form to a preview, and from there to the change. */
interface BudgetEdit {
  readonly words: BudgetWords
  readonly view: View
  readonly budget: Budget
  readonly texts: Texts
  readonly reason: string | undefined
  /** What others have made of the budget since the page was shown; `null`: the definitions are the same. */
  readonly meanwhile: readonly Difference[] | null
}

export function addEditing({ page }: PageRoutes, { guard, kinds }: Services): void {
  const words = budgetWords(kinds)
  const { differences, textsOf, toRequest } = words

  page('/dashboard/budgets/:name/edit', {
    GET: async (visit) => {
      visit.mustHave('admin')
      const { view, budget } = await budgetOf(visit)
      return showForm(visit, { words, view, budget, texts: textsOf(budget), reason: undefined, meanwhile: null })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const step = stepOf(visit.form)
      return untilAnswered(async () => {
        const wanted = await wantedOf(visit)
        return step === 'edit' ? showForm(visit, wanted) : change(visit, wanted, step)
      })
    },
  })

  /** `null`: another user was faster, so that it has to be looked at again. */
  async function change(visit: Visit, wanted: BudgetEdit, step: 'preview' | 'confirm') {
    const { budget, texts, view, meanwhile, reason } = wanted
    if (differences(textsOf(budget), texts).length === 0) return nothingToDo(visit, wanted)
    const made = toRequest(texts, budget.projects)
    if (made.kind === 'wrong') return showForm(visit, wanted, made.wrong)
    const request = { ...made.request, name: budget.name }
    const revised = { onlyAt: [view.definitions.revision] }
    const by = { caller: visit.session.sub, ...(reason !== undefined && { reason }), ...revised }
    // What others have changed is shown before anybody confirms it.
    const isSeen = step === 'confirm' && meanwhile === null
    const outcome = await (isSeen ? guard.putBudget(request, by) : guard.previewBudget(request, by))
    if (isOvertaken(outcome)) return null
    switch (outcome.kind) {
      case 'problem':
        return showForm(visit, wanted, [outcome.problem.detail])
      case 'changed': {
        const done = [`${budget.name} is changed, at once for everybody.`]
        return visit.tell({ done, failed: [] }, budgetAddress(budget.name))
      }
      case 'possible':
        return showPreview(visit, wanted, outcome)
    }
  }

  async function showPreview(visit: Visit, wanted: BudgetEdit, { before, after }: { before: View; after: View }) {
    const { name } = wanted.budget
    const { forecast } = await guard.background()
    const forecasts = await Promise.all([forecast(before), forecast(after)])
    const chain = chainOf(after.definitions, name)
    return visit.show(
      `Change ${name}?`,
      <EditPreview {...{ ...wanted, frame: visit.frame, before, after, forecasts, chain }} zone={zoneOf(before)} />,
    )
  }

  async function budgetOf({ c }: Visit): Promise<{ view: View; budget: Budget }> {
    const name = budgetNameOf(c)
    const view = await guard.ledger.view()
    const budget = budgetNamed(view.definitions, name)
    if (!budget) throw new Refusal(noBudget(name))
    return { view, budget }
  }

  async function wantedOf(visit: Visit): Promise<BudgetEdit> {
    const { form } = visit
    const { view, budget } = await budgetOf(visit)
    const now = textsOf(budget)
    const isSame = form.get('revision') === String(view.definitions.revision)
    const seen = isSame ? now : textsIn(seenIn(form), now)
    return {
      ...{ words, view, budget, reason: reasonOf(form) },
      texts: merged(textsIn(form, seen), seen, now),
      meanwhile: isSame ? null : differences(seen, now),
    }
  }
}

function nothingToDo(visit: Visit, wanted: BudgetEdit) {
  const { budget, meanwhile } = wanted
  // A user who presses twice reads that it is done; without a change they may continue.
  if (meanwhile === null) return showForm(visit, wanted, ['Nothing is different from what it is already.'])
  const done = [`${budget.name} is as you want it already; nothing more was changed.`]
  return visit.tell({ done, failed: [] }, budgetAddress(budget.name))
}

function showForm(
  visit: Visit,
  { words, view, budget, texts, reason, meanwhile }: BudgetEdit,
  wrong: readonly string[] = [],
) {
  const parents = Object.keys(view.definitions.budgets).filter((name) => name !== budget.name)
  return visit.show(
    `Limits and rules of ${budget.name}`,
    <>
      <Chain of={budget.name} in={view.definitions} here="limits and rules" />
      <EditForm
        {...{
          words,
          budget,
          texts,
          reason,
          wrong,
          meanwhile,
          frame: visit.frame,
          revision: view.definitions.revision,
        }}
        parents={budget.name === rootBudget ? [] : parents}
      />
    </>,
  )
}
