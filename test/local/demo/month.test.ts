import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { balanceOf, usualTerms } from '../../../functions/sandbox/account.ts'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import { createState } from '../../../functions/sandbox/state.ts'
import { attentionOf } from '../../../infra/local/commands/attention.ts'
import { keepMonth } from '../../../infra/local/demo/month.ts'
import { createPlayer } from '../../../infra/local/demo/player.ts'
import { openLedger } from '../../../shared/ledger/open-ledger.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { openMonth, type PlayedMonth, playedMonth } from '../../support/month.ts'
import { runLocal, temporaryDirectory } from '../../support/process/local.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { createFileStore, createStore } from '../../support/store/stores.ts'

// The content of the month of `npm run demo:month`, which reaches a stored ledger without loss.

/** A busy machine needs this long. */
const playedWithinMs = 90_000

let month: PlayedMonth
beforeAll(async () => {
  month = await playedMonth('2026-11-24T14:00:00Z')
}, playedWithinMs)
afterAll(() => month?.close())

test('the demonstration month has an example of everything that pages show', async () => {
  const { guard } = month.scenario
  const { rows } = await guard.ledger.updates({}, 200)
  const seen = (name: 'state' | 'via' | 'kind') => [...new Set(rows.map((update) => update[name]))].sort()
  expect(seen('state')).toEqual([
    'awaiting-approval',
    'cancelled',
    'expired',
    'in-doubt',
    'refused',
    'rejected',
    'released',
    'settled',
  ])
  expect(seen('via')).toEqual(['gateway', 'http', 'schedule', 'slack'])
  expect(seen('kind')).toEqual(['keyword-difficulty', 'ranking'])
  expect([...new Set(rows.flatMap(({ problem }) => problem?.slug ?? []))].sort()).toEqual([
    'already-fresh',
    'already-updated',
    'budget-frozen',
    'duplicate-work',
    'over-budget',
    'service-refused',
  ])
  expect(rows.filter(({ overrun }) => overrun !== undefined)).toHaveLength(1)
  const open = async (as: 'awaiting-approval' | 'in-doubt') =>
    (await guard.ledger.open(as, 20)).rows.map(({ project }) => project)
  expect(await open('awaiting-approval')).toEqual([
    'opal-press.example',
    'lakeside-hotels.example',
    'juniper-travel.example',
  ])
  expect(await open('in-doubt')).toEqual(['fernway-garden.example', 'initech'])
  const entries = (await guard.ledger.entries({ month: 'month:2026-11-01' }, 200)).rows
  expect([...new Set(entries.map(({ type }) => type))]).toEqual(
    expect.arrayContaining(['grant', 'transfer', 'external-spend', 'reconcile', 'limit', 'freeze', 'budget-created']),
  )
  expect((await guard.ledger.audit()).every(({ ok }) => ok)).toBe(true)
})

test('a call of the demonstration month with another outcome than it expects stops the month', async () => {
  const { scenario, close } = await openMonth('2026-11-24T14:00:00Z')
  onTestFinished(close)
  const play = createPlayer(scenario)
  const fresh = { project: 'acme.example', reason: 'fresh?' }
  await play([['1 08:00', 'local-admin', 'POST /updates', fresh, 'settled']])
  await expect(play([['1 08:00', 'local-admin', 'POST /updates', fresh, 'refused']])).rejects.toThrow(
    'local-admin: expected refused of',
  )
  await expect(play([['1 08:00', 'ines', 'PUT /budgets/mine', { limits: [] }]])).rejects.toThrow(
    'ines: PUT /budgets/mine returned 403',
  )
})

