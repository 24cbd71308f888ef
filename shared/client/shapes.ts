// Generated from the schemas in shared/api/answers. After a change there, run:
// npx vitest run --config test/vitest.config.ts client/shapes --update

// Units are whole numbers. Times are RFC 3339 in UTC.

/** RFC 9457. `type` narrows the members: `if (problem.type === '/problems/over-budget') problem.budgets …` */
export type Problem = {
  [Slug in keyof ProblemMembers]: ProblemMembers[Slug] & {
    type: `/problems/${Slug}`
    title: string
    status: number
    detail: string
    requestId?: string
  }
}[keyof ProblemMembers]

export interface Update {
  /** Names the update for ever. */
  id: string
  /** The version of its record. A later version has a higher number; each line of `history` is one version. */
  version: number
  /** The kind of update: `ranking` or `keyword-difficulty`. */
  kind: 'ranking' | 'keyword-difficulty'
  /** The project, as the service names it in its paths. A keyword-difficulty update takes its identifier. */
  project: string
  /** Who pays. Its ancestors are charged too. `null`: a budget that the caller may not read. */
  budget: string | null
  /** Who asked: the `sub` of a token, `schedule:<plan>` or `slack:<user id>`. */
  caller: string
  /** Where the request came from. */
  via: 'http' | 'gateway' | 'schedule' | 'slack' | 'mcp'
  /** The plan that asked. */
  plan?: string
  /** The reason. It is kept, and shown to readers. */
  reason?: string
  /** Cool-down and freshness were skipped. */
  force?: true
  /** The most units that the request allowed for each update. */
  maxUnits?: number
  /** The query sent with `estimate` and `run`. */
  query?: Record<string, string>
  /** Tags of the caller, such as a client. Absent if there are none. */
  tags?: Record<string, string>
  /** The state of the update. `awaiting-approval`: it waits for approval by another person. Nothing is spent before that. `requested`: it will begin in a moment. Nothing has been spent yet. `running`: it is running. Its units are set aside. `in-doubt`: it may have run, so it stays counted and is never sent again. `settled`: it is done, and its units are charged. `released`: it did not run, and nothing was spent. `refused`: it was refused. Nothing was spent. `rejected`: it was rejected by a person. Nothing was spent. `cancelled`: it was cancelled. Nothing was spent. `expired`: it expired: it was not approved or started in time. Nothing was spent. The last six are final. */
  state:
    | 'awaiting-approval'
    | 'requested'
    | 'running'
    | 'in-doubt'
    | 'settled'
    | 'released'
    | 'refused'
    | 'rejected'
    | 'cancelled'
    | 'expired'
  /** The billing month in which the update counts. */
  window: string
  /** `estimated`: by the service. `held`: against the limits. `charged`: in the end; `null` while the update is open. */
  units: { estimated: number | null; held: number; charged: number | null }
  /** Units that were charged in excess of the hold. */
  overrun?: number
  /** Limits of observed budgets (`enforce: false`) that would have refused the update when it was held. `short`: how many units the limit lacked; a limit that was used up lacked all units of the update. Only of budgets that the caller may read. */
  wouldHaveRefused?: { budget: string; window: 'month' | 'day'; short: number }[]
  /** Whether the data of a settled run came: a new date among the project’s dates. `awaited`: not yet. `late`: not in `DELIVERY_HOURS`, so ask the service for the units back. `came`: they did. `given-back`: the service gave units back. Absent: no data are expected. */
  delivery?: 'awaited' | 'late' | 'came' | 'given-back'
  /** When it was recorded. */
  createdAt: string
  /** When it became final. */
  finishedAt?: string
  /** Who agreed. */
  approvedBy?: string
  /** The most units that the update may hold by its approval. */
  approvedUpTo?: number
  /** Why it was refused or did not run. Absent if the answer itself is this problem. */
  problem?: Problem
  /** The service’s answer to `run`, cut at 16 KiB. */
  service?: { status: number; body: string; truncated?: true }
  /** Every state, when, by whom, and why. If the answer is a problem, a `note` that `problem` says too is absent. */
  history: {
    state:
      | 'awaiting-approval'
      | 'requested'
      | 'running'
      | 'in-doubt'
      | 'settled'
      | 'released'
      | 'refused'
      | 'rejected'
      | 'cancelled'
      | 'expired'
    at: string
    by: string
    note?: string
  }[]
}

