import * as z from 'zod/mini'
import { budgetNameOf } from '../../../../shared/api/budgets.ts'
import { Refusal } from '../../../../shared/api/refusal.ts'
import { reason } from '../../../../shared/api/schemas.ts'
import type { Guard } from '../../../../shared/guard/guard.ts'
import type { Author, ChangeResult } from '../../../../shared/guard/people/budgets.ts'
import { noBudget } from '../../../../shared/guard/problems.ts'
import { unownedPayer } from '../../../../shared/guard/rules/projects.ts'
import { list } from '../../../../shared/guard/sentences.ts'
import { releasedBy } from '../../../../shared/ledger/book/releases.ts'
import { budgetNamed, type Definitions } from '../../../../shared/ledger/definitions/definitions.ts'
import { Who } from '../../components/people.tsx'
import { flashOf } from '../../forms.ts'
import { ActionForm, action } from '../../kit/action.tsx'
import { budgetAddress, Section } from '../../kit/parts.tsx'
import type { PageRoutes } from '../../kit/session.tsx'
import { BudgetTrail } from './chain.tsx'

interface Stop {
  readonly button: string
  readonly tone: 'danger' | 'primary'
  readonly reason: 'required' | 'optional'
  consequence(name: string): string
  done(name: string): string
  /** @param by has `onlyAt`, the revision that the page showed. */
  act(guard: Guard, name: string, by: Author & { reason: string }): Promise<ChangeResult>
}

const stops: Readonly<Record<'freeze' | 'unfreeze' | 'delete', Stop>> = {
  freeze: {
    button: 'Freeze',
    tone: 'danger',
    reason: 'required',
    consequence: (name) =>
      `No update is admitted on ${name} or on any budget below it until someone unfreezes it. Running updates continue, and their cost is counted.`,
    done: (name) => `${name} is frozen: no update is admitted on it or on any budget below it.`,
    // Other changes must not prevent a freeze.
    act: (guard, name, { onlyAt: _, ...by }) => guard.freeze(name, by),
  },
  unfreeze: {
    button: 'Unfreeze',
    tone: 'primary',
    reason: 'required',
    consequence: () => 'Updates are admitted again, within its limits and those above it.',
    done: (name) => `${name} is not frozen: updates are admitted again.`,
    // A user lifts only the freeze that the page showed.
    act: async (guard, name, by) => {
      const result = await guard.unfreeze(name, by)
      const budget = budgetNamed((await guard.ledger.view()).definitions, name)
      // The user may have pressed twice.
      return budget && !budget.frozen ? { kind: 'changed', created: false } : result
    },
  },
  delete: {
    button: 'Delete',
    tone: 'danger',
    reason: 'optional',
    consequence: () =>
      'You can delete it only if it has no budgets below it and nothing held or in doubt. Its spending of this month stays counted above it.',
    done: (name) => `${name} is deleted.`,
    // A deletion fails if the revision has changed, because the page named the projects of the old revision.
    act: (guard, name, { reason, ...by }) =>
      guard.deleteBudget(name, { ...by, release: true, ...(reason !== '' && { reason }) }),
  },
}

export function addStops({ page }: PageRoutes): void {
  for (const [path, { button, tone, consequence, ...stop }] of Object.entries(stops)) {
    const needed = stop.reason === 'required' ? reason : z._default(reason, '')
    page(`/dashboard/budgets/:name/${path}`, {
      GET: async ({ c, mustHave, guard, frame, show }) => {
        mustHave('admin')
        const name = budgetNameOf(c)
        const { definitions } = await guard.ledger.view()
        const budget = budgetNamed(definitions, name)
        if (!budget) throw new Refusal(noBudget(name))
        return show(
          `${button} ${name}?`,
          <>
            <BudgetTrail budget={name} definitions={definitions} here={path} />
            <Section id="confirm" title="What happens">
              {path === 'unfreeze' && budget.frozen ? (
                <p>
                  Frozen by <Who name={budget.frozen.by} definitions={definitions} />: {budget.frozen.reason}
                </p>
              ) : null}
              <p>{consequence(name)}</p>
              {path === 'delete' ? <Released definitions={definitions} name={name} /> : null}
              <ActionForm
                frame={frame}
                id={path}
                action={budgetAddress(name, `/${path}`)}
                cancel={budgetAddress(name)}
                hidden={{ revision: String(definitions.revision) }}
                reason={stop.reason}
                buttons={[{ text: `${button} ${name}`, tone }]}
              />
            </Section>
          </>,
        )
      },

      POST: action({
        scopes: ['admin'],
        schema: z.strictObject({ revision: z.string(), reason: needed }),
        keeps: ['reason'],
        back: ({ c }) => budgetAddress(budgetNameOf(c), `/${path}`),
        act: async ({ c, session, guard }, { reason, revision }) => {
          const name = budgetNameOf(c)
          const result = await stop.act(guard, name, { caller: session.sub, reason, onlyAt: [Number(revision)] })
          const isDeleted = path === 'delete' && result.kind === 'changed'
          return { ...flashOf(result, stop.done(name)), to: isDeleted ? '/dashboard/budgets' : budgetAddress(name) }
        },
      }),
    })
  }
}

const Released = ({ definitions, name }: { readonly definitions: Definitions; readonly name: string }) => {
  const { [name]: deleted, ...budgets } = definitions.budgets
  const projects = releasedBy(definitions, { budgets }).map(({ text }) => text)
  return projects.length === 0 ? null : (
    <p class="warning">
      {`No budget will list ${list(projects)}, and from then on ${unownedPayer({ budgets }, projects)}.${deleted?.frozen ? ` The freeze of ${name} ends with it.` : ''} If another budget should pay, first move ${projects.length === 1 ? 'it' : 'them'} there with “Move chosen projects” on the page of ${name}.`}
    </p>
  )
}
