import { createLedger } from '../../../shared/ledger/ledger.ts'
import type { Item } from '../../../shared/ledger/store/store.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { createTestClock } from '../clock.ts'
import { createMemoryStore } from './memory-store.ts'

const account = {
  unitsPerMonth: toUnits(1_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}
export const at = Date.parse('2026-11-20T10:00:00Z')

/** A ledger in memory, and its stored items. */
export function openInMemory() {
  const items = new Map<string, Item>()
  const clock = createTestClock()
  const store = createMemoryStore(items)
  const ledger = createLedger({ store, clock, account })
  /** The stored items with this sort key. */
  const stored = (sk: string) => [...items.values()].filter((item) => item.sk === sk)
  /** Changes a stored item by hand. */
  const damage = (sk: string, by: object) => {
    for (const [key, item] of items) if (item.sk === sk) items.set(key, { ...item, ...by })
  }
  return { ledger, store, clock, stored, damage }
}
