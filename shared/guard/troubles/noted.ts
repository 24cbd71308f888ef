import type { ItemKind } from '../../ledger/item-kind.ts'
import { instant, list, type Of, optional, record, text, whole } from '../../ledger/stored.ts'
import { systemIds } from '../../platform/ids.ts'

const storedTrouble = record({
  /** Not checked against the table, because an earlier version may read the troubles of a later one. */
  slug: text,
  /** The plan, for example. */
  about: optional(text),
  since: instant,
})
export type NotedTrouble = Of<typeof storedTrouble>

const storedTroubles = record({ version: whole, open: list(storedTrouble) })

type Change = (open: readonly NotedTrouble[]) => readonly NotedTrouble[]

export interface NotedTroubles {
  read(): Promise<readonly NotedTrouble[]>
  /** Writes only if a trouble begins or ends. */
  change(make: Change): Promise<readonly NotedTrouble[]>
}

const maxAttempts = 5
const only = 'open'

/** The troubles that must outlive the process that saw them. */
export const notedTroubles: ItemKind<NotedTroubles, Of<typeof storedTroubles>, string> = {
  name: 'trouble',
  stored: storedTroubles,
  restOf: (id) => id,
  narrowed: 'own',
  functions: (items) => {
    const stored = async () => (await items.read([only]))[0] ?? null

    return {
      read: async () => (await stored())?.open ?? [],

      async change(make) {
        for (let attempt = 1; ; attempt++) {
          const seen = await stored()
          const before = seen?.open ?? []
          const open = make(before)
          if (isSame(before, open)) return before
          const version = seen?.version ?? 0
          const when = seen
            ? ({ kind: 'equal', path: ['version'], value: version } as const)
            : ({ kind: 'absent-item' } as const)
          const put = { version: version + 1, open }
          if (await items.write([{ id: only, put, when: [when] }], systemIds.random())) return open
          if (attempt >= maxAttempts) return before
        }
      },
    }
  },
}

const nameOf = ({ slug, about = '' }: NotedTrouble): string => `${slug}#${about}`

const isSame = (before: readonly NotedTrouble[], after: readonly NotedTrouble[]): boolean =>
  before.length === after.length && before.every((each, place) => nameOf(each) === nameOf(after[place] ?? each))

/** What is open stays open since it began. */
export function withOnly(
  open: readonly NotedTrouble[],
  isOurs: (trouble: NotedTrouble) => boolean,
  now: readonly NotedTrouble[],
): readonly NotedTrouble[] {
  const known = new Map(open.map((trouble) => [nameOf(trouble), trouble]))
  const kept = open.filter((trouble) => !isOurs(trouble))
  return [...kept, ...now.map((trouble) => known.get(nameOf(trouble)) ?? trouble)]
}