export interface Updates {
  /** The update of each project, in order; within the cool-down the earlier update. */
  updates: Update[]
  /** Projects without an estimate, or that the ledger did not record. The same key may be sent again. */
  notRecorded?: { project: string; problem: Problem }[]
}

export interface UpdateList {
  /** Newest first. */
  updates: Update[]
  /** Send it as `cursor` to get the next page. Absent on the last page. */
  next?: string
  /** How many updates all pages have. Only on the first page, with `since`, for at most two months of whole days. */
  count?: number
  /** Units charged on all pages. Absent if the sums of the days do not suffice. */
  sum?: number
}

export interface Cancelled {
  /** The cancelled updates. */
  updates: Update[]
  /** Updates that were not cancelled, and why. */
  notCancelled?: { id: string; detail: string }[]
}

export interface Estimate {
  /** The kind of update: `ranking` or `keyword-difficulty`. */
  kind: 'ranking' | 'keyword-difficulty'
  /** Units of all projects together, as far as they are known. */
  units: number
  /** What each project needs, and why its update would not pass by itself. `units` is `null` without an estimate of the service. If no project has an estimate, the answer itself is the problem. */
  projects: {
    project: string
    units: number | null
    problem?: Problem
    /** With `explain=true`: all checks, in order. The first check that refuses is the `problem`. */
    checks?: {
      /** The name of the check, such as `same-work`, `rules`, `one-update`, `counter` or `approval`. */
      check: string
      /** `would-refuse`: a limit that is only observed. `unknown`: the estimate is missing. */
      verdict: 'passes' | 'refuses' | 'asks' | 'would-refuse' | 'unknown'
      /** The checked figure, or why the check refuses or wants approval. */
      figure: string
      /** Only for a `counter`, like the members below. */
      budget?: string
      window?: 'month' | 'day'
      limit?: number | 'unlimited'
      available?: number | null
      /** `null` without an estimate. */
      needed?: number | null
    }[]
  }[]
  /** `true`: the request would pass now. */
  allowed: boolean
  /** Why `allowed` is `false`: the first problem of a project, or that the projects together do not fit. */
  problem?: Problem
  /** Why the update would need approval. Also names requests for the same work that already wait for approval. */
  approval?: string
  /** Limits of observed budgets (`enforce: false`) that would refuse the request if they were enforced. Absent if the request would be refused anyway. */
  wouldHaveRefused?: { budget: string; window: 'month' | 'day'; short: number }[]
  /** Every counter that would change. */
  budgets: {
    budget: string
    window: 'month' | 'day'
    start: string
    end: string
    resetsAt: string
    limit: number | 'unlimited'
    granted: number
    available: number | null
    held: number
    inDoubt: number
    spent: number
  }[]
}

