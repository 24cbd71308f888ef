import { showLast } from '../api/plans.ts'
import { showAudit, showUpdate } from '../api/to-json.ts'
import { occurrences } from '../guard/plans/stored-occurrence.ts'
import {
  type About,
  type AboutOf,
  isForSystems,
  type NewsForSystems,
  type OccurrenceState,
} from '../ledger/updates/tasks.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { budgetAsShown, type FactParts, planAsShown } from './records.ts'

export interface NewsFact {
  readonly subject: string
  /** The trace context of the update that the event is about. */
  readonly traceparent?: string
  readonly data: object
}

/** How other systems are told one kind of announcement. Types are as targets name them. */
type EventOfNews<News, Type extends string = string> = {
  /** `null`: the record is missing. */
  fact(news: News, parts: FactParts): Promise<NewsFact | null>
} & (
  | { readonly type: Type }
  /** `null`: no event. */
  | { readonly types: readonly Type[]; typeOf(news: News): Type | null }
)

const eventsOfNews = {
  threshold: {
    type: 'budget.threshold',
    async fact({ budget, window, percent, used, of, resetsAt }, parts) {
      const threshold = { window, percent, used, of, resetsAt: toRfc3339(resetsAt) }
      return { subject: budget, data: { ...(await budgetAsShown(parts, budget)), threshold } }
    },
  },
  'will-run-out': {
    type: 'budget.will-run-out',
    async fact({ budget, at, plan, left, short, isAtLeast, resetsAt }, parts) {
      const times = { at: toRfc3339(at), resetsAt: toRfc3339(resetsAt) }
      const willRunOut = { ...times, ...(plan !== undefined && { plan }), left, short, ...(isAtLeast && { isAtLeast }) }
      return { subject: budget, data: { ...(await budgetAsShown(parts, budget)), willRunOut } }
    },
  },
  'price-jumped': {
    type: 'project.price-jumped',
    async fact({ update: id, project, units, before }, { guard }) {
      const update = await guard.ledger.update(id)
      if (!update) return null
      const fact = { subject: project, data: { ...showUpdate(update), priceJump: { units, before } } }
      return update.traceparent === undefined ? fact : { ...fact, traceparent: update.traceparent }
    },
  },
  'not-delivered': {
    type: 'update.not-delivered',
    async fact({ update: id }, { guard }) {
      const update = await guard.ledger.update(id)
      if (!update) return null
      const fact = { subject: id, data: showUpdate(update) }
      return update.traceparent === undefined ? fact : { ...fact, traceparent: update.traceparent }
    },
  },
  repeats: {
    type: 'caller.repeats',
    async fact({ caller, budget, project, count, since }) {
      const repeats = { budget, project, count, since: toRfc3339(since) }
      return { subject: caller, data: { sub: caller, repeats } }
    },
  },
  occurrence: {
    types: ['plan.finished', 'plan.missed'],
    // Older announcements have no state, and later versions may store other states.
    typeOf: ({ state }) => (state && typesOfOccurrences[state]) ?? null,
    async fact({ occurrence: id }, parts) {
      const occurrence = await parts.guard.ledger.queue(occurrences).get(id)
      if (!occurrence) return null
      const data = { ...(await planAsShown(parts, occurrence.plan)), occurrence: showLast(occurrence) }
      return { subject: occurrence.plan, data }
    },
  },
  'audit-failed': {
    type: 'audit.failed',
    async fact({ books }) {
      return { subject: 'ledger', data: showAudit(books.map((row) => ({ ...row, ok: false }))) }
    },
  },
} as const satisfies { readonly [Kind in NewsForSystems['kind']]: EventOfNews<AboutOf<Kind>> }

type TypeIn<Row> = Row extends { readonly type: infer Type }
  ? Type
  : Row extends { readonly types: readonly (infer Type)[] }
    ? Type
    : never
export type NewsEventType = TypeIn<(typeof eventsOfNews)[keyof typeof eventsOfNews]>

const typesOfOccurrences: Readonly<Record<OccurrenceState, 'plan.finished' | 'plan.missed' | null>> = {
  running: null,
  done: 'plan.finished',
  stopped: 'plan.finished',
  missed: 'plan.missed',
  paused: 'plan.missed',
}

const rowOf = ({ kind }: NewsForSystems): EventOfNews<NewsForSystems, NewsEventType> => eventsOfNews[kind]

export const newsEventTypes: readonly NewsEventType[] = Object.values(eventsOfNews).flatMap(
  (row): readonly NewsEventType[] => ('type' in row ? [row.type] : row.types),
)

/** `null`: the announcement is only for people, or updates and entries report it. */
export function typeOfNews(about: About): NewsEventType | null {
  if (!isForSystems(about)) return null
  const row = rowOf(about)
  return 'type' in row ? row.type : row.typeOf(about)
}

/** `null`: the announcement has no event, or its record is missing. */
export async function factOfNews(about: About, parts: FactParts) {
  const type = typeOfNews(about)
  if (type === null || !isForSystems(about)) return null
  const fact = await rowOf(about).fact(about, parts)
  return fact && { type, ...fact }
}
