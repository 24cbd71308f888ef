import { toRfc3339 } from '../../platform/clock.ts'
import { type Counter, storedCounter } from '../book/book.ts'
import { type WindowKind, windowKinds } from '../book/definitions.ts'
import type { Write } from '../store/store.ts'
import { byKind, flag, instant, list, map, number, oneOf, optional, record, text, textOf, whole } from '../stored.ts'
import type { PriceJumped, Released, Repeats, WillRunOut } from './news.ts'
import { addTask, type Task, type TaskKind, taskMembers } from './queue.ts'
import type { SlackMessage } from './slack-events.ts'
import { isUnderWay, type Update, type UpdateRequest } from './update.ts'

/** The transaction that causes an announcement writes it. */
export interface Announcement extends Task {
  readonly about: About
  /** Of the update. */
  readonly traceparent?: string
  /** Failed attempts. */
  readonly tries: number
  readonly notBefore?: number
  readonly givenUp?: string
  /** The bot's message, edited when its updates change. */
  readonly posted?: SlackMessage & {
    /** Absent: the announcement's own. */
    readonly updates?: readonly string[]
  }
  /** The announcement whose message tells this one too. */
  readonly partOf?: string
}

export type About =
  | DecisionNews
  | { readonly kind: Exclude<UpdateNews, DecisionNews['kind']>; readonly update: string }
  | { readonly kind: 'outcome'; readonly update: string; readonly replyTo: string }
  | {
      readonly kind: 'occurrence'
      readonly occurrence: string
      /** How it ended; it may run again. Older announcements lack it. */
      readonly state?: OccurrenceState
    }
  | {
      readonly kind: 'threshold'
      readonly budget: string
      readonly window: WindowKind
      readonly percent: number
      readonly used: number
      readonly of: number
      readonly resetsAt: number
    }
  | WillRunOut
  | {
      readonly kind: 'refusals'
      readonly caller: string
      /** The latest; `otherBudgets` counts the rest. */
      readonly budget: string
      readonly otherBudgets?: number
      readonly count: number
      readonly since: number
      readonly detail: string
    }
  | Repeats
  | PriceJumped
  | {
      readonly kind: 'stopped'
      readonly what: 'budget' | 'plan'
      readonly name: string
      readonly by: string
      readonly reason: string
      readonly isStopped: boolean
    }
  | Released
  | { readonly kind: 'given-back'; readonly units: number; readonly by: string; readonly reason: string }
  | {
      readonly kind: 'foreign-data'
      readonly found: readonly { readonly project: string; readonly dates: readonly string[] }[]
      readonly more: number
    }
  | { readonly kind: 'token-expires'; readonly expiresAt: number; readonly daysLeft: number }
  | { readonly kind: 'audit-failed'; readonly books: readonly WrongCounter[]; readonly more: number }
  | { readonly kind: 'digest'; readonly until: number }

const kindsForSystems = [
  ...(['threshold', 'will-run-out', 'price-jumped', 'repeats', 'occurrence', 'audit-failed'] as const),
] as const satisfies readonly About['kind'][]

/** Other systems are told too. */
export type NewsForSystems = Extract<About, { kind: (typeof kindsForSystems)[number] }>

export const isForSystems = (about: About): about is NewsForSystems =>
  (kindsForSystems as readonly string[]).includes(about.kind)

interface WrongCounter {
  readonly window: string
  readonly budget: string
  readonly recorded: Counter
  readonly recomputed: Counter
}

export type DecisionNews = {
  readonly kind: 'approval-wanted' | 'approval-reminder' | 'in-doubt'
  readonly update: string
}

type UpdateNews = DecisionNews['kind'] | 'overrun' | 'correction'

const ofUpdate = { update: text }

const storedAbout = byKind<About>({
  'approval-wanted': ofUpdate,
  'approval-reminder': ofUpdate,
  'in-doubt': ofUpdate,
  overrun: ofUpdate,
  correction: ofUpdate,
  outcome: { update: text, replyTo: text },
  occurrence: { occurrence: text, state: optional(textOf()) },
  threshold: {
    budget: text,
    window: oneOf(windowKinds),
    percent: number,
    used: number,
    of: number,
    resetsAt: instant,
  },
  'will-run-out': { budget: text, at: instant, plan: optional(text), left: number, short: number, resetsAt: instant },
  refusals: { caller: text, budget: text, otherBudgets: optional(whole), count: whole, since: instant, detail: text },
  repeats: { caller: text, budget: text, project: text, count: whole, since: instant },
  'price-jumped': { update: text, budget: text, project: text, units: number, before: number },
  stopped: { what: oneOf(['budget', 'plan']), name: text, by: text, reason: text, isStopped: flag },
  released: { budget: text, otherBudgets: whole, projects: list(text), more: whole, by: text, reason: text },
  'given-back': { units: number, by: text, reason: text },
  'foreign-data': {
    found: list(
      record<{ readonly project: string; readonly dates: readonly string[] }>({ project: text, dates: list(text) }),
    ),
    more: whole,
  },
  'token-expires': { expiresAt: instant, daysLeft: number },
  'audit-failed': {
    books: list(
      record<WrongCounter>({ window: text, budget: text, recorded: storedCounter, recomputed: storedCounter }),
    ),
    more: whole,
  },
  digest: { until: instant },
})

