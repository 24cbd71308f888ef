import type { Item, Value } from '../store/store.ts'
import {
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
  record,
  text,
  textOf,
  units,
  whole,
  yes,
} from '../stored.ts'
import {
  type Budget,
  type Caller,
  type CallerDefaults,
  type Definitions,
  type Identity,
  type OwnedProject,
  rootBudget,
  type Stop,
  unownedRules,
  type WindowLimit,
  windowKinds,
} from './definitions.ts'
import type { Calendar, Renewal } from './windows.ts'

export const definitionsKey = { pk: 'definitions', sk: 'definitions' } as const

/** Upgrades count from it: a change that items of before do not follow gets the next number, and a step that rewrites them. */
export const storedForm = 1

export const toDefinitionsItem = (definitions: Definitions): Item => ({
  ...definitionsKey,
  form: storedForm,
  ...(definitions as unknown as Record<string, Value>),
})

const storedLimits = list(
  record<WindowLimit>({ window: oneOf(windowKinds), units: either(units, oneOf(['unlimited'])) }),
)
const storedStop = record<Stop>({ reason: text, by: text, at: instant })

const storedBudget = record<Budget>({
  name: text,
  parent: orNull(text),
  limits: storedLimits,
  projects: list(record<OwnedProject>({ name: text, id: optional(text) })),
  perUpdate: optional(units),
  approvalAbove: optional(units),
  approvalIfGrown: optional(number),
  approvalExpiresAfter: optional(text),
  kinds: optional(list(textOf())),
  frozen: optional(storedStop),
  approvers: optional(list(text)),
  thresholds: optional(list(number)),
  freezeOnOverrun: optional(flag),
  enforce: optional(no),
  slackChannel: optional(text),
  unowned: optional(oneOf(unownedRules)),
})

const storedCaller = record<Caller>({
  scopes: optional(list(textOf())),
  budgets: optional(either(oneOf(['*']), list(text))),
  readsBudgets: optional(list(text)),
  person: optional(text),
  disabled: optional(yes),
  mayForce: optional(yes),
  mayChargeAncestors: optional(yes),
  limits: optional(storedLimits),
  perUpdate: optional(units),
  ratePerMinute: optional(number),
})

const storedDefaults = record<CallerDefaults>({
  perUpdate: optional(units),
  ratePerMinute: optional(number),
})

const storedRenewal = record<Renewal>({ day: whole, time: text, zone: text })

const storedCalendar = record<Calendar>({
  first: storedRenewal,
  changes: list(record<Calendar['changes'][number]>({ renewal: storedRenewal, lengthens: text, from: text })),
})

const storedIdentity = record<Identity>({
  ledger: text,
  service: orNull(text),
  began: record<Identity['began']>({ unitsPerMonth: units, usedAtStart: units, renewal: storedRenewal }),
  table: optional(text),
  epoch: optional(whole),
  restored: optional(record<NonNullable<Identity['restored']>>({ at: instant, to: optional(instant) })),
  replacedBy: optional(text),
})

const storedDefinitions = record<Definitions & { readonly form: typeof storedForm }>({
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

/** A database returns members in any order. */
function compare(a: string, b: string): number {
  if (a === rootBudget) return -1
  return b === rootBudget || a > b ? 1 : -1
}
