import { expect, test } from 'vitest'
import { say } from '../../support/process/command-line.ts'
import { runCrowd } from './crowd.ts'

const [from = 1, to = from] = (process.env.CROWD_SEEDS ?? '1').split('-').map(Number)
const agents = Number(process.env.CROWD_AGENTS ?? 100)

test.each(Array.from({ length: to - from + 1 }, (_, at) => from + at))('seed %i', async (seed) => {
  const start = performance.now()
  const { broken, happened, ...figures } = await runCrowd({ seed, agents, steps: 3 })
  const { quotes, answers, refusals, runs, unitsBooked, unitsInDoubt, unitsSeen } = figures
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  say(
    `\nseed ${seed}: ${quotes} quotes, ${answers} answers, ${refusals} of them refusals, ${runs} runs, ${unitsBooked} units booked (${unitsInDoubt} in doubt), ${unitsSeen} seen by the service, ${seconds} s`,
  )
  say(
    `  ${Object.entries(happened)
      .map(([fault, times]) => `${fault} ${times}`)
      .join(', ')}`,
  )
  for (const promise of broken) say(`  BROKEN: ${promise}`)
  expect(broken).toEqual([])
  for (const [fault, times] of Object.entries(happened)) expect(times, fault).toBeGreaterThan(0)
})