export interface Budget {
  /** Its name. */
  name: string
  /** The budget above; `null` only for `account`. */
  parent: string | null
  /** A window without a limit is only counted. 0 allows no units. */
  limits: { window: 'month' | 'day'; units: number | 'unlimited' }[]
  /** Projects that are charged here by default; a project has one owner. `id` is the project’s id in keyword-difficulty paths. */
  projects: { name: string; id?: string }[]
  /** An update that needs more units is refused. */
  perUpdate?: number
  /** Units that updates must leave for plans in each limited window of the budget. An update that is not a plan’s is refused if it would leave fewer. Updates of the budgets below must leave them, too. */
  keep?: number
  /** An update that needs more units than this needs approval. */
  approvalAbove?: number
  /** An update needs approval if its price exceeds the price of the project’s last update by more than this percentage. */
  approvalIfGrown?: number
  /** How long an update waits for approval: 15 minutes to 7 days, such as `30m`, `4h` or `2d`. Default: the nearest budget above that sets it, or a day. */
  approvalExpiresAfter?: string
  /** The kinds of update that are allowed; default both. */
  kinds: ('ranking' | 'keyword-difficulty')[]
  /** `false`; or who froze it, when and why. */
  frozen: { reason: string; by: string; at: string } | false
  /** Callers who may approve. Default: the approvers of the nearest budget above with approvers, or all callers with the scope `approve`. */
  approvers: string[]
  /** Percentages of a limit; the guard announces each percentage once in a window. Default: 80 and 100. */
  thresholds?: number[]
  /** Freeze the budget when a run cost more than was held. */
  freezeOnOverrun?: true
  /** Its limits are only observed and refuse nothing. */
  enforce?: false
  /** The id of the Slack channel for messages about this budget; needs a bot token. Default: the channel of the nearest budget above with a channel, or `SLACK_CHANNEL`. */
  slackChannel?: string
  /** Only for `account`: what happens to projects that no budget lists. */
  unowned?: 'pay' | 'approve' | 'refuse'
  /** The outlook until the reset. Only in answers to reads of the open month. */
  status?: 'on-track' | 'at-risk' | 'exhausted' | 'frozen'
  /** Why the budget is not on track, in a sentence. */
  reason?: string
  /** What stops the budget’s updates next. Only in answers to reads of the open month. */
  next?: {
    /** What refuses first. `nothing`: no rule or limit refuses. */
    kind: 'freeze' | 'kinds' | 'per-update' | 'limit' | 'disabled' | 'scopes' | 'budgets' | 'nothing'
    /** The budget of that rule or limit, or `caller:<sub>` for a limit of the caller. */
    budget: string | null
    window: 'month' | 'day' | null
    /** Units that still pass. 0: none. `null`: no limit. With `per-update`: the most for one update. */
    units: number | null
    /** Updates that still pass, if all runs of the last 30 days had one price. 0: the next one is refused. `null`: not known, or no limit applies. */
    updates: number | null
    /** What the last update cost. */
    price: number | null
    /** When a rule or limit last refused an update, in the last 30 days. */
    lastRefusedAt: string | null
    /** These facts in a sentence for people. */
    sentence: string
  }
  /** The counters. `available` + `held` + `inDoubt` + `spent` = `limit` + `granted`. `available` is `null` if the limit is unlimited. */
  windows: {
    window: 'month' | 'day'
    start: string
    end: string
    resetsAt: string
    limit: number | 'unlimited'
    granted: number
    available: number | null
    held: number
    inDoubt: number
    spent: number
    childrenLimit?: number | 'unlimited'
  }[]
}

export interface BudgetList {
  /** All of them. */
  budgets: Budget[]
}

export interface Entry {
  /** Names the entry. */
  id: string
  /** The type of the entry. */
  type:
    | 'opening'
    | 'grant'
    | 'external-spend'
    | 'transfer'
    | 'correction'
    | 'reconcile'
    | 'limit'
    | 'renewal'
    | 'adopt'
    | 'restore'
    | 'budget-created'
    | 'budget-deleted'
    | 'freeze'
    | 'unfreeze'
    | 'caller'
    | 'pause'
    | 'resume'
  /** `null`: a budget that the caller may not read. */
  budget: string | null
  /** As requested. Negative if a reconciliation found that too many units were booked. */
  units: number
  /** The budget that gets the units. Ancestors that both budgets share do not change. */
  to?: string
  /** The corrected entry, or the update that cost `units`. */
  corrects?: string
  /** The month or the day in which the entry counts. */
  window: string
  /** Every budget with a counter that changed. */
  budgets: string[]
  /** The reason. It is kept, and shown to readers. */
  reason: string
  /** The caller who booked the entry or made the change. */
  by: string
  /** When the entry was booked. */
  at: string
  /** In a reconciliation: when the vendor showed the figure; `at` if absent. */
  asOf?: string
  /** In a reconciliation with `dry-run=true`, which books nothing. */
  preview?: {
    /** `null`: now. */
    asOf: string | null
    unitsLeft: number
    /** Units that the account has available in the book. */
    available: number
    /** Units spent after the figure, or too shortly before it to be included. */
    since: number
    /** Units held in this month. */
    held: number
    /** Units in doubt in this month, after `doubts` are closed. */
    inDoubt: number
    /** What the book expects on the vendor’s screen: `available` + `since` + `held` + `inDoubt`. */
    expected: number
    /** `expected` − `unitsLeft`. */
    difference: number
    /** Units that the account would have available after the booking. */
    after: number
    sentence: string
    /** Updates open at that time; the figure may include them. */
    open: string[]
    /** Updates in doubt that the figure has if they ran. The booking closes them first; the other members count them as closed. */
    doubts: { id: string; project: string; units: number; outcome?: 'ran' | 'did-not-run' }[]
    /** Running updates and updates in doubt that are too new for this figure. */
    young: string[]
    /** A figure of this time or later has all of `young`. */
    again?: string
    /** What is still open in the month before. It is no part of the difference. */
    monthBefore: { held: number; inDoubt: number; open: string[] }
  }
  /** The counter with the fewest units left afterwards for an update of the budget (after a transfer: of `to`). */
  binds?: { budget: string; window: 'month' | 'day'; available: number }
  /** In a change of settings: the budget, caller or plan, and its members before and after; `null` is not set. No members if there are too many. */
  changed?: {
    kind: 'budget' | 'caller' | 'plan'
    name: string
    how: 'made' | 'changed' | 'removed'
    members: { member: string; from: unknown; to: unknown }[]
  }[]
}

