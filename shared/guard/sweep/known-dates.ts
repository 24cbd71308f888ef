import type { ItemKind } from '../../ledger/store/item-kind.ts'
import type { Condition } from '../../ledger/store/store.ts'
import { instant, list, type Of, record, text } from '../../ledger/store/stored.ts'
import { digest } from '../../platform/ids.ts'

const storedDates = record({
  project: text,
  /** Sorted; at most the latest 400. */
  dates: list(text),
  at: instant,
})
export type KnownDates = Of<typeof storedDates>

interface KnownDatesStore {
  /** `null`: the project's dates were never read. */
  read(projects: readonly string[]): Promise<readonly (KnownDates | null)[]>
  write(known: KnownDates, seen: KnownDates | null): Promise<void>
}

const maxDates = 400

export const knownDates: ItemKind<KnownDatesStore, KnownDates, string> = {
  name: 'sighting',
  stored: storedDates,
  restOf: (project) => digest(project),
  keptForDays: 400,
  functions: ({ read, write }) => ({
    read,
    write: async ({ project, dates, at }, seen) => {
      const put = { project, at, dates: dates.slice(-maxDates) }
      const unchanged: Condition = seen ? { kind: 'equal', path: ['at'], value: seen.at } : { kind: 'absent-item' }
      await write([{ id: project, put, when: [unchanged], keptFrom: at }], digest('sighting', JSON.stringify(put)))
    },
  }),
}
