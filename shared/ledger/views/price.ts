import { digest } from '../../platform/ids.ts'
import type { Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Condition, getAll, type Item, type Store } from '../store/store.ts'
import { expiryOf, instant, optional, readItem, record, text, textOf, units } from '../stored.ts'

/** What an update of a project was last said to need, and before that. It is free to ask, and moves nothing. */
export interface Price {
  readonly kind: Kind
  readonly project: string
  readonly units: Units
  readonly at: number
  readonly before?: Units
}

const priceKey = (kind: Kind, project: string) => ({ pk: `price#${kind}#${digest(project)}`, sk: 'price' })

type PriceName = Pick<Price, 'kind' | 'project'>

export interface Prices {
  /** In the order of what was asked; `null`: never read. */
  read(of: readonly PriceName[]): Promise<readonly (Price | null)[]>
  write(price: Omit<Price, 'before'>): Promise<void>
}

const keptForDays = 60

export function createPrices({ store }: { store: Store }): Prices {
  async function read(of: readonly PriceName[]): Promise<(Price | null)[]> {
    const keys = of.map(({ kind, project }) => priceKey(kind, project))
    return (await getAll(store, keys)).map((item) => (item ? fromPriceItem(item) : null))
  }

  /** Of two readers of one night the first one's counts: they read the same. */
  async function write(price: Omit<Price, 'before'>): Promise<void> {
    const [earlier] = await read([price])
    const { kind, project, units, at } = price
    const item: Item = {
      ...priceKey(kind, project),
      kind,
      project,
      units,
      at,
      ...(earlier && { before: earlier.units }),
      ...expiryOf(at, keptForDays),
    }
    const unchanged: Condition = earlier ? { kind: 'equal', path: ['at'], value: earlier.at } : { kind: 'absent-item' }
    await store.transact([{ kind: 'put', item, when: [unchanged] }], digest('price', JSON.stringify(item)))
  }

  return { read, write }
}

const storedPrice = record<Price>({ kind: textOf(), project: text, units, at: instant, before: optional(units) })

export const fromPriceItem = (item: Item): Price => readItem(item, storedPrice)
