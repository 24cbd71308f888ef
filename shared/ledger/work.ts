import { digest } from '../platform/ids.ts'
import type { Kind } from '../platform/words.ts'
import type { Condition, Item, Write } from './store.ts'
import { contentOf } from './table.ts'
import type { Update } from './update.ts'

/**
 * What must not be done twice at once: the pair (kind, project), whoever asks. The item names the update that held it
 * last; that update's record says how it went. It belongs to no month.
 */
export interface Work {
  readonly kind: Kind
  readonly project: string
  readonly update: string
  /** The last update before `update` that is known to have run: a released one must not hide it from the cool-down. */
  readonly ran?: { readonly update: string; readonly at: number; readonly units: number }
}

export const workKey = (kind: Kind, project: string) => ({ pk: `work#${kind}#${digest(project)}`, sk: 'work' })

/** The write by which an update takes over the work, if it still is as this delivery has seen it. */
export function takeWork(update: Update, seen: Work | null, ran: Work['ran']): Write {
  const unchanged: Condition = seen ? { is: 'equal', path: ['update'], value: seen.update } : { is: 'absent-item' }
  const work: Work = {
    kind: update.kind,
    project: update.project,
    update: update.id,
    ...(ran && { ran: { update: ran.update, at: ran.at, units: ran.units } }),
  }
  return { do: 'put', item: { ...workKey(update.kind, update.project), ...work }, when: [unchanged] }
}

export function fromWorkItem(item: Item): Work {
  if (typeof item.update !== 'string') throw new Error(`the work ${item.pk} is damaged`)
  return contentOf(item) as unknown as Work
}
