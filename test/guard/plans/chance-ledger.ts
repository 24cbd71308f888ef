import { createGuard } from '../../../shared/guard/guard.ts'
import type { Cooldown, GuardParts } from '../../../shared/guard/options.ts'
import { type Plan, parsePlans } from '../../../shared/guard/plans-file.ts'
import { timesOf } from '../../../shared/guard/schedule.ts'
import type { Budget, Caller, Definitions } from '../../../shared/ledger/definitions/definitions.ts'
import type { Renewal } from '../../../shared/ledger/definitions/windows.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import type { Kind } from '../../../shared/tracking/kinds.ts'
import type { Tracking } from '../../../shared/tracking/tracking.ts'
import { chanceOf, one } from '../../simulation/workloads/chance.ts'
import { createTestClock } from '../../support/clock.ts'
import { ran, unknown } from '../../support/guard.ts'
import { u } from '../../support/records.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// Ledgers and plans by chance, for the oracle of the played plans. One seed makes one ledger.

const hour = 3_600_000
const day = 24 * hour

type Chance = ReturnType<typeof chanceOf>

const maybe = <T>(chance: Chance, of: number, value: () => T): T | undefined => (chance(of) === 0 ? value() : undefined)

const defined = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>
  }

const renewals: readonly (Renewal & { readonly at: string })[] = [
  { day: 1, time: '00:00', zone: 'UTC', at: '2026-12-01T00:00:00Z' },
  { day: 25, time: '12:30', zone: 'America/New_York', at: '2026-10-25T16:30:00Z' },
  { day: 31, time: '00:00', zone: 'Asia/Tokyo', at: '2026-11-29T15:00:00Z' },
  { day: 29, time: '18:00', zone: 'Europe/Berlin', at: '2026-03-29T16:00:00Z' },
]

const schedules = [
  'cron(0 5 * * ? *)',
  'cron(30 22 * * ? *)',
  'cron(0 5,17 * * ? *)',
  'cron(0 5 ? * MON,WED,SAT *)',
  'rate(1 day)',
  'rate(30 hours)',
  'rate(11 hours)',
]

const owned = ['p1', 'p2', 'p3', 'p4', 'p5']
/** Two that no budget lists, one that could be several, and one that looks like a listed id. */
const unlisted = ['stray', 'other', 'p1,p2', '1001x']
const idOf = (project: string) => `100${project.slice(1)}`

function budgetsOf(chance: Chance): Record<string, Budget> {
  const limit = (least: number, most: number) => u(least + chance(most - least))
  const limitsOf = (most: number) => [
    ...(chance(4) > 0 ? [{ window: 'month' as const, units: limit(0, most) }] : []),
    ...(chance(3) === 0 ? [{ window: 'day' as const, units: limit(20, 260) }] : []),
  ]
  const budget = (name: string, parent: string | null, projects: readonly string[]): Budget =>
    defined({
      name,
      parent,
      limits: limitsOf(parent === null ? 4_000 : 1_200),
      projects: projects.map((each) => defined({ name: each, id: chance(2) === 0 ? idOf(each) : undefined })),
      perUpdate: maybe(chance, 10, () => limit(20, 90)),
      keep: maybe(chance, 4, () => limit(0, 400)),
      approvalAbove: maybe(chance, 10, () => limit(30, 90)),
      approvalIfGrown: maybe(chance, 4, () => chance(30)),
      kinds: maybe(chance, 20, () => [one<Kind>(chance, ['ranking', 'keyword-difficulty'])]),
      enforce: parent === null ? undefined : maybe(chance, 8, () => false as const),
      approvers: parent === null ? ['ada'] : undefined,
      unowned: parent === null ? maybe(chance, 2, () => one(chance, ['approve', 'refuse'] as const)) : undefined,
    }) as Budget
  const all = [
    budget('account', null, chance(3) === 0 ? ['p5'] : []),
    budget('top', 'account', []),
    budget('left', 'top', ['p1', 'p2']),
    budget('right', one(chance, ['top', 'account']), ['p3']),
    budget('low', 'left', ['p4']),
  ]
  return Object.fromEntries(all.map((each) => [each.name, each]))
}

