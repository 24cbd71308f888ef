import type { ItemKind } from '../../ledger/store/item-kind.ts'
import { instant, list, type Of, optional, record, text, whole } from '../../ledger/store/stored.ts'
import { systemIds } from '../../platform/ids.ts'

const storedTrouble = record({
  /** Not checked against the table, because an earlier version may read the troubles of a later one. */
  slug: text,
  /** The plan, for example. */
  about: optional(text),
  since: instant,
})
export type NotedTrouble = Of<typeof storedTrouble>

const storedTroubles = record({
  version: whole,
  open: list(storedTrouble),
  /** The options that deployments had. */
  options: optional(list(text)),
})

export type Noted = Omit<Of<typeof storedTroubles>, 'version'>

export interface NotedTroubles {
  read(): Promise<Noted>
  /** Writes only if a trouble begins or ends, or the options change. */
  change(make: (noted: Noted) => Noted): Promise<void>
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
      read: async () => (await stored()) ?? nothing,

      async change(make) {
        for (let attempt = 1; ; attempt++) {
          const seen = await stored()
          const noted = make(seen ?? nothing)
          if (isSame(seen ?? nothing, noted)) return
          const version = seen?.version ?? 0
          const when = seen
            ? ({ kind: 'equal', path: ['version'], value: version } as const)
            : ({ kind: 'absent-item' } as const)
          const put = { ...noted, version: version + 1 }
          if (await items.write([{ id: only, put, when: [when] }], systemIds.random())) return
          if (attempt >= maxAttempts) return
        }
      },
    }
  },
}

const nothing: Noted = { open: [] }

const nameOf = ({ slug, about = '' }: NotedTrouble): string => `${slug}#${about}`

export const isSame = (before: Noted, after: Noted): boolean => namesOf(before) === namesOf(after)

const namesOf = ({ open, options = [] }: Noted): string => JSON.stringify([open.map(nameOf), options])

/** What is open stays open since it began. */
export function withOnly(
  noted: Noted,
  isOurs: (trouble: NotedTrouble) => boolean,
  now: readonly NotedTrouble[],
): Noted {
  const known = new Map(noted.open.map((trouble) => [nameOf(trouble), trouble]))
  const kept = noted.open.filter((trouble) => !isOurs(trouble))
  return { ...noted, open: [...kept, ...now.map((trouble) => known.get(nameOf(trouble)) ?? trouble)] }
}
