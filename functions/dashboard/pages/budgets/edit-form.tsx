import { usualThresholds } from '../../../../shared/guard/options.ts'
import type { Forecast } from '../../../../shared/guard/plans/forecast.ts'
import { figuresOfChain, tightest } from '../../../../shared/guard/sentences.ts'
import { type Budget, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import type { View } from '../../../../shared/ledger/views/views.ts'
import { type Difference, Differences, Meanwhile } from '../../components/differences.tsx'
import { ChoiceField, Hidden, LinesField, ReasonField, TextField, Wrong } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress } from '../../components/parts.tsx'
import { type BudgetWords, labels, type Text, type Texts } from './budget-texts.ts'
import { Binding, Effect, PlansThen } from './effect.tsx'

/** The form of a budget's limits and rules, and what is shown before it is confirmed. */

export function EditForm(of: {
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
        <ReasonField of="edit" value={of.reason} required={false} />
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

export function EditPreview(of: {
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
