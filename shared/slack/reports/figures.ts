import type { Guard } from '../../guard/guard.ts'
import type { Permissions } from '../../guard/people/permissions.ts'
import { figuresOf, zoneOf } from '../../guard/sentences.ts'
import type { View } from '../../ledger/book/view.ts'
import {
  type Budget,
  budgetNamed,
  callerNamed,
  chainOf,
  isEnforced,
  listingsOf,
  windowKinds,
} from '../../ledger/definitions/definitions.ts'
import { nearest } from '../../platform/misspelt.ts'
import type { PersonProfile, ProjectProfile } from '../../reports/profiles.ts'
import { reportsOf } from '../../reports/reports.ts'
import { type Mistake, verbs } from '../command-words.ts'
import { usageMessage } from '../messages/help.ts'
import { quoteWord } from '../receive/command.ts'
import { type AnswerParts, type EventAnswer, whyNotAllowed } from '../tell/answer.ts'
import { prose } from '../text.ts'
import { type BudgetFigures, figuresMessage } from './figure-messages.ts'
import { maxSentence, personMessage, projectLines, projectMessage } from './profile-messages.ts'

export async function figures(
  { guard }: AnswerParts,
  { mayCharge }: Permissions,
  mayAsk: boolean,
): Promise<EventAnswer> {
  const reports = await reportsOf(guard)
  const { view, budgets: outlooks } = await reports.outlook()
  const sentences = new Map(outlooks.map(({ budget, sentence }) => [budget, sentence]))
  const budgets = Object.values(view.definitions.budgets).map((budget) => ({
    ...figuresIn(view, budget),
    mayCharge: mayAsk && mayCharge(budget.name),
    sentence: sentences.get(budget.name) ?? null,
  }))
  return { message: figuresMessage({ budgets, zone: zoneOf(view) }) }
}

const figuresIn = (view: View, budget: Budget): BudgetFigures => ({
  budget: budget.name,
  figures: windowKinds.map((window) => figuresOf(view, budget, window)),
  isObserved: !isEnforced(budget),
  isFrozen: chainOf(view.definitions, budget.name).some(({ frozen }) => frozen !== undefined),
})

/**
 * `/units globex` shows a budget with all its ancestors, a project or a person, or else suggests a name that the user sees.
 * `null`: the user sees no such name.
 */
export async function figuresOfName(parts: AnswerParts, caller: string, mistake: Mistake): Promise<EventAnswer | null> {
  const { name } = mistake
  if (name === undefined) return null
  const allowed = await parts.guard.permissions({ caller }, { atOnce: true })
  if (whyNotAllowed(allowed, 'read') !== null) return null
  const { guard } = allowed
  const { dashboardUrl } = parts
  const view = await guard.ledger.view()
  const budget = budgetNamed(view.definitions, name.toLowerCase())
  if (budget) {
    const about = await nextStops(guard, view, budget.name)
    return { message: figuresMessage({ budgets: chainIn(view, budget), zone: zoneOf(view), about }) }
  }
  const isListed = listingsOf(view.definitions, name).length > 0
  const reports = await reportsOf(guard)
  const person = isListed ? null : await reports.personProfile(name)
  if (person) return { message: personMessage({ ...person, may: mayOf(person, allowed), dashboardUrl }) }
  const project = await reports.projectProfile(name)
  if (project) return { message: messageOf(project, dashboardUrl) }
  const meant = nearest(name, verbs) === null ? nearest(name, namesIn(view)) : null
  if (meant === null) return null
  const sentence = `There is no budget, project or person ${quoteWord(name)}; did you mean /units ${meant}?`
  return { message: usageMessage({ ...mistake, sentence }) }
}

/** Names that need no quotes in a command. */
const namesIn = ({ definitions: { budgets } }: View): readonly string[] =>
  Object.values(budgets)
    .flatMap(({ name, projects }) => [name, ...projects.map((project) => project.name)])
    .filter((name) => /^[\w.-]+$/.test(name))

async function nextStops(guard: Guard, view: View, name: string): Promise<readonly string[]> {
  const { outlook } = await reportsOf(guard)
  const found = (await outlook(view)).budgets.find(({ budget }) => budget === name)
  return found?.next ? [prose(found.next.sentence, maxSentence)] : []
}

const chainIn = (view: View, { name }: Budget): readonly BudgetFigures[] =>
  chainOf(view.definitions, name).map((each) => figuresIn(view, each))

function messageOf(project: ProjectProfile, dashboardUrl: string | null) {
  const { view, owner } = project
  const payer = owner === null ? undefined : budgetNamed(view.definitions, owner)
  if (!payer) return projectMessage({ ...project, dashboardUrl })
  return figuresMessage({ budgets: chainIn(view, payer), zone: zoneOf(view), about: projectLines(project) })
}

/** Only administrators see what other callers may do. */
function mayOf({ names, view }: PersonProfile, { caller, isAdmin, scopes }: Permissions) {
  return names.flatMap((name) => {
    const { scopes: listed, disabled = false } = callerNamed(view.definitions, name) ?? {}
    if (isAdmin) return [{ name, scopes: listed ?? null, disabled }]
    return name === caller ? [{ name, scopes: [...scopes], disabled }] : []
  })
}
