import { expect, test } from 'vitest'
import { projectsOf, startTogether } from '../support/process/together.ts'

test('processes on the developer’s Node and on Lambda’s Node use one file at once; nothing is lost or run twice', async () => {
  const nodes = ['node', process.execPath] as const
  const { ask, runs, versions, mustBeExact } = await startTogether({ units: 30 * 40, nodes, asIs: true })
  const counts = await ask([projectsOf('a', 17), projectsOf('b', 17), projectsOf('c', 16)])
  expect(versions).toEqual([expect.stringMatching(/^v\d+\./), process.version])
  expect(counts).toEqual({ settled: 30, 'over-budget': 20 })
  expect(new Set(runs()).size).toBe(30)
  await mustBeExact({ available: 0, spent: 30 * 40 })
})
