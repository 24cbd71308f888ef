import { budgetName } from '../../../../shared/guard/fields.ts'
import { problem } from '../../../../shared/guard/problems.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { budgetNamed, rootBudget } from '../../../../shared/ledger/book/definitions.ts'
import { ChoiceField, ReasonField, TextField, Wrong } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { onNewest, reasonOf } from '../../form-steps.ts'
import type { Visit } from '../../session.tsx'
import { budgetWords, labels, textsIn } from './budget-texts.ts'

/** A new budget: its name, its place and its limits. All else is set on its own page. */

type Made =
  | { readonly kind: 'made'; readonly name: string }
  | { readonly kind: 'wrong'; readonly wrong: readonly string[] }

export async function makeBudget({ form, session }: Visit, { guard, kinds }: Services): Promise<Made> {
  const { textsOf, differences, toRequest } = budgetWords(kinds)
  const name = budgetName.safeParse(form.get('name')?.trim() ?? '')
  const texts = textsIn(form, textsOf({ name: '', parent: rootBudget, limits: [], projects: [] }))
  const read = toRequest(texts, [])
  if (!name.success || read.kind === 'wrong') {
    const faults = name.success ? [] : [`Name: it ${name.error.issues[0]?.message}.`]
    return { kind: 'wrong', wrong: [...faults, ...(read.kind === 'wrong' ? read.wrong : [])] }
  }
  const reason = reasonOf(form)
  const by = { caller: session.sub, ...(reason !== undefined && { reason }) }
  const changed = await onNewest(async () => {
    const { definitions } = await guard.ledger.view()
    const there = budgetNamed(definitions, name.data)
    if (!there) return guard.putBudget({ ...read.request, name: name.data }, { ...by, onlyAt: [definitions.revision] })
    // A user who presses twice gets what they wanted.
    if (differences(textsOf(there), texts).length === 0) return { kind: 'changed', created: false }
    const detail = `There is a budget ${name.data} already; nothing was changed.`
    return { kind: 'problem', problem: problem('wrong-state', detail) }
  })
  return changed.kind === 'changed'
    ? { kind: 'made', name: name.data }
    : { kind: 'wrong', wrong: [changed.problem.detail] }
}

export const MakeForm = (of: {
  frame: Frame
  parents: readonly string[]
  /** What was filled in before. */
  given: URLSearchParams
  wrong: readonly string[]
}) => {
  const value = (name: string) => of.given.get(name) ?? undefined
  return (
    <section aria-labelledby="make">
      <h2 id="make">New budget</h2>
      <Wrong of={of.wrong} />
      {/* What is wrong with it is shown where it stands, far below all budgets. */}
      <form method="post" action="/dashboard/budgets#make">
        <FormToken of={of.frame} />
        <div class="fields">
          <TextField of="make" name="name" label="Name" value={value('name')} note="Of a-z, 0-9 and -." required />
          <ChoiceField
            of="make"
            name="parent"
            label={labels.parent}
            value={value('parent')}
            options={of.parents.map((name) => [name, name])}
          />
          <TextField
            of="make"
            name="month"
            label={labels.month}
            value={value('month')}
            note="Units, or “unlimited”."
            units
            required
          />
          <TextField of="make" name="day" label={labels.day} value={value('day') ?? 'unlimited'} units required />
          <ReasonField of="make" value={value('reason')} required={false} />
        </div>
        <p class="buttons">
          <button type="submit" class="primary">
            Make it
          </button>
        </p>
      </form>
    </section>
  )
}
