import * as z from 'zod/mini'
import { outlookStatuses, stopKinds } from '../../guard/shown-budget.ts'
import { entryTypes } from '../../ledger/book/entry.ts'
import { scopes, statementKeys } from '../../platform/words.ts'
import { budgetMembers, unownedRules } from '../../records/budget.ts'
import { callerMembers } from '../../records/caller.ts'
import {
  described,
  figures,
  kind,
  limit,
  limits,
  members,
  projects,
  shownShape,
  stop,
  text,
  time,
  units,
  whole,
  windowKind,
} from './pieces.ts'
import { reconciliationPreview } from './reconciliation.ts'
import { restored } from './status.ts'

const nextStop = z.exactOptional(
  z.strictObject({
    kind: described(z.enum(stopKinds), 'What refuses first. `nothing`: no rule or limit refuses.'),
    budget: described(
      z.nullable(text),
      'The budget of that rule or limit, or `caller:<sub>` for a limit of the caller.',
    ),
    window: z.nullable(windowKind),
    units: described(
      z.nullable(units),
      'Units that still pass. 0: none. `null`: no limit. With `per-update`: the most for one update.',
    ),
    updates: described(
      z.nullable(units),
      'Updates that still pass, if all runs of the last 30 days had one price. 0: the next one is refused. `null`: not known, or no limit applies.',
    ),
    price: described(z.nullable(units), 'What the last update cost.'),
    lastRefusedAt: described(z.nullable(time), 'When a rule or limit last refused an update, in the last 30 days.'),
    sentence: described(text, 'These facts in a sentence for people.'),
  }),
)

export const budget = z.strictObject({
  name: described(text, 'Its name.'),
  ...shownShape(budgetMembers),
  limits,
  projects,
  kinds: z.array(kind),
  approvers: z.array(text),
  parent: described(z.nullable(text), 'The budget above; `null` only for `account`.'),
  frozen: described(z.union([stop, z.literal(false)]), '`false`; or who froze it, when and why.'),
  enforce: described(z.exactOptional(z.literal(false)), 'Its limits are only observed and refuse nothing.'),
  unowned: described(
    z.exactOptional(z.enum(unownedRules)),
    'Only for `account`: what happens to projects that no budget lists.',
  ),
  status: described(
    z.exactOptional(z.enum(outlookStatuses)),
    'The outlook until the reset. Only in answers to reads of the open month.',
  ),
  reason: described(z.exactOptional(text), 'Why the budget is not on track, in a sentence.'),
  next: described(nextStop, 'What stops the budget’s updates next. Only in answers to reads of the open month.'),
  windows: described(
    z.array(z.strictObject({ ...figures, childrenLimit: z.exactOptional(limit) })),
    'The counters. `available` + `held` + `inDoubt` + `spent` = `limit` + `granted`. `available` is `null` if the limit is unlimited.',
  ),
})

export const budgetList = z.strictObject({ budgets: described(z.array(budget), 'All of them.') })

export const appliedBudgets = z.strictObject({
  revision: described(whole, 'The revision of the definitions, as in the `ETag`.'),
  dryRun: described(z.boolean(), '`true`: nothing was changed.'),
  differences: described(
    z.array(
      z.strictObject({
        budget: text,
        isNew: z.boolean(),
        members,
      }),
    ),
    'The budgets and members that change.',
  ),
  notes: described(
    z.array(text),
    'Effects that `differences` does not show: projects that move and from where, affected freezes and plans, listed names that may be read as each other, and projects that are refused from now on.',
  ),
})

export const entry = z.strictObject({
  id: described(text, 'Names the entry.'),
  type: z.enum(entryTypes),
  budget: described(z.nullable(text), '`null`: a budget that the caller may not read.'),
  units: described(whole, 'As requested. Negative if a reconciliation found that too many units were booked.'),
  to: z.exactOptional(text),
  corrects: described(z.exactOptional(text), 'The corrected entry, or the update that cost `units`.'),
  window: described(text, 'The month or the day in which the entry counts.'),
  budgets: described(z.array(text), 'Every budget with a counter that changed.'),
  reason: text,
  by: described(text, 'The caller who booked the entry or made the change.'),
  at: described(time, 'When the entry was booked.'),
  asOf: described(z.exactOptional(time), 'In a reconciliation: when the vendor showed the figure; `at` if absent.'),
  preview: described(
    z.exactOptional(reconciliationPreview),
    'In a reconciliation with `dry-run=true`, which books nothing.',
  ),
  binds: described(
    z.exactOptional(z.strictObject({ budget: text, window: windowKind, available: whole })),
    'The counter with the fewest units left afterwards for an update of the budget (after a transfer: of `to`).',
  ),
  changed: described(
    z.exactOptional(
      z.array(
        z.strictObject({
          kind: z.enum(['budget', 'caller', 'plan']),
          name: text,
          how: z.enum(['made', 'changed', 'removed']),
          members,
        }),
      ),
    ),
    'In a change of settings: the budget, caller or plan, and its members before and after; `null` is not set. No members if there are too many.',
  ),
})

export const entryList = z.strictObject({
  entries: described(z.array(entry), 'Newest first.'),
  next: z.exactOptional(text),
})

const statementFigures = {
  updates: units,
  charged: units,
  external: whole,
  granted: whole,
  held: units,
  inDoubt: units,
  refused: described(units, 'Updates that were refused, except work that a plan found already done.'),
  wouldHaveRefused: described(units, 'Updates that limits of observed budgets would have refused.'),
  wouldHaveRefusedUnits: described(units, 'Units charged to those updates.'),
  amount: z.exactOptional(z.number()),
  cost: z.exactOptional(z.number()),
}

