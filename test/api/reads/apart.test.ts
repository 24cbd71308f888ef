import { describe, expect, test } from 'vitest'
import { allOperations } from '../../../infra/openapi/document.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import { days, hours } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { everythingOf, readOf } from './clients.ts'

type Step = readonly [who: 'ada' | 'max' | 'zoe', method: string, path: string, body?: object]

const limits = (units: number) => ({ limits: [{ window: 'month', units }] })
const named = (...names: string[]) => ({ projects: names.map((name) => ({ name })) })
const ask = (project: string, more: object = {}) => ({ kind: 'ranking', project, ...more })

const own: readonly Step[] = [
  [
    'ada',
    'PUT',
    '/budgets/acme',
    { parent: 'overco', ...limits(3_000), approvalAbove: 90, ...named('shop', 'spare', 'dear') },
  ],
  ['ada', 'PUT', '/budgets/acme-eu', { parent: 'acme', ...limits(500), ...named('outlet') }],
  ['ada', 'PUT', '/callers/mia', { readsBudgets: ['acme'] }],
  ['max', 'POST', '/updates', ask('shop')],
  ['max', 'POST', '/updates', ask('outlet', { reason: 'for the report' })],
  ['max', 'POST', '/updates', ask('dear')],
  ['max', 'POST', '/updates', ask('shop')],
  ['ada', 'POST', '/budgets/acme/entries', { type: 'grant', units: 50, reason: 'acme pays' }],
  ['ada', 'POST', '/budgets/acme/entries', { type: 'transfer', to: 'acme-eu', units: 20, reason: 'acme moves' }],
  ['max', 'POST', '/v3/projects/shop/update', { keywords: [{ name: 'shoes' }] }],
  ['ada', 'POST', '/plans/both/run', { time: '2026-11-20T09:55:00Z' }],
]
const others: readonly Step[] = [
  ['ada', 'PUT', '/budgets/zenith', { parent: 'overco', ...limits(40_000), ...named('zed-store', 'zed-wait') }],
  ['ada', 'PUT', '/callers/zoe', { person: 'zara', ...limits(9_000) }],
  ['zoe', 'POST', '/updates', ask('zed-store', { reason: 'zeta' })],
  ['zoe', 'POST', '/updates', ask('zed-wait', { maxUnits: 1 })],
  ['zoe', 'POST', '/updates', ask('zed-store')],
  ['ada', 'POST', '/budgets/zenith/entries', { type: 'grant', units: 11, reason: 'zeta' }],
  ['ada', 'POST', '/budgets/zenith/entries', { type: 'external-spend', units: 12, reason: 'zeta' }],
  ['ada', 'POST', '/budgets/zenith/freeze', { reason: 'zeta' }],
  ['zoe', 'POST', '/updates', ask('zed-wait')],
  ['ada', 'PUT', '/budgets/overco', { ...limits(60_000), perUpdate: 9_000 }],
  ['zoe', 'POST', '/v3/projects/zed-store/update', { keywords: [{ name: 'zeta' }] }],
]
const plans = [{ name: 'both', kind: 'ranking', projects: ['outlet', 'zed-store'], schedule: 'cron(0 5 * * ? *)' }]

/** The reader's answers to every GET, where the other client is busy or does nothing at all. */
async function answersWhere(isOtherBusy: boolean) {
  const product = await startProduct({
    store: createMemoryStore(),
    plans,
    units: { dear: 100 },
    service: ({ url }) => readOf(url),
  })
  const { call, clock, signed } = product
  const exp = product.inDays(60)
  const tokens = {
    ada: signed({ sub: 'ada', scope: 'read run write approve admin', budgets: '*', exp }),
    max: signed({ sub: 'max', scope: 'read run write', budgets: ['acme'], exp }),
    zoe: signed({ sub: 'zoe', scope: 'read run write', budgets: ['zenith'], exp }),
  }
  const mia = signed({ sub: 'mia', scope: 'read run approve', budgets: ['acme'], exp })
  const take = async ([who, method, path, body]: Step) => {
    await call(method, path, { token: tokens[who], ...(body && { body }) })
  }
  await take(['ada', 'PUT', '/budgets/overco', limits(60_000)])
  for (let at = 0; at < Math.max(own.length, others.length); at++) {
    for (const step of [others[at], own[at]]) {
      clock.advance(1_000)
      if (step && (isOtherBusy || own.includes(step))) await take(step)
    }
  }
  const answers: Record<string, string> = {}
  const look = async (stage: string) => {
    for (const path of paths) {
      clock.advance(20_000)
      const answer = await call('GET', path.replace(/ csv$/, ''), {
        token: mia,
        headers: { accept: path.endsWith(' csv') ? 'text/csv' : 'application/json' },
      })
      answers[`${stage}: ${path}`] = withoutIds(everythingOf(answer))
    }
  }
  await look('at once')
  for (const wait of [hours(15), hours(1), days(1)]) {
    clock.advance(wait)
    await product.triggers.sweep(product.endsAt())
  }
  await look('two days later')
  return answers
}

const plain = allOperations.flatMap(({ method, path, scopes }) =>
  method === 'GET' && scopes !== null && !path.startsWith('/v3') ? [path.replace('{name}', 'acme')] : [],
)
const paths = [
  ...plain.filter((path) => !path.includes('{')),
  ...[
    '/updates?limit=1',
    '/updates?limit=2&since=2026-11-01T00:00:00Z',
    '/updates?state=awaiting-approval',
    '/updates csv',
  ],
  ...['budget', 'project', 'caller'].flatMap((by) => [`/statements?by=${by}`, `/statements?by=${by} csv`]),
  ...[
    '/budgets?sort=risk',
    '/budgets/acme-eu',
    '/budgets/acme/entries?limit=1',
    '/budgets/acme/entries csv',
    '/changes?limit=1',
  ],
  ...['shop', 'dear', 'outlet&project=spare'].map((project) => `/estimates?kind=ranking&project=${project}`),
]

const withoutIds = (text: string): string =>
  text.replace(/(?<![0-9a-z])[0-9a-z]{26}(?![0-9a-z])/g, 'id').replace(/next\\":\\"[\w-]+/g, 'next')

describe('a caller who reads one client', () => {
  test('gets the same answers whatever the other client does', async () => {
    const [busy, quiet] = [await answersWhere(true), await answersWhere(false)]
    expect(busy).toEqual(quiet)
    expect(Object.values(busy).join()).toContain('outlet')
  }, 60_000)
})
