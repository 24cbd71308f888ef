import { describe, expect, test } from 'vitest'
import { metricsText, withMetrics } from '../../../infra/local/metrics.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]

async function start() {
  const product = await startProduct({ store: createMemoryStore() })
  const limits = [...month(900), { window: 'day', units: 300 }]
  await product.call('PUT', '/budgets/acme', { body: { limits, projects: [{ name: 'shop' }] } })
  await product.call('PUT', '/budgets/zenith', { body: { limits: month(500) } })
  await product.update({ kind: 'ranking', project: 'shop' })
  const app = withMetrics(product.api as Parameters<typeof withMetrics>[0])
  const get = async (claims: object | null, method = 'GET') => {
    const token = claims && (await product.signed({ sub: 'ada', scope: 'read', budgets: '*', ...claims }))
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
    const answer = await app.fetch(new Request('http://guard.example/metrics', { method, headers }), {})
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
  }
  return { ...product, get }
}

describe('GET /metrics', () => {
  test('metrics show the units of each budget and window, and each line is in Prometheus’ text format', async () => {
    const { get } = await start()
    const { status, type, text } = await get({})
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    const line =
      /^(# (HELP|TYPE) unit_guard_[a-z_]+ .+|unit_guard_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[\d.]+)$/
    for (const each of text.trimEnd().split('\n')) expect(each).toMatch(line)
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        'unit_guard_units_available{budget="acme",window="month"} 860',
        'unit_guard_units_available{budget="acme",window="day"} 260',
        'unit_guard_units_spent{budget="account",window="month"} 40',
        'unit_guard_units_limit{budget="zenith",window="month"} 500',
        'unit_guard_updates_waiting{state="in-doubt"} 0',
      ]),
    )
  })

  test('a token of some budgets sees only its own, and the scope read is needed', async () => {
    const { call, get } = await start()
    await call('PUT', '/callers/zoe', { body: { readsBudgets: ['zenith'] } })
    const narrowed = await get({ sub: 'zoe', budgets: ['zenith'] })
    expect(narrowed.text).toContain('budget="zenith"')
    for (const hidden of ['acme', 'account', 'waiting']) expect(narrowed.text).not.toContain(hidden)
    expect((await get({ scope: 'run' })).status).toBe(403)
    expect((await get(null)).status).toBe(401)
    expect((await get({}, 'POST')).status).toBe(405)
  })

  test('names are escaped, a missing limit and a missing sweep have no sample, and a trouble has one', () => {
    const figures = { limit: 'unlimited', available: null, held: 1, inDoubt: 2, spent: 3 } as const
    const budget = { name: 'a"b\\c\nd', windows: [{ window: 'month', ...figures }] }
    const troubles = [{ slug: 'plan-not-fired' }, { slug: 'plan-not-fired' }]
    const waiting = { requested: 1, awaitingApproval: 2, inDoubt: 3 }
    const status = { version: '1', troubles, sweptAt: null, backedUpAt: '2026-11-20T10:00:00Z', waiting }
    const text = metricsText({ budgets: [budget] }, status, Date.parse('2026-11-20T10:00:30Z'))
    expect(text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([
      'unit_guard_units_held{budget="a\\"b\\\\c\\nd",window="month"} 1',
      'unit_guard_units_in_doubt{budget="a\\"b\\\\c\\nd",window="month"} 2',
      'unit_guard_units_spent{budget="a\\"b\\\\c\\nd",window="month"} 3',
      'unit_guard_info{version="1"} 1',
      'unit_guard_updates_waiting{state="requested"} 1',
      'unit_guard_updates_waiting{state="awaiting-approval"} 2',
      'unit_guard_updates_waiting{state="in-doubt"} 3',
      'unit_guard_backup_age_seconds 30',
      'unit_guard_trouble{slug="plan-not-fired"} 1',
    ])
  })
})
