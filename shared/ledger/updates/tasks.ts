import { toRfc3339 } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { storedCounter } from '../definitions/counters.ts'
import { windowKinds } from '../definitions/definitions.ts'
import type { Key, Write } from '../store/store.ts'
import {
  byKind,
  type ContentByKind,
  flag,
  instant,
  list,
  type Members,
  number,
  type Of,
  oneOf,
  optional,
  record,
  text,
  textOf,
  whole,
  yes,
} from '../store/stored.ts'
import { isUndelivered } from './delivery.ts'
import { addTask, type TaskKind, taskKey, taskMembers } from './queue.ts'
import { isUnderWay, type State, type Update, type UpdateRequest } from './update.ts'

export const occurrenceStates = ['running', 'done', 'stopped', 'missed', 'paused'] as const
export type OccurrenceState = (typeof occurrenceStates)[number]

const forPeople = <const Table extends Members>(members: Table) => ({ members, isForSystems: false }) as const
/** Other systems receive the announcement, too, as an event. */
const forSystemsToo = <const Table extends Members>(members: Table) => ({ members, isForSystems: true }) as const

const ofUpdate = { update: text }
/** Asks people to decide about an update while it is in this state. */
const forDecision = <const In extends State>(asksIn: In) =>
  ({ members: ofUpdate, isForSystems: false, asksIn }) as const

/** Each kind of announcement: who receives it, and its stored members. Its row in `shared/slack/tell/news.ts` has the message. */
export const newsKinds = {
  'approval-wanted': forDecision('awaiting-approval'),
  'approval-reminder': forDecision('awaiting-approval'),
  'in-doubt': forDecision('in-doubt'),
  overrun: forPeople(ofUpdate),
  correction: forPeople(ofUpdate),
  outcome: forPeople({ update: text, replyTo: text }),
  /** `state`: how the occurrence ended at that time, because it may run again later. Older announcements lack it. */
  occurrence: forSystemsToo({ occurrence: text, state: optional(textOf<OccurrenceState>()) }),
  threshold: forSystemsToo({
    budget: text,
    window: oneOf(windowKinds),
    percent: number,
    used: number,
    of: number,
    resetsAt: instant,
  }),
  /** Absent `plan`: recent spending, not a plan, uses up the budget. `isAtLeast`: prices are missing, so it may be earlier, and more. */
  'will-run-out': forSystemsToo({
    budget: text,
    at: instant,
    plan: optional(text),
    left: number,
    short: number,
    isAtLeast: optional(yes),
    resetsAt: instant,
  }),
  /** `budget`: the budget that refused last. `otherBudgets`: how many other budgets refused. */
  refusals: forPeople({
    caller: text,
    budget: text,
    otherBudgets: optional(whole),
    count: whole,
    since: instant,
    detail: text,
  }),
  /** `budget` and `project`: of the last repeat. */
  repeats: forSystemsToo({ caller: text, budget: text, project: text, count: whole, since: instant }),
  /** The units held for an update are far above the previous price. */
  'price-jumped': forSystemsToo({ update: text, budget: text, project: text, units: number, before: number }),
  /** A run's answer states `units` at `place`, and no one said that this is the cost. */
  'unread-figure': forPeople({
    update: text,
    updateKind: textOf<Kind>(),
    place: text,
    units: whole,
    held: whole,
    /** The place is the estimate's. */
    atEstimate: optional(yes),
  }),
  stopped: forPeople({ what: oneOf(['budget', 'plan']), name: text, by: text, reason: text, isStopped: flag }),
  /** Projects that left a budget and that no budget lists now. */
  released: forPeople({
    budget: text,
    otherBudgets: whole,
    projects: list(text),
    more: whole,
    by: text,
    reason: text,
  }),
  /** The update of a day without data; others of the same day share it. */
  'not-delivered': forSystemsToo(ofUpdate),
  'given-back': forPeople({ units: number, by: text, reason: text }),
  'foreign-data': forPeople({ found: list(record({ project: text, dates: list(text) })), more: whole }),
  'token-expires': forPeople({ expiresAt: instant, daysLeft: number }),
  'audit-failed': forSystemsToo({
    books: list(record({ window: text, budget: text, recorded: storedCounter, recomputed: storedCounter })),
    more: whole,
  }),
  digest: forPeople({ until: instant }),
}
export type NewsKind = keyof typeof newsKinds
type NewsMembers = { readonly [Kind in NewsKind]: (typeof newsKinds)[Kind]['members'] }
export type About = ContentByKind<NewsMembers>
export type AboutOf<Kind extends NewsKind> = Extract<About, { readonly kind: Kind }>

const newsMembers = Object.fromEntries(
  Object.entries(newsKinds).map(([kind, { members }]) => [kind, members]),
) as NewsMembers

/** Written in the transaction that causes the announcement. */
const storedAnnouncement = record({
  ...taskMembers,
  about: byKind(newsMembers),
  /** The update's trace context. */
  traceparent: optional(text),
  /** Failed attempts. */
  tries: whole,
  notBefore: optional(instant),
  givenUp: optional(text),
  /** The bot's message, edited when its updates change. Without `updates`, it shows only the update in `about`. */
  posted: optional(
    record({
      channel: text,
      ts: text,
      updates: optional(list(text)),
      /** The number of updates in doubt with the same sign, as the message says. */
      doubts: optional(whole),
    }),
  ),
  /** The announcement whose message covers this one, too. */
  partOf: optional(text),
})
export type Announcement = Of<typeof storedAnnouncement>

/** The kinds whose rows are like this. */
type KindsWith<Row> = { [Kind in NewsKind]: (typeof newsKinds)[Kind] extends Row ? Kind : never }[NewsKind]

