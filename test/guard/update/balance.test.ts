import { describe, expect, test } from 'vitest'
import { renewalChange } from '../../../shared/ledger/identity.ts'
import { createTestClock } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

/** Deployments one after another over the same table, each with its own settings. */
function deployments(start: string) {
  const store = createMemoryStore()
  const clock = createTestClock(start)
  const deploy = (env: Options['env'] = {}) => startProduct({ store, clock, env })
  /** Changes the day as `npm run account -- renewal` does. */
  const renewOn = async (product: Awaited<ReturnType<typeof deploy>>, day: number) => {
    expect((await product.guard.ledger.change('setup', renewalChange({ day }))).kind).toBe('changed')
  }
  return { clock, deploy, renewOn }
}

const ask = (product: Awaited<ReturnType<typeof startProduct>>, project: string) =>
  product.update({ kind: 'ranking', project })

const monthOf = async (product: Awaited<ReturnType<typeof startProduct>>) => {
  const { start, end, available, spent } = (await product.call('GET', '/budgets/account')).body.windows[0]
  return { start, end, available, spent }
}

describe('a renewal day that moves from 1 to 12 in the middle of a month', () => {
  test('a renewal moved from day 1 to 12 lengthens the open month and gives no second allowance', async () => {
    const { clock, deploy, renewOn } = deployments('2026-11-20T10:00:00Z')
    const env = { ACCOUNT_UNITS_PER_MONTH: '100', ACCOUNT_RENEWAL_DAY: '1' }
    const before = await deploy(env)
    expect((await ask(before, 'a')).status).toBe(201)
    const refused = await deploy({ ...env, ACCOUNT_RENEWAL_DAY: '12' })
    expect(await refused.call('GET', '/budgets/account')).toMatchObject({
      status: 503,
      body: {
        detail:
          'This ledger is not the one that is set here: ACCOUNT_RENEWAL_DAY is 12, but the ledger began with 1: unset the setting (to change the renewal, npm run account -- renewal).',
      },
    })
    await renewOn(before, 12)
    const after = await deploy({ ...env, ACCOUNT_RENEWAL_DAY: '12' })
    const lengthened = { start: '2026-11-01T00:00:00.000Z', end: '2026-12-12T00:00:00.000Z', available: 60, spent: 40 }
    expect(await monthOf(after)).toEqual(lengthened)
    clock.set('2026-12-01T00:00:00Z')
    expect(await monthOf(after)).toEqual(lengthened)
    expect((await ask(after, 'b')).status).toBe(201)
    expect((await ask(after, 'c')).body).toMatchObject({
      status: 402,
      detail:
        'account has 20 of 100 units left this month and this needs 40; resets 12 Dec 2026 00:00 UTC; ask for 20 more.',
    })
    // The older deployment still runs and uses the same ledger.
    expect((await ask(before, 'd')).status).toBe(402)
    const statement = await after.call('GET', '/statements')
    expect(statement.body).toMatchObject({ window: 'month:2026-11-01', status: 'open', total: { charged: 80 } })

    clock.set('2026-12-12T00:00:00Z')
    expect(await monthOf(after)).toEqual({
      start: '2026-12-12T00:00:00.000Z',
      end: '2027-01-12T00:00:00.000Z',
      available: 100,
      spent: 0,
    })
    expect((await ask(after, 'c')).status).toBe(201)
    const past = await after.call('GET', '/statements?window=month:2026-11-01')
    expect(past.body).toMatchObject({
      end: '2026-12-12T00:00:00.000Z',
      status: 'final',
      next: 'month:2026-12-12',
      book: { spent: 80, addsUp: true },
    })
    expect(await after.audit()).toBe(true)
  })

  test('a renewal moved back before the old end cancels the move', async () => {
    const { clock, deploy, renewOn } = deployments('2026-11-20T10:00:00Z')
    const back = await deploy()
    await ask(back, 'a')
    await renewOn(back, 12)
    expect(await monthOf(back)).toMatchObject({ end: '2026-12-12T00:00:00.000Z' })
    await renewOn(back, 1)
    expect(await monthOf(back)).toMatchObject({ end: '2026-12-01T00:00:00.000Z', available: 49_960 })
    clock.set('2026-12-01T00:00:00Z')
    expect(await monthOf(back)).toMatchObject({ available: 50_000, spent: 0 })
    expect(await back.audit()).toBe(true)
  })

  test('a grant and a correction go into the lengthened book', async () => {
    const { clock, deploy, renewOn } = deployments('2026-11-20T10:00:00Z')
    const before = await deploy()
    const enter = (product: typeof before, body: object) =>
      product.call('POST', '/budgets/account/entries', { body: { reason: 'r', ...body } })
    const { body: grant } = await enter(before, { type: 'grant', units: 70 })
    await renewOn(before, 12)
    const after = await deploy()
    clock.set('2026-12-05T00:00:00Z')
    const corrected = await enter(after, { type: 'correction', units: 50, corrects: grant.id })
    expect(corrected.body.window).toBe('month:2026-11-01')
    await enter(after, { type: 'external-spend', units: 10 })
    expect(await monthOf(after)).toMatchObject({ available: 50_040, spent: 10 })
    expect(await after.audit()).toBe(true)
  })
})

