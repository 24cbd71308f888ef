import * as z from 'zod/mini'
import { count, shownCaller, shownIn } from '../../../shared/guard/sentences.ts'
import { type Definitions, listedName, planOfCaller } from '../../../shared/ledger/definitions/definitions.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { planIn } from '../components/people.tsx'
import { readFields } from '../forms.ts'
import { addressWith } from '../kit/list.tsx'
import {
  budgetAddress,
  entryAddress,
  findPath,
  personAddress,
  planAddress,
  projectAddress,
  Section,
  updateAddress,
} from '../kit/parts.tsx'
import type { PageRoutes } from '../kit/session.tsx'

const querySchema = z.strictObject({
  q: z.exactOptional(z.string().check(z.maxLength(200, 'must have at most 200 characters'))),
})

const updatesPath = '/dashboard/updates'
/** The callers and projects of these updates are found even if no list names them. */
const latestUpdates = 100
const maxMatches = 50

export function addFind({ page }: PageRoutes): void {
  page(findPath, {
    GET: async ({ c, query, mustHave, show, guard }) => {
      mustHave('read')
      const words = readFields(query, querySchema).q?.trim() ?? ''
      const updates = addressWith(updatesPath, { search: words || undefined })
      if (words === '') return c.redirect(updates, 303)
      if (/^upd_[0-9a-z]+$/.test(words)) return c.redirect(updateAddress(words), 303)
      if (/^ent_[0-9a-z]+$/.test(words)) return c.redirect(entryAddress(words), 303)
      const plan = planIn(words)
      if (plan !== null && (await guard.budgetsOf(plan)).length > 0) return c.redirect(planAddress(plan), 303)
      const name = words.toLowerCase().replace(/\s+/g, '-')
      const [{ definitions }, { rows }, ofPlan] = await Promise.all([
        guard.ledger.view(),
        guard.ledger.updates({}, latestUpdates),
        guard.budgetsOf(name),
      ])
      const places = [
        ...placesIn(definitions, rows),
        ...(ofPlan.length > 0 ? [{ kind: 'plan', name, to: planAddress(name), spellings: [name] } as const] : []),
      ]
      const lower = words.toLowerCase()
      const exact = places.filter(({ spellings }) => spellings.some((each) => [lower, name].includes(each)))
      const found =
        exact.length > 0
          ? exact
          : places.filter(({ spellings }) => spellings.some((each) => each.includes(lower) || each.includes(name)))
      const [only] = found
      if (!only) return c.redirect(updates, 303)
      if (found.length === 1) return c.redirect(only.to, 303)
      return show(
        `Found for “${words}”`,
        <Section id="found" title={`${count(found.length)} matches`}>
          <ul>
            {found.slice(0, maxMatches).map((place) => (
              <li>
                {place.kind} <a href={place.to}>{place.name}</a>
              </li>
            ))}
          </ul>
          {found.length > maxMatches ? (
            <p class="note">These are the first {maxMatches}. Type more of the name.</p>
          ) : null}
          <p>
            <a href={updates}>Updates of projects like “{words}”</a>
          </p>
        </Section>,
      )
    },
  })
}

interface Place {
  readonly kind: 'budget' | 'plan' | 'project' | 'person'
  readonly name: string
  readonly to: string
  /** All in lower case. */
  readonly spellings: readonly string[]
}

function placesIn(definitions: Definitions, updates: readonly Update[]): readonly Place[] {
  const places = new Map<string, Place>()
  const add = (kind: Place['kind'], name: string, to: string, ...others: readonly string[]) => {
    const before = places.get(to)?.spellings ?? []
    places.set(to, { kind, name, to, spellings: [...before, ...[name, ...others].map((each) => each.toLowerCase())] })
  }
  const budgets = Object.values(definitions.budgets)
  for (const { name } of budgets) add('budget', name, budgetAddress(name))
  for (const { name, id = name } of budgets.flatMap(({ projects }) => projects))
    add('project', name, projectAddress(name), id)
  for (const { project } of updates) {
    const name = listedName(definitions, project)
    add('project', name, projectAddress(name), project)
  }
  const people = [
    ...Object.keys(definitions.callers ?? {}).map((sub) => [shownCaller(definitions, sub), sub] as const),
    ...updates.map((update) => [shownIn(definitions, update, update.caller), update.caller] as const),
  ]
  for (const [name, sub] of people) if (planOfCaller(sub) === null) add('person', name, personAddress(name), sub)
  return [...places.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
