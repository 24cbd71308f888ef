import * as z from 'zod/mini'
import { stateTexts } from '../../guard/states.ts'
import { verdicts } from '../../guard/update/explain.ts'
import { occurrenceStates } from '../../ledger/updates/tasks.ts'
import { states, vias } from '../../ledger/updates/update.ts'
import {
  described,
  figures,
  kind,
  lacked,
  limit,
  problem,
  stop,
  text,
  time,
  units,
  whole,
  windowKind,
  yes,
} from './pieces.ts'

export const update = z.strictObject({
  id: described(z.string().check(z.regex(/^upd_[0-9a-z]+$/)), 'Names the update for ever.'),
  version: described(
    z.int().check(z.gte(1)),
    'Of its record. A later version has a higher number; each line of `history` is one version.',
  ),
  kind,
  project: text,
  budget: described(
    z.nullable(text),
    'Who pays; all its ancestors are charged too. `null`: a budget that the caller may not read.',
  ),
  caller: text,
  via: z.enum(vias),
  plan: z.exactOptional(text),
  reason: z.exactOptional(text),
  force: described(z.exactOptional(yes), 'Cool-down and freshness were skipped.'),
  maxUnits: described(z.exactOptional(units), 'It was refused if it needed more.'),
  query: described(z.exactOptional(z.record(z.string(), text)), 'What was sent with `estimate` and `run`.'),
  tags: described(
    z.exactOptional(z.record(z.string(), text)),
    'The caller’s own words for it, such as a client; absent without any.',
  ),
  state: described(
    z.enum(states),
    `Where it stands. ${states.map((state) => `\`${state}\`: it ${stateTexts[state].means}`).join(' ')} The last six are final.`,
  ),
  window: described(text, 'The billing month that it counts in.'),
  units: described(
    z.strictObject({ estimated: z.nullable(units), held: units, charged: z.nullable(units) }),
    '`estimated` before anything was held; `held` against the limits; `charged` in the end, `null` while that is open.',
  ),
  overrun: described(z.exactOptional(units), 'So many units more than were held were charged.'),
  wouldHaveRefused: described(
    z.exactOptional(lacked),
    'Limits of observed budgets (`enforce: false`) that would have refused it when it was held, and how many units they lacked: of a limit that was used up, all that was needed. Of budgets that the caller may read.',
  ),
  createdAt: described(time, 'When it was recorded.'),
  finishedAt: described(z.exactOptional(time), 'When it became final.'),
  approvedBy: described(z.exactOptional(text), 'Who agreed.'),
  approvedUpTo: described(z.exactOptional(units), 'The update never holds more units than the approver agreed to.'),
  problem: described(
    z.exactOptional(problem),
    'Why it was refused or did not run. Of a refused update beside a problem, absent where it is that problem.',
  ),
  service: described(
    z.exactOptional(z.strictObject({ status: whole, body: text, truncated: z.exactOptional(yes) })),
    'What the service answered to `run`, at most 16 KiB of it.',
  ),
  history: described(
    z.array(z.strictObject({ state: z.enum(states), at: time, by: text, note: z.exactOptional(text) })),
    'Every state, when, by whom, and why. Beside a problem, `note` is absent where `problem` says it.',
  ),
})

export const notRecorded = z.strictObject({ project: text, problem })

export const updatesAnswer = z.strictObject({
  updates: described(z.array(update), 'One for each project, in order; within the cool-down the earlier one.'),
  notRecorded: described(
    z.exactOptional(z.array(notRecorded)),
    'Projects whose estimate could not be had; the same key may try again.',
  ),
})

export const updateList = z.strictObject({
  updates: described(z.array(update), 'Newest first.'),
  next: z.exactOptional(text),
  count: described(
    z.exactOptional(units),
    'Of all pages. On the first page of a filter with `since`, for up to two months of whole days.',
  ),
  sum: described(z.exactOptional(units), 'Units charged to all of them. Not where the sums of days do not tell it.'),
})
const notDecided = z.exactOptional(z.array(z.strictObject({ id: text, detail: text })))

export const resolvedAnswer = z.strictObject({
  updates: described(z.array(update), 'What was resolved.'),
  notResolved: described(notDecided, 'What was not, and why.'),
})

export const cancelledAnswer = z.strictObject({
  updates: described(z.array(update), 'What was cancelled.'),
  notCancelled: described(notDecided, 'What was not, and why.'),
})

const check = z.strictObject({
  check: described(text, 'Its name, such as `same-work`, `rules`, `one-update`, `counter` or `approval`.'),
  verdict: described(
    z.enum(verdicts),
    '`would-refuse`: a limit that is only observed. `unknown`: it needs an estimate that is missing.',
  ),
  figure: described(text, 'What it looked at, or why it refuses or asks.'),
  budget: described(z.exactOptional(text), 'Of a `counter`, as all that follows.'),
  window: z.exactOptional(windowKind),
  limit: z.exactOptional(limit),
  available: z.exactOptional(z.nullable(whole)),
  needed: described(z.exactOptional(z.nullable(units)), '`null` without an estimate.'),
})

export const estimate = z.strictObject({
  kind,
  units: described(units, 'What all need together, as far as it is known.'),
  projects: described(
    z.array(
      z.strictObject({
        ...{ project: text, units: z.nullable(units), problem: z.exactOptional(problem) },
        checks: described(
          z.exactOptional(z.array(check)),
          'With `explain=true`: every check in the order in which they are made. The first that refuses is the `problem`.',
        ),
      }),
    ),
    'What each needs, and why it would not pass by itself. `units` is `null` where the service gave no estimate; if it gave none for any project, the answer is that problem.',
  ),
  allowed: described(z.boolean(), 'Whether it would pass, if it were asked for now.'),
  problem: described(
    z.exactOptional(problem),
    'Why not: the first problem of a project, or that all of them together do not fit.',
  ),
  approval: described(
    z.exactOptional(text),
    'Why a person would have to approve it, and which requests for the same work wait for approval already.',
  ),
  wouldHaveRefused: described(
    z.exactOptional(lacked),
    'Limits of observed budgets (`enforce: false`) that would refuse it if they were enforced. Absent where it would be refused anyway.',
  ),
  budgets: described(z.array(z.strictObject({ budget: text, ...figures })), 'Every counter that would be moved.'),
})

const occurrenceFigures = {
  time: described(time, 'Its scheduled time, which names it.'),
  state: described(z.enum(occurrenceStates), 'Where it stands.'),
  reason: z.exactOptional(text),
  finishedAt: described(z.nullable(time), 'When it ended; `null` while it runs.'),
}

export const plan = z.strictObject({
  name: described(text, 'Its name in the plans file.'),
  kind,
  projects: described(z.array(text), 'In order of priority.'),
  budget: described(z.nullable(text), '`null`: each project’s owner pays, or a budget that the caller may not read.'),
  schedule: described(text, 'As in the plans file, in UTC.'),
  whenShort: described(z.enum(['refuse', 'fit', 'ask']), 'What happens where units are short, as in `POST /updates`.'),
  query: described(z.exactOptional(z.record(z.string(), text)), 'Query parameters of each run.'),
  mayChargeAncestors: described(
    z.exactOptional(yes),
    'Charges `budget` also for projects that a budget below it owns; otherwise these are refused.',
  ),
  leave: described(
    z.exactOptional(z.union([units, z.record(z.string(), units)])),
    'So many units of each window stay for others: of every counter, or of the budgets that are named.',
  ),
  tags: described(z.exactOptional(z.record(z.string(), text)), 'Tags of each of its updates.'),
  enabled: described(z.boolean(), 'Whether its schedule asks for updates.'),
  paused: described(z.union([stop, z.literal(false)]), '`false`; or who paused it, when and why.'),
  next: described(z.nullable(time), 'When it is due next; `null` where it is unknown here.'),
  nextLocal: described(z.nullable(text), 'The same in the account’s time zone.'),
  last: described(
    z.nullable(z.strictObject({ ...occurrenceFigures, counts: z.exactOptional(z.record(z.string(), units)) })),
    'Its last occurrence. `counts`, once it has ended: how many projects were `settled`, `refused` and so on; zeros are left out.',
  ),
})

export const planList = z.strictObject({ plans: described(z.array(plan), 'As in the plans file.') })

export const occurrence = z.strictObject({
  plan: text,
  ...occurrenceFigures,
  nextTryAt: described(z.exactOptional(time), 'When what has not run is tried again.'),
  counts: described(
    z.strictObject({
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
    'How many projects stand where; `upToDate` were done already, or have data of today.',
  ),
  unitsCharged: described(units, 'Of all its updates.'),
  projects: described(
    z.array(
      z.strictObject({
        project: text,
        update: z.nullable(text),
        state: z.enum([...states, 'up-to-date', 'unsent']),
        problem: z.exactOptional(problem),
      }),
    ),
    'Each project, its last update and where that stands.',
  ),
})

const counts = z.strictObject({
  keywords: z.exactOptional(units),
  searchengines: z.exactOptional(units),
  websites: z.exactOptional(units),
})

export const changeList = z.strictObject({
  changes: described(
    z.array(
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
    'Projects that were created or updated through the gateway, newest first.',
  ),
  next: z.exactOptional(text),
})
