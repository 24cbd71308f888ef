import { describe, expect, test } from 'vitest'
import { logins } from '../../../shared/auth/logins.ts'
import { issuerKeys } from '../../../shared/auth/stored-keys.ts'
import { deliveries } from '../../../shared/events/deliveries.ts'
import { targetStates } from '../../../shared/events/target-states.ts'
import { ReadsNarrowed } from '../../../shared/guard/people/sees.ts'
import { occurrences, reruns } from '../../../shared/guard/plans/stored-occurrence.ts'
import { lastPrices } from '../../../shared/guard/plans/stored-price.ts'
import { knownDates } from '../../../shared/guard/sweep/known-dates.ts'
import type { ItemKind } from '../../../shared/ledger/store/item-kind.ts'
import type { Item } from '../../../shared/ledger/store/store.ts'
import { record, text } from '../../../shared/ledger/store/stored.ts'
import { type Task, type TaskKind, taskMembers } from '../../../shared/ledger/updates/queue.ts'
import { announcements } from '../../../shared/ledger/updates/tasks.ts'
import type { Reports } from '../../../shared/reports/all-reports.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { daySummaries, summaryPlace } from '../../../shared/reports/stored-summary.ts'
import { slackEvents } from '../../../shared/slack/slack-events.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { startClients, telling } from './clients.ts'

const offered = {
  guard: [
    'ledger',
    'submit',
    'estimate',
    'permissions',
    'rateOf',
    'start',
    'decide',
    'inbox',
    'planStatuses',
    'budgetsOf',
    'report',
    'reportParts',
    'answeredDoubts',
    'resolveByAnswer',
    'closeDelivery',
  ],
  ledger: [
    'view',
    'update',
    'updatesNamed',
    'lastSeen',
    'bookNamed',
    'lastAudit',
    'queue',
    'item',
    'updates',
    'updatesFrom',
    'open',
    'oldestOpen',
    'countOpen',
    'entries',
    'entry',
    'correctionOf',
  ],
}

/** A narrowed guard, and the whole one. */
async function startNarrowed() {
  const { guard } = await startClients()
  const token = { scopes: new Set(['admin' as const]), budgets: '*', readsBudgets: ['acme'] } as const
  return { guard, narrowed: (await guard.permissions({ caller: 'mia', token }, { atOnce: true })).guard }
}

/** Calls each function that is not among the names. */
async function expectRefused(names: readonly string[], whole: object, seen: object): Promise<void> {
  const refused: string[] = []
  for (const [name, method] of Object.entries(whole)) {
    if (typeof method !== 'function' && !names.includes(name)) refused.push(name)
    if (typeof method !== 'function' || names.includes(name)) continue
    await expect(Reflect.get(seen, name)()).rejects.toThrow(ReadsNarrowed)
    refused.push(name)
  }
  expect(refused.length + names.length).toBe(Object.keys(whole).length)
}

test('a guard for a reader of some budgets refuses every operation that it does not offer, for any arguments', async () => {
  const { guard, narrowed } = await startNarrowed()
  await expectRefused(offered.guard, guard, narrowed)
  await expectRefused(offered.ledger, guard.ledger, narrowed.ledger)
})

test('a reader of some budgets calls only the declared functions of a queue, and all functions of the items of faces', async () => {
  const { guard, narrowed } = await startNarrowed()
  const [all, own] = [guard.ledger, narrowed.ledger]
  const queue = ['add', 'get', 'change', 'open', 'round', 'latest', 'due', 'counted']
  await expectRefused(['get', 'latest'], all.queue(occurrences), own.queue(occurrences))
  await expectRefused(['get'], all.queue(reruns), own.queue(reruns))
  await expectRefused(queue, all.queue(slackEvents), own.queue(slackEvents))
  await expectRefused([], all.queue(announcements), own.queue(announcements))
  await expectRefused([], all.queue(deliveries), own.queue(deliveries))
  await expectRefused(['read', 'spoil'], all.item(daySummaries), own.item(daySummaries))
  await expectRefused(['read'], all.item(lastPrices), own.item(lastPrices))
  await expectRefused(['issue', 'isOpen', 'redeem', 'use'], all.item(logins), own.item(logins))
  await expectRefused(['read', 'keep'], all.item(issuerKeys), own.item(issuerKeys))
  await expectRefused([], all.item(summaryPlace), own.item(summaryPlace))
  await expectRefused([], all.item(knownDates), own.item(knownDates))
  await expectRefused([], all.item(targetStates), own.item(targetStates))
})

