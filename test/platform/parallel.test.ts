import { describe, expect, test } from 'vitest'
import { createSlots, inParallel } from '../../shared/platform/parallel.ts'

/** Work that ends when the test says so, and counts the simultaneous calls. */
function createWork() {
  const open: { item: number; end: () => void; fail: () => void }[] = []
  const begun: number[] = []
  let most = 0
  return {
    open,
    begun,
    most: () => most,
    do: (item: number) => {
      begun.push(item)
      return new Promise<string>((resolve, reject) => {
        const close = (act: () => void) => () => {
          open.splice(open.indexOf(entry), 1)
          act()
        }
        const entry = {
          item,
          end: close(() => resolve(`done ${item}`)),
          fail: close(() => reject(new Error(`no ${item}`))),
        }
        open.push(entry)
        most = Math.max(most, open.length)
      })
    },
  }
}

const settled = () => new Promise(setImmediate)
const items = [0, 1, 2, 3, 4, 5, 6]

describe('inParallel', () => {
  test('inParallel respects its limit, starts in order and answers in order', async () => {
    const work = createWork()
    const all = inParallel(items, 3, work.do)
    await settled()
    expect(work.begun).toEqual([0, 1, 2])
    while (work.open.length > 0) {
      work.open.at(-1)?.end() // the latest ends first
      await settled()
    }
    expect(await all).toEqual(['done 0', 'done 1', 'done 2', 'done 3', 'done 4', 'done 5', 'done 6'])
    expect(work.begun).toEqual(items)
    expect(work.most()).toBe(3)
  })

  test('inParallel starts all of a few items, and returns nothing for no items', async () => {
    expect(await inParallel([], 3, async () => 1)).toEqual([])
    expect(await inParallel([5], 3, async (item) => item * 2)).toEqual([10])
  })

  test('inParallel fails with the first error, and running work still ends', async () => {
    const work = createWork()
    const all = inParallel(items, 2, work.do).catch((error: Error) => error.message)
    await settled()
    work.open.at(-1)?.fail()
    expect(await all).toBe('no 1')
    while (work.open.length > 0) {
      work.open[0]?.end()
      await settled()
    }
    expect(work.begun).toEqual(items)
    expect(work.most()).toBe(2)
  })

  test('inParallel fails if the work throws before it returns a promise', async () => {
    const broken = () => {
      throw new Error('not even begun')
    }
    await expect(inParallel([1, 2, 3], 1, broken)).rejects.toThrow('not even begun')
  })
})

describe('slots', () => {
  test('slots go to the caller that waited longest', async () => {
    const slots = createSlots(1)
    const order: string[] = []
    await slots.take()
    const waiting = ['a', 'b', 'c'].map((name) => slots.take().then(() => order.push(name)))
    await settled()
    expect(order).toEqual([])
    slots.give()
    await settled()
    expect(order).toEqual(['a'])
    slots.give()
    slots.give()
    await Promise.all(waiting)
    expect(order).toEqual(['a', 'b', 'c'])
  })

  test('slots come back after a failure', async () => {
    const slots = createSlots(1)
    const fail = () => slots.use(() => Promise.reject(new Error('no')))
    await expect(fail()).rejects.toThrow('no')
    await expect(fail()).rejects.toThrow('no')
    expect(await slots.use(async () => 'yes')).toBe('yes')
  })
})
