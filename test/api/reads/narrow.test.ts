import { describe, expect, test } from 'vitest'
import { occurrences, reruns } from '../../../shared/guard/plans/stored-occurrence.ts'
import { ReadsNarrowed } from '../../../shared/guard/reads/sees.ts'
import type { Item } from '../../../shared/ledger/store/store.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { startClients } from './clients.ts'

const offered = {
  guard: [
    ...['ledger', 'submit', 'estimate', 'permissions', 'rateOf', 'start', 'decide'],
    ...['outlook', 'forecast', 'whoSpent', 'spentOn', 'spentCosts', 'usedLastMonth', 'pastMonth', 'lastMonths'],
    ...['statement', 'monthFigures', 'countUpdates', 'inbox', 'unlistedProjects'],
    ...['planStatuses', 'upcoming', 'budgetsOf', 'report', 'projectProfile', 'personProfile'],
    ...['answeredDoubts', 'resolveByAnswer'],
  ],
  ledger: [
    ...['view', 'update', 'updatesNamed', 'lastSeen', 'bookNamed', 'lastAudit', 'queue', 'logins', 'issuerKeys'],
    ...['updates', 'updatesFrom', 'open', 'oldestOpen', 'countOpen', 'entries', 'summaries', 'prices'],
  ],
}

test('a guard for a reader of some budgets refuses every operation that it does not offer, for any arguments', async () => {
  const { guard } = await startClients()
  const token = { scopes: new Set(['admin' as const]), budgets: '*', readsBudgets: ['acme'] } as const
  const { guard: narrowed } = await guard.permissions({ caller: 'mia', token }, { atOnce: true })
  const rooms = [
    [offered.guard, guard, narrowed],
    [offered.ledger, guard.ledger, narrowed.ledger],
    [['get', 'latest'], guard.ledger.queue(occurrences), narrowed.ledger.queue(occurrences)],
    [['get'], guard.ledger.queue(reruns), narrowed.ledger.queue(reruns)],
    [['read', 'spoil'], guard.ledger.summaries, narrowed.ledger.summaries],
    [['read'], guard.ledger.prices, narrowed.ledger.prices],
  ] as const
  for (const [names, whole, seen] of rooms) {
    const refused: string[] = []
    for (const [name, method] of Object.entries(whole)) {
      if (typeof method !== 'function' && !names.includes(name as never)) refused.push(name)
      if (typeof method !== 'function' || names.includes(name as never)) continue
      await expect(Reflect.get(seen, name)()).rejects.toThrow(ReadsNarrowed)
      refused.push(name)
    }
    expect(refused.length + names.length).toBe(Object.keys(whole).length)
  }
})

describe('a caller who reads one client, and filters updates by a budget', () => {
  test('a filter by a budget above is answered like a filter by an unknown budget: JSON, CSV, count and tool', async () => {
    const clients = await startClients()
    const answersFor = async (budget: string) => {
      const read = async (path: string, accept = 'application/json') =>
        (await clients.as('GET', path, { headers: { accept } })).text.replaceAll(budget, 'budget')
      const agent = await (await listenForAgents(clients)).connect({ token: await clients.mia })
      return [
        await read(`/updates?budget=${budget}`),
        await read(`/updates?since=2026-11-01T00:00:00Z&budget=${budget}`),
        await read(`/updates?budget=${budget}`, 'text/csv'),
        JSON.stringify(await agent.call('list_updates', { budget })),
      ]
    }
    const unknown = await answersFor('unknown')
    expect(unknown[0]).toBe('{"updates":[]}')
    for (const budget of ['overco', 'zenith', 'account']) expect(await answersFor(budget)).toEqual(unknown)
  })

  test('a filter by a budget finds the updates that a budget above paid for, in list, count and CSV', async () => {
    const { as, ids } = await startClients()
    const { updates, count } = (await as('GET', '/updates?budget=acme&limit=200&since=2026-11-01T00:00:00Z')).body
    const found = updates.map(({ id }: { id: string }) => id)
    expect(found).toContain(ids.paidAbove)
    expect(found).toContain(ids.settled)
    expect(count).toBe(found.length)
    expect((await as('GET', '/updates?budget=acme', { headers: { accept: 'text/csv' } })).text).toContain(ids.paidAbove)
  })
})

test('a reader of either client sees a project that both clients list', async () => {
  const items = new Map<string, Item>()
  const product = await startProduct({ store: createMemoryStore(items) })
  const { call, signed } = product
  const limits = [{ window: 'month', units: 1_000 }]
  for (const [name, project] of [
    ['acme', { name: 'shop', id: '7' }],
    ['zenith', { name: '7-eleven', id: '8' }],
  ] as const)
    expect((await call('PUT', `/budgets/${name}`, { body: { limits, projects: [project] } })).status).toBe(201)
  // An older ledger may have two budgets that list one text, as a name and as an id.
  const [key, stored] = [...items].find(([, item]) => item.budgets !== undefined) ?? []
  if (!key || !stored) throw new Error('there are no definitions')
  items.set(key, JSON.parse(JSON.stringify(stored).replace('7-eleven', '7')))
  const read = async (client: string) => {
    const exp = product.inDays(1)
    expect((await call('PUT', `/callers/of-${client}`, { body: { readsBudgets: [client] } })).status).toBe(201)
    return call('GET', '/estimates?kind=ranking&project=7', {
      token: signed({ sub: `of-${client}`, scope: 'read', exp }),
    })
  }
  for (const [own, other] of [
    ['acme', 'zenith'],
    ['zenith', 'acme'],
  ] as const) {
    const { status, text } = await read(own)
    expect([own, status]).toEqual([own, 400])
    expect(text).not.toContain(other)
  }
})

test('a person sees the reasons that they wrote under any of their names', async () => {
  const { call, as, signed, inDays } = await startClients()
  const admin = { body: { readsBudgets: ['acme'], person: 'maria' } }
  expect((await call('PUT', '/callers/mia', admin)).status).toBe(200)
  expect((await call('PUT', '/callers/mia-phone', { body: { person: 'maria' } })).status).toBe(201)
  expect((await call('PUT', '/callers/max', { body: { mayChargeAncestors: true } })).status).toBe(200)
  const idOf = async (sub: string, kind: string) => {
    const token = signed({ sub, scope: 'run', budgets: ['acme'], exp: inDays(1) })
    const body = { kind, project: 'spare', reason: 'as zenith has it', tags: { like: 'zenith' } }
    return (await call('POST', '/updates', { token, body })).body.updates[0].id
  }
  const own = { reason: 'as zenith has it', tags: { like: 'zenith' } }
  expect((await as('GET', `/updates/${await idOf('mia-phone', 'ranking')}`)).body).toMatchObject(own)
  const ofOther = (await as('GET', `/updates/${await idOf('max', 'keyword-difficulty')}`)).body
  expect([ofOther.caller, ofOther.reason, ofOther.tags]).toEqual(['max', undefined, undefined])
})