function plansOf(chance: Chance): readonly Plan[] {
  const names = ['one', 'two', 'three', 'four'].slice(0, 2 + chance(3))
  const projectOf = () => {
    const project = chance(10) === 0 ? one(chance, unlisted) : one(chance, owned)
    return project.startsWith('p') && !project.includes(',') && chance(5) === 0 ? idOf(project) : project
  }
  const leaveOf = () =>
    chance(12) === 0
      ? { nowhere: 5 }
      : one(chance, [chance(300), { account: chance(800) }, { left: chance(200), top: chance(100) }])
  const plans = names.map((name) =>
    defined({
      name,
      kind: one(chance, ['ranking', 'ranking', 'keyword-difficulty']),
      projects: [...new Set(Array.from({ length: 1 + chance(5) }, projectOf))],
      schedule: one(chance, schedules),
      budget: maybe(chance, 4, () => one(chance, ['account', 'account', 'top', 'left'])),
      mayChargeAncestors: chance(4) > 0,
      whenShort: one(chance, ['fit', 'refuse', 'ask', 'ask'] as const),
      leave: maybe(chance, 4, leaveOf),
      enabled: chance(10) > 0,
    }),
  )
  return parsePlans(JSON.stringify(plans))
}

function callersOf(chance: Chance, plans: readonly Plan[]): Record<string, Caller> {
  const own = () =>
    defined({
      limits: maybe(chance, 2, () => [{ window: one(chance, ['month', 'day'] as const), units: u(chance(500)) }]),
      perUpdate: maybe(chance, 5, () => u(30 + chance(60))),
      disabled: maybe(chance, 20, () => true),
    }) as Caller
  const ofPlans = plans.flatMap(({ name }) => (chance(3) === 0 ? [[`schedule:${name}`, own()] as const] : []))
  return Object.fromEntries([...ofPlans, ['bob', {}]])
}

const cooldowns: readonly Cooldown[] = ['day', '2d', '7d', '0d', 0, 30 * hour]

/** A ledger with a past, its plans, and the guard at the start of what is played. */
export async function randomLedger(seed: number) {
  const chance = chanceOf(seed)
  const { at, ...renewal } = one(chance, renewals)
  const start = Date.parse(at) - (1 + chance(4)) * day + chance(24) * hour
  const clock = createTestClock(new Date(start - 3 * day).toISOString())
  const ledger = createLedger({
    store: createMemoryStore(),
    clock,
    account: { unitsPerMonth: u(6_000), usedAtStart: u(0), renewal },
  })
  const plans = plansOf(chance)
  const { service, tracking } = serviceOf(chance)
  let names = 0
  const parts: GuardParts = {
    ledger,
    tracking,
    clock,
    serviceToken: async () => 'the-token',
    plans: async () => plans,
    ids: { random: () => `id-${++names}`, fraction: () => 0.5 },
    log: { info: () => undefined, error: () => undefined, hide: () => undefined },
    options: defined({
      serviceTimeoutMs: 5_000,
      serviceFlightMs: 300_000,
      cooldown: { ranking: one(chance, cooldowns), 'keyword-difficulty': one(chance, cooldowns) },
      isZeroFree: maybe(chance, 2, () => true),
    }),
  }
  const guard = createGuard(parts)
  await ledger.view()
  await define(parts, {
    budgets: budgetsOf(chance),
    callers: callersOf(chance, plans),
  })
  await live({ chance, parts, guard, plans, service, start })
  await change(chance, parts, plans)
  clock.set(new Date(start).toISOString())
  service.mode = 'ran'
  service.isGrown = true
  await (await guard.jobs()).readPrices(start + hour)
  return { clock, guard, parts, plans, start, until: start + 9 * day }
}

function serviceOf(chance: Chance) {
  const prices = new Map<string, number | null>()
  for (const kind of ['ranking', 'keyword-difficulty']) {
    for (const project of [...owned, ...owned.map(idOf), ...unlisted]) {
      prices.set(`${kind} ${project}`, chance(10) === 0 ? null : chance(12) === 0 ? 0 : 20 + chance(60))
    }
  }
  const service = { mode: 'ran' as 'ran' | 'unknown' | 'never', isGrown: false }
  const priceOf = (kind: string, segment: string) => {
    const price = prices.get(`${kind} ${decodeURIComponent(segment)}`) ?? null
    return price === null ? null : service.isGrown ? price : Math.floor(price * 0.8)
  }
  const tracking: Tracking = {
    estimate: async ({ kind, segment }) => {
      const units = priceOf(kind, segment)
      return units === null ? { kind: 'refused', status: 404 } : { kind: 'units', units: u(units), source: 'units' }
    },
    dates: async () => ({ kind: 'dates', dates: [] }),
    run: async () => {
      if (service.mode === 'never') return new Promise(() => undefined)
      return service.mode === 'ran' ? ran : unknown
    },
    projects: async () => [],
    readingOf: () => ({ pointer: undefined }),
    open: () => Promise.reject(new Error('nothing is opened here')),
  }
  return { service, tracking }
}

