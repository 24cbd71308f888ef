import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loggedRuns } from '../../infra/local/commands/ledger/recover.ts'
import { acceptance } from '../../shared/ledger/identity.ts'
import type { Item } from '../../shared/ledger/store/store.ts'
import { minutes } from '../support/clock.ts'
import { ordersOf } from '../support/inputs/orders.ts'
import { runHere } from '../support/process/here.ts'
import { type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const at = '2026-11-20T10:00:00.000Z'
const since = Date.parse('2026-11-20T09:55:00Z')
const held = {
  level: 'info',
  at,
  kind: 'ranking',
  project: 'acme',
  budget: 'account',
  budgets: ['account'],
  month: 'month:2026-11-01',
  day: 'day:2026-11-20',
  caller: 'bob',
  via: 'http',
  held: 40,
  heldAt: at,
}
const hold = (update: string) => ({ ...held, event: 'hold', update })
const run = (update: string, found: string, charged: number | null) => ({
  ...held,
  event: 'run',
  update,
  found,
  charged,
  note: 'n',
  ms: 1,
})
const corrected = { event: 'charge-corrected', level: 'info', at, by: 'ada', entry: 'ent_1' }
const closed = { event: 'closed', level: 'info', at, state: 'settled', found: 'ran', closedBy: 'person', by: 'ada' }

describe('the log of what ran', () => {
  test.each([
    ['ran', [hold('u'), run('u', 'ran', 55)], { units: 55, isKnown: true }],
    ['did not run', [hold('u'), run('u', 'did-not-run', 0)], { units: 0, isKnown: true }],
    ['ended without an answer', [hold('u'), run('u', 'unknown', null)], { units: 40, isKnown: false }],
    ['was held by a process that died', [hold('u')], { units: 40, isKnown: false }],
    [
      'was closed by a person later',
      [hold('u'), run('u', 'unknown', null), { ...closed, update: 'u', charged: 12 }],
      { units: 12, isKnown: true },
    ],
    [
      'turned out to have run',
      [run('u', 'did-not-run', 0), { event: 'late-correction', level: 'error', at, update: 'u', charged: 30 }],
      { units: 30, isKnown: true },
    ],
    [
      'an administrator charged with another cost',
      [hold('u'), run('u', 'ran', 55), { ...corrected, update: 'u', charged: 35 }],
      { units: 35, isKnown: true },
    ],
  ])('recover counts an update that %s', (_, lines, outcome) => {
    const text = lines.map((line) => JSON.stringify(line)).join('\n')
    const [found, ...others] = loggedRuns(text, since)
    expect([found, others]).toEqual([expect.objectContaining({ update: 'u', ...outcome }), []])
  })

  test('recover reads the log as AWS prints it, and ignores older and other lines', () => {
    const events = [hold('u'), { ...hold('old'), at: '2026-11-20T09:00:00.000Z' }, { event: 'request', at }]
    const messages = [...events.map((line) => JSON.stringify(line)), 'START RequestId: 1']
    expect(loggedRuns(JSON.stringify({ events: messages.map((message) => ({ message })) }), since)).toHaveLength(1)
    expect(loggedRuns(JSON.stringify(messages), since)).toHaveLength(1)
  })

  test('recover reads the lines of several processes in any order', () => {
    const lines = [
      hold('first'),
      run('first', 'unknown', null),
      hold('second'),
      { ...closed, update: 'first', state: 'released', found: 'did-not-run', charged: 0 },
      run('second', 'ran', 55),
      { event: 'late-correction', level: 'error', update: 'first', charged: 120 },
    ].map((line, second) => JSON.stringify({ ...line, at: `2026-11-20T10:00:0${second}.000Z` }))
    const orders = ordersOf(lines)
    expect(orders).toHaveLength(720)
    for (const order of orders)
      expect(loggedRuns(order.join('\n'), since)).toEqual([
        { update: 'first', units: 120, isKnown: true, held: expect.objectContaining({ project: 'acme' }) },
        { update: 'second', units: 55, isKnown: true, held: expect.objectContaining({ project: 'acme' }) },
      ])
  })
})

const make = async (product: Product, budget: string) =>
  expect(
    (await product.call('PUT', `/budgets/${budget}`, { body: { limits: [{ window: 'month', units: 500 }] } })).status,
  ).toBeLessThan(300)

/** A ledger that was restored to a time before two runs of 40 units, and their log. @param payer of the lost runs. */
async function startRestored(payer = 'account') {
  const items = new Map<string, Item>()
  const store = createMemoryStore(items)
  const before = await startProduct({ store })
  await before.update({ kind: 'ranking', project: 'globex' })
  const copy = new Map(items)
  if (payer !== 'account') await make(before, payer)
  for (const project of ['initech', 'umbrella']) await before.update({ kind: 'ranking', project, budget: payer })
  const lines = before.logged.join('\n')

  const product = await startProduct({ store: createMemoryStore(copy), clock: before.clock })
  const accept = acceptance({ table: 't', epoch: 1, to: since, toText: '09:55' })
  await product.guard.ledger.change('setup', accept)
  const restored = await startProduct({ store: createMemoryStore(copy), clock: before.clock })
  const server = createServer(getRequestListener(restored.api.fetch)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-recover-'))
  const file = join(folder, 'ran.json')
  await writeFile(file, lines)
  const recover = async (sub: string, ...more: string[]) =>
    runHere('recover', ['--log', file, ...more], {
      DATA_DIR: folder,
      UNIT_GUARD_URL: `http://127.0.0.1:${port}`,
      UNIT_GUARD_TOKEN: await restored.signed({ sub, scope: 'read approve admin', budgets: '*' }),
    })
  return { restored, recover }
}

describe('npm run recover', () => {
  test('npm run recover books missing updates once, also if another operator repeats it', async () => {
    const { restored, recover } = await startRestored()
    const dry = await recover('ada', '--dry-run')
    expect(dry.err).toBe('')
    expect(dry.out).toMatch(/\nupd_\w+ {2}40 units would be booked on account: recovered /)
    expect(dry.out).toContain(
      '3 updates since 2026-11-20T09:55:00.000Z, 80 units would be booked.\nNothing was changed',
    )
    expect(dry.out).not.toContain('units booked')
    expect(await restored.figures()).toMatchObject({ spent: 40 })
    const done = await recover('ada')
    expect([done.code, done.err]).toEqual([0, ''])
    expect(done.out).toMatch(
      /^upd_\w+ {2}is booked already\nupd_\w+ {2}40 units on account: recovered upd_\w+: ranking of initech by ada, held 2026-11-20T10:00:00.000Z, ran\n/,
    )
    expect(await restored.figures()).toMatchObject({ spent: 120, available: 49_880 })
    const refusal = await restored.update({ kind: 'ranking', project: 'initech' })
    expect([refusal.status, refusal.body.detail]).toEqual([
      409,
      expect.stringContaining('the record of that update is lost, and only an entry “recovered upd_…” may count it.'),
    ])
    const again = await recover('eve')
    expect(again.out).toContain(', 0 units booked.')
    expect(await restored.figures()).toMatchObject({ spent: 120 })
    expect(await restored.audit()).toBe(true)
  })

  test('recover books nothing into an account that was reconciled after the restore', async () => {
    const { restored, recover } = await startRestored()
    restored.clock.advance(minutes(6))
    const book = (figure: object) => restored.call('POST', '/budgets/account/reconcile', { body: figure })
    // The vendor's figure contains the two lost runs of 40 units.
    const reason = 'the vendor’s screen'
    const { body } = await restored.call('POST', '/budgets/account/reconcile?dry-run=true', {
      body: { unitsLeft: 49_880, reason },
    })
    await book({ unitsLeft: 49_880, reason, difference: body.preview.difference })
    expect(await restored.figures()).toMatchObject({ spent: 120 })

    for (const more of [['--dry-run'], []]) {
      const { code, err } = await recover('ada', ...more)
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(
          /^upd_\w+ is not booked: account was reconciled at 2026-11-20T10:06:00.000Z \(ent_\w+\), after the restore was accepted/,
        ),
      ])
    }
    expect(await restored.figures()).toMatchObject({ spent: 120 })

    // The way that the sentence names: a budget is charged, and account keeps the vendor's figure.
    const spent = { type: 'external-spend', units: 80, reason: 'by hand' }
    expect((await restored.call('POST', '/budgets/account/entries', { body: spent })).status).toBe(201)
    restored.clock.advance(minutes(6))
    expect((await book({ unitsLeft: 49_880, reason, difference: -80 })).status).toBe(200)
    expect(await restored.figures()).toMatchObject({ spent: 120 })
  })

  test('recover books on account what a budget spent that the restored ledger lacks, as its dry run says', async () => {
    const { restored, recover } = await startRestored('late')
    const lines = (out: string) => out.split('\n').filter((line) => line.includes(' units ') && line.includes(' on '))
    const dry = lines((await recover('ada', '--dry-run')).out)
    expect(dry).toEqual([
      expect.stringContaining('40 units would be booked on account: '),
      expect.stringContaining('on account: '),
    ])
    await make(restored, 'late')
    expect(lines((await recover('ada')).out)).toEqual(
      dry.map((line) => line.replace('would be booked on account', 'on late')),
    )
    expect(await restored.figures('late')).toMatchObject({ spent: 80 })
  })

  test('recover may be repeated after the reconciliation that follows it', async () => {
    const { restored, recover } = await startRestored()
    expect((await recover('ada')).out).toContain(', 80 units booked.')
    restored.clock.advance(minutes(6))
    const body = { unitsLeft: 49_880, reason: 'the vendor’s screen', difference: 0 }
    expect((await restored.call('POST', '/budgets/account/reconcile', { body })).status).toBe(200)
    expect(await recover('ada')).toMatchObject({ code: 0, err: '', out: expect.stringContaining(', 0 units booked.') })
  })

  test('recover is no audit of its caller', async () => {
    const { restored, recover } = await startRestored()
    for (let each = 0; each < 10; each++) await restored.call('GET', '/audit')
    expect((await restored.call('GET', '/audit')).status).toBe(429)
    expect(await recover('ada', '--dry-run')).toMatchObject({ code: 0, err: '' })
  })
})
