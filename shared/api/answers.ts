import * as z from 'zod/mini'
import { statementKeys } from '../guard/reports/statements.ts'
import { windowKinds } from '../ledger/book/definitions.ts'
import { entryTypes } from '../ledger/book/entry.ts'
import { occurrenceStates } from '../ledger/updates/tasks.ts'
import { states, vias } from '../ledger/updates/update.ts'
import { scopes } from '../platform/words.ts'
import { namesOf, productKinds } from '../tracking/kinds.ts'

/**
 * The answers that showing.ts makes, as schemas: the OpenAPI document says them, and every answer in every test is
 * checked against them. Nothing that handles a request imports this. A member that stands in no schema fails a test.
 */

const text = z.string()
const time = z.iso.datetime()
const whole = z.int()
const units = z.int().check(z.gte(0))
const yes = z.literal(true)
export const kind = z.enum(namesOf(productKinds))
const windowKind = z.enum(windowKinds)
const limit = z.union([units, z.literal('unlimited')])
const limits = z.array(z.strictObject({ window: windowKind, units: limit }))

/** Each type of problem has members of its own (problem-members.ts). */
export const problem = z.looseObject({ type: text, title: text, status: whole, detail: text })

const stop = z.strictObject({ reason: text, by: text, at: time })

export const update = z.strictObject({
  id: z.string().check(z.regex(/^upd_[0-9a-z]+$/)),
  kind,
  project: text,
  budget: text,
  caller: text,
  via: z.enum(vias),
  plan: z.exactOptional(text),
  reason: z.exactOptional(text),
  force: z.exactOptional(yes),
  maxUnits: z.exactOptional(units),
  query: z.exactOptional(z.record(z.string(), text)),
  state: z.enum(states),
  window: text,
  units: z.strictObject({ estimated: z.nullable(units), held: units, charged: z.nullable(units) }),
  overrun: z.exactOptional(units),
  createdAt: time,
  finishedAt: z.exactOptional(time),
  approvedBy: z.exactOptional(text),
  problem: z.exactOptional(problem),
  service: z.exactOptional(z.strictObject({ status: whole, body: text, truncated: z.exactOptional(yes) })),
  history: z.array(z.strictObject({ state: z.enum(states), at: time, by: text, note: z.exactOptional(text) })),
})

export const notRecorded = z.strictObject({ project: text, problem })
export const updatesAnswer = z.strictObject({
  updates: z.array(update),
  notRecorded: z.exactOptional(z.array(notRecorded)),
})
export const updateList = z.strictObject({ updates: z.array(update), next: z.exactOptional(text) })
const notDecided = z.exactOptional(z.array(z.strictObject({ id: text, detail: text })))
export const resolvedAnswer = z.strictObject({ updates: z.array(update), notResolved: notDecided })
export const cancelledAnswer = z.strictObject({ updates: z.array(update), notCancelled: notDecided })

const figures = {
  window: windowKind,
  start: time,
  end: time,
  resetsAt: time,
  limit,
  granted: whole,
  available: z.nullable(whole),
  held: units,
  inDoubt: units,
  spent: units,
}

export const estimate = z.strictObject({
  kind,
  units,
  projects: z.array(z.strictObject({ project: text, units: z.nullable(units), problem: z.exactOptional(problem) })),
  allowed: z.boolean(),
  problem: z.exactOptional(problem),
  budgets: z.array(z.strictObject({ budget: text, ...figures })),
})

export const budget = z.strictObject({
  name: text,
  parent: z.nullable(text),
  limits,
  projects: z.array(z.strictObject({ name: text, id: z.exactOptional(text) })),
  perUpdate: z.exactOptional(units),
  approvalAbove: z.exactOptional(units),
  approvalIfGrown: z.exactOptional(whole),
  approvalExpiresAfter: z.exactOptional(text),
  kinds: z.array(kind),
  frozen: z.union([stop, z.literal(false)]),
  approvers: z.array(text),
  thresholds: z.exactOptional(z.array(whole)),
  freezeOnOverrun: z.exactOptional(yes),
  windows: z.array(z.strictObject({ ...figures, childrenLimit: z.exactOptional(limit) })),
})
export const budgetList = z.strictObject({ budgets: z.array(budget) })

const members = z.array(z.strictObject({ member: text, from: z.unknown(), to: z.unknown() }))

export const appliedBudgets = z.strictObject({
  revision: whole,
  dryRun: z.boolean(),
  differences: z.array(
    z.strictObject({
      budget: text,
      isNew: z.boolean(),
      members,
    }),
  ),
})

