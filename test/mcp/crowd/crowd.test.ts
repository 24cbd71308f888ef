import { expect, test } from 'vitest'
import { runCrowd } from './crowd.ts'

test('agents in parallel, with every fault: one run a quote, exact books, and advice in every answer', async () => {
  const { broken, happened, runs } = await runCrowd({ seed: 1, agents: 22, steps: 2 })
  expect(broken).toEqual([])
  expect(runs).toBeGreaterThan(0)
  for (const [fault, times] of Object.entries(happened)) expect(times, fault).toBeGreaterThan(0)
})
