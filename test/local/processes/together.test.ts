import { expect, test } from 'vitest'
import { projectsOf, startTogether } from '../../support/process/together.ts'

test('for 100 simultaneous requests, three processes run each of 20 projects once, and admit others up to the limit exactly', async () => {
  const { ask, runs, mustBeExact } = await startTogether({ units: 80 * 40 + 39 })
  const same = projectsOf('same', 20)
  const answers = await ask([[...same, ...same], [...same, ...same], same])
  expect(Object.values(answers).reduce((sum, count) => sum + count)).toBe(100)
  expect(runs().toSorted()).toEqual(same.toSorted())
  await mustBeExact({ available: 60 * 40 + 39, spent: 20 * 40 })

  expect(await ask([projectsOf('a', 34), projectsOf('b', 33), projectsOf('c', 33)])).toEqual({
    settled: 60,
    'over-budget': 40,
  })
  expect([runs().length, new Set(runs()).size]).toEqual([80, 80])
  await mustBeExact({ available: 39, spent: 80 * 40 })
})
