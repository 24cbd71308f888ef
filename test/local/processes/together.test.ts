import { expect, test } from 'vitest'
import { projectsOf, startTogether } from '../../support/process/together.ts'

test('three processes admit as many of 100 simultaneous requests as the limit allows, each once, and the audit is exact', async () => {
  const { ask, runs, mustBeExact } = await startTogether({ units: 60 * 40 + 39 })
  const parts = [projectsOf('a', 34), projectsOf('b', 33), projectsOf('c', 33)] as const
  const { counts } = await ask(parts)
  expect(counts).toEqual({ settled: 60, 'over-budget': 40 })
  expect([runs().length, new Set(runs()).size]).toEqual([60, 60])
  await mustBeExact({ available: 39, spent: 60 * 40 })
})

test('three processes run each of the same 20 projects once for 100 simultaneous requests', async () => {
  const { ask, runs, mustBeExact } = await startTogether({ units: 50_000 })
  const projects = projectsOf('same', 20)
  const { counts } = await ask([[...projects, ...projects], [...projects, ...projects], projects])
  expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(100)
  expect(runs().toSorted()).toEqual(projects.toSorted())
  await mustBeExact({ available: 50_000 - 20 * 40, spent: 20 * 40 })
})
