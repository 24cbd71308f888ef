import { createGuard, type Guard } from '../../shared/guard/guard.ts'
import type { GuardParts } from '../../shared/guard/options.ts'
import { figuresOf } from '../../shared/guard/sentences.ts'
import type { Answer } from '../../shared/guard/update/answer.ts'
import type { Asker, UpdatesRequest } from '../../shared/guard/update/request.ts'
import type { Budget, Caller } from '../../shared/ledger/definitions/definitions.ts'
import type { Renewal } from '../../shared/ledger/definitions/windows.ts'
import { createLedger, type Ledger } from '../../shared/ledger/ledger.ts'
import type { Item, ListPage, Store, Write } from '../../shared/ledger/store/store.ts'
import type { Update } from '../../shared/ledger/updates/update.ts'
import { toUnits } from '../../shared/platform/words.ts'
import type { RunResult, Target, Tracking } from '../../shared/tracking/tracking.ts'
import { createTestClock } from './clock.ts'
import { u } from './records.ts'
import { createMemoryStore } from './store/memory-store.ts'

export const ran: RunResult = {
  kind: 'ran',
  stated: null,
  answer: { status: 200, contentType: null, body: '', truncated: false },
}
export const unknown: RunResult = { kind: 'unknown', reason: 'status 500', status: 500, answer: null }

const bob: Asker = {
  caller: 'bob',
  via: 'http',
  route: 'POST /updates',
  token: { scopes: new Set(['run']), budgets: '*' },
}

const options: GuardParts['options'] = {
  serviceTimeoutMs: 5000,
  serviceFlightMs: 300_000,
  cooldown: { ranking: 'day', 'keyword-difficulty': '7d' },
}

/** The real guard and ledger in memory with a simulated service. Tests take milliseconds, and may act between any two steps. */
export async function startGuard(how: { units?: number; renewal?: Renewal; parts?: Partial<GuardParts> } = {}) {
  const { clock, slept } = sleeplessClock()
  const { service, sent, tracking } = simulatedService()
  const { items, inner, reads, before, lag, store } = observedStore()
  const { renewal = { day: 1, time: '00:00', zone: 'UTC' } } = how
  const account = { unitsPerMonth: toUnits(how.units ?? 1000), usedAtStart: u(0), renewal }
  const ledgerOn = (own: Store) => createLedger({ store: own, clock, account })
  /** The ledger of another process, without interruptions between its steps. */
  const other = ledgerOn(inner)
  const lines: Record<string, unknown>[] = []
  const log = (level: string) => (event: string, fields?: object) => void lines.push({ level, event, ...fields })
  let names = 0
  const parts: GuardParts = {
    ledger: ledgerOn(store),
    tracking,
    clock,
    serviceToken: async () => 'the-token',
    plans: async () => [],
    ids: { random: () => `id-${++names}`, fraction: () => 0.5 },
    log: { info: log('info'), error: log('error'), hide: () => undefined },
    options,
    ...how.parts,
  }
  const guard = createGuard(parts)
  const elsewhere = createGuard({ ...parts, ledger: other })
  await guard.ledger.view()
  await other.view()

  const asks = (
    by: Guard,
    asker: Asker,
    wanted: Partial<UpdatesRequest> = {},
    { endsAt = clock.now() + 60_000, respondAsync = false } = {},
  ) =>
    by.submit(asker, { kind: 'ranking', projects: ['shop'], whenShort: 'refuse', ...wanted }, { endsAt, respondAsync })

  return {
    guard,
    elsewhere,
    other,
    clock,
    slept,
    service,
    sent,
    lines,
    before,
    items,
    reads,
    parts,
    lag,
    ...definitionChanges(other),
    askAs: (asker: Asker) => asks(guard, asker),
    /** @param how.by another process, whose steps are not interrupted. */
    ask: (
      wanted: Partial<UpdatesRequest> = {},
      asker: Partial<Asker> = {},
      how: Parameters<typeof asks>[3] & { by?: Guard } = {},
    ) => asks(how.by ?? guard, { ...bob, ...asker }, wanted, how),
    sweep: async () => (await guard.jobs()).sweep(clock.now() + 60_000),
    counts: async (budget = 'account', window: 'month' | 'day' = 'month') => {
      const view = await other.view()
      const named = view.definitions.budgets[budget]
      if (!named) throw new Error(`there is no budget ${budget}`)
      const { available, held, inDoubt, spent } = figuresOf(view, named, window)
      return { available, held, inDoubt, spent }
    },
  }
}