export const statement = z.strictObject({
  window: text,
  start: described(time, 'When the month begins.'),
  end: described(time, 'When the month ends.'),
  status: described(z.enum(['open', 'final']), '`final`: the month is over, with no units held or in doubt.'),
  notFinal: described(
    z.array(
      z.strictObject({
        update: text,
        project: text,
        state: z.enum(['running', 'in-doubt']),
        units: described(units, 'The units of its hold.'),
      }),
    ),
    'Updates that keep an ended month from being final: they hold units or are in doubt. At most 100.',
  ),
  correctedAt: described(
    z.exactOptional(time),
    'When an administrator last corrected the month after its end. A final month stays final, with the corrected figures.',
  ),
  by: described(
    z.union([z.enum(statementKeys), z.string().check(z.regex(/^tag:/))]),
    'The subject of a row; `tag:client` is the tag `client`.',
  ),
  tagKeys: described(z.array(text), 'Keys of the month’s tags, for `by=tag:<key>`; at most 100.'),
  price: described(z.exactOptional(z.number()), 'The price of one unit, as requested.'),
  prices: described(
    z.exactOptional(
      z.array(
        z.strictObject({
          from: described(z.exactOptional(text), 'The first day, such as `2026-12-01`, if the setting names it.'),
          perUnit: z.number(),
          units: described(whole, 'Charged and external units at this price.'),
        }),
      ),
    ),
    'The configured prices of the month’s units. `cost` is the price of `charged` and `external`.',
  ),
  currency: described(z.exactOptional(text), 'The currency of `cost` (ISO 4217).'),
  rows: described(
    z.array(
      z.strictObject({
        budget: z.exactOptional(z.nullable(text)),
        project: z.exactOptional(z.nullable(text)),
        caller: z.exactOptional(z.nullable(text)),
        tag: z.exactOptional(z.nullable(text)),
        ...statementFigures,
        paidElsewhere: z.exactOptional(units),
      }),
    ),
    'One row for each budget, project, caller or value of the tag. `null`: spent outside the guard; by tag also updates without the tag. `amount`: `charged` and `external` at the price. `paidElsewhere` (by budget): units that budgets above paid for the projects of this budget. The rows of those budgets have these units as `charged`, so no total adds `paidElsewhere`. A grant to a whole chain is in the row of each of its budgets, so `total.granted` counts only `account`, or the highest budgets that the caller reads. `wouldHaveRefused` (by budget) is in the row of the observed budget.',
  ),
  total: described(z.strictObject(statementFigures), 'Sums of the rows; `granted` counts only the budgets at the top.'),
  book: described(
    z.strictObject({ spent: whole, addsUp: z.nullable(z.boolean()) }),
    '`spent`: units spent according to the book. `addsUp`: the sum of the rows is `spent`; `null` if the book changed meanwhile.',
  ),
  previous: described(text, 'The month before.'),
  next: described(z.nullable(text), 'The month after; `null` for the open month.'),
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
  ok: described(
    z.nullable(z.boolean()),
    '`true`: every counter is the sum of its lines. `null`: a book changed while it was read.',
  ),
  books: described(
    z.array(z.strictObject({ window: text, budget: text, recorded: counter, recomputed: counter })),
    'Each counter as recorded, and as recomputed from its lines.',
  ),
  restored,
})

export const forecast = z.strictObject({
  budgets: described(
    z.array(
      z.strictObject({
        budget: text,
        window: windowKind,
        available: z.nullable(whole),
        committed: units,
        short: units,
        projected: units,
        exhaustedAt: z.exactOptional(time),
        exhaustedBy: z.exactOptional(text),
        pace: described(
          z.strictObject({ last7Days: z.nullable(z.number()), month: z.nullable(z.number()) }),
          'Units a day that no plan charged; `null` with fewer than three days of history.',
        ),
        projectedAtPace: z.nullable(units),
        exhaustedAtPace: z.exactOptional(time),
        lastPrice: z.nullable(units),
        ifResumed: units,
        unpriced: units,
        pricedAt: z.nullable(time),
        sumsFrom: z.exactOptional(time),
      }),
    ),
    'One row for each budget and window. `committed`: units that the played plans take. `short`: what the budget lacks for all updates of its plans. `exhaustedAt`: the first update for which it has too little, if only plans spend. `projectedAtPace`, `exhaustedAtPace`: as `projected` and `exhaustedAt`, with other spending at its recent pace. `exhaustedBy`: the plan that first needs too much. `lastPrice`: the price of the last update that the budget or a budget below paid. `sumsFrom`: from this time on, prices are only summed, because the plans have too many updates. `unpriced`: projects without a known price; if there are any, `committed`, `short`, `projected` and `projectedAtPace` are at least so much. `ifResumed`: units that paused plans would take if they were resumed now.',
  ),
})

export const caller = z.strictObject({
  sub: described(text, 'The `sub` of a token, or `slack:<user id>`. `*`: all callers who are not listed.'),
  ...shownShape(callerMembers),
  scopes: z.exactOptional(z.array(z.enum(scopes))),
  disabled: z.boolean(),
  ratePerMinute: z.exactOptional(units),
  windows: described(z.exactOptional(z.array(z.strictObject(figures))), 'The figures of `limits`.'),
  next: described(nextStop, 'What stops this caller next, apart from budgets. Only in answers to reads.'),
})

export const callerList = z.strictObject({ callers: described(z.array(caller), 'All listed callers.') })
