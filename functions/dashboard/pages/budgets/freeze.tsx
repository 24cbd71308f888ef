import * as z from 'zod/mini'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { reason } from '../../../../shared/api/schemas.ts'
import type { Services } from '../../../../shared/guard/services.ts'
import { type Budget, budgetNamed } from '../../../../shared/ledger/book/definitions.ts'
import { HiddenFields, ReasonField } from '../../components/fields.tsx'
import { FormToken, type Frame } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import { flashOf, readFields } from '../../forms.ts'
import type { PageRoutes } from '../../session.tsx'

const freezeSchema = z.strictObject({ form: z.string(), revision: z.string(), reason })
const deletionSchema = z.strictObject({ form: z.string(), revision: z.string(), reason: z.exactOptional(reason) })

export function addFreeze({ page }: PageRoutes, { guard }: Services): void {
  page('/dashboard/budgets/:name/freeze', {
    POST: async ({ c, form, session, mustHave, redirect }) => {
      mustHave('admin')
      const name = budgetNameOf(c)
      const { reason } = readFields(form, freezeSchema)
      // Without a revision, because other changes must not prevent a freeze.
      const result = await guard.freeze(name, { caller: session.sub, reason })
      return redirect(
        flashOf(result, `${name} is frozen: nothing more is admitted on it, nor below it.`),
        budgetAddress(name),
      )
    },
  })

  page('/dashboard/budgets/:name/unfreeze', {
    POST: async ({ c, form, session, mustHave, redirect }) => {
      mustHave('admin')
      const name = budgetNameOf(c)
      const { reason, revision } = readFields(form, freezeSchema)
      // With the revision, so that a user lifts only the freeze that the page showed.
      const result = await guard.unfreeze(name, { caller: session.sub, reason, onlyAt: [Number(revision)] })
      const done = `${name} is not frozen: updates are admitted again.`
      // A budget that is no longer frozen counts as success: the user may have pressed twice.
      const { definitions } = await guard.ledger.view()
      const budget = budgetNamed(definitions, name)
      const isUnfrozen = budget !== undefined && !budget.frozen
      const flash = isUnfrozen ? { done: [done], failed: [] } : flashOf(result, done)
      return redirect(flash, budgetAddress(name))
    },
  })

  page('/dashboard/budgets/:name/delete', {
    POST: async ({ c, form, session, mustHave, redirect }) => {
      mustHave('admin')
      const name = budgetNameOf(c)
      const { reason, revision } = readFields(form, deletionSchema)
      const by = { caller: session.sub, ...(reason !== undefined && { reason }), onlyAt: [Number(revision)] }
      const result = await guard.deleteBudget(name, by)
      const isDeleted = result.kind === 'changed'
      return redirect(flashOf(result, `${name} is deleted.`), isDeleted ? '/dashboard/budgets' : budgetAddress(name))
    },
  })
}

interface FreezeProps {
  readonly budget: Budget
  readonly frame: Frame
  readonly revision: number
}

export const FreezeForm = ({ budget: { name, frozen }, frame, revision }: FreezeProps) => (
  <Section id="stop" title={frozen ? 'Let it go on' : 'Freeze'}>
    <p class="note">
      {frozen
        ? 'Updates are admitted again, as far as its limits and all above it let them.'
        : `Nothing more is admitted on ${name}, nor on any budget below it. What runs goes on and is accounted for.`}
    </p>
    <form method="post" action={budgetAddress(name, frozen ? '/unfreeze' : '/freeze')}>
      <FormToken frame={frame} />
      <HiddenFields values={{ revision: String(revision) }} />
      <ReasonField formId="stop" />
      <p class="buttons">
        <button type="submit">{frozen ? 'Unfreeze' : 'Freeze'}</button>
      </p>
    </form>
  </Section>
)

export const DeletionForm = ({ budget: { name }, frame, revision }: FreezeProps) => (
  <details class="card">
    <summary>Delete {name}</summary>
    <p class="note">
      Only without budgets below it, and with nothing held or in doubt. What it spent this month stays counted above it.
    </p>
    <form method="post" action={budgetAddress(name, '/delete')}>
      <FormToken frame={frame} />
      <HiddenFields values={{ revision: String(revision) }} />
      <ReasonField formId="delete" isOptional />
      <p class="buttons">
        <button type="submit">Delete {name}</button>
      </p>
    </form>
  </details>
)