function sleeplessClock() {
  const still = createTestClock()
  const slept: number[] = []
  const sleep = async (ms: number) => {
    slept.push(ms)
    still.advance(ms)
  }
  return { slept, clock: { ...still, sleep } }
}

function simulatedService() {
  const service: { -readonly [Name in 'estimate' | 'dates' | 'run' | 'projects' | 'readingOf']: Tracking[Name] } = {
    estimate: async () => ({ kind: 'units', units: u(40), source: 'units' }),
    dates: async () => ({ kind: 'dates', dates: [] }),
    run: async () => ran,
    projects: async () => [],
    readingOf: () => ({ pointer: undefined }),
  }
  const sent: { target: Target; timeoutMs: number; token: string }[] = []
  const tracking: Tracking = {
    estimate: (target) => service.estimate(target),
    dates: (target) => service.dates(target),
    run: (target, options) => {
      sent.push({ target, ...options })
      return service.run(target, options)
    },
    projects: () => service.projects(),
    readingOf: (...of) => service.readingOf(...of),
    open: () => Promise.reject(new Error('nothing is opened here')),
  }
  return { service, sent, tracking }
}

function observedStore() {
  const items = new Map<string, Item>()
  const inner = createMemoryStore(items)
  const reads: (readonly string[])[] = []
  const listed = new Map<string, ListPage>()
  let isLagging = false
  /** Each function is called before a transaction is applied, until it returns true. */
  const before: ((writes: readonly Write[]) => Promise<unknown>)[] = []
  const store: Store = {
    ...inner,
    get: (keys) => {
      reads.push(keys.map(({ pk }) => pk))
      return inner.get(keys)
    },
    list: async (query) => {
      const name = JSON.stringify(query)
      const page = (isLagging && listed.get(name)) || (await inner.list(query))
      listed.set(name, page)
      return page
    },
    transact: async (writes, ...rest) => {
      for (const act of [...before]) if (await act(writes)) before.splice(before.indexOf(act), 1)
      return inner.transact(writes, ...rest)
    },
  }
  /** From now on, lists show an old state. */
  const lag = () => {
    isLagging = true
  }
  return { items, inner, reads, before, lag, store }
}

/** Changes budgets and callers as another process would. */
function definitionChanges(ledger: Ledger) {
  const change = (make: (now: { budgets: Record<string, Budget>; callers: Record<string, Caller> }) => object) =>
    ledger.change('ada', ({ definitions }) => ({
      definitions: {
        ...definitions,
        ...make({ budgets: { ...definitions.budgets }, callers: { ...definitions.callers } }),
      },
      note: { type: 'limit', budget: 'account', reason: 'test' },
    }))
  const usual = { parent: 'account', limits: [], projects: [] }
  return {
    budget: (name: string, changes: Partial<Budget>) =>
      change(({ budgets }) => ({
        budgets: { ...budgets, [name]: { name, ...usual, ...budgets[name], ...changes } },
      })),
    deleteBudget: (name: string) =>
      change(({ budgets }) => ({
        budgets: Object.fromEntries(Object.entries(budgets).filter(([each]) => each !== name)),
      })),
    caller: (name: string, caller: Caller) => change(({ callers }) => ({ callers: { ...callers, [name]: caller } })),
  }
}

export const makes =
  (state: string) =>
  (writes: readonly Write[]): boolean =>
    writes.some((write) => write.kind === 'put' && write.item.state === state)

export function only({ updates }: Pick<Answer, 'updates'>): Update {
  const [update, ...others] = updates
  if (!update || others.length > 0) throw new Error(`there are ${updates.length} updates`)
  return update
}
