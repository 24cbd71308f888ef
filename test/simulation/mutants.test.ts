import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutants } from './mutants.ts'

test('each planted bug changes a line that occurs once', () => {
  const wrong = mutants.filter(({ file, find }) => readFileSync(file, 'utf8').split(find).length !== 2)
  expect(wrong.map(({ bug }) => bug)).toEqual([])
})
