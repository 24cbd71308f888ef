import * as z from 'zod/mini'
import { noBudget } from '../../../../shared/guard/budgeting.ts'
import { zoneOf } from '../../../../shared/guard/decide.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { type Budget, budgetNamed, chainOf, rootBudget } from '../../../../shared/ledger/definitions.ts'
import type { Problem } from '../../../../shared/ledger/update.ts'
import type { View } from '../../../../shared/ledger/views.ts'
import { budgetNameOf } from '../../budgets.ts'
import { Refusal } from '../../refusal.ts'
import type { Visit, Visiting } from '../visiting.tsx'
import { budgetAddress } from './address.ts'
import { differences, merged, type Texts, textsIn, textsOf, toRequest } from './budget-texts.ts'
import { EditForm, EditPreview } from './edit-form.tsx'
import { reasonOf, stepOf } from './steps.ts'

/** What somebody wants of a budget: from the form to a preview, and from there to the change. */
interface Wanted {
  readonly view: View
  readonly budget: Budget
  readonly texts: Texts
  readonly reason: string | undefined
  /** What others have made of the budget since the page was shown; `null`: the definitions are the same. */
  readonly meanwhile: ReturnType<typeof differences> | null
}

const seenTexts = z.record(z.string(), z.string())

export function addEditing({ page }: Visiting, { guard }: Services): void {
  page('/dashboard/budgets/:name/edit', {
    GET: async (visit) => {
      visit.mustHave('admin')
      const { view, budget } = await budgetOf(visit)
      return showForm(visit, { view, budget, texts: textsOf(budget), reason: undefined, meanwhile: null })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const wanted = await wantedOf(visit)
      const step = stepOf(visit.form)
      if (step === 'edit') return showForm(visit, wanted)
      const { budget, texts, view, meanwhile, reason } = wanted
      if (differences(textsOf(budget), texts).length === 0) return nothingToDo(visit, wanted)
      const made = toRequest(texts, budget.projects)
      if (made.kind === 'wrong') return showForm(visit, wanted, made.wrong)
      const request = { ...made.request, name: budget.name }
      const by = {
        caller: visit.session.sub,
        ...(reason !== undefined && { reason }),
        onlyAt: [view.definitions.revision],
      }
      if (step === 'confirm' && meanwhile === null) {
        const changed = await guard.putBudget(request, by)
        if (changed.kind === 'problem') return refused(visit, wanted, changed.problem)
        return visit.tell(
          { done: [`${budget.name} is changed, at once for everybody.`], failed: [] },
          budgetAddress(budget.name),
        )
      }
      const preview = await guard.previewBudget(request, by)
      if (preview.kind === 'problem') return refused(visit, wanted, preview.problem)
      const forecasts = await Promise.all([guard.foresee(preview.before), guard.foresee(preview.after)])
      return visit.show(
        `Change ${budget.name}?`,
        <EditPreview
          {...{ ...wanted, frame: visit.frame, before: preview.before, after: preview.after, forecasts }}
          chain={chainOf(preview.after.definitions, budget.name).map(({ name }) => name)}
          zone={zoneOf(view)}
        />,
      )
    },
  })

  async function budgetOf({ c }: Visit): Promise<{ view: View; budget: Budget }> {
    const name = budgetNameOf(c)
    const view = await guard.ledger.view()
    const budget = budgetNamed(view.definitions, name)
    if (!budget) throw new Refusal(noBudget(name))
    return { view, budget }
  }

  async function wantedOf(visit: Visit): Promise<Wanted> {
    const { form } = visit
    const { view, budget } = await budgetOf(visit)
    const now = textsOf(budget)
    const isSame = form.get('revision') === String(view.definitions.revision)
    const seen = isSame ? now : seenIn(form, now)
    return {
      ...{ view, budget, reason: reasonOf(form) },
      texts: merged(textsIn(form, seen), seen, now),
      meanwhile: isSame ? null : differences(seen, now),
    }
  }
}

/** What the page had shown, as it says itself: a page that lies about it deceives only whoever sent it. */
function seenIn(form: URLSearchParams, now: Texts): Texts {
  const parsed = seenTexts.safeParse(parse(form.get('seen') ?? ''))
  return parsed.success ? textsIn(new URLSearchParams(parsed.data), now) : now
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

/** Between this page's own reading of the ledger and the change, somebody may have been faster. */
function refused(visit: Visit, wanted: Wanted, { slug, detail }: Problem) {
  if (slug !== 'precondition-failed') return showForm(visit, wanted, [detail])
  const failed = ['Somebody changed something at the same moment, so nothing was done here. Look once more.']
  return visit.tell({ done: [], failed }, budgetAddress(wanted.budget.name, '/edit'))
}

function nothingToDo(visit: Visit, wanted: Wanted) {
  const { budget, meanwhile } = wanted
  // Whoever presses twice is told that it is done; whoever has changed nothing may go on.
  if (meanwhile === null) return showForm(visit, wanted, ['Nothing is different from what it is already.'])
  const done = [`${budget.name} is as you want it already; nothing more was changed.`]
  return visit.tell({ done, failed: [] }, budgetAddress(budget.name))
}

function showForm(visit: Visit, { view, budget, texts, reason, meanwhile }: Wanted, wrong: readonly string[] = []) {
  const parents = Object.keys(view.definitions.budgets).filter((name) => name !== budget.name)
  return visit.show(
    `Limits and rules of ${budget.name}`,
    <EditForm
      {...{ budget, texts, reason, wrong, meanwhile, frame: visit.frame, revision: view.definitions.revision }}
      parents={budget.name === rootBudget ? [] : parents}
    />,
  )
}
