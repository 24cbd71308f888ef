import { allOf, anyOf, type Kinds, kindsBy, namesOf } from '../../shared/tracking/kinds.ts'
import type { JsonSchema } from './schemas.ts'

type Meaning = string | ((kinds: Kinds) => string)

/** What members of bodies and parameters of queries mean, wherever they stand. */
const meanings: Readonly<Record<string, Meaning>> = {
  kind: (kinds) => `Which update: ${anyOf(namesOf(kinds).map((kind) => `\`${kind}\``))}.`,
  project: (kinds) =>
    `The project, as the service names it in its paths; a ${anyOf(kindsBy(kinds, 'id'))} update takes its identifier.`,
  budget: 'The budget.',
  reason: 'Why; kept, and shown to readers.',
  caller: 'Who asked: the `sub` of a token, `schedule:<plan>` or `slack:<user id>`.',
  via: 'By which door it came.',
  plan: 'The plan that asked.',
  since: 'From this time on.',
  until: 'Before this time.',
  limit: 'How many rows a page has at most; it may be shorter while there is a `next`.',
  cursor: 'The `next` of the page before.',
  window: 'A billing month by its name, such as `month:2026-11-12`; without it the open one.',
  next: 'Ask for the next page with it as `cursor`; absent on the last.',
  perUpdate: 'An update that needs more units is refused.',
  person:
    'Several callers with one person do not approve each other. A chain of persons counts to its end; a circle is refused.',
}

/** Where a schema or a query has members of its own, or means something else by a name. */
const own: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  UpdatesRequest: {
    projects: '1 to 20 projects, each once; each is an update of its own. Instead of `project`.',
    budget:
      'Who pays; without it the project’s owner, else `account`. An owned project is charged to its owner or an ancestor of it.',
    maxUnits: 'Refuse each update that needs more.',
    force: 'Skip cool-down and freshness, never what is running or in doubt; needs `reason`, and the scope `admin`.',
    whenShort:
      '`refuse`: all or nothing; `fit`: in order, what still fits; `ask`: what is short awaits an approval, which grants it once.',
    query: 'Sent to the service with `estimate` and `run` alike.',
  },
  Approval: {
    units: 'What it was shown to need: more by now is 409. Without it whatever it needs is agreed to.',
  },
  Resolution: {
    outcome: 'What happened; `did-not-run` is not taken before `retryAt`.',
    units: 'What it cost; goes with `ran` only. Without it what was held.',
  },
  ManyResolutions: {
    ids: 'Up to 100 updates that are in doubt.',
    outcome: 'What happened, to all of them.',
    units: 'What each cost; goes with `ran` only. Without it what was held.',
  },
  ManyCancellations: { ids: 'Up to 100 updates that have not been started.' },
  BudgetRequest: {
    parent:
      'The budget above; `account` without it, at most 8 deep. A child may be larger than its parent: every ancestor counts too.',
    limits: 'A window that is not named is counted, but not limited. 0 means nothing.',
    projects: (kinds) =>
      `What is charged here by default; a project has one owner. \`id\` is what ${anyOf(kindsBy(kinds, 'id'))} paths call it.`,
    approvalAbove: 'A person has to agree above so many units.',
    approvalExpiresAfter:
      'How long an approval may be given: 15 minutes to 7 days, such as `30m`, `4h` or `2d`. Without it as the parent says; a day where no budget above says.',
    approvalIfGrown: 'A person has to agree where the project’s last update cost so many per cent less.',
    kinds: (kinds) => `Which updates; ${allOf(kinds)} without it.`,
    approvers: 'Callers who may approve; everyone with the scope without it.',
    thresholds: 'Per cent of a window that are announced once each; 80 and 100 without it.',
    freezeOnOverrun: 'Freeze the budget when a run cost more than was held.',
  },
  BudgetsRequest: {
    budgets: 'Members that are not named stay as they are; a new budget needs `limits`; nothing is deleted.',
  },
  EntryRequest: {
    type: 'What is booked.',
    units: 'How many units; of a correction: what the entry ought to have said, 0 for nothing.',
    window: 'Which counter is moved.',
    wholeChain: 'Grant as much to all ancestors, in one transaction.',
    to: 'The budget that gets them. What both budgets have above them stays.',
    corrects: 'The entry that ought to have said `units`. One correction of each; then correct the correction.',
  },
  Reconciliation: {
    unitsLeft: 'The figure on the vendor’s screen. What is held or in doubt is taken as not yet in it.',
  },
  CallerRequest: {
    scopes: 'For a token: no more than these; for Slack: exactly these.',
    budgets: 'What may be charged, descendants included; `*`: all. For a token: no more than these.',
    disabled: 'Nothing any more: updates and changes at once, reads within two seconds.',
    mayForce: 'May force updates without `admin`; this and `mayChargeAncestors` alone widen a token.',
    mayChargeAncestors:
      'May name a budget above the one that owns a project, without `admin`. The rules of the owner hold, its limits do not.',
    limits:
      'Counted over all budgets, in the same condition of the same hold; refusals name the counter `caller:<sub>`.',
    ratePerMinute: 'More requests in a minute are 429, counted by each process.',
  },
  OccurrenceRequest: {
    time: 'The scheduled time. The same plan and time never runs a project twice.',
    only: 'However late it is, `unsent`: what was never begun, expired or provably did not run; `refused`: what was refused, decided again by the budgets as they are now.',
  },
  CreateProjectInput: { keywords: 'Keywords.', searchengines: 'Search engines.', websites: 'Websites.' },
  UpdateProjectInput: {
    keywords: 'Keywords that are set.',
    websites: 'Websites that are set.',
    addSearchengines: 'Search engines that are added.',
    removeSearchengines: 'Search engines that are removed.',
  },
  Update: {
    id: 'Names the update for ever.',
    budget: 'Who pays; all its ancestors are charged too.',
    force: 'Cool-down and freshness were skipped.',
    maxUnits: 'It was refused if it needed more.',
    query: 'What was sent with `estimate` and `run`.',
    state: 'Where it stands; `settled`, `released`, `refused`, `rejected`, `cancelled` and `expired` are final.',
    window: 'The billing month that it counts in.',
    units:
      '`estimated` before anything was held; `held` against the limits; `charged` in the end, `null` while that is open.',
    overrun: 'So many units more than were held were charged.',
    createdAt: 'When it was recorded.',
    finishedAt: 'When it became final.',
    approvedBy: 'Who agreed.',
    problem: 'Why it was refused or did not run.',
    service: 'What the service answered to `run`, at most 16 KiB of it.',
    history: 'Every state, when, by whom, and why.',
  },
  Updates: {
    updates: 'One for each project, in order; within the cool-down the earlier one.',
    notRecorded: 'Projects whose estimate could not be had; the same key may try again.',
  },
  Cancelled: { updates: 'What was cancelled.', notCancelled: 'What was not, and why.' },
  Resolved: { updates: 'What was resolved.', notResolved: 'What was not, and why.' },
  Estimate: {
    units: 'What all need together, as far as it is known.',
    projects:
      'What each needs, and why it would not pass by itself. `units` is `null` where the service gave no estimate; if it gave none for any project, the answer is that problem.',
    allowed: 'Whether it would pass, if it were asked for now.',
    problem: 'Why not: the first problem of a project, or that all of them together do not fit.',
    budgets: 'Every counter that would be moved.',
  },
  Budget: {
    name: 'Its name.',
    parent: 'The budget above; `null` for `account` alone.',
    frozen: '`false`; or who froze it, when and why.',
    windows:
      'The counters. `available` + `held` + `inDoubt` + `spent` = `limit` + `granted`; `null` where it is unlimited.',
  },
  AppliedBudgets: {
    revision: 'Of the definitions; also the `ETag`.',
    dryRun: 'Nothing was changed.',
    differences: 'What is not the same already.',
  },
  Entry: {
    id: 'Names the entry.',
    units: 'As asked; negative where a reconciliation found that too many were booked.',
    window: 'The month or the day that it counts in.',
    budgets: 'Every budget of which a counter was moved.',
    binds: 'The counter that has the least afterwards for an update of the budget (of a transfer: of `to`).',
    changed:
      'Of a change of what is allowed: what it made of which budget, caller or plan; `null`: not set. Without members where they would be too many.',
  },
  Statement: {
    status: '`final`: the month is over, and nothing of it is held or in doubt.',
    price: 'For one unit, as asked.',
    rows: 'One for each budget, project or caller; `null`: spent outside the guard. `amount` is `charged` and `external` at the price. `paidElsewhere` (by budget): what budgets above this one paid for its projects; their rows have it as `charged`, and no total adds it.',
    total: 'Of all rows; `granted` is that of `account`.',
    book: 'What the book says was spent, and whether the rows add up to it; `null` where it moved meanwhile.',
    previous: 'The month before.',
    next: 'The month after; `null` for the open one.',
  },
  Audit: {
    ok: 'Every counter is the sum of its lines; `null` where a book moved while it was read.',
    books: 'Each counter as recorded, and as its lines make it.',
  },
  Plan: {
    schedule: 'As in the plans file, in UTC.',
    mayChargeAncestors: 'Charges `budget` also for projects that a budget below it owns; otherwise these are refused.',
    leave: 'So many units of each window stay for others: of every counter, or of the budgets that are named.',
    paused: '`false`; or who paused it, when and why.',
    next: 'When it is due next; `null` where it is unknown here.',
    nextLocal: 'The same in the account’s time zone.',
    last: 'Its last occurrence.',
  },
  Occurrence: {
    nextTryAt: 'When what has not run is tried again.',
    counts: 'How many projects stand where; `upToDate` were done already, or have data of today.',
    unitsCharged: 'Of all its updates.',
    projects: 'Each project, its last update and where that stands.',
  },
  Forecast: {
    budgets: 'For each budget and window what plans will still take (`committed`), and when nothing will be left.',
  },
  Caller: { windows: 'The figures of `limits`.' },
  ChangeList: { changes: 'Projects that were created or updated through the gateway, newest first.' },
  'query updates': {
    budget: 'Charged to this budget.',
    state: 'In this state; open ones in the order in which they entered it.',
  },
  'query estimate': {
    project: 'Repeat it for more, up to 20.',
    budget: 'Who would pay; without it each project’s owner, else `account`.',
  },
  'query apply': {
    'dry-run': '`true`: only show the difference.',
    prune: 'A member that a named budget loses where its row does not name it; repeat it for more, or `all`.',
  },
  'query entries': { since: 'Booked from this time on.' },
  'query statement': {
    by: 'What a row is.',
    price: 'For one unit, up to six decimals; adds `amount`, rounded to the cent in each row and in the total.',
  },
  'query createProject': {
    frequency: 'How often the service updates it on its own; other than `ondemand` takes the scope `admin`.',
    country: 'A country code of the interface.',
  },
}

/** What a member means; undefined: its name says all there is to say. */
export function meaningOf(schema: string, member: string, kinds: Kinds): string | undefined {
  const meaning = own[schema]?.[member] ?? meanings[member]
  return typeof meaning === 'function' ? meaning(kinds) : meaning
}

/** The shapes that a body may have: mostly one. */
export const shapesOf = (schema: JsonSchema): readonly JsonSchema[] =>
  !schema.properties && schema.oneOf ? schema.oneOf : [schema]

/** Puts the meanings into a schema. */
export function describeMembers(name: string, schema: JsonSchema, kinds: Kinds): void {
  for (const { properties } of shapesOf(schema)) {
    for (const [member, of] of Object.entries(properties ?? {})) {
      const description = meaningOf(name, member, kinds)
      if (description !== undefined) of.description = description
    }
  }
}
