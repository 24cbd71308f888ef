import * as z from 'zod/mini'
import { stateTexts } from '../../guard/states.ts'
import { verdicts } from '../../guard/update/explain.ts'
import { deliveryStates } from '../../ledger/updates/delivery.ts'
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
    'The version of its record. A later version has a higher number; each line of `history` is one version.',
  ),
  kind,
  project: text,
  budget: described(
    z.nullable(text),
    'Who pays. Its ancestors are charged too. `null`: a budget that the caller may not read.',
  ),
  caller: text,
  via: z.enum(vias),
  plan: z.exactOptional(text),
  reason: z.exactOptional(text),
  force: described(z.exactOptional(yes), 'Cool-down and freshness were skipped.'),
  maxUnits: described(z.exactOptional(units), 'The most units that the request allowed for each update.'),
  query: described(z.exactOptional(z.record(z.string(), text)), 'The query sent with `estimate` and `run`.'),
  tags: described(
    z.exactOptional(z.record(z.string(), text)),
    'Tags of the caller, such as a client. Absent if there are none.',
  ),
  state: described(
    z.enum(states),
    `The state of the update. ${states.map((state) => `\`${state}\`: it ${stateTexts[state].means}`).join(' ')} The last six are final.`,
  ),
  window: described(text, 'The billing month in which the update counts.'),
  units: described(
    z.strictObject({ estimated: z.nullable(units), held: units, charged: z.nullable(units) }),
    '`estimated`: by the service. `held`: against the limits. `charged`: in the end; `null` while the update is open.',
  ),
  overrun: described(z.exactOptional(units), 'Units that were charged in excess of the hold.'),
  wouldHaveRefused: described(
    z.exactOptional(lacked),
    'Limits of observed budgets (`enforce: false`) that would have refused the update when it was held. `short`: how many units the limit lacked; a limit that was used up lacked all units of the update. Only of budgets that the caller may read.',
  ),
  delivery: described(
    z.exactOptional(z.enum(deliveryStates)),
    'Whether the data of a settled run came: a new date among the project’s dates. `awaited`: not yet. `late`: not in `DELIVERY_HOURS`, so ask the service for the units back. `came`: they did. `given-back`: the service gave units back. Absent: no data are expected.',
  ),
  createdAt: described(time, 'When it was recorded.'),
  finishedAt: described(z.exactOptional(time), 'When it became final.'),
  approvedBy: described(z.exactOptional(text), 'Who agreed.'),
  approvedUpTo: described(z.exactOptional(units), 'The most units that the update may hold by its approval.'),
  problem: described(
    z.exactOptional(problem),
    'Why it was refused or did not run. Absent if the answer itself is this problem.',
  ),
  service: described(
    z.exactOptional(z.strictObject({ status: whole, body: text, truncated: z.exactOptional(yes) })),
    'The service’s answer to `run`, cut at 16 KiB.',
  ),
  history: described(
    z.array(z.strictObject({ state: z.enum(states), at: time, by: text, note: z.exactOptional(text) })),
    'Every state, when, by whom, and why. If the answer is a problem, a `note` that `problem` says too is absent.',
  ),
})

export const notRecorded = z.strictObject({ project: text, problem })

export const updatesAnswer = z.strictObject({
  updates: described(z.array(update), 'The update of each project, in order; within the cool-down the earlier update.'),
  notRecorded: described(
    z.exactOptional(z.array(notRecorded)),
    'Projects without an estimate, or that the ledger did not record. The same key may be sent again.',
  ),
})

export const updateList = z.strictObject({
  updates: described(z.array(update), 'Newest first.'),
  next: z.exactOptional(text),
  count: described(
    z.exactOptional(units),
    'How many updates all pages have. Only on the first page, with `since`, for at most two months of whole days.',
  ),
  sum: described(z.exactOptional(units), 'Units charged on all pages. Absent if the sums of the days do not suffice.'),
})
const notDecided = z.exactOptional(z.array(z.strictObject({ id: text, detail: text })))

const resolvedUpdates = z.strictObject({
  updates: described(z.array(update), 'The resolved updates.'),
  notResolved: described(notDecided, 'Updates that were not resolved, and why.'),
})

const proposedResolutions = z.strictObject({
  updates: described(
    z.array(
      z.strictObject({
        id: text,
        project: text,
        outcome: z.enum(['ran', 'did-not-run']),
        units: described(units, 'The cost, or the held units that come back.'),
        because: described(text, 'The setting that decides, in a sentence.'),
        retryAt: described(z.exactOptional(time), 'Before this time `did-not-run` is refused.'),
      }),
    ),
    'The updates in doubt that the stored answers decide, oldest doubt first.',
  ),
  leftOut: described(
    z.strictObject({ cut: units, cached: units, undecodable: units, unknown: units }),
    'How many stored answers decide nothing: cut at 16 KiB, given by a cache, not decodable, or not decided by a setting.',
  ),
  note: described(z.exactOptional(text), 'Why nothing is proposed.'),
})

export const resolvedAnswer = z.union([resolvedUpdates, proposedResolutions])

export const cancelledAnswer = z.strictObject({
  updates: described(z.array(update), 'The cancelled updates.'),
  notCancelled: described(notDecided, 'Updates that were not cancelled, and why.'),
})

const check = z.strictObject({
  check: described(text, 'The name of the check, such as `same-work`, `rules`, `one-update`, `counter` or `approval`.'),
  verdict: described(
    z.enum(verdicts),
    '`would-refuse`: a limit that is only observed. `unknown`: the estimate is missing.',
  ),
  figure: described(text, 'The checked figure, or why the check refuses or wants approval.'),
  budget: described(z.exactOptional(text), 'Only for a `counter`, like the members below.'),
  window: z.exactOptional(windowKind),
  limit: z.exactOptional(limit),
  available: z.exactOptional(z.nullable(whole)),
  needed: described(z.exactOptional(z.nullable(units)), '`null` without an estimate.'),
})

export const estimate = z.strictObject({
  kind,
  units: described(units, 'Units of all projects together, as far as they are known.'),
  projects: described(
    z.array(
      z.strictObject({
        project: text,
        units: z.nullable(units),
        problem: z.exactOptional(problem),
        checks: described(
          z.exactOptional(z.array(check)),
          'With `explain=true`: all checks, in order. The first check that refuses is the `problem`.',
        ),
      }),
    ),
    'What each project needs, and why its update would not pass by itself. `units` is `null` without an estimate of the service. If no project has an estimate, the answer itself is the problem.',
  ),
  allowed: described(z.boolean(), '`true`: the request would pass now.'),
  problem: described(
    z.exactOptional(problem),
    'Why `allowed` is `false`: the first problem of a project, or that the projects together do not fit.',
  ),
  approval: described(
    z.exactOptional(text),
    'Why the update would need approval. Also names requests for the same work that already wait for approval.',
  ),
  wouldHaveRefused: described(
    z.exactOptional(lacked),
    'Limits of observed budgets (`enforce: false`) that would refuse the request if they were enforced. Absent if the request would be refused anyway.',
  ),
  budgets: described(z.array(z.strictObject({ budget: text, ...figures })), 'Every counter that would change.'),
})

const occurrenceFigures = {
  time: described(time, 'The scheduled time, which identifies the occurrence.'),
  state: described(z.enum(occurrenceStates), 'Where it stands.'),
  reason: z.exactOptional(text),
  finishedAt: described(z.nullable(time), 'When the occurrence ended; `null` while it runs.'),
}

export const plan = z.strictObject({
  name: described(text, 'The name of the plan in the plans file.'),
  kind,
  projects: described(z.array(text), 'In order of priority.'),
  budget: described(z.nullable(text), '`null`: each project’s owner pays, or the caller may not read the budget.'),
  schedule: described(text, 'As in the plans file, in UTC.'),
  whenShort: described(z.enum(['refuse', 'fit', 'ask']), 'What happens if units are short, as in `POST /updates`.'),
  query: described(z.exactOptional(z.record(z.string(), text)), 'Query parameters of each run.'),
  mayChargeAncestors: described(
    z.exactOptional(yes),
    '`budget` also pays for projects that a budget below it owns. Otherwise these projects are refused.',
  ),
  leave: described(
    z.exactOptional(z.union([units, z.record(z.string(), units)])),
    'Units of each window that stay for others: in every counter, or in the named budgets.',
  ),
  tags: described(z.exactOptional(z.record(z.string(), text)), 'Tags of each of its updates.'),
  enabled: described(z.boolean(), '`true`: its schedule requests updates.'),
  paused: described(z.union([stop, z.literal(false)]), '`false`; or who paused it, when and why.'),
  next: described(z.nullable(time), 'When the plan is due next; `null` if never, or if only AWS knows the time.'),
  nextLocal: described(z.nullable(text), '`next` in the account’s time zone.'),
  last: described(
    z.nullable(z.strictObject({ ...occurrenceFigures, counts: z.exactOptional(z.record(z.string(), units)) })),
    'The plan’s last occurrence. After its end, `counts` says how many projects were `settled`, `refused` and so on, without zeros.',
  ),
})

export const planList = z.strictObject({ plans: described(z.array(plan), 'As in the plans file.') })

export const occurrence = z.strictObject({
  plan: text,
  ...occurrenceFigures,
  nextTryAt: described(z.exactOptional(time), 'When projects that have not run are tried again.'),
  counts: described(
    z.strictObject({
      settled: units,
      upToDate: units,
      refused: units,
      noPrice: units,
      released: units,
      inDoubt: units,
      awaitingApproval: units,
      requested: units,
      expired: units,
      unsent: units,
    }),
    'How many projects are in each state. `upToDate`: the work was done already, or the project has data of today. `noPrice`: the service says 0 units.',
  ),
  unitsCharged: described(units, 'Units charged to all its updates.'),
  projects: described(
    z.array(
      z.strictObject({
        project: text,
        update: z.nullable(text),
        state: z.enum([...states, 'up-to-date', 'unsent']),
        problem: z.exactOptional(problem),
      }),
    ),
    'Each project, its last update and the state of that update.',
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