export interface Plan {
  /** The name of the plan in the plans file. */
  name: string
  /** The kind of update: `ranking` or `keyword-difficulty`. */
  kind: 'ranking' | 'keyword-difficulty'
  /** In order of priority. */
  projects: string[]
  /** `null`: each project’s owner pays, or the caller may not read the budget. */
  budget: string | null
  /** As in the plans file, in UTC. */
  schedule: string
  /** What happens if units are short, as in `POST /updates`. */
  whenShort: 'refuse' | 'fit' | 'ask'
  /** Query parameters of each run. */
  query?: Record<string, string>
  /** `budget` also pays for projects that a budget below it owns. Otherwise these projects are refused. */
  mayChargeAncestors?: true
  /** Units of each window that stay for others: in every counter, or in the named budgets. */
  leave?: number | Record<string, number>
  /** Tags of each of its updates. */
  tags?: Record<string, string>
  /** `true`: its schedule requests updates. */
  enabled: boolean
  /** `false`; or who paused it, when and why. */
  paused: { reason: string; by: string; at: string } | false
  /** When the plan is due next; `null` if never, or if only AWS knows the time. */
  next: string | null
  /** `next` in the account’s time zone. */
  nextLocal: string | null
  /** The plan’s last occurrence. After its end, `counts` says how many projects were `settled`, `refused` and so on, without zeros. */
  last: {
    /** The scheduled time, which identifies the occurrence. */
    time: string
    /** Where it stands. */
    state: 'running' | 'done' | 'stopped' | 'missed' | 'paused'
    reason?: string
    /** When the occurrence ended; `null` while it runs. */
    finishedAt: string | null
    counts?: Record<string, number>
  } | null
}

export interface Audit {
  /** `true`: every counter is the sum of its lines. `null`: a book changed while it was read. */
  ok: boolean | null
  /** Each counter as recorded, and as recomputed from its lines. */
  books: {
    window: string
    budget: string
    recorded: {
      limit: number | 'unlimited'
      granted: number
      available: number | null
      held: number
      inDoubt: number
      spent: number
    }
    recomputed: {
      limit: number | 'unlimited'
      granted: number
      available: number | null
      held: number
      inDoubt: number
      spent: number
    }
  }[]
  /** `at`: when the table was last accepted after a restore. `to`: the time to which it was restored. */
  restored?: { at: string; to?: string }
}

export interface Status {
  /** The version of Unit Guard. */
  version: string
  /** What is wrong now. Empty: nothing that this process can see. */
  troubles: {
    slug:
      | 'disk'
      | 'ledger'
      | 'secret'
      | 'clock'
      | 'account-frozen'
      | 'service-token'
      | 'service-unreachable'
      | 'service-busy'
      | 'sweep-late'
      | 'backup-failed'
      | 'backup-late'
      | 'set-aside'
      | 'slack-refuses'
      | 'events-given-up'
      | 'option-lost'
      | 'plan-not-fired'
    /** When it began, or when this process first saw it. */
    since: string | null
    sentence: string
    /** What an operator does. */
    remedy: string
  }[]
  /** When the last sweep ended; `null` before the first one, and on AWS. */
  sweptAt: string | null
  /** When the last backup ended; `null` if none is known, and on AWS. */
  backedUpAt: string | null
  /** How many updates wait for a process, for an approval and for the outcome of their run. 1000: at least 1000. */
  waiting: { requested: number; awaitingApproval: number; inDoubt: number }
  /** How many changes could not be passed on. Above 0, updates may wait and messages may be missing; run `npm run sweep`. `null` on AWS. */
  setAside: number | null
  /** `at`: when the table was last accepted after a restore. `to`: the time to which it was restored. */
  restored?: { at: string; to?: string }
}

