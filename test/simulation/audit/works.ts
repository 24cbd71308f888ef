import { digest } from '../../../shared/platform/ids.ts'
import { dayMs } from '../world.ts'
import { broken, chargedBySender, definitionsIn, type Items, type Row, rowsOf } from './stored.ts'

/**
 * Checks that a hold takes the work of a project under all its names: never beside a running update or a recent doubt, and within a
 * cool-down only if forced.
 */
export function lookAtWork(held: Row, items: Items, now: number): void {
  const { id, kind, project } = held
  const own = `work#${kind}#${digest(project)}`
  if (![...items.values()].some(({ pk, update }) => pk === own && update === id))
    broken(`${id} does not hold the work of ${project}`)
  const names = namesOf(held, items)
  for (const other of rowsOf(items)) {
    if (other.id === held.id || other.kind !== held.kind || !other.hold) continue
    if (!namesOf(other, items).some((name) => names.includes(name))) continue
    if (other.state === 'running') broken(`${held.id} holds the work of ${other.id}, which is running`)
    if (other.state === 'in-doubt' && now < Math.max(dayAfter(other.hold.at), other.hold.at + dayMs / 24))
      broken(`${held.id} holds the work of ${other.id}, which has just come in doubt`)
    if (!held.force && hasRun(other) && now < cooldownUntil(other))
      broken(`${held.id} holds the work of ${other.id}, which has run within its cool-down`)
  }
}

/** The names that its budget lists, in any spelling. */
function namesOf({ project }: Row, items: Items): readonly string[] {
  const own = plain(project)
  const listed = Object.values(definitionsIn(items).budgets).flatMap((budget) => budget?.projects ?? [])
  const listing = listed.find(({ name, id = name }) => [plain(name), plain(id)].includes(own))
  return listing ? [own, plain(listing.name), plain(listing.id ?? listing.name)] : [own]
}

export const plain = (name: string): string => name.normalize('NFKC').trim().toLowerCase()

/** No run is free here: a corrected update ran if its sender was charged. What an administrator corrects says nothing. */
const hasRun = (row: Row): boolean => (row.corrected ? chargedBySender(row) > 0 : row.state === 'settled')

function cooldownUntil({ kind, closedBy, finishedAt = 0, hold }: Row): number {
  const at = closedBy === 'sender' ? finishedAt : (hold?.at ?? 0)
  return kind === 'ranking' ? dayAfter(at) : dayAfter(at) + 6 * dayMs
}

const dayAfter = (at: number): number => (Math.floor(at / dayMs) + 1) * dayMs
