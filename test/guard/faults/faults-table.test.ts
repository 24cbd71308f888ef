import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/**
 * The faults of each step of an update (docs/architecture.md says where it may fail). Every cell is tested by a test whose name begins with
 * the cell's (`settle: answer lost`). A missing cell cannot happen.
 */
const all = ['fails before any effect', 'answer lost', 'process dies', 'slow', 'delivered twice', 'malformed'] as const
type Fault = (typeof all)[number]
const without = (...none: readonly Fault[]) => all.filter((fault) => !none.includes(fault))

const table: Readonly<Record<string, readonly Fault[]>> = {
  request: all,
  'token check': without('answer lost', 'slow'),
  secret: without('answer lost'),
  estimate: all,
  dates: without('answer lost', 'process dies'),
  hold: all,
  run: all,
  settle: all,
  'late settle': ['slow'],
  approval: without('fails before any effect', 'answer lost'),
  notify: all,
  sweep: without('slow'),
}
const cells = Object.entries(table).flatMap(([step, faults]) => faults.map((fault) => `${step}: ${fault}`))

const tests = join(import.meta.dirname, '../..')

/** The names of tests, of their groups, and of the rows of their tables. */
const names = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && !import.meta.filename.endsWith(file))
  .flatMap((file) => [...readFileSync(join(tests, file), 'utf8').matchAll(/(?:[([]|^\s*)(['"`])(.+?)\1,/gm)])
  .map(([, , name = '']) => name)

test('the table has 59 cells', () => {
  expect(cells).toHaveLength(59)
})

test.each(cells)('%s: a test has this name', (cell) => {
  expect(names.filter((name) => name === cell || new RegExp(`^${cell}\\b`).test(name))).not.toEqual([])
})