export const entry = z.strictObject({
  id: text,
  type: z.enum(entryTypes),
  budget: text,
  units: whole,
  to: z.exactOptional(text),
  corrects: z.exactOptional(text),
  window: text,
  budgets: z.array(text),
  reason: text,
  by: text,
  at: time,
  binds: z.exactOptional(z.strictObject({ budget: text, window: windowKind, available: whole })),
  changed: z.exactOptional(
    z.array(
      z.strictObject({
        kind: z.enum(['budget', 'caller', 'plan']),
        name: text,
        how: z.enum(['made', 'changed', 'removed']),
        members,
      }),
    ),
  ),
})
export const entryList = z.strictObject({ entries: z.array(entry), next: z.exactOptional(text) })

const statementFigures = {
  updates: units,
  charged: units,
  external: whole,
  granted: whole,
  held: units,
  inDoubt: units,
  refused: units,
  amount: z.exactOptional(z.number()),
}
export const statement = z.strictObject({
  window: text,
  start: time,
  end: time,
  status: z.enum(['open', 'final']),
  by: z.enum(statementKeys),
  price: z.exactOptional(z.number()),
  rows: z.array(
    z.strictObject({
      budget: z.exactOptional(z.nullable(text)),
      project: z.exactOptional(z.nullable(text)),
      caller: z.exactOptional(z.nullable(text)),
      ...statementFigures,
      paidElsewhere: z.exactOptional(units),
    }),
  ),
  total: z.strictObject(statementFigures),
  book: z.strictObject({ spent: whole, addsUp: z.nullable(z.boolean()) }),
  previous: text,
  next: z.nullable(text),
})

const counter = z.strictObject({
  limit,
  granted: whole,
  available: z.nullable(whole),
  held: whole,
  inDoubt: whole,
  spent: whole,
})
export const audit = z.strictObject({
  ok: z.nullable(z.boolean()),
  books: z.array(z.strictObject({ window: text, budget: text, recorded: counter, recomputed: counter })),
})

const occurrenceFigures = {
  time,
  state: z.enum(occurrenceStates),
  reason: z.exactOptional(text),
  finishedAt: z.nullable(time),
}
export const plan = z.strictObject({
  name: text,
  kind,
  projects: z.array(text),
  budget: z.nullable(text),
  schedule: text,
  whenShort: z.enum(['refuse', 'fit', 'ask']),
  query: z.exactOptional(z.record(z.string(), text)),
  mayChargeAncestors: z.exactOptional(yes),
  leave: z.exactOptional(z.union([units, z.record(z.string(), units)])),
  enabled: z.boolean(),
  paused: z.union([stop, z.literal(false)]),
  next: z.nullable(time),
  nextLocal: z.nullable(text),
  last: z.nullable(z.strictObject(occurrenceFigures)),
})
export const planList = z.strictObject({ plans: z.array(plan) })

export const occurrence = z.strictObject({
  plan: text,
  ...occurrenceFigures,
  nextTryAt: z.exactOptional(time),
  counts: z.strictObject({
    settled: units,
    upToDate: units,
    refused: units,
    released: units,
    inDoubt: units,
    awaitingApproval: units,
    requested: units,
    expired: units,
    unsent: units,
  }),
  unitsCharged: units,
  projects: z.array(
    z.strictObject({
      project: text,
      update: z.nullable(text),
      state: z.enum([...states, 'up-to-date', 'unsent']),
      problem: z.exactOptional(problem),
    }),
  ),
})

export const forecast = z.strictObject({
  budgets: z.array(
    z.strictObject({
      budget: text,
      window: windowKind,
      available: z.nullable(whole),
      committed: units,
      projected: units,
      unpriced: units,
      exhaustedAt: z.exactOptional(time),
      pricedAt: z.nullable(time),
    }),
  ),
})

export const caller = z.strictObject({
  sub: text,
  scopes: z.exactOptional(z.array(z.enum(scopes))),
  budgets: z.exactOptional(z.union([z.literal('*'), z.array(text)])),
  person: z.exactOptional(text),
  disabled: z.boolean(),
  mayForce: z.exactOptional(yes),
  mayChargeAncestors: z.exactOptional(yes),
  limits: z.exactOptional(limits),
  perUpdate: z.exactOptional(units),
  ratePerMinute: z.exactOptional(units),
  windows: z.exactOptional(z.array(z.strictObject(figures))),
})
export const callerList = z.strictObject({ callers: z.array(caller) })

const counts = z.strictObject({
  keywords: z.exactOptional(units),
  searchengines: z.exactOptional(units),
  websites: z.exactOptional(units),
})
export const changeList = z.strictObject({
  changes: z.array(
    z.strictObject({
      id: text,
      operation: z.enum(['create', 'update']),
      project: text,
      caller: text,
      at: time,
      added: counts,
      removed: counts,
      serviceStatus: z.nullable(whole),
    }),
  ),
  next: z.exactOptional(text),
})

export const health = z.strictObject({ status: z.literal('ok') })
