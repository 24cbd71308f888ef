import { digest } from '../platform/ids.ts'
import { type Kind, toUnits, type Units } from '../platform/words.ts'
import { type Condition, getAll, type Item, type Store } from './store.ts'
import { expiryOf } from './table.ts'

/** What an update of a project was last said to need, and before that. It is free to ask, and moves nothing. */
export interface Price {
  readonly kind: Kind
  readonly project: string
  readonly units: Units
  readonly at: number
  readonly before?: Units
}

const priceKey = (kind: Kind, project: string) => ({ pk: `price#${kind}#${digest(project)}`, sk: 'price' })

type Priced = Pick<Price, 'kind' | 'project'>

export interface Prices {
  /** In the order of what was asked; `null`: never read. */
  read(of: readonly Priced[]): Promise<readonly (Price | null)[]>
  write(price: Omit<Price, 'before'>): Promise<void>
}

const keptForDays = 60

export function createPrices({ store }: { store: Store }): Prices {
  async function read(of: readonly Priced[]): Promise<(Price | null)[]> {
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
    const unchanged: Condition = earlier ? { is: 'equal', path: ['at'], value: earlier.at } : { is: 'absent-item' }
    await store.transact([{ do: 'put', item, when: [unchanged] }], digest('price', JSON.stringify(item)))
  }

  return { read, write }
}

function fromPriceItem({ kind, project, units, at, before }: Item): Price {
  return {
    kind: kind as Kind,
    project: String(project),
    units: toUnits(Number(units)),
    at: Number(at),
    ...(before !== undefined && { before: toUnits(Number(before)) }),
  }
}
