import { showLast, showPlan } from '../api/plans.ts'
import { showAudit, showBudget, showEntry } from '../api/to-json.ts'
import type { Services } from '../guard/services.ts'
import { budgetNamed } from '../ledger/book/definitions.ts'
import type { EntryType } from '../ledger/book/entry.ts'
import type { EventReference } from '../ledger/updates/deliveries.ts'
import type { About, OccurrenceState } from '../ledger/updates/tasks.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { EventType } from './types.ts'

/** What happened to a budget, a plan or the ledger. */
export interface Fact {
  readonly type: EventType
  readonly at: number
  readonly subject: string
  readonly recordversion?: number
  readonly data: object
}

export type FactParts = Pick<Services, 'guard' | 'kinds'>

/** `null`: there is no event of it. */
export async function factOf(
  parts: FactParts,
  reference: Exclude<EventReference, { kind: 'update' }>,
): Promise<Fact | null> {
  if (reference.kind === 'entry') return factOfEntry(parts, reference)
  const announcement = await parts.guard.ledger.announcements.get(reference.id)
  const about = announcement && (await factOfNews(parts, announcement.about))
  return about && { ...about, at: announcement.createdAt }
}

const typesOfEntries: Partial<Record<EntryType, EventType>> = {
  ...{ limit: 'budget.changed', 'budget-created': 'budget.changed', 'budget-deleted': 'budget.changed' },
  ...{ freeze: 'budget.frozen', restore: 'budget.frozen', unfreeze: 'budget.unfrozen' },
  ...{ pause: 'plan.paused', resume: 'plan.resumed' },
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
  switch (about.kind) {
    case 'threshold': {
      const { budget, window, percent, used, of, resetsAt } = about
      const threshold = { window, percent, used, of, resetsAt: toRfc3339(resetsAt) }
      return { type: 'budget.threshold', subject: budget, data: { ...(await budgetAsShown(parts, budget)), threshold } }
    }
    case 'will-run-out': {
      const { budget, at, plan, left, short, resetsAt } = about
      const times = { at: toRfc3339(at), resetsAt: toRfc3339(resetsAt) }
      const willRunOut = { ...times, ...(plan !== undefined && { plan }), left, short }
      const data = { ...(await budgetAsShown(parts, budget)), willRunOut }
      return { type: 'budget.will-run-out', subject: budget, data }
    }
    case 'occurrence': {
      const occurrence = await parts.guard.ledger.occurrences.get(about.occurrence)
      const type = about.state && typesOfOccurrences[about.state]
      if (!occurrence || !type) return null
      const data = { ...(await planNamed(parts, occurrence.plan)), occurrence: showLast(occurrence) }
      return { type, subject: occurrence.plan, data }
    }
    case 'audit-failed':
      return {
        type: 'audit.failed',
        subject: 'ledger',
        data: showAudit(about.books.map((row) => ({ ...row, ok: false }))),
      }
    // Others are for people, or told by updates and entries.
    default:
      return null
  }
}

const typesOfOccurrences: Partial<Record<OccurrenceState, EventType>> = {
  ...{ done: 'plan.finished', stopped: 'plan.finished' },
  ...{ missed: 'plan.missed', paused: 'plan.missed' },
}

async function budgetAsShown({ guard, kinds }: FactParts, name: string): Promise<object> {
  const view = await guard.ledger.view()
  const budget = budgetNamed(view.definitions, name)
  return budget ? showBudget(view, budget, Object.keys(kinds) as (keyof typeof kinds)[]) : deleted(name)
}

async function planNamed({ guard }: FactParts, name: string): Promise<object> {
  const { planStatuses } = await guard.background()
  const { plans, zone } = await planStatuses()
  const status = plans.find(({ plan }) => plan.name === name)
  return status ? showPlan(status, zone) : deleted(name)
}

const deleted = (name: string) => ({ name, deleted: true })
