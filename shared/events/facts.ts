import { showLast, showPlan } from '../api/plans.ts'
import { showAudit, showBudget, showEntry, showUpdate } from '../api/to-json.ts'
import { occurrences } from '../guard/plans/stored-occurrence.ts'
import type { Services } from '../guard/services.ts'
import { budgetNamed } from '../ledger/book/definitions.ts'
import { type About, isForSystems, type NewsForSystems } from '../ledger/updates/tasks.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { EventReference } from './deliveries.ts'
import { type EventType, typeOfNews, typesOfEntries } from './types.ts'

/** A change of a budget, a plan, a project, a caller or the ledger. Updates have other events. */
export interface Fact {
  readonly type: EventType
  readonly at: number
  readonly subject: string
  readonly recordversion?: number
  /** The trace context of the update that the fact is about. */
  readonly traceparent?: string
  readonly data: object
}

export type FactParts = Pick<Services, 'guard' | 'kinds'>

/** `null`: the record has no event. */
export async function factOf(
  parts: FactParts,
  reference: Exclude<EventReference, { kind: 'update' }>,
): Promise<Fact | null> {
  if (reference.kind === 'entry') return factOfEntry(parts, reference)
  const announcement = await parts.guard.ledger.announcements.get(reference.id)
  const about = announcement && (await factOfNews(parts, announcement.about))
  return about && { ...about, at: announcement.createdAt }
}

async function factOfEntry(
  parts: FactParts,
  { id, subject }: Extract<EventReference, { kind: 'entry' }>,
): Promise<Fact | null> {
  const entry = await parts.guard.ledger.entry(id)
  const type = entry && typesOfEntries[entry.type]
  if (!type || !entry.subjects?.includes(subject)) return null
  const shown = type.startsWith('plan.') ? await planNamed(parts, subject) : await budgetAsShown(parts, subject)
  const { at, revision } = entry
  const version = revision === undefined ? {} : { recordversion: revision }
  return { type, at, subject, ...version, data: { ...shown, change: showEntry(entry) } }
}

async function factOfNews(parts: FactParts, about: About): Promise<Omit<Fact, 'at'> | null> {
  const type = typeOfNews(about)
  if (type === null || !isForSystems(about)) return null
  const told = await tellNews(parts, about)
  return told && { type, ...told }
}

async function tellNews(parts: FactParts, about: NewsForSystems): Promise<Omit<Fact, 'at' | 'type'> | null> {
  const { ledger } = parts.guard
  switch (about.kind) {
    case 'threshold': {
      const { budget, window, percent, used, of, resetsAt } = about
      const threshold = { window, percent, used, of, resetsAt: toRfc3339(resetsAt) }
      return { subject: budget, data: { ...(await budgetAsShown(parts, budget)), threshold } }
    }
    case 'will-run-out': {
      const { budget, at, plan, left, short, resetsAt } = about
      const times = { at: toRfc3339(at), resetsAt: toRfc3339(resetsAt) }
      const willRunOut = { ...times, ...(plan !== undefined && { plan }), left, short }
      return { subject: budget, data: { ...(await budgetAsShown(parts, budget)), willRunOut } }
    }
    case 'price-jumped': {
      const update = await ledger.update(about.update)
      const { units, before } = about
      const trace = update?.traceparent === undefined ? {} : { traceparent: update.traceparent }
      return (
        update && { subject: about.project, ...trace, data: { ...showUpdate(update), priceJump: { units, before } } }
      )
    }
    case 'repeats': {
      const { caller, budget, project, count, since } = about
      const repeats = { budget, project, count, since: toRfc3339(since) }
      return { subject: caller, data: { sub: caller, repeats } }
    }
    case 'occurrence': {
      const occurrence = await ledger.queue(occurrences).get(about.occurrence)
      if (!occurrence) return null
      const data = { ...(await planNamed(parts, occurrence.plan)), occurrence: showLast(occurrence) }
      return { subject: occurrence.plan, data }
    }
    case 'audit-failed':
      return { subject: 'ledger', data: showAudit(about.books.map((row) => ({ ...row, ok: false }))) }
  }
}

async function budgetAsShown({ guard, kinds }: FactParts, name: string): Promise<object> {
  const view = await guard.ledger.view()
  const budget = budgetNamed(view.definitions, name)
  return budget ? showBudget(view, budget, Object.keys(kinds) as (keyof typeof kinds)[]) : deleted(name)
}

async function planNamed({ guard }: FactParts, name: string): Promise<object> {
  const { plans, zone } = await guard.planStatuses()
  const status = plans.find(({ plan }) => plan.name === name)
  return status ? showPlan(status, zone) : deleted(name)
}

const deleted = (name: string) => ({ name, deleted: true })
