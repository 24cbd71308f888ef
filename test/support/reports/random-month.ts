import type { UnitPrices } from '../../../shared/guard/money.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import type { Entry } from '../../../shared/ledger/book/entry.ts'
import type { EntryRequest } from '../../../shared/ledger/book/entry-request.ts'
import type { Renewal } from '../../../shared/ledger/definitions/windows.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import type { Kind } from '../../../shared/tracking/kinds.ts'
import { chanceOf, one } from '../../simulation/workloads/chance.ts'
import { days, hours, minutes } from '../clock.ts'
import { ran, startGuard, unknown } from '../guard.ts'
import { at, u } from '../records.ts'

// A month by chance, for the oracles of the reports: updates in every state, entries and changes of both kinds of work.
// Names are equal where they may be: `shop` is a budget, a project, a plan, a caller and a person.

type Chance = ReturnType<typeof chanceOf>
type Started = Awaited<ReturnType<typeof startGuard>>

export type RandomMonth = Awaited<ReturnType<typeof startRandomMonth>>

interface MonthStart {
  readonly zone: string
  readonly begins: string
  readonly renewal: Omit<Renewal, 'zone'>
}

/** The month turns in each of them: on a day from 1 to 14 or from 29 to 31, and some change their clocks. */
const monthStarts: readonly MonthStart[] = [
  { zone: 'Europe/Berlin', begins: '2027-03-26T10:00:00Z', renewal: { day: 28, time: '02:30' } },
  { zone: 'Australia/Lord_Howe', begins: '2027-04-02T10:00:00Z', renewal: { day: 4, time: '01:45' } },
  { zone: 'Pacific/Kiritimati', begins: '2026-12-29T10:00:00Z', renewal: { day: 31, time: '12:00' } },
  { zone: 'Europe/London', begins: '2027-10-29T20:00:00Z', renewal: { day: 31, time: '01:30' } },
  { zone: 'UTC', begins: '2027-02-27T10:00:00Z', renewal: { day: 1, time: '00:00' } },
  { zone: 'America/St_Johns', begins: '2027-02-26T10:00:00Z', renewal: { day: 29, time: '00:00' } },
  { zone: 'Asia/Tokyo', begins: '2026-12-12T10:00:00Z', renewal: { day: 14, time: '09:30' } },
]

const plans = parsePlans(
  JSON.stringify([
    { name: 'shop', kind: 'ranking', projects: ['shop', 'p1', 'p2'], schedule: 'cron(0 5 * * ? *)', whenShort: 'ask' },
    { name: 'deep', kind: 'keyword-difficulty', projects: ['shop', 'p1'], schedule: 'cron(0 5,17 * * ? *)' },
    { name: 'off', kind: 'ranking', projects: ['p3'], schedule: 'cron(0 1 * * ? *)', enabled: false },
  ]),
)

/** Some callers are one person, and a token may claim a person. */
const askers: readonly { readonly caller: string; readonly person?: string }[] = [
  { caller: 'bob' },
  { caller: 'shop' },
  { caller: 'dora' },
  { caller: 'dora-laptop' },
  { caller: 'okta:7', person: 'kim' },
  { caller: 'okta:8', person: 'kim' },
  { caller: 'okta:8', person: 'shop' },
]

const late = { kind: 'ran', from: 'sender', by: 'service', note: 'its answer came late' } as const

export async function enter({ other, parts }: Started, wanted: object): Promise<Entry | null> {
  const id = parts.ids.random()
  const request = { id, content: id, reason: 'r', by: 'ada', budget: 'account', ...wanted } as EntryRequest
  const preview = await other.previewEntry(request)
  if (preview.kind !== 'possible') return null
  const shown = preview.entry.units
  const outcome = await other.enter(request.type === 'reconcile' ? { ...request, shown } : request)
  return outcome.kind === 'entered' ? outcome.entry : null
}

/** Unit prices that begin on some days around the first step. */
function unitPricesOf(chance: Chance, { zone, begins }: MonthStart): UnitPrices {
  const offsets = [-40, 0, 1, 2, 3, 5, 6, 8, 12].filter((offset) => offset === 2 || offset === 5 || chance(10) < 7)
  const prices = offsets.map((offset) => ({
    from: localDay(at(begins) + days(offset), zone),
    perUnit: BigInt(1 + chance(99_999)),
  }))
  return { currency: 'EUR', prices }
}

