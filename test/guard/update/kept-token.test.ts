import { expect, test } from 'vitest'
import { only, startGuard } from '../../support/guard.ts'

const queued = { respondAsync: true }

/** `clients` is the parent of `acme`, which owns `shop`; bob's token names `clients`. */
async function startQueued() {
  const product = await startGuard()
  await product.budget('clients', {})
  await product.budget('acme', { parent: 'clients', projects: [{ name: 'shop' }] })
  const token = { scopes: new Set(['run'] as const), budgets: ['clients'] }
  const { id } = only(await product.ask({}, { token }, queued))
  return { ...product, start: () => product.guard.start(id, product.clock.now() + 60_000) }
}

test('a queued request keeps the budgets of its token, and may not charge a budget that moved out of them', async () => {
  const { budget, sent, start } = await startQueued()
  await budget('acme', { parent: 'account' })
  expect(await start()).toMatchObject({
    state: 'refused',
    problem: {
      slug: 'forbidden',
      detail: 'bob may not charge the budget acme; its token names the budgets that it may.',
    },
  })
  expect(sent).toEqual([])
})

test('a queued request runs while its budget is below one of its token’s budgets', async () => {
  const { budget, start } = await startQueued()
  await budget('europe', { parent: 'clients' })
  await budget('acme', { parent: 'europe' })
  expect(await start()).toMatchObject({ state: 'settled' })
})