export const announcements: TaskKind<Announcement> = {
  name: 'announcement',
  stored: record<Announcement>({
    ...taskMembers,
    about: storedAbout,
    traceparent: optional(text),
    tries: whole,
    notBefore: optional(instant),
    givenUp: optional(text),
    posted: optional(
      record<NonNullable<Announcement['posted']>>({ channel: text, ts: text, updates: optional(list(text)) }),
    ),
    partOf: optional(text),
  }),
  // By time, for replays. Others cost no row.
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

/** An id is announced once, even if several processes find it. */
export const announce = (...of: Parameters<typeof announcement>): Write => addTask(announcements, announcement(...of))

const newsId = ({ id }: Pick<Update, 'id'>, kind: UpdateNews, version: number) => `${id}#${kind}#${version}`

/** Each line of a history is a version. */
export function decisionNewsOf(update: Pick<Update, 'id' | 'history'>): readonly string[] {
  return update.history.flatMap(({ state }, position) => {
    if (state === 'in-doubt') return [newsId(update, 'in-doubt', position + 1)]
    const kinds = ['approval-wanted', 'approval-reminder'] as const
    return state === 'awaiting-approval' ? kinds.map((kind) => newsId(update, kind, position + 1)) : []
  })
}

export function announcedWith(update: Update, seen: Update | null): Write[] {
  const at = update.history.at(-1)?.at ?? update.createdAt
  const news = (kind: UpdateNews) =>
    announce(newsId(update, kind, update.version), at, { kind, update: update.id } as About, update)
  const isNewState = update.state !== seen?.state
  // One transaction must not write an item twice.
  const waiting = [...new Set(update.replyTo)]
  return [
    ...(isNewState && update.state === 'awaiting-approval' ? [news('approval-wanted')] : []),
    ...(isNewState && update.state === 'in-doubt' ? [news('in-doubt')] : []),
    ...(update.overrun !== undefined && update.overrun !== seen?.overrun ? [news('overrun')] : []),
    ...(update.corrected && !seen?.corrected ? [news('correction')] : []),
    ...priceJumped(update, seen),
    // An update that ends with its first line is answered at once.
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

/** Written with the hold, so before the run. */
function priceJumped({ id, budget, project, hold, priceBefore: before }: Update, seen: Update | null): Write[] {
  if (before === undefined || seen?.priceBefore !== undefined || !hold) return []
  const about = { kind: 'price-jumped', update: id, budget, project, units: hold.units, before } as const
  return [announce(`${id}#price-jumped`, hold.at, about)]
}

/** Its updates' records have the outcome of each project. */
export interface Occurrence extends Task {
  readonly plan: string
  readonly time: number
  readonly state: OccurrenceState
  readonly reason?: string
  /** When it ended; 0 is left out. */
  readonly counts?: Readonly<Record<string, number>>
  /** What its updates had been charged when it ended. */
  readonly charged?: number
  /** By the clock or a person. Attempts count from here. */
  readonly startedAt: number
  readonly only?: 'refused'
  readonly round: number
  readonly nextAt: number
  readonly lease?: { readonly by: string; readonly until: number }
}

export const occurrenceStates = ['running', 'done', 'stopped', 'missed', 'paused'] as const
export type OccurrenceState = (typeof occurrenceStates)[number]

export const occurrencesOf = (plan: string) => `occurrences#${plan}`

export const occurrences: TaskKind<Occurrence> = {
  name: 'occurrence',
  stored: record<Occurrence>({
    ...taskMembers,
    plan: text,
    time: instant,
    state: oneOf(occurrenceStates),
    reason: optional(text),
    counts: optional(map(whole)),
    charged: optional(whole),
    startedAt: instant,
    only: optional(oneOf(['refused'])),
    round: whole,
    nextAt: instant,
    lease: optional(record<NonNullable<Occurrence['lease']>>({ by: text, until: instant })),
  }),
  listed: ({ plan, time }) => ({ in: occurrencesOf(plan), at: time }),
}

export const occurrenceId = (plan: string, time: number): string => `${plan}#${new Date(time).toISOString()}`

/** A person asked on the dashboard, which may not write occurrences, so the sweep runs what is left. */
export interface Rerun extends Task {
  readonly plan: string
  readonly time: number
  readonly only: RunAgain
  /** The version of the occurrence that the person saw; another one is not run again. */
  readonly seenVersion: number
  readonly by: string
}

export const runsAgain = ['unsent', 'refused'] as const
export type RunAgain = (typeof runsAgain)[number]

export const reruns: TaskKind<Rerun> = {
  name: 'rerun',
  stored: record<Rerun>({
    ...taskMembers,
    plan: text,
    time: instant,
    only: oneOf(runsAgain),
    seenVersion: whole,
    by: text,
  }),
}

/** One for each end of an occurrence, however often it is pressed. */
export const rerunId = ({ id, version }: Pick<Occurrence, 'id' | 'version'>): string => `${id}#${version}`