describe('installed on the 27th with an opening position', () => {
  const env = {
    ACCOUNT_UNITS_PER_MONTH: '1000',
    ACCOUNT_UNITS_USED_AT_START: '900',
    ACCOUNT_RENEWAL_DAY: '1',
  }

  test('an account installed on the 27th never spends more than was left, for any number of simultaneous requests', async () => {
    const { clock, deploy } = deployments('2026-11-27T10:00:00Z')
    const product = await deploy(env)
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => ask(product, `p-${index}`)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    expect(product.seen('run')).toHaveLength(2)
    expect(await monthOf(product)).toMatchObject({ available: 20, spent: 980 })
    // The ledger takes the position only at its first start, and refuses another position.
    const other = await (await deploy({ ...env, ACCOUNT_UNITS_USED_AT_START: '0' })).call('GET', '/budgets/account')
    expect([other.status, other.body.detail]).toEqual([
      503,
      'This ledger is not the one that is set here: ACCOUNT_UNITS_USED_AT_START is 0, but the ledger began with 900: unset the setting (the opening entry can be corrected).',
    ])
    const again = await deploy(env)
    expect(await monthOf(again)).toMatchObject({ available: 20, spent: 980 })
    expect(await again.audit()).toBe(true)
    clock.set('2026-12-01T00:00:00Z')
    expect(await monthOf(again)).toMatchObject({ available: 1_000, spent: 0 })
    expect(await again.audit()).toBe(true)
  })

  test('a renewal moved right after the installation does not restore the month’s units', async () => {
    const { clock, deploy, renewOn } = deployments('2026-11-27T10:00:00Z')
    const moved = await deploy(env)
    await monthOf(moved)
    await renewOn(moved, 28)
    clock.set('2026-11-28T12:00:00Z')
    expect(await monthOf(moved)).toMatchObject({ end: '2026-12-28T00:00:00.000Z', available: 100, spent: 900 })
    expect(await moved.audit()).toBe(true)
  })

  test('a wrong opening position is corrected like any entry', async () => {
    const { deploy } = deployments('2026-11-27T10:00:00Z')
    const product = await deploy(env)
    const { body } = await product.call('GET', '/budgets/account/entries')
    expect(body.entries).toMatchObject([{ type: 'opening', units: 900, by: 'setup' }])
    const corrected = await product.call('POST', '/budgets/account/entries', {
      body: { type: 'correction', units: 850, corrects: body.entries[0].id, reason: 'read wrongly' },
    })
    expect(corrected.status).toBe(201)
    expect(await monthOf(product)).toMatchObject({ available: 150, spent: 850 })
    expect(await product.audit()).toBe(true)
  })
})