test('a reader of some budgets can neither read nor write items whose kind declares nothing', async () => {
  const { guard, narrowed } = await startNarrowed()
  const wishes: TaskKind<Task> = { name: 'wish', stored: record(taskMembers) }
  const colors: ItemKind<Colors, { readonly color: string }, string> = {
    name: 'color',
    stored: record({ color: text }),
    restOf: (project) => project,
    functions: ({ read, write }) => ({
      of: async (project) => (await read([project]))[0]?.color ?? null,
      paint: (project, color) => write([{ id: project, put: { color }, when: [] }], `${project} ${color}`),
    }),
  }
  expect(await guard.ledger.queue(wishes).add({ id: '1', version: 1, createdAt: 0 })).toBe(true)
  expect(await guard.ledger.item(colors).paint('acme', 'red')).toBe(true)
  await expectRefused([], guard.ledger.queue(wishes), narrowed.ledger.queue(wishes))
  await expectRefused([], guard.ledger.item(colors), narrowed.ledger.item(colors))
  expect(await guard.ledger.item(colors).of('acme')).toBe('red')

  const ofTheirOwn = { ...colors, narrowed: ['of'] } as const
  expect(await narrowed.ledger.item(ofTheirOwn).of('acme')).toBe('red')
  await expectRefused(['of'], guard.ledger.item(ofTheirOwn), narrowed.ledger.item(ofTheirOwn))
})

test('no report shows a reader of some budgets anything of another budget, and none writes', async () => {
  const { guard, narrowed } = await startNarrowed()
  const view = await narrowed.ledger.view()
  const before = await guard.ledger.view()
  const { month } = view
  const inputs: Readonly<Record<keyof Reports, readonly unknown[]>> = {
    outlook: [],
    forecast: [],
    forecastWith: [],
    upcoming: [2],
    callerStops: [view],
    unlistedProjects: [view],
    whoSpent: [view],
    spentByPerson: [view, Promise.resolve([])],
    spentOn: [view, 'zenith'],
    spentCosts: [view, []],
    usedLastMonth: [view],
    pastMonth: [view, month],
    lastMonths: [view, 'zenith', 2],
    projectProfile: ['zed-store'],
    personProfile: ['zoe'],
    statement: [null, 'budget'],
    countUpdates: [{ since: month.start }],
    refusedLately: [view],
    digest: [view.now],
    notesOf: [
      [{ budget: 'acme', isNew: false, members: [{ member: 'projects', from: [], to: [{ name: 'zed-store' }] }] }],
    ],
    keepSummaries: [],
    announceDigest: [],
    checkOutlook: [],
  }
  const reports = await reportsOf(narrowed)
  expect(Object.keys(inputs).toSorted()).toEqual(Object.keys(reports).toSorted())
  const refused = []
  for (const [name, input] of Object.entries(inputs)) {
    const report = Reflect.get(reports, name) as (...of: unknown[]) => Promise<unknown>
    try {
      expect([name, telling.exec(shownOf(await report(...input)))?.[0]]).toEqual([name, undefined])
    } catch (error) {
      if (!(error instanceof ReadsNarrowed)) throw error
      refused.push(name)
    }
  }
  expect(refused).toEqual(['keepSummaries', 'announceDigest'])
  expect(await guard.ledger.view()).toEqual({ ...before, now: expect.any(Number) })
})

const shownOf = (answer: unknown): string =>
  JSON.stringify(answer, (_, value) => (value instanceof Map ? [...value] : value)) ?? ''

interface Colors {
  of(project: string): Promise<string | null>
  paint(project: string, color: string): Promise<boolean>
}

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
