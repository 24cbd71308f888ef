import { budgetMembers } from '../../records/budget.ts'
import { callerMembers } from '../../records/caller.ts'
import type { Member, Members, Stored, ValueKind } from '../../records/record.ts'
import type { Item, Value } from '../store/store.ts'
import {
  type Check,
  type MembersOf as Checks,
  definitionsKey,
  either,
  exactly,
  flag,
  instant,
  list,
  map,
  no,
  number,
  oneOf,
  optional,
  orNull,
  readItem,
  recordOf,
  text,
  units,
  whole,
  yes,
} from '../store/stored.ts'
import {
  type Budget,
  type Caller,
  type CallerDefaults,
  type Definitions,
  type OwnedProject,
  rootBudget,
  type Stop,
  storedIdentity,
  type WindowLimit,
  windowKinds,
} from './definitions.ts'
import { storedCalendar } from './windows.ts'

/** The version of the stored form. A change that makes older items invalid needs the next number, and a step that rewrites them. */
export const storedForm = 1

export const toDefinitionsItem = (definitions: Definitions): Item => ({
  ...definitionsKey,
  form: storedForm,
  ...(definitions as unknown as Record<string, Value>),
})

const storedLimits = list(
  recordOf<WindowLimit>({ window: oneOf(windowKinds), units: either(units, oneOf(['unlimited'])) }),
)
const storedStop = recordOf<Stop>({ reason: text, by: text, at: instant })

const storedProjects = list(recordOf<OwnedProject>({ name: text, id: optional(text) }))

const checks: Record<ValueKind, Check<unknown>> = {
  units,
  number,
  text,
  flag,
  yes,
  no,
  choice: text,
  texts: list(text),
  numbers: list(number),
  limits: storedLimits,
  projects: storedProjects,
  stop: storedStop,
  budgets: either(oneOf(['*']), list(text)),
}

/** The check of each stored member, from the table of its record. */
const checksOf = <Table extends Members>(members: Table) =>
  Object.fromEntries(
    Object.entries<Member>(members).map(([name, { value, choices = [] }]) => [
      name,
      optional(value === 'choice' ? oneOf(choices.map(([choice]) => choice)) : checks[value]),
    ]),
  ) as Checks<Stored<Table>>

const storedBudget = recordOf<Budget>({
  ...checksOf(budgetMembers),
  name: text,
  parent: orNull(text),
  limits: storedLimits,
  projects: storedProjects,
})

const storedCaller = recordOf<Caller>(checksOf(callerMembers))
const { perUpdate, ratePerMinute } = checksOf(callerMembers)
const storedDefaults = recordOf<CallerDefaults>({ perUpdate, ratePerMinute })

const storedDefinitions = recordOf<Definitions & { readonly form: typeof storedForm }>({
  form: exactly(storedForm),
  revision: whole,
  createdAt: instant,
  identity: optional(storedIdentity),
  calendar: storedCalendar,
  budgets: map(storedBudget),
  callers: optional(map(storedCaller)),
  unlisted: optional(storedDefaults),
  pausedPlans: optional(map(storedStop)),
})

export function fromDefinitionsItem(item: Item): Definitions {
  const { form: _form, ...definitions } = readItem(item, storedDefinitions)
  const sorted = Object.entries(definitions.budgets).sort(([a], [b]) => compare(a, b))
  return { ...definitions, budgets: Object.fromEntries(sorted) }
}

/** Puts the root first. A database returns members in any order. */
function compare(a: string, b: string): number {
  if (a === rootBudget) return -1
  return b === rootBudget || a > b ? 1 : -1
}