/** Announcements that other systems receive, too. */
export type NewsForSystems = AboutOf<KindsWith<{ readonly isForSystems: true }>>

export const isForSystems = (about: About): about is NewsForSystems => newsKinds[about.kind].isForSystems

type DecisionKind<In extends State = State> = KindsWith<{ readonly asksIn: In }>

const kindsAskingIn = (state: State): readonly DecisionKind[] =>
  (Object.keys(newsKinds) as NewsKind[]).filter((kind): kind is DecisionKind => asksIn(kind) === state)

function asksIn(kind: NewsKind): State | null {
  const row = newsKinds[kind]
  return 'asksIn' in row ? row.asksIn : null
}

export const asksForApproval = (about: About): about is AboutOf<DecisionKind<'awaiting-approval'>> =>
  asksIn(about.kind) === 'awaiting-approval'

/** Announcements of which an update is all that is stored. */
type UpdateNews = {
  [Kind in NewsKind]: { readonly kind: Kind; readonly update: string } extends AboutOf<Kind> ? Kind : never
}[NewsKind]

export const announcements: TaskKind<Announcement> = {
  name: 'announcement',
  stored: storedAnnouncement,
  // Only these kinds have a row in the index, because replays list them by time.
  listed: ({ about, createdAt }) =>
    isForSystems(about) ? { in: newsListedIn(toRfc3339(createdAt).slice(0, 7)), at: createdAt } : undefined,
}

/** @param month `2026-11` */
export const newsListedIn = (month: string) => `announcements#${month}`

export const announcement = (
  id: string,
  createdAt: number,
  about: About,
  { traceparent }: Pick<UpdateRequest, 'traceparent'> = {},
): Announcement => ({ id, version: 1, createdAt, about, ...(traceparent !== undefined && { traceparent }), tries: 0 })

/** Each id is announced once, even if several processes announce it. */
export const announce = (...of: Parameters<typeof announcement>): Write => addTask(announcements, announcement(...of))

const newsId = ({ id }: Pick<Update, 'id'>, kind: UpdateNews, version: number) => `${id}#${kind}#${version}`

type Doubt = Pick<Update, 'id' | 'kind' | 'hold' | 'doubt'>

/** Doubts of one kind of update, day and sign share one announcement. `null`: this one has its own. */
export function sharedNewsOf({ kind, hold, doubt }: Omit<Doubt, 'id'>): string | null {
  if (doubt?.sign === undefined || !hold) return null
  return `in-doubt#${kind}#${hold.day}#${digest(doubt.sign)}`
}

const doubtNewsId = (update: Doubt, version: number): string =>
  sharedNewsOf(update) ?? newsId(update, 'in-doubt', version)

const entersDoubt = (update: Update, seen: Update | null): boolean =>
  update.state === 'in-doubt' && seen?.state !== 'in-doubt'

/** The shared announcement that this change would write. Another doubt may have written it. */
export function sharedNewsKey(update: Update, seen: Update | null): Key | null {
  const id = entersDoubt(update, seen) ? sharedNewsOf(update) : null
  return id === null ? null : taskKey(announcements, id)
}

/** The position of a line in the history is its version. */
export function decisionNewsOf(update: Doubt & Pick<Update, 'history'>): readonly string[] {
  return update.history.flatMap(({ state }, position) =>
    kindsAskingIn(state).map((kind) =>
      kind === 'in-doubt' ? doubtNewsId(update, position + 1) : newsId(update, kind, position + 1),
    ),
  )
}

/** @param isDoubtAnnounced whether the shared announcement of this doubt exists. */
export function announcedWith(
  update: Update,
  seen: Update | null,
  { isDoubtAnnounced = false }: { readonly isDoubtAnnounced?: boolean } = {},
): Write[] {
  const at = update.history.at(-1)?.at ?? update.createdAt
  const news = (kind: UpdateNews, id = newsId(update, kind, update.version)) =>
    announce(id, at, { kind, update: update.id }, update)
  const isDoubtNews = entersDoubt(update, seen) && !isDoubtAnnounced
  const isNewState = update.state !== seen?.state
  // One transaction must not write an item twice.
  const waiting = [...new Set(update.replyTo)]
  return [
    ...(isNewState && update.state === 'awaiting-approval' ? [news('approval-wanted')] : []),
    ...(isDoubtNews ? [news('in-doubt', doubtNewsId(update, update.version))] : []),
    ...(update.overrun !== undefined && update.overrun !== seen?.overrun ? [news('overrun')] : []),
    ...(update.corrected && !seen?.corrected ? [news('correction')] : []),
    ...(isNewlyLate(update, seen) ? [news('not-delivered')] : []),
    ...priceJumped(update, seen),
    // If an update ended with its first line, the answer to the request had the outcome.
    ...(seen && isNewState && !isUnderWay(update.state) ? waiting : []).map((replyTo) =>
      announce(
        `${update.id}#outcome#${update.version}#${replyTo}`,
        at,
        { kind: 'outcome', update: update.id, replyTo },
        update,
      ),
    ),
  ]
}

/** Updates of one day share one announcement. */
const isNewlyLate = (update: Update, seen: Update | null): boolean =>
  isUndelivered(update) && update.delivery?.sharedWith === undefined && seen?.delivery?.state !== 'late'

/** Written with the hold, before the run. */
function priceJumped({ id, budget, project, hold, priceBefore: before }: Update, seen: Update | null): Write[] {
  if (before === undefined || seen?.priceBefore !== undefined || !hold) return []
  const about = { kind: 'price-jumped', update: id, budget, project, units: hold.units, before } as const
  return [announce(`${id}#price-jumped`, hold.at, about)]
}
