import { describe, expect, test } from 'vitest'
import { startNight } from '../../support/night.ts'

const month = (units: number) => [{ window: 'month', units }]

describe('units that a plan leaves to others, for each budget', () => {
  const start = async (leave: object, limits: { account: number; seo: number }, units = {}) => {
    const started = await startNight({ leave }, { units })
    const { product } = started
    await product.call('PUT', '/budgets/account', { body: { limits: month(limits.account) } })
    await product.call('PUT', '/budgets/seo', {
      body: { limits: month(limits.seo), projects: ['a', 'b', 'c'].map((name) => ({ name })) },
    })
    await started.fire()
    return started
  }
  const refusals = async ({ report }: Awaited<ReturnType<typeof start>>) =>
    (await report())?.refusals.map(({ project, problem }) => `${project}: ${problem.detail}`)

  test('a reserve of the account does not refuse updates that the client’s own units pay for', async () => {
    const { product, ran } = await start({ account: 2_000 }, { account: 2_120, seo: 120 })
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await product.figures('seo')).toMatchObject({ available: 0, spent: 120 })
    expect(await product.audit()).toBe(true)
  })

  test('a reserve of the account refuses updates that would use it, with the figures', async () => {
    const started = await start({ account: 2_000 }, { account: 2_100, seo: 120 })
    expect(started.ran()).toEqual(['a', 'b'])
    expect(await refusals(started)).toEqual([
      'c: account has 2,020 of 2,100 units left this month and this and the 2,000 units that the plan night leaves to others need 2,040; resets 1 Dec 2026 00:00 UTC; ask for 20 more.',
    ])
  })

  test('each of two reserves makes its own counter short', async () => {
    const started = await start({ account: 2_000, seo: 30 }, { account: 2_090, seo: 60 })
    expect(started.ran()).toEqual([])
    const [first] = (await started.report())?.refusals ?? []
    expect(first?.problem.detail).toBe(
      'seo has 60 of 60 units left this month and this and the 30 units that the plan night leaves to others need 70; resets 1 Dec 2026 00:00 UTC; ask for 10 more.',
    )
  })

  test('a reserve of a missing budget refuses every project and says so', async () => {
    const started = await start({ acount: 2_000 }, { account: 5_000, seo: 500 })
    expect(started.ran()).toEqual([])
    expect((await refusals(started))?.[0]).toBe(
      'a: The plan night leaves units of the budget acount to others, and there is no such budget: correct the plans file, or create the budget.',
    )
  })

  test('a plan with ask requests approval for units that it must leave, and may then use them', async () => {
    const { product, fire, ran } = await startNight({ leave: { seo: 30 }, whenShort: 'ask', projects: ['a'] })
    await product.call('PUT', '/budgets/seo', { body: { limits: month(60), projects: [{ name: 'a' }] } })
    await fire()
    const { body } = await product.call('GET', '/updates?state=awaiting-approval')
    expect(body.updates[0].history.at(-1).note).toBe(
      'it needs 40 units, this and the 30 units that the plan night leaves to others need 70, and seo has 60 of 60 units left this month; approving it may use the units that must be left, and put seo up to 40 units above its limit of the month in which it starts; now it lacks 0',
    )
    expect((await product.call('POST', `/updates/${body.updates[0].id}/approve`)).body.state).toBe('settled')
    expect(ran()).toEqual(['a'])
    expect(await product.figures('seo')).toMatchObject({ granted: 0, available: 20, spent: 40 })
    expect(await product.audit()).toBe(true)
  })
})
