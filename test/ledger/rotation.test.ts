import { expect, test } from 'vitest'
import { occurrences } from '../../shared/guard/plans/stored-occurrence.ts'
import { LedgerUnavailable } from '../../shared/ledger/errors.ts'
import { createLedger } from '../../shared/ledger/ledger.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { enough } from '../../shared/ledger/updates/queue.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { createTestClock } from '../support/clock.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { createStore } from '../support/store/stores.ts'

const plans = Array.from({ length: 60 }, (_, index) => `p${String(index).padStart(2, '0')}`)

const account = {
  unitsPerMonth: toUnits(1_000),
  usedAtStart: toUnits(0),
  renewal: { day: 1, time: '00:00', zone: 'UTC' },
}

const failOn = (damage: Error) => {
  throw damage
}

/** Sixty occurrences, each a millisecond later: more than one page of a list. */
async function sixty(store: Store) {
  const clock = createTestClock()
  const ledger = createLedger({ store, clock, account })
  await ledger.view()
  for (const plan of plans) {
    const createdAt = clock.now()
    await ledger.queue(occurrences).add({
      id: `${plan}#1`,
      version: 1,
      createdAt,
      plan,
      time: createdAt,
      state: 'running',
      startedAt: createdAt,
      round: 0,
      nextAt: createdAt,
    })
    clock.advance(1)
  }
  /** The plans that get one of this many turns. */
  const round = async (turns: number, seen: string[] = []) => {
    const taken: string[] = []
    await ledger.queue(occurrences).round(
      () => taken.length < turns,
      async ({ plan }, mayTake) => {
        seen.push(plan)
        if (mayTake()) taken.push(plan)
      },
      failOn,
    )
    return taken
  }
  return { ledger, round }
}

test('each open item gets its turn, the oldest first, and every round reads all of them', async () => {
  const { ledger, round } = await sixty(await createStore())
  expect(await round(25)).toEqual(plans.slice(0, 25))
  const seen: string[] = []
  expect(await round(25, seen)).toEqual(plans.slice(25, 50))
  expect(seen).toEqual([...plans.slice(25), ...plans.slice(0, 25)])
  expect(await round(25)).toEqual([...plans.slice(50), ...plans.slice(0, 15)])
  expect(await round(60)).toEqual([...plans.slice(15), ...plans.slice(0, 15)])
  expect(await round(2)).toEqual(['p00', 'p01'])
  expect(await round(0)).toEqual([])
  // The next round continues after this item, although the item is gone.
  const found = await ledger.queue(occurrences).get('p01#1')
  if (!found) throw new Error('the occurrence is gone')
  await ledger.queue(occurrences).change({ ...found, state: 'done', doneAt: 1 }, found)
  expect(await round(2)).toEqual(['p02', 'p03'])
})

test('a round ends early if its reader has enough', async () => {
  const { ledger } = await sixty(createMemoryStore())
  let seen = 0
  await ledger.queue(occurrences).round(
    () => false,
    async () => (++seen === 2 ? enough : undefined),
    failOn,
  )
  expect(seen).toBe(2)
})

test('a round names a damaged row and handles all others', async () => {
  const store = createMemoryStore()
  const { ledger } = await sixty(store)
  const damaged = { pk: 'occurrence#p07#1', sk: 'occurrence' }
  await store.transact([{ kind: 'update', key: damaged, set: [[['nextAt'], 'soon']], add: [], when: [] }], 'damage')
  const seen: string[] = []
  const named: string[] = []
  await ledger.queue(occurrences).round(
    () => true,
    async ({ plan }) => seen.push(plan),
    ({ key }) => named.push(key.pk),
  )
  expect(seen).toEqual(plans.filter((plan) => plan !== 'p07'))
  expect(named).toEqual(['occurrence#p07#1'])
})

test('a round is completed even if its position cannot be written', async () => {
  const inner = createMemoryStore()
  const { round } = await sixty({
    ...inner,
    transact: async (writes, token) => {
      if (writes.some((write) => write.kind === 'put' && write.item.pk.startsWith('sweep#')))
        throw new LedgerUnavailable('away')
      return inner.transact(writes, token)
    },
  })
  expect(await round(2)).toEqual(['p00', 'p01'])
  expect(await round(2)).toEqual(['p00', 'p01'])
})
