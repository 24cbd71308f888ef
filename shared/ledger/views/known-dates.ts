import { digest } from '../../platform/ids.ts'
import { type Condition, getAll, type Item, type Store } from '../store/store.ts'
import { expiryOf, instant, list, readItem, record, text } from '../stored.ts'

/** For which dates a project had ranking data when it was last looked at. */
export interface KnownDates {
  readonly project: string
  /** Sorted calendar dates; of a long history the latest. */
  readonly dates: readonly string[]
  readonly at: number
}

export interface KnownDatesStore {
  /** In the order of the projects; `null`: never looked at. */
  read(projects: readonly string[]): Promise<readonly (KnownDates | null)[]>
  write(known: KnownDates, seen: KnownDates | null): Promise<void>
}

const keyOf = (project: string) => ({ pk: `sighting#${digest(project)}`, sk: 'sighting' })
const maxDates = 400
const keptForDays = 400

export function createKnownDates({ store }: { store: Store }): KnownDatesStore {
  async function read(projects: readonly string[]): Promise<(KnownDates | null)[]> {
    return (await getAll(store, projects.map(keyOf))).map((item) => (item ? fromDatesItem(item) : null))
  }

  /** Of two who look in one night the first one's counts. */
  async function write({ project, dates, at }: KnownDates, seen: KnownDates | null): Promise<void> {
    const item: Item = {
      ...keyOf(project),
      project,
      at,
      dates: dates.slice(-maxDates),
      ...expiryOf(at, keptForDays),
    }
    const unchanged: Condition = seen ? { kind: 'equal', path: ['at'], value: seen.at } : { kind: 'absent-item' }
    await store.transact([{ kind: 'put', item, when: [unchanged] }], digest('sighting', JSON.stringify(item)))
  }

  return { read, write }
}

const storedDates = record<KnownDates>({ project: text, dates: list(text), at: instant })

export const fromDatesItem = (item: Item): KnownDates => readItem(item, storedDates)