export interface ProblemMembers {
  'invalid-request': {
    /** Each fault: the path of the member, and what is wrong. */
    errors: { path: string; message: string }[]
  }
  unauthorized: object
  forbidden: {
    /** The budget. */
    budget?: string | null
    /** The update that blocks the request. */
    update?: string
  }
  'wrong-address': object
  'over-budget': {
    /** How many units the update needs. */
    units: number | null
    /** How many units are missing; `null` without an estimate. */
    short: number | null
    /** The counters that have too little. */
    budgets: (
      | {
          budget: string
          window: 'month' | 'day'
          limit: number
          held: number
          inDoubt: number
          spent: number
          available: number
          short: number | null
          resetsAt: string
        }
      | { budget: string; window: 'month' | 'day'; available: number }
      | { budget: null; short: number | null }
    )[]
    /** Requests that would pass instead, in sentences. */
    wouldPass?: string[]
  }
  'over-update-limit': {
    /** How many units the update needs. */
    units: number
    /** The budget. */
    budget?: string | null
    /** The most units that one update may cost. */
    perUpdate?: number
  }
  'kind-not-allowed': {
    /** The budget. */
    budget: string | null
  }
  'no-price': {
    /** How many units the update needs. */
    units: number
  }
  'project-unowned': {
    /** The project that no budget lists. */
    project?: string
  }
  'over-max-units': {
    /** How many units the update needs. */
    units: number
    /** The most units that the request allows for each update. */
    maxUnits: number
  }
  'already-fresh': {
    /** How many units the update needs. */
    units: number
    /** The day of the data, in the account’s time zone. */
    date: string
  }
  'budget-frozen': {
    /** The budget. */
    budget: string | null
  }
  'plan-paused': {
    /** The plan that is paused, or is already in the requested state. */
    plan?: string | null
  }
  rejected: object
  cancelled: object
  expired: object
  'already-updated': {
    /** The update that blocks the request. */
    update?: string
  }
  'not-found': object
  'method-not-allowed': object
  'in-progress': {
    /** The update that blocks the request. */
    update?: string
  }
  'duplicate-work': {
    /** The update that blocks the request. */
    update?: string
    /** Before this time the work is refused without `force`. */
    until?: string
  }
  'ledger-restored': {
    /** Before this time the work is refused without `force`. */
    until: string
  }
  'wrong-state': {
    /** The update that blocks the request. */
    update?: string
    /** The state of the update. */
    state?:
      | 'awaiting-approval'
      | 'requested'
      | 'running'
      | 'in-doubt'
      | 'settled'
      | 'released'
      | 'refused'
      | 'rejected'
      | 'cancelled'
      | 'expired'
    /** The same request may pass from this time on. */
    retryAt?: string
    /** How many units the update needs. */
    units?: number
    /** The plan that is paused, or is already in the requested state. */
    plan?: string
    /** The budget. */
    budget?: string | null
    /** The projects that no budget would list. */
    projects?: string[]
  }
  contradicted: {
    /** Each fault: the path of the member, and what is wrong. */
    errors: { path: string; message: string }[]
    /** Whether the same request passes with `asWritten=true`. */
    asWritten: boolean
  }
  'doubts-open': {
    /** The updates in doubt that the figure has if they ran, with their held units. */
    doubts: { update: string; project: string; units: number }[]
  }
  'precondition-failed': {
    /** The revision of the definitions now. */
    revision: number
  }
  'too-large': object
  'unsupported-media-type': object
  'key-reused': object
  'too-many-requests': {
    /** How many requests a minute the caller may make. */
    ratePerMinute: number
  }
  'estimate-unreadable': {
    /** The structure of the service’s answer, without values. */
    shape: string
  }
  'service-refused': {
    /** The status of the service’s answer; `null` without an answer. */
    serviceStatus: number | null
    /** How many seconds the service asks to wait, at most an hour. */
    retryAfter?: number
  }
  'service-unreachable': {
    /** The status of the service’s answer; `null` without an answer. */
    serviceStatus?: number | null
  }
  'ledger-unavailable': object
  undecided: object
  'identity-unavailable': object
  'wrong-clock': {
    /** The time of the guard’s clock. */
    here: string
    /** The time of the service’s clock, from the `Date` of its answer. */
    atService: string
  }
  'secret-unavailable': object
  internal: object
}
