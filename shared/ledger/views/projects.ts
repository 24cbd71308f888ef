import { digest } from '../../platform/ids.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type Condition, getAll, type Item, type Store, type Value } from '../store/store.ts'
import {
  expiryOf,
  instant,
  keptForDays,
  list,
  map,
  type Of,
  oneOf,
  optional,
  orNull,
  readItem,
  record,
  sortKeyOf,
  text,
  textOf,
  units,
  whole,
} from '../stored.ts'

/** A change of a project through the gateway. It moves no units, but changes the cost of updates. */
const storedChange = record({
  id: text,
  operation: oneOf(['create', 'update']),
  project: text,
  caller: text,
  at: instant,
  /** If the operation is `update`: what the request sets. */
  added: map(whole),
  removed: map(whole),
  /** `null`: no answer yet, or an unknown one. */
  status: orNull(whole),
})
export type ProjectChange = Of<typeof storedChange>

export const changesListedIn = (month: string) => `changes#${month}`

const toProjectChangeItem = (change: ProjectChange): Item => ({
  ...changeKey(change.id),
  ...(change as unknown as Record<string, Value>),
  listedIn: changesListedIn(new Date(change.at).toISOString().slice(0, 7)),
  listedAt: sortKeyOf(change.at, change.id),
  ...expiryOf(change.at, keptForDays),
})

/** Notes a change before its request is sent, and again with the answer. */
export async function noteProjectChange(store: Store, change: ProjectChange): Promise<void> {
  const isNew: Condition = { kind: change.status === null ? 'absent-item' : 'present-item' }
  const write = { kind: 'put', item: toProjectChangeItem(change), when: [isNew] } as const
  await store.transact([write], digest('project-change', JSON.stringify(change)))
}

const changeKey = (id: string) => ({ pk: `project-change#${id}`, sk: 'project-change' })

export const fromProjectChangeItem = (item: Item): ProjectChange =>
  readItem(item, storedChange, ({ id }) => changeKey(id))

const storedPrice = record({
  kind: textOf<Kind>(),
  project: text,
  units,
  at: instant,
  before: optional(units),
})
export type Price = Of<typeof storedPrice>

const priceKey = (kind: Kind, project: string) => ({ pk: `price#${kind}#${digest(project)}`, sk: 'price' })

type PriceName = Pick<Price, 'kind' | 'project'>

export interface Prices {
  /** `null`: the price was never read. */
  read(of: readonly PriceName[]): Promise<readonly (Price | null)[]>
  write(price: Omit<Price, 'before'>): Promise<void>
}

const priceKeptForDays = 60

export function createPrices({ store }: { store: Store }): Prices {
  async function read(of: readonly PriceName[]): Promise<(Price | null)[]> {
    const keys = of.map(({ kind, project }) => priceKey(kind, project))
    return (await getAll(store, keys)).map((item) => (item ? fromPriceItem(item) : null))
  }

  /** The first of two writers wins, because both read the same price. */
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
      ...expiryOf(at, priceKeptForDays),
    }
    const unchanged: Condition = earlier ? { kind: 'equal', path: ['at'], value: earlier.at } : { kind: 'absent-item' }
    await store.transact([{ kind: 'put', item, when: [unchanged] }], digest('price', JSON.stringify(item)))
  }

  return { read, write }
}

export const fromPriceItem = (item: Item): Price => readItem(item, storedPrice)

const storedDates = record({
  project: text,
  /** Sorted; at most the latest 400. */
  dates: list(text),
  at: instant,
})
export type KnownDates = Of<typeof storedDates>

export interface KnownDatesStore {
  /** `null`: the project's dates were never read. */
  read(projects: readonly string[]): Promise<readonly (KnownDates | null)[]>
  write(known: KnownDates, seen: KnownDates | null): Promise<void>
}

const datesKey = (project: string) => ({ pk: `sighting#${digest(project)}`, sk: 'sighting' })
const maxDates = 400
const datesKeptForDays = 400

export function createKnownDates({ store }: { store: Store }): KnownDatesStore {
  async function read(projects: readonly string[]): Promise<(KnownDates | null)[]> {
    return (await getAll(store, projects.map(datesKey))).map((item) => (item ? fromDatesItem(item) : null))
  }

  async function write({ project, dates, at }: KnownDates, seen: KnownDates | null): Promise<void> {
    const item: Item = {
      ...datesKey(project),
      project,
      at,
      dates: dates.slice(-maxDates),
      ...expiryOf(at, datesKeptForDays),
    }
    const unchanged: Condition = seen ? { kind: 'equal', path: ['at'], value: seen.at } : { kind: 'absent-item' }
    await store.transact([{ kind: 'put', item, when: [unchanged] }], digest('sighting', JSON.stringify(item)))
  }

  return { read, write }
}

export const fromDatesItem = (item: Item): KnownDates => readItem(item, storedDates)
