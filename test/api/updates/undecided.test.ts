import { describe, expect, test } from 'vitest'
import { Contention, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { makes } from '../../support/guard.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const sentence =
  'Other requests changed the same records each time, so this request could not be decided in time. Nothing was sent to the service and nothing was spent. Send the same request again in 5 seconds.'

const sentenceOfMany =
  'Other requests changed the same records each time, so the update of acme could not be decided in time. Nothing was sent to the service for it and nothing was spent on it. Send the same request again in 5 seconds, with the same Idempotency-Key.'

/** The product on a store where other writes conflict with every transaction while the test says so. */
async function start() {
  const memory = createMemoryStore()
  let fails: ((writes: Parameters<Store['transact']>[0]) => Error | null) | null = null
  const store: Store = {
    ...memory,
    transact: async (writes, ...rest) => {
      const failure = fails?.(writes)
      if (failure) throw failure
      return memory.transact(writes, ...rest)
    },
  }
  const product = await startProduct({
    store,
    stream: false,
    plans: [{ name: 'nightly', kind: 'ranking', projects: ['acme'], schedule: 'rate(1 day)' }],
  })
  product.clock.sleep = async (ms) => product.clock.advance(ms)
  return {
    product,
    failWith: (failing: typeof fails) => {
      fails = failing
    },
    contend: () => {
      fails = () => new Contention('others are faster')
    },
  }
}

describe('a request that conflicts with others until its time is over', () => {
  const account = { limits: [{ window: 'month', units: 10 }] }
  test.each<[method: string, path: string, body?: object]>([
    ['POST', '/updates', { kind: 'ranking', project: 'acme' }],
    ['POST', '/updates', { kind: 'ranking', projects: ['acme', 'globex'] }],
    ['GET', '/v3/on-demand/acme/run'],
    ['PUT', '/budgets/seo', account],
    ['POST', '/budgets/account/freeze', { reason: 'a test' }],
    ['POST', '/budgets/account/entries', { type: 'grant', units: 1, reason: 'a test' }],
    ['PUT', '/callers/bob', { scopes: ['read'] }],
  ])('%s %s %j is 503 with its own sentence and Retry-After if its time is over', async (method, path, body) => {
    const { product, contend } = await start()
    await product.call('GET', '/budgets')
    contend()
    const answer = await product.call(method, path, { ...(body && { body }) })
    const isMany = body && 'projects' in body
    expect([answer.status, answer.body.type, answer.body.detail]).toEqual([
      503,
      '/problems/undecided',
      isMany ? sentenceOfMany : sentence,
    ])
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(product.seen('run')).toEqual([])
  })

  test.each([
    ['the ledger is contended', new Contention('others are faster'), /^Other requests .* update of globex could not/],
    ['the disk is full', new LedgerUnavailable('full', { disk: 'full' }), /Nothing was sent to the service for globex/],
    [
      'the ledger does not answer',
      new LedgerUnavailable('no answer'),
      /^The ledger does not .* update of globex was not/,
    ],
  ])(
    'an asynchronous request of which only some updates are queued says which are missing: %s',
    async (_why, cause, why) => {
      const { product, failWith } = await start()
      await product.call('GET', '/budgets')
      failWith((writes) => (JSON.stringify(writes).includes('globex') ? cause : null))
      const ask = () =>
        product.call('POST', '/updates', {
          body: { kind: 'ranking', projects: ['acme', 'globex', 'initech'] },
          headers: { prefer: 'respond-async', 'idempotency-key': 'report-47' },
        })
      for (const _time of ['first', 'second']) {
        const { status, body } = await ask()
        expect([status, body.updates.map(({ project }: { project: string }) => project)]).toEqual([202, ['acme']])
        expect(body.notRecorded.map(({ project }: { project: string }) => project)).toEqual(['globex', 'initech'])
        const { detail } = body.notRecorded[0].problem
        expect(detail).toMatch(why)
        expect(detail).toMatch(/othing was sent to the service for (it|globex) and nothing (was )?spent on it/)
        expect(detail).toMatch(/with the same Idempotency-Key\.$|when an operator has repaired this\.$/)
      }
      failWith(null)
      const { body } = await ask()
      expect([body.updates.length, body.notRecorded]).toEqual([3, undefined])
    },
  )

  test('POST /plans/{name}/run says that the sweep continues if its time is over', async () => {
    const { product, contend } = await start()
    await product.call('GET', '/budgets')
    contend()
    const body = { time: new Date(product.clock.now()).toISOString() }
    const answer = await product.call('POST', '/plans/nightly/run', { body })
    expect([answer.status, answer.body.type, answer.headers.get('retry-after')]).toEqual([
      503,
      '/problems/undecided',
      '5',
    ])
    expect(answer.body.detail).toMatch(/^Other requests changed the same records .* the sweep continues it\./)
  })

  test('a page answers 503 with Retry-After if its time is over', async () => {
    const { product, contend } = await start()
    const limits = [{ window: 'month', units: 100 }]
    await product.call('PUT', '/budgets/seo', { body: { limits, approvalAbove: 10 } })
    const { body } = await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })
    const eve = openBrowser(product)
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read approve', budgets: '*' }))
    const { formToken } = await eve.get('/dashboard/inbox')
    contend()
    const form = { form: formToken, from: 'inbox', do: 'reject', id: [body.updates[0].id] }
    const answer = await eve.post('/dashboard/decide', form)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(answer.text).toContain('could not be decided in time')
  })
})

test('an approved update that cannot start is answered as approved, and its cause is logged', async () => {
  const { product, failWith } = await start()
  await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 100 }], approvalAbove: 10 } })
  const bob = product.signed({ sub: 'bob', scope: 'read run', budgets: '*' })
  const { body } = await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' }, { token: bob })
  const [{ id }] = body.updates
  failWith((writes) => (makes('running')(writes) ? new LedgerUnavailable('DynamoDB does not answer') : null))
  const approved = await product.call('POST', `/updates/${id}/approve`, { body: {} })
  expect([approved.status, approved.body.state]).toEqual([202, 'requested'])
  const [line] = product.logged.map((each) => JSON.parse(each)).filter(({ event }) => event === 'not-begun')
  expect(line).toMatchObject({
    level: 'error',
    item: `update#${id}`,
    requestId: expect.any(String),
    cause: { message: 'DynamoDB does not answer' },
  })
})
