import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { usualThresholds } from '../../../../shared/guard/options.ts'
import type { Forecast } from '../../../../shared/guard/plans/forecast.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { figuresOfChain, tightest, zoneOf } from '../../../../shared/guard/sentences.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { type Budget, budgetNamed, chainOf, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { type Difference, Differences, Meanwhile, merged, seenIn } from '../../components/edit.tsx'
import { ChoiceField, Hidden, LinesField, ReasonField, TextField, Wrong } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress } from '../../components/parts.tsx'
import { isOvertaken, reasonOf, stepOf, untilAnswered } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { type BudgetWords, budgetWords, labels, type Text, type Texts, textsIn } from './budget-texts.ts'
import { Chain } from './chain.tsx'
import { Binding, Effect, PlansThen } from './effect.tsx'

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

/** The form of a budget's limits and rules, and what is shown before it is confirmed. */

function EditForm(of: {
  words: BudgetWords
  budget: Budget
  texts: Texts
  reason: string | undefined
  wrong: readonly string[]
  meanwhile: readonly Difference[] | null
  frame: Frame
  revision: number
  parents: readonly string[]
}) {
  const { words, budget, texts, wrong, meanwhile, frame, parents } = of
  const field = (text: Text) => ({ of: 'edit', name: text, label: labels[text], value: texts[text] })
  const units = (text: Text) => ({ ...field(text), units: true })
  return (
    <form method="post" action={budgetAddress(budget.name, '/edit')} class="sheet">
      <Wrong of={wrong} />
      {meanwhile === null ? null : <Meanwhile of={meanwhile} name={budget.name} />}
      <FormToken of={frame} />
      <Seen texts={words.textsOf(budget)} revision={of.revision} />
      <section aria-labelledby="limits">
        <h2 id="limits">Limits</h2>
        <p class="note">A number of units, or “unlimited”. 0 lets nothing pass.</p>
        <div class="fields">
          <TextField {...units('month')} required />
          <TextField {...units('day')} required />
          <TextField {...units('perUpdate')} note="More than this is refused. Empty: no such rule." />
          {budget.name === rootBudget ? null : (
            <ChoiceField {...field('parent')} options={parents.map((name) => [name, name])} />
          )}
        </div>
      </section>
      <section aria-labelledby="rules">
        <h2 id="rules">Rules</h2>
        <div class="fields">
          <TextField {...units('approvalAbove')} note="Units for one update. Empty: no such rule." />
          <TextField {...units('approvalIfGrown')} note="Against the project’s last update. Empty: no such rule." />
          <TextField
            {...field('approvalExpiresAfter')}
            note="15m to 7d, such as 4h. Empty: as the parent says, or a day."
          />
          <ChoiceField {...field('kinds')} options={words.kindChoices(texts.kinds)} />
          <LinesField
            {...field('approvers')}
            note="One on a line. Empty: those of the parent, or whoever may approve."
          />
          <TextField {...field('thresholds')} note={`Empty: ${usualThresholds.join(', ')}.`} />
          <ChoiceField
            {...field('freezeOnOverrun')}
            options={[
              ['no', 'no'],
              ['yes', 'yes'],
            ]}
          />
        </div>
      </section>
      <section aria-labelledby="go-on">
        <h2 id="go-on">Then</h2>
        <ReasonField of="edit" value={of.reason} isOptional />
        <p class="buttons">
          <button type="submit" name="step" value="preview" class="primary">
            Preview
          </button>
          <a href={budgetAddress(budget.name)}>Leave it as it is</a>
        </p>
        <p class="note">Nothing is changed before you confirm what the preview shows.</p>
      </section>
    </form>
  )
}

function EditPreview(of: {
  words: BudgetWords
  view: View
  budget: Budget
  texts: Texts
  reason: string | undefined
  meanwhile: readonly Difference[] | null
  frame: Frame
  before: View
  after: View
  forecasts: readonly [before: readonly Forecast[], after: readonly Forecast[]]
  chain: readonly Budget[]
  zone: string
}) {
  const { words, budget, texts, reason, meanwhile, before, after, chain, zone } = of
  return (
    <>
      {meanwhile === null ? null : <Meanwhile of={meanwhile} name={budget.name} />}
      <section aria-labelledby="changes">
        <h2 id="changes">What changes</h2>
        <Differences of={words.differences(words.textsOf(budget), texts)} />
        <p>Reason: {reason ?? <span class="unknown">none given</span>}</p>
      </section>
      <Effect before={before.book} after={after.book} budgets={chain.map(({ name }) => name)} />
      <section aria-labelledby="confirm">
        <h2 id="confirm">Confirm</h2>
        <Binding of={budget.name} binds={tightest(figuresOfChain(after, chain))} />
        <PlansThen before={of.forecasts[0]} after={of.forecasts[1]} zone={zone} />
        <form method="post" action={budgetAddress(budget.name, '/edit')}>
          <FormToken of={of.frame} />
          <Seen texts={words.textsOf(budget)} revision={before.definitions.revision} />
          <Hidden of={{ ...texts, ...(reason !== undefined && { reason }) }} />
          <p class="buttons">
            <button type="submit" name="step" value="confirm" class="primary">
              Change it
            </button>
            <button type="submit" name="step" value="edit">
              Back to the form
            </button>
            <a href={budgetAddress(budget.name)}>Leave it as it is</a>
          </p>
        </form>
      </section>
    </>
  )
}

/** What this page shows as it is: a change by another user meanwhile is not overwritten, but shown. */
const Seen = ({ texts, revision }: { texts: Texts; revision: number }) => (
  <Hidden of={{ revision: String(revision), seen: JSON.stringify(texts) }} />
)
