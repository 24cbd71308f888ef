import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { usualThresholds } from '../../../../shared/guard/options.ts'
import type { Forecast } from '../../../../shared/guard/plans/forecast.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { figuresOfChain, tightest, zoneOf } from '../../../../shared/guard/sentences.ts'
import { type Budget, budgetNamed, chainOf, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
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
import {
  ChoiceField,
  editFields,
  Faults,
  HiddenFields,
  LinesField,
  noOrYes,
  TextField,
} from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import type { FieldFaults } from '../../flash.ts'
import { isConflict, retryUntilAnswered, stepOf } from '../../forms.ts'
import { ConfirmForm } from '../../kit/edit.tsx'
import type { PageRoutes, PageServices, Visit } from '../../session.tsx'
import {
  type BudgetWords,
  budgetWords,
  enforceChoices,
  labels,
  type Texts,
  textsIn,
  unownedChoices,
} from './budget-texts.ts'
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
  const { field: plainField } = editFields(labels, texts)
  const field = (name: keyof Texts) => ({ ...plainField(name), faults: failure.faults })
  const numberField = (name: keyof Texts) => ({ ...field(name), isNumber: true })
  const others = Object.keys(view.definitions.budgets).filter((name) => name !== budget.name)
  return (
    <form method="post" action={budgetAddress(budget.name, '/edit')} class="sheet">
      <Faults faults={failure.details ?? []} />
      <FormToken frame={frame} />
      <HiddenFields values={shownFields(edit)} />
      <Section id="limits" title="Limits">
        <p class="note">A number of units, or “unlimited”. 0 lets nothing pass.</p>
        <div class="fields">
          <TextField {...numberField('month')} isRequired />
          <TextField {...numberField('day')} isRequired />
          <TextField {...numberField('perUpdate')} note="More than this is refused. Empty: no such rule." />
          {budget.name === rootBudget ? null : (
            <>
              <ChoiceField
                {...field('enforce')}
                options={enforceChoices}
                note="Only observe: updates say what the limits would have refused; all other rules hold."
              />
              <ChoiceField {...field('parent')} options={others.map((name) => [name, name])} />
            </>
          )}
        </div>
      </Section>
      <Section id="rules" title="Rules">
        <div class="fields">
          <TextField {...numberField('approvalAbove')} note="Units for one update. Empty: no such rule." />
          <TextField
            {...numberField('approvalIfGrown')}
            note="Against the project’s last update. Empty: no such rule."
          />
          <TextField
            {...field('approvalExpiresAfter')}
            note="15m to 7d, such as 4h. Empty: as the parent says, or a day."
          />
          <ChoiceField {...field('kinds')} options={words.kindChoices(texts.kinds)} />
          <LinesField
            {...field('approvers')}
            note="One on a line. Empty: those of the parent, or all callers with the approve scope."
          />
          <TextField {...field('thresholds')} note={`Empty: ${usualThresholds.join(', ')}.`} />
          <ChoiceField {...field('freezeOnOverrun')} options={noOrYes} />
          <TextField {...field('slackChannel')} note="Its id, such as C02ABCDEF. Empty: the parent’s." />
          {budget.name === rootBudget ? (
            <ChoiceField
              {...field('unowned')}
              options={unownedChoices}
              note="Also where a request names the budget that pays. Approval needs approvers above."
            />
          ) : null}
        </div>
      </Section>
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
