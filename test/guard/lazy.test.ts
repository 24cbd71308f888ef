import { expect, test } from 'vitest'
import { onDemand } from '../../shared/guard/lazy.ts'

test('functions are loaded with the first call of one of them, once for all', async () => {
  let loads = 0
  const { add, twice } = onDemand(
    async () => {
      loads += 1
      return { add: async (a: number, b: number) => a + b, twice: async (a: number) => 2 * a }
    },
    { add: true, twice: true },
  )
  expect(loads).toBe(0)
  expect(await Promise.all([add(1, 2), twice(4), add(2, 3)])).toEqual([3, 8, 5])
  expect(loads).toBe(1)
})

test('loading that has failed is tried again with the next call', async () => {
  let loads = 0
  const { add } = onDemand(
    async () => {
      if (++loads === 1) throw new Error('no such file')
      return { add: async (a: number, b: number) => a + b }
    },
    { add: true },
  )
  await expect(add(1, 2)).rejects.toThrow('no such file')
  expect(await add(1, 2)).toBe(3)
  expect(loads).toBe(2)
})