interface Life {
  readonly chance: Chance
  readonly parts: GuardParts
  readonly guard: ReturnType<typeof createGuard>
  readonly plans: readonly Plan[]
  readonly service: ReturnType<typeof serviceOf>['service']
  readonly start: number
}

/** Three days of updates by bob and of runs of the plans. */
async function live({ chance, parts, guard, plans, service, start }: Life): Promise<void> {
  const { clock } = parts as { clock: ReturnType<typeof createTestClock> } & GuardParts
  for (let step = 0; step < 8; step++) {
    clock.advance(chance(14) * hour)
    // The last ones are recent, so that their doubts still block.
    if (step > 5 || clock.now() > start) clock.set(new Date(start - (9 - step) * 600_000).toISOString())
    service.mode = one(chance, ['ran', 'ran', 'unknown', 'never'] as const)
    const endsAt = clock.now() + hour
    const plan = one(chance, plans)
    if (chance(3) === 0 && plan.enabled) {
      if (service.mode === 'never') service.mode = 'ran'
      await (await guard.jobs()).fire(plan.name, clock.now(), endsAt)
      continue
    }
    const isProposed = chance(3) === 0
    const asked = guard.submit(
      {
        caller: 'bob',
        via: 'http',
        route: 'POST /updates',
        key: `key-${step}`,
        token: { scopes: new Set([isProposed ? 'propose' : 'run', 'admin'] as const), budgets: '*' },
      },
      {
        kind: one(chance, ['ranking', 'keyword-difficulty']),
        projects: [one(chance, owned)],
        whenShort: one(chance, ['refuse', 'ask'] as const),
      },
      { endsAt, respondAsync: chance(4) === 0 },
    )
    // A sender that never hears an answer leaves its update running.
    await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, service.mode === 'never' ? 5 : 5_000))])
  }
}

/** Freezes, pauses, grants and transfers before what is played. */
async function change(chance: Chance, parts: GuardParts, plans: readonly Plan[]): Promise<void> {
  const { ledger } = parts
  const { definitions } = await ledger.view()
  const stop = { reason: 'a test', by: 'ada', at: 0 }
  await define(parts, {
    budgets: Object.fromEntries(
      Object.entries(definitions.budgets).map(([name, budget]) => [
        name,
        chance(name === 'account' ? 40 : 10) === 0 ? { ...budget, frozen: stop } : budget,
      ]),
    ),
    pausedPlans: Object.fromEntries(plans.flatMap(({ name }) => (chance(8) === 0 ? [[name, stop]] : []))),
  })
  const limited = Object.values(definitions.budgets)
    .filter(({ limits }) => limits.some(({ window }) => window === 'month'))
    .map(({ name }) => name)
  for (let entry = 0; entry < 3; entry++) {
    if (limited.length === 0) return
    const common = { id: `ent_${entry}`, content: String(entry), reason: 'a test', by: 'ada' }
    const [budget, to] = [one(chance, limited), one(chance, limited)]
    const units = 20 + chance(400)
    if (chance(3) === 0 && to !== budget) {
      await ledger.enter({ ...common, type: 'transfer', budget, to, units, window: 'month' })
    } else {
      const window = one(chance, ['next-month', 'next-month', 'month'] as const)
      await ledger.enter({ ...common, type: 'grant', budget, units, window, wholeChain: chance(2) === 0 })
    }
  }
}

async function define({ ledger }: GuardParts, members: Partial<Definitions>): Promise<void> {
  const outcome = await ledger.change('ada', ({ definitions }) => ({
    definitions: { ...definitions, ...members },
    note: { type: 'limit', budget: 'account', reason: 'a test' },
  }))
  if (!('view' in outcome) && 'faults' in outcome) throw new Error(JSON.stringify(outcome))
}

/** The times of all plans that may run, in the order in which they are due. */
export function timesIn(plans: readonly Plan[], lastOf: (plan: Plan) => number | null, from: number, until: number) {
  return plans
    .flatMap((plan, position) =>
      plan.enabled
        ? timesOf(plan.schedule, { from, until, max: 1_000, anchor: lastOf(plan) ?? 0 }).map((time) => ({
            plan,
            time,
            position,
          }))
        : [],
    )
    .sort((a, b) => a.time - b.time || a.position - b.position)
}
