import { expect, test } from 'vitest'
import { toUnits } from '../../../shared/platform/words.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const limits = [{ window: 'month', units: toUnits(5) }] as const
const by = { caller: 'ada' }

/** 1,821 callers with limits: the book has no room for one more counter. */
async function withFullBook() {
  const product = await startProduct({ store: createMemoryStore() })
  const callers = Object.fromEntries(
    Array.from({ length: 1_821 }, (_, index) => [`caller-${index}`.padEnd(13, '.'), { limits }]),
  )
  const note = { type: 'caller', budget: 'account', reason: 'r' } as const
  await product.guard.ledger.change('ada', ({ definitions }) => ({ definitions: { ...definitions, callers }, note }))
  return product
}

test('every request and preview refuses a budget or a caller that the book has no room for', async () => {
  const product = await withFullBook()
  const { guard } = product
  const budget = { name: 'one-more', parent: 'account', limits, projects: [] }
  const body = { budgets: [{ name: 'one-more', limits }] }
  for (const [method, path, sent] of [
    ['PUT', '/callers/eve', { limits }],
    ['PUT', '/budgets/one-more', { limits }],
    ['PUT', '/budgets', body],
    ['PUT', '/budgets?dry-run=true', body],
  ] as const) {
    const { status, body: problem } = await product.call(method, path, { body: sent })
    expect([status, problem.type, problem.errors], path).toEqual([
      400,
      '/problems/invalid-request',
      [
        {
          path: 'limits',
          message: expect.stringMatching(/^the book of month:2026-11-01 could take 350,\d{3} bytes, /),
        },
      ],
    ])
  }
  for (const preview of [guard.previewBudget(budget, by), guard.previewCaller('eve', { limits }, by)])
    expect(await preview).toMatchObject({ kind: 'problem', problem: { slug: 'invalid-request' } })
  expect((await (await guard.jobs()).measure()).BookBytes).toBe(349_926)
  // A caller without limits needs no counter.
  expect((await product.call('PUT', '/callers/eve', { body: { perUpdate: 5 } })).status).toBe(201)
  expect((await product.call('DELETE', '/callers/caller-0.....')).status).toBe(204)
  expect((await product.call('POST', '/budgets/account/freeze', { body: { reason: 'r' } })).status).toBe(200)
})
