import { type WindowKind, windowKinds } from '../book/definitions.ts'
import type { Write } from '../store/store.ts'
import { byKind, flag, instant, list, number, oneOf, optional, record, text, whole } from '../stored.ts'
import { addTask, type Task, type TaskKind, taskMembers } from './queue.ts'
import { isTerminal, type Update } from './update.ts'

/** Something that people shall be told. It is written with what it is about, and open until it was told. */
export interface Announcement extends Task {
  readonly about: About
  /** How often it was tried in vain, and when the next try is worth it. */
  readonly tries: number
  readonly notBefore?: number
  /** It will never be told, and why. */
  readonly givenUp?: string
}

export type About =
  | { readonly kind: UpdateNews; readonly update: string }
  /** A user in Slack waits for the outcome of these. */
  | { readonly kind: 'outcome'; readonly update: string; readonly replyTo: string }
  | { readonly kind: 'occurrence'; readonly occurrence: string }
  | {
      readonly kind: 'threshold'
      readonly budget: string
      readonly window: WindowKind
      readonly percent: number
      readonly used: number
      readonly of: number
      readonly resetsAt: number
    }
  | {
      readonly kind: 'refusals'
      readonly caller: string
      /** Of the latest; the others are only counted. */
      readonly budget: string
      readonly otherBudgets?: number
      readonly count: number
      readonly since: number
      readonly detail: string
    }
  | {
      readonly kind: 'stopped'
      readonly what: 'budget' | 'plan'
      readonly name: string
      readonly by: string
      readonly reason: string
      readonly isStopped: boolean
    }
  | {
      readonly kind: 'foreign-data'
      readonly found: readonly { readonly project: string; readonly dates: readonly string[] }[]
      readonly more: number
    }
  | { readonly kind: 'token-expires'; readonly expiresAt: number; readonly daysLeft: number }
  | { readonly kind: 'digest'; readonly until: number }

type UpdateNews = 'approval-wanted' | 'approval-reminder' | 'in-doubt' | 'overrun' | 'correction'

const ofUpdate = { update: text }

const storedAbout = byKind<About>({
  'approval-wanted': ofUpdate,
  'approval-reminder': ofUpdate,
  'in-doubt': ofUpdate,
  overrun: ofUpdate,
  correction: ofUpdate,
  outcome: { update: text, replyTo: text },
  occurrence: { occurrence: text },
  threshold: {
    budget: text,
    window: oneOf(windowKinds),
    percent: number,
    used: number,
    of: number,
    resetsAt: instant,
  },
  refusals: { caller: text, budget: text, otherBudgets: optional(whole), count: whole, since: instant, detail: text },
  stopped: { what: oneOf(['budget', 'plan']), name: text, by: text, reason: text, isStopped: flag },
  'foreign-data': {
    found: list(
      record<{ readonly project: string; readonly dates: readonly string[] }>({ project: text, dates: list(text) }),
    ),
    more: whole,
  },
  'token-expires': { expiresAt: instant, daysLeft: number },
  digest: { until: instant },
})

export const announcements: TaskKind<Announcement> = {
  name: 'announcement',
  stored: record<Announcement>({
    ...taskMembers,
    about: storedAbout,
    tries: whole,
    notBefore: optional(instant),
    givenUp: optional(text),
  }),
}

export const announcement = (id: string, createdAt: number, about: About): Announcement => ({
  id,
  version: 1,
  createdAt,
  about,
  tries: 0,
})

/** The write that announces something; what is announced once has one id, whichever process finds it. */
export const announce = (id: string, at: number, about: About): Write =>
  addTask(announcements, announcement(id, at, about))

/** What this change of a record has people told, in the transaction that makes the change. */
export function announcedWith(update: Update, seen: Update | null): Write[] {
  const at = update.history.at(-1)?.at ?? update.createdAt
  const news = (kind: UpdateNews) => announce(`${update.id}#${kind}#${update.version}`, at, { kind, update: update.id })
  const isNewState = update.state !== seen?.state
  const hasEnded = isTerminal(update.state) || update.state === 'in-doubt' || update.state === 'awaiting-approval'
  // Two writes of one item are refused, and the change of the record with them.
  const waiting = [...new Set(update.replyTo)]
  return [
    ...(isNewState && update.state === 'awaiting-approval' ? [news('approval-wanted')] : []),
    ...(isNewState && update.state === 'in-doubt' ? [news('in-doubt')] : []),
    ...(update.overrun !== undefined && update.overrun !== seen?.overrun ? [news('overrun')] : []),
    ...(update.corrected && !seen?.corrected ? [news('correction')] : []),
    // The answer to the request tells of an update that ends with its very first line.
    ...(seen && isNewState && hasEnded ? waiting : []).map((replyTo) =>
      announce(`${update.id}#outcome#${update.version}#${replyTo}`, at, {
        kind: 'outcome',
        update: update.id,
        replyTo,
      }),
    ),
  ]
}
