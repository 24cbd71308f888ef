import { digest } from '../platform/ids.ts'
import type { Condition, Item, Store } from './store.ts'
import { expiryOf } from './table.ts'

/** For which dates a project had ranking data when it was last looked at. */
export interface Sighting {
  readonly project: string
  /** Sorted calendar dates; of a long history the latest. */
  readonly dates: readonly string[]
  readonly at: number
}

export interface Sightings {
  /** In the order of the projects; `null`: never looked at. */
  read(projects: readonly string[]): Promise<readonly (Sighting | null)[]>
  write(sighting: Sighting, seen: Sighting | null): Promise<void>
}

const keyOf = (project: string) => ({ pk: `sighting#${digest(project)}`, sk: 'sighting' })
const batch = 100
const mostDates = 400
const keptForDays = 400

export function createSightings({ store }: { store: Store }): Sightings {
  async function read(projects: readonly string[]): Promise<(Sighting | null)[]> {
    const found: (Sighting | null)[] = []
    for (let from = 0; from < projects.length; from += batch) {
      const items = await store.get(projects.slice(from, from + batch).map(keyOf))
      found.push(...items.map((item) => (item ? fromItem(item) : null)))
    }
    return found
  }

  /** Of two who look in one night the first one's counts. */
  async function write({ project, dates, at }: Sighting, seen: Sighting | null): Promise<void> {
    const item: Item = {
      ...keyOf(project),
      ...{ project, at, dates: dates.slice(-mostDates) },
      ...expiryOf(at, keptForDays),
    }
    const unchanged: Condition = seen ? { is: 'equal', path: ['at'], value: seen.at } : { is: 'absent-item' }
    await store.transact([{ do: 'put', item, when: [unchanged] }], digest('sighting', JSON.stringify(item)))
  }

  return { read, write }
}

function fromItem({ project, dates, at }: Item): Sighting {
  if (!Array.isArray(dates)) throw new Error(`the sighting of ${project} is damaged`)
  return { project: String(project), dates: dates.map(String), at: Number(at) }
}
