import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../shared/ledger/memory-store.ts'
import { LedgerUnavailable } from '../shared/ledger/store.ts'
import { openBrowser } from './support/browser.ts'
import { press, send } from './support/page-forms.ts'
import { startProduct } from './support/product.ts'

// Who may do what, on a page; and the stop that is there for a token in the wrong hands.

async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const list = (sub: string, body: object) => product.call('PUT', `/callers/${sub}`, { body })
  const eve = openBrowser(product)
  await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
  const listed = async () =>
    (await product.call('GET', '/callers')).body.callers.map((each: { sub: string; disabled: boolean }) => [
      each.sub,
      each.disabled,
    ])
  return { product, list, eve, listed }
}

describe('callers', () => {
  test('nobody listed, and what that means', async () => {
    const { eve } = await start()
    const { text } = await eve.get('/dashboard/callers')
    expect(text).toContain("Nobody is listed: a token's own scopes and budgets hold for them")
  })

  test('what each may do, and what is left of their own limits', async () => {
    const { product, list, eve } = await start()
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 500 }] } })
    const limits = [{ window: 'day', units: 100 }]
    await list('crawler', { scopes: ['read', 'run'], budgets: ['seo'], limits, perUpdate: 60, ratePerMinute: 30 })
    await list('slack:U1', { scopes: ['approve'], person: 'bob', disabled: true, mayForce: true })
    await list('eve', { budgets: '*' })
    await product.update(
      { kind: 'ranking', project: 'one', budget: 'seo' },
      { token: product.signed({ sub: 'crawler', scope: 'run', budgets: '*' }) },
    )
    const { text, html } = await eve.get('/dashboard/callers')
    expect(text).toContain(
      'crawler Scopes read, run Budgets seo At most for one update 60 Requests a minute 30 crawler has 60 of 100 units left today.',
    )
    expect(text).toContain(
      'slack:U1 is bob ✕ Disabled: whatever they ask for is refused. Scopes approve Budgets none May force yes',
    )
    expect(text).toContain('eve (you: somebody else has to disable you) Scopes as the token says Budgets all')
    expect([...html.matchAll(/name="sub" value="([^"]+)"/g)].map(([, sub]) => sub)).toEqual(['crawler', 'slack:U1'])
  })

  test('are disabled at once, listed or not, with all else as it was; and enabled again', async () => {
    const { product, list, eve, listed } = await start()
    await list('crawler', { scopes: ['read'], perUpdate: 60 })
    const page = await eve.get('/dashboard/callers')
    const stop = { sub: ['crawler'], other: 'mallory', reason: 'their token is on the web' }
    const stopped = await press(eve, page, 'Disable', stop)
    expect(stopped.text).toContain('✓ crawler is disabled. ✓ mallory is disabled.')
    const token = product.signed({ sub: 'mallory', scope: 'read' })
    expect((await product.call('GET', '/budgets', { token })).status).toBe(403)
    await press(eve, page, 'Disable', stop)
    const { body } = await product.call('GET', '/budgets/account/entries')
    const reasons = body.entries.map(({ by, reason }: Record<string, string>) => `${by}: ${reason}`)
    expect(reasons.filter((line: string) => line.includes('disabled')).toSorted()).toEqual([
      'eve: crawler is disabled: their token is on the web',
      'eve: mallory is disabled: their token is on the web',
    ])
    const enabled = await press(eve, stopped, 'Enable', { sub: ['crawler', 'mallory'], reason: 'new tokens' })
    expect(enabled.text).toContain('✓ crawler is enabled. ✓ mallory is enabled.')
    expect((await product.call('GET', '/callers/crawler')).body).toEqual({
      sub: 'crawler',
      scopes: ['read'],
      disabled: false,
      perUpdate: 60,
    })
    expect(await listed()).toEqual([
      ['crawler', false],
      ['mallory', false],
    ])
  })

  test('nobody chosen, no reason, no such name', async () => {
    const { eve, listed } = await start()
    const page = await eve.get('/dashboard/callers')
    for (const [filled, said] of [
      [{ reason: 'x' }, 'sub: takes at least one caller: choose some first, or name one.'],
      [{ other: 'mallory' }, 'reason: takes a text.'],
      [{ other: 'two words', reason: 'x' }, 'other: takes 1 to 200 visible characters without #.'],
    ] as const)
      expect((await press(eve, page, 'Disable', filled)).text).toContain(said)
    expect(await listed()).toEqual([])
  })

  test('a ledger that stops answering: what was done is told, and what was not', async () => {
    const { product, list, eve, listed } = await start()
    for (const sub of ['a', 'b', 'c']) await list(sub, {})
    const page = await eve.get('/dashboard/callers')
    const { transact } = product.store
    let left = 1
    product.store.transact = async (...args) => {
      if (left-- > 0) return transact(...args)
      throw new LedgerUnavailable('gone')
    }
    const sent = await send(eve, page, 'Disable', { sub: ['a', 'b', 'c'], reason: 'x' })
    product.store.transact = transact
    expect((await eve.get(sent.location ?? '')).text).toContain('✓ a is disabled. ✕ The ledger does not answer')
    expect(await listed()).toEqual([
      ['a', true],
      ['b', false],
      ['c', false],
    ])
  })

  test('are shown to administrators alone, and changed by them', async () => {
    const { product, listed } = await start()
    const rita = openBrowser(product)
    await rita.logIn(product.signed({ sub: 'rita', scope: 'read approve run' }))
    expect((await rita.get('/dashboard/callers')).status).toBe(403)
    const { formToken } = await rita.get('/')
    const sent = await rita.post('/dashboard/callers', { form: formToken, do: 'disable', other: 'eve', reason: 'x' })
    expect([sent.status, await listed()]).toEqual([403, []])
  })

  test('hostile names stay text', async () => {
    const { product, eve } = await start()
    const hostile = '"><script>alert(1)</script>'
    await product.guard.putCaller(hostile, { person: '<img/src=x>' }, { caller: 'ada' })
    const { html, text } = await eve.get('/dashboard/callers')
    expect(html).not.toMatch(/<script|<img/)
    expect(text).toContain(`${hostile} is <img/src=x>`)
    expect((await press(eve, { html }, 'Disable', { sub: hostile, reason: 'x' })).text).toContain(
      `✓ ${hostile} is disabled.`,
    )
  })
})
