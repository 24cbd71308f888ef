import { describe, expect, test } from 'vitest'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { createTestClock, minutes } from '../../support/clock.ts'
import { idOf, mailsOf, type Period } from '../../support/infra/raised.ts'
import { linesOf } from '../../support/log-lines.ts'
import { callerKey, json, type Product, startProduct } from '../../support/product.ts'
import { startProvider } from '../../support/provider.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>
type Measured = NonNullable<Period['measured']>

const measure = (name: string, fn: string, value: number) => ({
  metric: idOf(name, [{ Name: 'FunctionName', Value: `${fn}Function` }]),
  value,
})

/** A store whose reads and writes fail while the test says so. */
function failingStore() {
  const inner = createMemoryStore()
  const failing: { reads?: () => Error; writes?: () => Error } = {}
  const store: Options['store'] = {
    ...inner,
    get: async (keys) => {
      if (failing.reads) throw failing.reads()
      return inner.get(keys)
    },
    transact: async (...given) => {
      if (failing.writes) throw failing.writes()
      return inner.transact(...given)
    },
  }
  return { store, failing }
}

/** Half an hour with callers, sweeps and the metrics that AWS measures meanwhile. */
async function halfAnHour(product: Product, more: { measured?: Measured; work?: () => Promise<unknown> } = {}) {
  const periods: Period[] = []
  let read = product.logged.length
  for (let period = 0; period < 6; period++) {
    product.clock.advance(minutes(5))
    for (let call = 0; call < 3; call++) {
      await product.update({ kind: 'ranking', project: `project-${period}-${call}` })
      await product.call('GET', '/v3/projects/initech/dates')
    }
    await more.work?.()
    const isSwept = await product.triggers.handle({ task: 'sweep' }, product.endsAt()).then(
      () => true,
      () => false,
    )
    const lines = linesOf(product.logged.slice(read))
    read = product.logged.length
    const failed = lines.filter(({ event, status }) => event === 'request' && status >= 500)
    periods.push({
      lines,
      measured: [
        measure('Url5xxCount', 'Api', failed.length),
        measure('Errors', 'Scheduled', isSwept ? 0 : 1),
        ...(more.measured ?? []),
      ],
    })
  }
  return {
    periods,
    events: new Set(periods.flatMap(({ lines }) => lines).map(({ level, event }) => `${level} ${event}`)),
  }
}

describe('one cause sends one mail', () => {
  test('a table that takes no write for half an hour sends one mail', async () => {
    const { store, failing } = failingStore()
    const product = await startProduct({ store })
    await product.update({ kind: 'ranking', project: 'initech' })
    failing.writes = () => new LedgerUnavailable('ThrottlingException')
    const dimensions = [{ Name: 'TableName', Value: 'LedgerTable' }]
    const throttled = [{ Name: 'Operation', Value: 'TransactWriteItems' }, ...dimensions]
    const { periods, events } = await halfAnHour(product, {
      measured: [{ metric: idOf('ThrottledRequests', throttled), value: 40 }],
    })
    expect(events).toContain('error not-admitted')
    expect(mailsOf(periods)).toEqual(['Table'])
  })

  test('a table that does not answer for half an hour sends one mail', async () => {
    const { store, failing } = failingStore()
    const product = await startProduct({ store })
    await product.update({ kind: 'ranking', project: 'initech' })
    failing.reads = () => new LedgerUnavailable('InternalServerError')
    failing.writes = failing.reads
    const { periods, events } = await halfAnHour(product)
    expect(events).toContain('error failed')
    expect(mailsOf(periods)).toEqual(['Table'])
  })

  test('a table that slows every request, which still succeeds, sends one mail', async () => {
    const product = await startProduct({ store: createMemoryStore() })
    const throttled = [
      { Name: 'Operation', Value: 'Query' },
      { Name: 'TableName', Value: 'LedgerTable' },
    ]
    const { periods } = await halfAnHour(product, {
      measured: [{ metric: idOf('ThrottledRequests', throttled), value: 1 }],
    })
    expect(mailsOf(periods)).toEqual(['TableStrained'])
    expect(mailsOf(periods.slice(0, 2))).toEqual([])
  })

  test('a broken secret of the service sends one mail', async () => {
    const secrets = { 'unit-guard/caller-key': callerKey, 'unit-guard/service-token': 'two words' }
    const product = await startProduct({ store: createMemoryStore(), secrets })
    const { periods, events } = await halfAnHour(product)
    expect(events).toContain('error failed')
    expect(mailsOf(periods)).toEqual(['Keys'])
  })

  test('an issuer that does not answer while its tokens arrive sends one mail', async () => {
    const clock = createTestClock()
    const provider = await startProvider({ clock })
    const product = await startProduct({ store: createMemoryStore(), clock, issuers: [provider.entry()] })
    provider.state.way = 'reset'
    const send = async () =>
      (await product.call('GET', '/budgets', { token: provider.sign({ groups: ['seo'] }) })).status
    const { periods } = await halfAnHour(product, {
      work: async () => expect([await send(), await send(), await send()]).toEqual([503, 503, 503]),
    })
    expect(mailsOf(periods)).toEqual(['Keys'])
  })

  test('an outage of Slack sends one mail', async () => {
    const product = await startProduct({
      store: createMemoryStore(),
      slack: { answers: [{ status: 404, body: 'no_service' }] },
    })
    const { periods, events } = await halfAnHour(product, {
      work: async () => {
        await product.call('POST', '/budgets/account/freeze', { body: { reason: 'a test' } })
        await product.deliver()
      },
    })
    expect(events).toContain('error announcement-lost')
    expect(mailsOf(periods)).toEqual(['NotTold'])
  })

  test('code that fails in every request sends one mail', async () => {
    const { store, failing } = failingStore()
    const product = await startProduct({ store })
    failing.reads = () => new TypeError('undefined is not a function')
    const { periods, events } = await halfAnHour(product)
    expect(events).toContain('error outlook-not-checked')
    expect(mailsOf(periods)).toEqual(['FunctionErrors'])
  })

  test('a service that fails every request sends one mail after a quarter of an hour', async () => {
    const product = await startProduct({ store: createMemoryStore(), service: () => json({}, 500) })
    const { periods } = await halfAnHour(product)
    expect(mailsOf(periods)).toEqual(['ServerErrors'])
    expect(mailsOf(periods.slice(0, 2))).toEqual([])
  })

  test('a function that ends before it can answer sends one mail', () => {
    const period = { lines: [], measured: [measure('Errors', 'Api', 9), measure('Url5xxCount', 'Api', 9)] }
    expect(mailsOf(Array.from({ length: 6 }, () => period))).toEqual(['FunctionErrors'])
  })

  test('slow requests send one mail that names each slow function', () => {
    const slow = (fn: string, ms: number) =>
      mailsOf(Array.from({ length: 6 }, () => ({ lines: [], measured: [measure('UrlRequestLatency', fn, ms)] })))
    expect([slow('SlackApp', 3_000), slow('SlackApp', 2_999)]).toEqual([['SlowAnswers'], []])
    for (const fn of ['Api', 'Dashboard', 'Mcp'])
      expect([slow(fn, 90_000), slow(fn, 89_999)]).toEqual([['SlowAnswers'], []])
  })
})
