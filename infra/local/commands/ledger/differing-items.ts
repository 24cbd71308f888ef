import { type Item, nameOf } from '../../../../shared/ledger/store/store.ts'
import { expiryAttribute } from '../../../../shared/ledger/store/stored.ts'
import { systemClock } from '../../../../shared/platform/clock.ts'
import { digest } from '../../../../shared/platform/ids.ts'
import type { ReadOnlyLedger } from '../../database/read-only.ts'

/** An item that two files do not have alike. `null`: the file does not have it. */
export interface Differing {
  readonly from: Item | null
  readonly to: Item | null
}

/** By the first part of the key, such as `update`. */
export type ByKind = ReadonlyMap<string, readonly Differing[]>

const kindOf = ({ pk }: Pick<Item, 'pk'>): string => pk.split('#', 1)[0] ?? pk

/**
 * Compares all items of two files, whatever they are.
 * @param isWanted whether the items of a kind are compared.
 */
export async function differingItems(
  from: ReadOnlyLedger,
  to: ReadOnlyLedger,
  isWanted: (kind: string) => boolean,
): Promise<ByKind> {
  const isKept = (item: Item) => isWanted(kindOf(item)) && !hasExpired(item)
  const before = new Map<string, string>()
  for await (const { item, text } of from.items()) if (isKept(item)) before.set(nameOf(item), digest(text))
  const after = new Map<string, Item>()
  for await (const { item, text } of to.items()) {
    if (!isKept(item)) continue
    if (before.get(nameOf(item)) === digest(text)) before.delete(nameOf(item))
    else after.set(nameOf(item), item)
  }
  const found: Differing[] = []
  for await (const { item } of from.items()) {
    const key = nameOf(item)
    if (!before.has(key)) continue
    found.push({ from: item, to: after.get(key) ?? null })
    after.delete(key)
  }
  return grouped([...found, ...[...after.values()].map((item) => ({ from: null, to: item }))])
}

/** The files remove expired items at different times. */
const hasExpired = ({ [expiryAttribute]: at }: Item): boolean =>
  typeof at === 'number' && at * 1_000 < systemClock.now()

function grouped(all: readonly Differing[]): ByKind {
  const kinds = new Map<string, Differing[]>()
  for (const each of all) {
    const kind = kindOf(each.from ?? each.to ?? { pk: '' })
    const others = kinds.get(kind)
    if (others) others.push(each)
    else kinds.set(kind, [each])
  }
  return kinds
}