/** The guard in memory, and steps by chance of its callers, people, plans and sweeps. */
export async function startRandomMonth(seed: number) {
  const chance = chanceOf(seed)
  const start = monthStarts[seed % monthStarts.length] as MonthStart
  const { zone, begins, renewal } = start
  const unitPrices = unitPricesOf(chance, start)
  const product = await startGuard({
    units: 5_000,
    renewal: { ...renewal, zone },
    parts: {
      unitPrices,
      plans: async () => plans,
      options: {
        serviceTimeoutMs: 5_000,
        serviceFlightMs: 300_000,
        cooldown: { ranking: 0, 'keyword-difficulty': hours(9) },
      },
    },
  })
  const { clock, other, guard, service } = product
  clock.set(begins)
  await defineAll(product)
  const prices = new Map<string, number>()
  const priceOf = (kind: Kind, project: string): number => {
    const key = `${kind} ${project}`
    const price = prices.get(key) ?? 1 + chance(60)
    prices.set(key, price)
    return price
  }
  service.estimate = async ({ kind, segment }) => ({
    kind: 'units',
    source: 'units',
    units: u(priceOf(kind, decodeURIComponent(segment))),
  })
  service.run = async () => (chance(10) < 7 ? ran : unknown)
  const opened = (await other.view()).month
  const windows = new Map([[opened.name, opened.end]])
  const updates = async (): Promise<readonly Update[]> => (await other.updates({}, 2_000)).rows
  const entries = async (window: string): Promise<readonly Entry[]> => {
    return (await other.entries({ month: window }, 2_000)).rows
  }
  const month = { product, chance, prices, windows, updates, entries, plans }
  const note = async (step: Step) => {
    await step()
    const { month: reached } = await other.view()
    windows.set(reached.name, reached.end)
  }
  const askingSteps = stepsOfCallers(month)
  const steps = [...askingSteps, ...stepsOfPeople(month), ...stepsOfTime(month)]

  return {
    ...month,
    guard,
    zone,
    renewal,
    unitPrices,
    /** Takes one step, and notes the month that it reached. */
    step: () => note(one(chance, steps)),
    /** Half an hour after the day, when a sweep sums it up. Then callers ask for updates of the new day. */
    turnDay: () =>
      note(async () => {
        clock.set(new Date((await other.view()).day.end + minutes(31)).toISOString())
        await (await reportsOf(guard)).keepSummaries()
        for (const _ of [1, 2, 3]) await one(chance, askingSteps)()
      }),
  }
}

/** What the steps read and change. */
interface Life {
  readonly product: Started
  readonly chance: Chance
  readonly prices: Map<string, number>
  readonly windows: ReadonlyMap<string, number>
  readonly updates: () => Promise<readonly Update[]>
  readonly entries: (window: string) => Promise<readonly Entry[]>
}

type Step = () => Promise<unknown>

async function defineAll(product: Started): Promise<void> {
  const month = (units: number) => ({ limits: [{ window: 'month' as const, units: u(units) }] })
  await product.budget('acme', {
    projects: [{ name: 'p1', id: '77' }, { name: 'p2' }],
    limits: [
      { window: 'month', units: u(500) },
      { window: 'day', units: u(150) },
    ],
  })
  await product.budget('shop', {
    parent: 'acme',
    projects: [{ name: 'shop' }],
    enforce: false as const,
    limits: [
      { window: 'month', units: u(400) },
      { window: 'day', units: u(60) },
    ],
  })
  await product.budget('slow', { ...month(700), approvalAbove: u(1) })
  const scopes: Scope[] = ['run']
  const all = { scopes, budgets: '*' as const }
  for (const name of ['bob', 'dora']) await product.caller(name, all)
  await product.caller('shop', { ...all, limits: [{ window: 'month', units: u(300) }] })
  await product.caller('dora-laptop', { ...all, person: 'dora', perUpdate: u(55) })
}

