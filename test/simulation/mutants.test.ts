import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { crowdBugs } from '../mcp/crowd/bugs.ts'
import { mutants } from './mutants.ts'

test('each bug of the simulation, and of the crowd of agents, changes a line that is there once', () => {
  const wrong = [...mutants, ...crowdBugs].filter(
    ({ file, find }) => readFileSync(file, 'utf8').split(find).length !== 2,
  )
  expect(wrong.map(({ bug }) => bug)).toEqual([])
})
