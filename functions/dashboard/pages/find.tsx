import * as z from 'zod/mini'
import type { Definitions } from '../../../shared/ledger/book/definitions.ts'
import { budgetAddress, findPath, planAddress, Section, updateAddress } from '../components/parts.tsx'
import { planIn } from '../components/people.tsx'
import { readFields } from '../forms.ts'
import { addressWith } from '../kit/list.tsx'
import type { PageRoutes } from '../session.tsx'

const querySchema = z.strictObject({
  q: z.exactOptional(z.string().check(z.maxLength(200, 'must have at most 200 characters'))),
})

const updatesPath = '/dashboard/updates'

export function addFind({ page }: PageRoutes): void {
  page(findPath, {
    GET: async ({ c, query, mustHave, show, guard }) => {
      mustHave('read')
      const words = readFields(query, querySchema).q?.trim() ?? ''
      if (/^upd_[0-9a-z]+$/.test(words)) return c.redirect(updateAddress(words), 303)
      const { definitions } = await guard.ledger.view()
      const plan = planIn(words)
      if (plan !== null && (await guard.budgetsOf(plan)).length > 0) return c.redirect(planAddress(plan), 303)
      const name = words.toLowerCase().replace(/\s+/g, '-')
      if (Object.hasOwn(definitions.budgets, name)) return c.redirect(budgetAddress(name), 303)
      if (name !== '' && (await guard.budgetsOf(name)).length > 0) return c.redirect(planAddress(name), 303)
      const updates = addressWith(updatesPath, { search: words || undefined })
      const budgets = budgetsLike(definitions, name)
      if (budgets.length === 0 || name === '') return c.redirect(updates, 303)
      return show(
        `Budgets like “${words}”`,
        <Section id="budgets" title="Budgets">
          <ul>
            {budgets.map((budget) => (
              <li>
                <a href={budgetAddress(budget)}>{budget}</a>
              </li>
            ))}
          </ul>
          <p>
            <a href={updates}>Updates of projects like “{words}”</a>
          </p>
        </Section>,
      )
    },
  })
}

const budgetsLike = ({ budgets }: Definitions, part: string): readonly string[] =>
  Object.values(budgets)
    .filter(({ name, projects }) =>
      [name, ...projects.map((project) => project.name)].some((each) => each.toLowerCase().includes(part)),
    )
    .map(({ name }) => name)
    .toSorted()