function stepsOfCallers({ product, chance, prices }: Life): readonly Step[] {
  const { clock, guard } = product
  const ask = () => {
    const { caller, person } = one(chance, askers)
    const token = { scopes: new Set<Scope>(['run', 'admin']), budgets: '*' as const, ...(person && { person }) }
    const budget = one(chance, ['', '', 'account', 'acme', 'slow'])
    return product.ask(
      {
        kind: one(chance, ['ranking', 'ranking', 'keyword-difficulty'] as const),
        projects: [one(chance, ['shop', 'p1', '77', 'p2', 'p3', 'p4'])],
        ...(budget && { budget }),
        ...(chance(3) === 0 && { tags: { client: one(chance, ['shop', 'p1']) } }),
        ...(chance(4) === 0 && { whenShort: 'ask' as const }),
      },
      { caller, token },
    )
  }
  return [
    ask,
    ask,
    ask,
    ask,
    ask,
    ask,
    async () => (await guard.jobs()).fire(one(chance, ['shop', 'deep']), clock.now(), clock.now() + hours(1)),
    async () => (await guard.jobs()).readPrices(clock.now() + hours(1)),
    async () => {
      for (const key of prices.keys()) if (chance(3) === 0) prices.set(key, 1 + chance(60))
    },
  ]
}

function stepsOfPeople({ product, chance, windows, updates, entries }: Life): readonly Step[] {
  const { clock, guard, other } = product
  return [
    async () => {
      for (const { id, state } of await updates()) {
        const decision = one(chance, ['approve', 'approve', 'reject', 'cancel'] as const)
        if (state === 'awaiting-approval' && chance(3) === 0) await guard.decide(decision, id, { caller: 'eve' })
      }
      for (const { id, state } of await updates())
        if (state === 'requested') await guard.start(id, clock.now() + minutes(5))
    },
    async () => {
      for (const { id, state } of await updates()) {
        const outcome = one(chance, ['ran', 'did-not-run'] as const)
        if (state === 'in-doubt') await guard.decide(outcome, id, { caller: 'eve' }, { reason: 'r' })
      }
    },
    async () => {
      const ended = (await updates()).filter(({ state, hold }) => hold && ['settled', 'released'].includes(state))
      if (ended.length > 0) await other.settle(one(chance, ended), { ...late, units: u(chance(90)) })
    },
    () => enter(product, { type: 'external-spend', budget: one(chance, ['account', 'acme']), units: chance(200) }),
    async () => {
      const known = await entries(one(chance, [...windows.keys()]))
      if (known.length === 0) return
      const { id, budget } = one(chance, known)
      await enter(product, { type: 'correction', budget, units: chance(200), corrects: id })
    },
    async () => {
      const { available } = await product.counts()
      await enter(product, { type: 'reconcile', unitsLeft: Math.max(0, available + chance(100) - 60) })
    },
    () =>
      enter(product, { type: 'grant', budget: one(chance, ['acme', 'slow']), units: 1 + chance(90), window: 'month' }),
    async () => {
      const name = one(chance, ['acme', 'slow'])
      const { frozen } = (await other.view()).definitions.budgets[name] ?? {}
      const by = { caller: 'ada', reason: 'a test', askedAt: clock.now() }
      await (frozen ? guard.unfreeze(name, by) : chance(3) === 0 && guard.freeze(name, by))
    },
    async () => {
      const name = one(chance, ['shop', 'deep'])
      const { pausedPlans = {} } = (await other.view()).definitions
      const by = { caller: 'ada', reason: 'a test', askedAt: clock.now() }
      await (Object.hasOwn(pausedPlans, name)
        ? guard.resumePlan(name, by)
        : chance(3) === 0 && guard.pausePlan(name, by))
    },
  ]
}

function stepsOfTime({ product: { clock, guard, sweep }, chance }: Life): readonly Step[] {
  const wait = async () =>
    clock.advance(one(chance, [minutes(10), minutes(40), hours(2), hours(7), hours(13), days(1)]))
  return [wait, wait, wait, async () => (await reportsOf(guard)).keepSummaries(), sweep]
}

const { REPORT_SEEDS = '3', REPORT_SEED = '1' } = process.env

/** More of them: `REPORT_SEEDS=100 npx vitest run --config test/vitest.config.ts guard/reports`. */
export const monthSeeds = Array.from({ length: Number(REPORT_SEEDS) }, (_, each) => Number(REPORT_SEED) + each)

/** Another computation of the day than the product's. */
export const localDay = (instant: number, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(instant)
