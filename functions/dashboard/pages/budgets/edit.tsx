import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import type { Forecast } from '../../../../shared/guard/plans/forecast.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { figuresOfChain, tightest, zoneOf } from '../../../../shared/guard/sentences.ts'
import { type Budget, budgetNamed, chainOf } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import {
  ChangesSection,
  type Edit,
  isUnchanged,
  PreviewSection,
  putOrPreview,
  readEdit,
  shownFields,
  stalenessOf,
} from '../../components/edit.tsx'
import { Faults, HiddenFields } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { isConflict, retryUntilAnswered, stepOf } from '../../forms.ts'
import { ConfirmForm, Group } from '../../kit/edit.tsx'
import type { PageRoutes, PageServices, Visit } from '../../session.tsx'
import { type BudgetWords, budgetWords, labels, type Texts, textsIn } from './budget-texts.ts'
import { BudgetTrail } from './chain.tsx'
import { EffectTable, ForecastChanges, TightestLimit } from './effect.tsx'

interface BudgetEdit extends Edit<Texts> {
  readonly words: BudgetWords
  readonly budget: Budget
}

export function addBudgetEdit({ page }: PageRoutes, { kinds }: PageServices): void {
  const words = budgetWords(kinds)

  page('/dashboard/budgets/:name/edit', {
    GET: async (visit) => {
      visit.mustHave('admin')
      const { view, budget } = await budgetOf(visit)
      const current = words.textsOf(budget)
      return showForm(visit, { words, view, budget, current, texts: current, reason: undefined, isStale: false })
    },

    POST: async (visit) => {
      visit.mustHave('admin')
      const step = stepOf(visit.form)
      return retryUntilAnswered(async () => {
        const { view, budget } = await budgetOf(visit)
        const edit = { ...readEdit(visit.form, view, words.textsOf(budget), textsIn), words, budget }
        return step === 'edit' ? showForm(visit, edit) : previewOrChange(visit, edit, step)
      })
    },
  })
}

async function budgetOf({ c, guard: { ledger } }: Visit): Promise<{ view: View; budget: Budget }> {
  const name = budgetNameOf(c)
  const view = await ledger.view()
  const budget = budgetNamed(view.definitions, name)
  if (!budget) throw new Refusal(noBudget(name))
  return { view, budget }
}

/** `null`: another change was faster. */
async function previewOrChange(visit: Visit, edit: BudgetEdit, step: 'preview' | 'confirm') {
  const { words, budget, texts, isStale } = edit
  const { name } = budget
  const finish = (sentence: string) => visit.redirect({ done: [sentence], failed: [] }, budgetAddress(name))
  if (isUnchanged(edit)) {
    // The user pressed the button twice.
    if (!isStale) return showForm(visit, edit, { details: ['Nothing is different yet.'] })
    return finish(`${name} already is as you want it; nothing more was changed.`)
  }
  if (isStale) return showForm(visit, edit)
  const parsed = words.toRequest(texts, budget.projects)
  if (parsed.kind === 'invalid') return showForm(visit, edit, { faults: parsed.faults })
  const request = { ...parsed.request, name }
  const outcome = await putOrPreview(step, edit, visit.session.sub, {
    put: (by) => visit.guard.putBudget(request, by),
    preview: (by) => visit.guard.previewBudget(request, by),
  })
  if (isConflict(outcome)) return null
  switch (outcome.kind) {
    case 'problem':
      return showForm(visit, edit, { details: [outcome.problem.detail] })
    case 'changed':
      return finish(`${name} is changed.`)
    case 'possible':
      return showPreview(visit, edit, outcome)
  }
}

async function showPreview(visit: Visit, edit: BudgetEdit, views: { before: View; after: View }) {
  const forecasts = await Promise.all([visit.guard.forecast(views.before), visit.guard.forecast(views.after)])
  return visit.show(
    `Change ${edit.budget.name}?`,
    <BudgetPreview {...{ edit, frame: visit.frame, ...views, forecasts }} />,
  )
}

interface EditFailure {
  readonly details?: readonly string[]
  readonly faults?: FieldFaults
}

async function showForm(visit: Visit, edit: BudgetEdit, failure: EditFailure = {}) {
  const { name } = edit.budget
  const stale = await stalenessOf(visit.guard, edit, { kind: 'budget', name, budget: name })
  return visit.show(
    `Limits and rules of ${name}`,
    <>
      <BudgetTrail budget={name} definitions={edit.view.definitions} here="limits and rules" />
      <BudgetForm
        edit={edit}
        failure={{ ...failure, details: [...stale, ...(failure.details ?? [])] }}
        frame={visit.frame}
      />
    </>,
  )
}

function BudgetForm({ edit, failure, frame }: { edit: BudgetEdit; failure: EditFailure; frame: Frame }) {
  const { words, view, budget, texts } = edit
  const parents = Object.keys(view.definitions.budgets).filter((name) => name !== budget.name)
  const form = { labels, texts, faults: failure.faults ?? {} }
  const fieldsIn = (section: string) => words.fieldsIn(section, { name: budget.name, texts, parents })
  return (
    <form method="post" action={budgetAddress(budget.name, '/edit')} class="sheet">
      <Faults faults={failure.details ?? []} />
      <FormToken frame={frame} />
      <HiddenFields values={shownFields(edit)} />
      <Group
        group={{
          ...{ id: 'limits', title: 'Limits', note: 'A number of units, or “unlimited”. 0 lets nothing pass.' },
          fields: fieldsIn('limits'),
        }}
        {...form}
      />
      <Group group={{ id: 'rules', title: 'Rules', fields: fieldsIn('rules') }} {...form} />
      <PreviewSection reason={edit.reason} back={budgetAddress(budget.name)} />
    </form>
  )
}

interface PreviewProps {
  readonly edit: BudgetEdit
  readonly frame: Frame
  readonly before: View
  readonly after: View
  readonly forecasts: readonly [before: readonly Forecast[], after: readonly Forecast[]]
}

function BudgetPreview({ edit, frame, before, after, forecasts }: PreviewProps) {
  const { words, budget, current, texts, reason } = edit
  const { name } = budget
  const chain = chainOf(after.definitions, name)
  return (
    <>
      <ChangesSection differences={words.differences(current, texts)} reason={reason} />
      <EffectTable
        before={before.book}
        after={after.book}
        budgets={chain.map((each) => each.name)}
        definitions={after.definitions}
      />
      <Section id="confirm" title="Confirm">
        <TightestLimit budget={name} tightest={tightest(figuresOfChain(after, chain))} />
        <ForecastChanges before={forecasts[0]} after={forecasts[1]} zone={zoneOf(before)} />
        <ConfirmForm
          action={budgetAddress(name, '/edit')}
          frame={frame}
          hidden={{ ...shownFields(edit), ...texts, ...(reason !== undefined && { reason }) }}
          confirmLabel="Save"
          back={budgetAddress(name)}
        />
      </Section>
    </>
  )
}
