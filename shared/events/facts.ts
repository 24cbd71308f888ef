import { showEntry } from '../api/to-json.ts'
import type { EventReference } from './deliveries.ts'
import { factOfNews, type NewsFact } from './news.ts'
import { budgetAsShown, type FactParts, planAsShown } from './records.ts'
import { type EventType, typesOfEntries } from './types.ts'

/** A change of a budget, a plan, a project, a caller or the ledger. Updates have other events. */
export interface Fact extends NewsFact {
  readonly type: EventType
  readonly at: number
  readonly recordversion?: number
}

/** `null`: the record has no event. */
export async function factOf(
  parts: FactParts,
  reference: Exclude<EventReference, { kind: 'update' }>,
): Promise<Fact | null> {
  if (reference.kind === 'entry') return factOfEntry(parts, reference)
  const announcement = await parts.guard.ledger.announcements.get(reference.id)
  const fact = announcement && (await factOfNews(announcement.about, parts))
  return fact && { ...fact, at: announcement.createdAt }
}

async function factOfEntry(
  parts: FactParts,
  { id, subject }: Extract<EventReference, { kind: 'entry' }>,
): Promise<Fact | null> {
  const entry = await parts.guard.ledger.entry(id)
  const type = entry && typesOfEntries[entry.type]
  if (!type || !entry.subjects?.includes(subject)) return null
  const shown = type.startsWith('plan.') ? await planAsShown(parts, subject) : await budgetAsShown(parts, subject)
  const { at, revision } = entry
  const version = revision === undefined ? {} : { recordversion: revision }
  return { type, at, subject, ...version, data: { ...shown, change: showEntry(entry) } }
}
