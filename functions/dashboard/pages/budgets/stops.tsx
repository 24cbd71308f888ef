import type { Child } from 'hono/jsx'
import * as z from 'zod/mini'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { reason } from '../../../../shared/api/schemas.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { list } from '../../../../shared/guard/sentences.ts'
import { unownedPayer } from '../../../../shared/guard/update/unowned.ts'
import { budgetNamed, type Definitions } from '../../../../shared/ledger/book/definitions.ts'
import { releasedBy } from '../../../../shared/ledger/book/releases.ts'
import { HiddenFields, ReasonField } from '../../components/fields.tsx'
import { FormToken } from '../../components/layout.tsx'
import { budgetAddress, Section } from '../../components/parts.tsx'
import { StoppedBy } from '../../components/people.tsx'
import type { Flash } from '../../flash.ts'
import { faultsIn, flashOf, inputOf, readFields } from '../../forms.ts'
import type { PageRoutes, Visit } from '../../session.tsx'
import { BudgetTrail } from './chain.tsx'

const stopSchema = z.strictObject({ revision: z.string(), reason })
const deletionSchema = z.strictObject({ revision: z.string(), reason: z.exactOptional(reason) })

interface Stop {
  readonly button: string
  readonly isDangerous: boolean
  readonly isReasonOptional?: boolean
  readonly consequence: (name: string) => Child
}

const stops = {
  freeze: {
    button: 'Freeze',
    isDangerous: true,
    consequence: (name) =>
      `No update is admitted on ${name} or on any budget below it until someone unfreezes it. Running updates continue, and what they cost is counted.`,
  },
  unfreeze: {
    button: 'Unfreeze',
    isDangerous: false,
    consequence: () => 'Updates are admitted again, as far as its limits and all above it allow.',
  },
  delete: {
    button: 'Delete',
    isDangerous: true,
    isReasonOptional: true,
    consequence: () =>
      'Only possible without budgets below it, and with nothing held or in doubt. What it spent this month stays counted above it.',
  },
} as const satisfies Record<string, Stop>
type Action = keyof typeof stops

export function addStops({ page }: PageRoutes): void {
  const addStop = (action: Action, act: (visit: Visit, name: string) => Promise<readonly [Flash, string]>) =>
    page(`/dashboard/budgets/:name/${action}`, {
      GET: async (visit) => {
        visit.mustHave('admin')
        const { definitions } = await visit.guard.ledger.view()
        return showConfirmation(visit, action, definitions)
      },
      POST: async (visit) => {
        visit.mustHave('admin')
        const name = budgetNameOf(visit.c)
        try {
          return await visit.redirect(...(await act(visit, name)))
        } catch (error) {
          const faults = faultsIn(error, ['reason'])
          if (!faults) throw error
          const input = inputOf(visit.form, 'reason')
          return visit.redirect({ done: [], failed: [], input, faults }, budgetAddress(name, `/${action}`))
        }
      },
    })

  addStop('freeze', async ({ form, session, guard }, name) => {
    const { reason } = readFields(form, stopSchema)
    // Without a revision, because other changes must not prevent a freeze.
    const result = await guard.freeze(name, { caller: session.sub, reason })
    const done = `${name} is frozen: no update is admitted on it or on any budget below it.`
    return [flashOf(result, done), budgetAddress(name)]
  })

  addStop('unfreeze', async ({ form, session, guard }, name) => {
    const { reason, revision } = readFields(form, stopSchema)
    // With the revision, so that a user lifts only the freeze that the page showed.
    const result = await guard.unfreeze(name, { caller: session.sub, reason, onlyAt: [Number(revision)] })
    const done = `${name} is not frozen: updates are admitted again.`
    // The user may have pressed twice.
    const budget = budgetNamed((await guard.ledger.view()).definitions, name)
    const isUnfrozen = budget !== undefined && !budget.frozen
    return [isUnfrozen ? { done: [done], failed: [] } : flashOf(result, done), budgetAddress(name)]
  })

  addStop('delete', async ({ form, session, guard }, name) => {
    const { reason, revision } = readFields(form, deletionSchema)
    // Only at the revision whose projects the page named.
    const by = {
      ...{ caller: session.sub, onlyAt: [Number(revision)], release: true },
      ...(reason !== undefined && { reason }),
    }
    const result = await guard.deleteBudget(name, by)
    const isDeleted = result.kind === 'changed'
    return [flashOf(result, `${name} is deleted.`), isDeleted ? '/dashboard/budgets' : budgetAddress(name)]
  })
}

/** @throws Refusal 404 */
function showConfirmation(visit: Visit, action: Action, definitions: Definitions) {
  const { c, frame, show } = visit
  const name = budgetNameOf(c)
  const budget = budgetNamed(definitions, name)
  if (!budget) throw new Refusal(noBudget(name))
  const { button, isDangerous, consequence, ...stop }: Stop = stops[action]
  const { input, faults } = frame.flash ?? {}
  return show(
    `${button} ${name}?`,
    <>
      <BudgetTrail budget={name} definitions={definitions} here={action} />
      <Section id="confirm" title="What happens">
        {action === 'unfreeze' && budget.frozen ? (
          <p>
            Frozen <StoppedBy stop={budget.frozen} view={{ definitions }} />
          </p>
        ) : null}
        <p>{consequence(name)}</p>
        {action === 'delete' ? <Released definitions={definitions} name={name} /> : null}
        <form method="post" action={budgetAddress(name, `/${action}`)}>
          <FormToken frame={frame} />
          <HiddenFields values={{ revision: String(definitions.revision) }} />
          <div class="fields">
            <ReasonField
              formId={action}
              value={input?.reason}
              faults={faults}
              isOptional={stop.isReasonOptional ?? false}
            />
          </div>
          <p class="buttons">
            <button type="submit" class={isDangerous ? 'danger' : 'primary'}>
              {button} {name}
            </button>
            <a href={budgetAddress(name)}>Cancel</a>
          </p>
        </form>
      </Section>
    </>,
  )
}

const Released = ({ definitions, name }: { readonly definitions: Definitions; readonly name: string }) => {
  const { [name]: deleted, ...budgets } = definitions.budgets
  const projects = releasedBy(definitions, { budgets }).map(({ text }) => text)
  return projects.length === 0 ? null : (
    <p class="warning">
      {`No budget will list ${list(projects)}, and from then on ${unownedPayer({ budgets }, projects)}.${deleted?.frozen ? ` The freeze of ${name} ends with it.` : ''} If another budget should pay, move ${projects.length === 1 ? 'it' : 'them'} there before you delete ${name}: “Move chosen projects” on its page does that.`}
    </p>
  )
}
