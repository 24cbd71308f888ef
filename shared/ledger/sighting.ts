import { digest } from '../platform/ids.ts'
import { type Condition, getAll, type Item, type Store } from './store.ts'
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
const mostDates = 400
const keptForDays = 400

export function createSightings({ store }: { store: Store }): Sightings {
  async function read(projects: readonly string[]): Promise<(Sighting | null)[]> {
    return (await getAll(store, projects.map(keyOf))).map((item) => (item ? fromItem(item) : null))
  }

  /** Of two who look in one night the first one's counts. */
  async function write({ project, dates, at }: Sighting, seen: Sighting | null): Promise<void> {
    const item: Item = {
      ...keyOf(project),
      project,
      at,
      dates: dates.slice(-mostDates),
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
