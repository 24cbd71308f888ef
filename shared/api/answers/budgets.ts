import * as z from 'zod/mini'
import { stopKinds } from '../../guard/reports/next-stop.ts'
import { statuses } from '../../guard/reports/outlook.ts'
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

const nextStop = z.exactOptional(
  z.strictObject({
    kind: described(z.enum(stopKinds), 'What refuses first; `nothing`: no rule and no limit does.'),
    budget: described(z.nullable(text), 'Of the rule or limit; a limit of the caller is `caller:<sub>`.'),
    window: z.nullable(windowKind),
    units: described(
      z.nullable(units),
      'How far it is: 0, nothing passes; `null`, nothing stops it. Of `per-update`, the most for one update.',
    ),
    updates: described(
      z.nullable(units),
      'How many more pass at the last price: 0, the next one is refused; `null`, the price is not known, or no limit counts.',
    ),
    price: described(z.nullable(units), 'What the last update cost.'),
    lastRefusedAt: described(z.nullable(time), 'When such a rule or limit last refused one, in the last 30 days.'),
    sentence: described(text, 'All this for people.'),
  }),
)

export const budget = z.strictObject({
  name: described(text, 'Its name.'),
  ...shownShape(budgetMembers),
  ...{ limits, projects, kinds: z.array(kind), approvers: z.array(text) },
  parent: described(z.nullable(text), 'The budget above; `null` for `account` alone.'),
  frozen: described(z.union([stop, z.literal(false)]), '`false`; or who froze it, when and why.'),
  enforce: described(z.exactOptional(z.literal(false)), 'Its limits are only observed and refuse nothing.'),
  unowned: described(
    z.exactOptional(z.enum(unownedRules)),
    'Of `account` alone: what happens to projects that no budget lists.',
  ),
  status: described(
    z.exactOptional(z.enum(statuses)),
    'Whether it will last until the reset. Where it is read, and in the open month only.',
  ),
  reason: described(z.exactOptional(text), 'Why it is not on track, in a sentence.'),
  next: described(nextStop, 'What stops its updates next. Where it is read, and in the open month only.'),
  windows: described(
    z.array(z.strictObject({ ...figures, childrenLimit: z.exactOptional(limit) })),
    'The counters. `available` + `held` + `inDoubt` + `spent` = `limit` + `granted`; `null` where it is unlimited.',
  ),
})

export const budgetList = z.strictObject({ budgets: described(z.array(budget), 'All of them.') })

export const appliedBudgets = z.strictObject({
  revision: described(whole, 'Of the definitions; also the `ETag`.'),
  dryRun: described(z.boolean(), 'Nothing was changed.'),
  differences: described(
    z.array(
      z.strictObject({
        budget: text,
        isNew: z.boolean(),
        members,
      }),
    ),
    'What is not the same already.',
  ),
  notes: described(
    z.array(text),
    'What the differences do not say: which projects move from which budget, a freeze or a plan that this concerns, listed names that may be read as each other, and projects that are refused from now on.',
  ),
})

