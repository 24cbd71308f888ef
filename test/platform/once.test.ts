import { expect, test } from 'vitest'
import { once } from '../../shared/platform/parallel.ts'

test('once() runs once for all callers, and again only after a failure', async () => {
  const results = [Promise.reject(new Error('not yet')), Promise.resolve('loaded'), Promise.resolve('twice')]
  for (const result of results) result.catch(() => {})
  let runs = 0
  const load = once(() => results[runs++] ?? Promise.resolve('more'))
  const first = [load(), load()]
  expect(await Promise.allSettled(first)).toEqual([
    { status: 'rejected', reason: new Error('not yet') },
    { status: 'rejected', reason: new Error('not yet') },
  ])
  expect(await Promise.all([load(), load()])).toEqual(['loaded', 'loaded'])
  expect(await load()).toBe('loaded')
  expect(runs).toBe(2)
})
