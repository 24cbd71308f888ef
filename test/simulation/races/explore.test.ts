import { expect, test } from 'vitest'
import { Broken } from '../audit/stored.ts'
import { death, type Step } from '../step.ts'
import { runWorkload } from '../workloads/workload.ts'
import type { Action, Race } from './actions.ts'
import { explore, replay } from './explore.ts'
import { beginningOf } from './races.ts'

const ticks =
  (by: number, times: number, faults: Step<void>['faults'] = []): Action =>
  async ({ ask }) => {
    for (let time = 0; time < times; time++) {
      await ask({
        what: `ticks by ${by}`,
        faults,
        reads: false,
        take: async (world) => {
          world.now += by
        },
      })
    }
  }

const raceOf = (processes: Race['processes'], check?: Race['check']): Race => ({
  unitsPerMonth: 100,
  processes,
  ...(check && { check }),
})

const exploring = async (race: Race, maxFaults: number) => explore(race, await beginningOf(race), maxFaults)

test('two orders of two steps are six schedules, and equal states are explored once', async () => {
  const explored = await exploring(raceOf({ a: ticks(0, 2), b: ticks(0, 2) }), 0)
  expect(explored).toEqual({ schedules: 6, states: 9, steps: 12, failure: null })
})

test('every choice of a fault is a schedule of its own, up to the allowed number of faults', async () => {
  // One step beside two has three orders. Dying with that step has three more; dying without a step has none.
  const race = raceOf({ a: ticks(1, 1, [death]), b: ticks(1, 2) })
  expect((await exploring(race, 0)).schedules).toBe(3)
  expect((await exploring(race, 1)).schedules).toBe(6)
  expect((await exploring(race, 2)).schedules).toBe(6)
})

test('a broken promise is reported with its steps, and shown again by its choices', async () => {
  let start = 0
  const race = raceOf({ a: ticks(1, 1), b: ticks(2, 1, [death]) }, ({ now }) => {
    if (now === start + 3) throw new Broken('the time is wrong')
  })
  const beginning = await beginningOf(race)
  start = beginning.now
  const { failure } = await explore(race, beginning, 1)
  expect(failure).toEqual({
    promise: 'the time is wrong',
    choices: [0, 0],
    trace: ['a ticks by 1', 'b ticks by 2'],
  })
  expect(await replay(race, beginning, 1, [0, 0])).toEqual(failure)
  expect(await replay(race, beginning, 1, [2, 0])).toEqual({
    promise: 'the time is wrong',
    choices: [2, 0],
    trace: ['b ticks by 2 [dies after it]', 'a ticks by 1'],
  })
})

test('a random workload keeps every promise', async () => {
  for (const seed of [1, 2]) expect(await runWorkload(seed)).toBeNull()
})