export const entry = z.strictObject({
  id: described(text, 'Names the entry.'),
  type: z.enum(entryTypes),
  budget: described(z.nullable(text), '`null`: a budget that the caller may not read.'),
  units: described(whole, 'As asked; negative where a reconciliation found that too many were booked.'),
  to: z.exactOptional(text),
  corrects: z.exactOptional(text),
  window: described(text, 'The month or the day that it counts in.'),
  budgets: described(z.array(text), 'Every budget of which a counter was moved.'),
  reason: text,
  by: described(text, 'The caller who booked or changed it.'),
  at: described(time, 'When.'),
  asOf: described(z.exactOptional(time), 'Of a reconciliation: when the vendor showed the figure. Absent: at `at`.'),
  preview: described(
    z.exactOptional(
      z.strictObject({
        asOf: described(z.nullable(time), '`null`: now.'),
        unitsLeft: units,
        available: described(whole, 'What the account has available in the book.'),
        since: described(units, 'Spent since the figure, or too lately to be in it.'),
        held: described(units, 'With those of the month before.'),
        inDoubt: described(units, 'With those of the month before.'),
        difference: described(whole, 'Available, less what the figure leaves after `since`, `held` and `inDoubt`.'),
        after: described(whole, 'What the account would have available.'),
        sentence: text,
        open: described(z.array(text), 'Updates that were open then: the figure may have them or not.'),
      }),
    ),
    'Of a reconciliation with `dry-run=true`: nothing was booked.',
  ),
  binds: described(
    z.exactOptional(z.strictObject({ budget: text, window: windowKind, available: whole })),
    'The counter that has the least afterwards for an update of the budget (of a transfer: of `to`).',
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
    'Of a change of what is allowed: what it made of which budget, caller or plan; `null`: not set. Without members where they would be too many.',
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
  refused: described(units, 'Updates that were refused. What a plan found done is not counted.'),
  wouldHaveRefused: described(units, 'Updates that limits of observed budgets would have refused.'),
  wouldHaveRefusedUnits: described(units, 'What these were charged.'),
  amount: z.exactOptional(z.number()),
  cost: z.exactOptional(z.number()),
}

export const statement = z.strictObject({
  window: text,
  start: described(time, 'When the month begins.'),
  end: described(time, 'When the month ends.'),
  status: described(z.enum(['open', 'final']), '`final`: the month is over, and nothing of it is held or in doubt.'),
  notFinal: described(
    z.array(
      z.strictObject({
        update: text,
        project: text,
        state: z.enum(['running', 'in-doubt']),
        units: described(units, 'What it holds.'),
      }),
    ),
    'What keeps it from being final beside its `end`: updates that hold units or are in doubt; at most 100.',
  ),
  by: described(
    z.union([z.enum(statementKeys), z.string().check(z.regex(/^tag:/))]),
    'What a row is about; `tag:client` is the tag `client`.',
  ),
  tagKeys: described(z.array(text), 'Keys of the month’s tags, for `by=tag:<key>`; at most 100.'),
  price: described(z.exactOptional(z.number()), 'For one unit, as asked.'),
  prices: described(
    z.exactOptional(
      z.array(
        z.strictObject({
          from: described(z.exactOptional(text), 'The first day, such as `2026-12-01`, where the setting names it.'),
          perUnit: z.number(),
          units: described(whole, 'Charged and external units at this price.'),
        }),
      ),
    ),
    'Those of the settings that the month used; `cost` is what `charged` and `external` cost at them.',
  ),
  currency: described(z.exactOptional(text), 'Of `cost`; ISO 4217.'),
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
    'One for each budget, project, caller or value of the tag; `null`: spent outside the guard, and by tag also updates without it. `amount` is `charged` and `external` at the price. `paidElsewhere` (by budget): what budgets above this one paid for its projects; their rows have it as `charged`, and no total adds it. `wouldHaveRefused` (by budget): stands in the row of the observed budget.',
  ),
  total: described(z.strictObject(statementFigures), 'Of all rows; `granted` is that of `account`.'),
  book: described(
    z.strictObject({ spent: whole, addsUp: z.nullable(z.boolean()) }),
    'What the book says was spent, and whether the rows add up to it; `null` where it moved meanwhile.',
  ),
  previous: described(text, 'The month before.'),
  next: described(z.nullable(text), 'The month after; `null` for the open one.'),
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
    'Every counter is the sum of its lines; `null` where a book moved while it was read.',
  ),
  books: described(
    z.array(z.strictObject({ window: text, budget: text, recorded: counter, recomputed: counter })),
    'Each counter as recorded, and as its lines make it.',
  ),
  restored: described(
    z.exactOptional(z.strictObject({ at: time, to: z.exactOptional(time) })),
    'When the table was last accepted after a restore, and the time that it was restored to.',
  ),
})

export const status = z.strictObject({
  sweptAt: described(z.nullable(time), 'When the last sweep ended; `null` before the first one, and on AWS.'),
  backedUpAt: described(z.nullable(time), 'When the last backup ended; `null` where none is known of, and on AWS.'),
  waiting: described(
    z.strictObject({ requested: whole, awaitingApproval: whole, inDoubt: whole }),
    'How many updates wait for a process, for an approval and for the outcome of their run; 1000 may be more.',
  ),
  setAside: described(
    z.nullable(whole),
    'How many changes could not be passed on, so that updates may wait and messages may be missing: `npm run sweep`. `null` on AWS.',
  ),
})

export const forecast = z.strictObject({
  budgets: described(
    z.array(
      z.strictObject({
        budget: text,
        window: windowKind,
        available: z.nullable(whole),
        committed: units,
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
        updatesLeft: z.nullable(units),
        ifResumed: units,
        unpriced: units,
        pricedAt: z.nullable(time),
      }),
    ),
    'For each budget and window what plans will still take (`committed`), and when nothing will be left: with plans alone, and with everything else at its recent pace (`projectedAtPace`, `exhaustedAtPace`). `exhaustedBy`: the plan that first needs too much. `updatesLeft`: how many updates at `lastPrice` its chain can still pay; that is the price of the last update that the budget, or one below it, paid. `ifResumed`: what paused plans would take, if they were resumed now.',
  ),
})

export const caller = z.strictObject({
  sub: described(text, 'The `sub` of a token, or `slack:<user id>`; `*`: all who are not listed.'),
  ...shownShape(callerMembers),
  scopes: z.exactOptional(z.array(z.enum(scopes))),
  disabled: z.boolean(),
  ratePerMinute: z.exactOptional(units),
  windows: described(z.exactOptional(z.array(z.strictObject(figures))), 'The figures of `limits`.'),
  next: described(nextStop, 'What stops this caller next, beside the budgets that they charge. Where it is read.'),
  counted: described(
    z.exactOptional(z.strictObject({ month: whole, day: whole, max: whole })),
    'Of `*`: how many callers that are not listed are counted in the open month and day, and how many can be.',
  ),
})

export const callerList = z.strictObject({ callers: described(z.array(caller), 'All that are listed.') })
