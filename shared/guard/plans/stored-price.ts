import type { ItemKind } from '../../ledger/store/item-kind.ts'
import type { Condition } from '../../ledger/store/store.ts'
import { instant, type Of, optional, record, text, textOf, units } from '../../ledger/store/stored.ts'
import { digest } from '../../platform/ids.ts'
import type { Kind } from '../../tracking/kinds.ts'

const storedPrice = record({
  kind: textOf<Kind>(),
  project: text,
  units,
  at: instant,
  before: optional(units),
})
export type Price = Of<typeof storedPrice>

type PriceName = Pick<Price, 'kind' | 'project'>

interface Prices {
  /** `null`: the price was never read. */
  read(of: readonly PriceName[]): Promise<readonly (Price | null)[]>
  /** The first of two writers wins, because both read the same price. */
  write(price: Omit<Price, 'before'>): Promise<void>
}

export const lastPrices: ItemKind<Prices, Price, PriceName> = {
  name: 'price',
  stored: storedPrice,
  restOf: ({ kind, project }) => `${kind}#${digest(project)}`,
  keptForDays: 60,
  // A price names only its project, and the reader names that project.
  narrowed: ['read'],
  functions: ({ read, write }) => ({
    read,
    write: async ({ kind, project, units, at }) => {
      const [earlier] = await read([{ kind, project }])
      const put = { kind, project, units, at, ...(earlier && { before: earlier.units }) }
      const unchanged: Condition = earlier
        ? { kind: 'equal', path: ['at'], value: earlier.at }
        : { kind: 'absent-item' }
      await write([{ id: put, put, when: [unchanged], keptFrom: at }], digest('price', JSON.stringify(put)))
    },
  }),
}

export type KnownPrice = Pick<Price, 'units' | 'at'>

export type PriceOf = (kind: Kind, project: string) => KnownPrice | null

export const priceKey = (kind: Kind, project: string): string => `${kind} ${project}`