test('the demonstration month contains no loop and no price jump', () => {
  const told = month.scenario
    .items()
    .filter(({ pk }) => /repeats#|#price-jumped/.test(pk))
    .map(({ pk }) => pk)
  expect(told).toEqual([])
})

test('the demonstration month lists budgets at risk first, then decisions, then stops', async () => {
  expect(await attentionOf(month.scenario.guard)).toEqual({
    urgent: [
      'harbour-bikes: Cannot pay its next update: harbour-bikes has 60 units left, and the last one cost 140.',
      'globex: Runs out with the plan morning: plans need 3,840 units until the reset, 1,800 are left, so 2,040 are short from 27 Nov 2026 05:00 UTC.',
      '3 updates need approval, the first until 25 Nov 2026 05:00 UTC.',
      '2 updates are in doubt, the first since 24 Nov 2026 08:00 UTC: someone has to say what happened.',
    ],
    paused: [],
    frozen: ['trial was frozen by mira on 11 Nov 2026 16:00 UTC: the trial is over'],
  })
})

test('the pace, statements and spenders of the demonstration month match its records', async () => {
  const { guard, clock } = month.scenario
  const { view, budgets } = await (await reportsOf(guard)).outlook()
  const updates = (await guard.ledger.updates({}, 500)).rows.filter(({ month }) => month === view.month.name)
  const entries = (await guard.ledger.entries({ month: view.month.name }, 500)).rows
  const usedBy = ({ state, charged, hold }: (typeof updates)[number]) =>
    charged ?? (state === 'in-doubt' || state === 'running' ? (hold?.units ?? 0) : 0)
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  const days = (clock.now() - view.definitions.createdAt) / (24 * 3600_000)
  for (const { budget, month: forecast } of budgets) {
    const own = updates.filter(({ plan, hold }) => plan === undefined && hold?.budgets.includes(budget)).map(usedBy)
    const outside = entries.flatMap(({ moves }) =>
      moves.flatMap((each) => (each.budget === budget && each.window === 'month' ? (each.move.spent ?? 0) : [])),
    )
    expect([budget, forecast.pace.month]).toEqual([budget, Math.round((sum([...own, ...outside]) / days) * 10) / 10])
  }
  const spent = view.book.counters.month.account?.spent
  const spenders = await (await reportsOf(guard)).whoSpent()
  expect(sum(spenders.map(({ units }) => units))).toBe(spent)
  expect(new Set(spenders.map(({ name }) => name)).size).toBe(spenders.length)
  const morning = updates.filter(({ plan }) => plan === 'morning').map(({ charged = 0 }) => charged)
  expect(spenders[0]).toMatchObject({ kind: 'plan', name: 'morning', units: sum(morning) })
  const byBudget = await (await reportsOf(guard)).statement(null, 'budget')
  for (const { key, charged } of byBudget?.rows ?? []) {
    const paid = updates.filter(({ budget }) => budget === key).map(({ charged = 0 }) => charged)
    expect([key, charged]).toEqual([key, sum(paid)])
  }
})

test('the demonstration month is written unchanged, and only once', async () => {
  const { scenario } = month
  const kept = { store: await createStore(), sandbox: createState(demonstrationProjects(scenario.startAt)) }
  await keepMonth(scenario, { ...kept, unitsPerMonth: 100_000 })
  const ledger = openLedger(scenario.settings, { clock: scenario.clock, store: kept.store })
  expect((await ledger.updates({}, 200)).rows).toEqual((await scenario.guard.ledger.updates({}, 200)).rows)
  expect((await ledger.view()).book).toEqual((await scenario.guard.ledger.view()).book)
  expect((await ledger.audit()).every(({ ok }) => ok)).toBe(true)
  const balance = async (service: typeof kept.sandbox) =>
    balanceOf(await service.contents(), scenario.end, usualTerms(100_000))
  expect(await balance(kept.sandbox)).toEqual(await balance(scenario.sandbox))
})

test('the demonstration month is not written into a used ledger', async () => {
  const { scenario } = month
  const store = createMemoryStore()
  await openLedger(scenario.settings, { clock: scenario.clock, store }).view()
  const sandbox = createState([])
  await expect(keepMonth(scenario, { store, sandbox, unitsPerMonth: 100_000 })).rejects.toThrow('set DATA_DIR')
  expect(await sandbox.runs()).toEqual([])
})

test('npm run demo:month refuses a ledger that is not empty, and says what to do', async () => {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  const ledgerOf = () =>
    openLedger(month.scenario.settings, { clock: systemClock, store: createFileStore(join(directory, 'ledger.db')) })
  const before = await ledgerOf().view()
  const { code, out, err } = await runLocal('demo:month', [], { DATA_DIR: directory })
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('This ledger is not empty')
  expect(err).toContain('DATA_DIR=.local/month npm run demo:month')
  expect((await ledgerOf().view()).definitions).toEqual(before.definitions)
})

test.each([
  ['on day 2 the demonstration begins in the month before', '2026-12-02T08:00:00Z', '2026-11-12T00:00:00.000Z'],
  ['on the last day the demonstration has a whole month', '2026-12-31T23:00:00Z', '2026-12-01T00:00:00.000Z'],
])('%s', async (_name, end, first) => {
  const { scenario, close } = await openMonth(end)
  await close()
  expect(new Date(scenario.startAt).toISOString()).toBe(first)
})
