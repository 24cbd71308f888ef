import * as fc from 'fast-check'
import type { Figures } from '../../../shared/guard/sentences.ts'
import type { Estimate } from '../../../shared/guard/update/estimate.ts'
import { overBudget } from '../../../shared/guard/update/over-budget.ts'
import type { State, Update } from '../../../shared/ledger/updates/update.ts'
import type { Units } from '../../../shared/platform/words.ts'

export const zone = 'Europe/Berlin'
export const at = (rfc3339: string): number => Date.parse(rfc3339)
export const now = at('2026-11-20T10:00:00Z')
export const u = (units: number): Units => units as Units

/** For a unit called `binary`, fast-check first makes a table of all characters, which takes a second. */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code)),
})

/** Foreign texts. */
export interface Written {
  readonly project: string
  readonly reason: string
  readonly detail: string
  readonly caller: string
  readonly plan: string
  readonly budget: string
}

export const written: Written = {
  project: 'acme-shop',
  reason: 'the prices changed on Thursday',
  detail: 'the answer to run was 502 Bad Gateway',
  caller: 'slack:U02ALICE7',
  plan: 'nightly',
  budget: 'seo',
}

export function updateWith(
  changes: Partial<Update> = {},
  { project, reason, caller, budget }: Written = written,
): Update {
  return {
    id: 'upd_4t8kx2m9q7w3',
    kind: 'ranking',
    project,
    budget,
    caller,
    via: 'slack',
    reason,
    content: { digest: 'd', count: 1 },
    createdAt: now - 90_000,
    state: 'running',
    version: 1,
    month: 'month:2026-11-12',
    estimated: u(640),
    history: [{ state: 'running', at: now - 80_000, by: 'guard' }],
    ...changes,
  }
}

export const hold = {
  units: u(640),
  attempt: 'a',
  at: now - 80_000,
  leaseUntil: now,
  senderUntil: now,
  day: 'day:2026-11-20',
  budgets: ['seo', 'account'],
  datesBefore: ['2026-11-19'],
}

export const lines = (state: State, note?: string, by = 'service') => [
  { state: 'running' as const, at: now - 80_000, by: 'guard' },
  { state, at: now - 60_000, by, ...(note !== undefined && { note }) },
]

export const settled = (by?: Written) =>
  updateWith(
    {
      state: 'settled',
      charged: u(640),
      hold,
      closedBy: 'sender',
      history: lines('settled', 'ran; the answer states 640 units at /units'),
    },
    by,
  )

export const inDoubt = (by: Written = written) =>
  updateWith({ state: 'in-doubt', hold, doubt: { by: 'sender', at: now }, history: lines('in-doubt', by.detail) }, by)

export const code26 = 'response_code 26 at /response_code'

/** The service's answer has a sign of failure. */
export function inDoubtBySign(by: Written = written): Update {
  const sign = by === written ? code26 : by.detail
  const note = `the answer has ${sign}, so it proves nothing. If the update ran, say so here; the settings that decide such answers: npm run doctor.`
  return { ...inDoubt(by), doubt: { by: 'sender', at: now, sign }, history: lines('in-doubt', note) }
}

/** An update in doubt, of a kind that leaves no evidence. */
export function untraced(): Update {
  const { hold: held, ...update } = inDoubt()
  if (!held) throw new Error('nothing is held')
  const { datesBefore: _none, ...without } = held
  return { ...update, kind: 'keyword-difficulty', hold: without }
}

export const awaiting = (by: Written = written) =>
  updateWith(
    {
      state: 'awaiting-approval',
      approvableUntil: now + 86_400_000,
      history: [
        {
          state: 'awaiting-approval',
          at: now,
          by: 'guard',
          note: by === written ? 'it needs 640 units, and seo wants approval above 500' : by.detail,
        },
      ],
    },
    by,
  )

export const figures = (changes: Partial<Figures> = {}): Figures => ({
  budget: 'seo',
  window: 'month',
  start: at('2026-11-11T23:00:00Z'),
  end: at('2026-12-11T23:00:00Z'),
  limit: u(2000),
  granted: 0,
  available: 1234,
  held: 40,
  inDoubt: 26,
  spent: 700,
  ...changes,
})

export const account = figures({ budget: 'account', limit: u(50_000), available: 31_000, spent: 18_934 })
const today = figures({
  window: 'day',
  limit: u(3000),
  available: 2260,
  spent: 740,
  held: 0,
  inDoubt: 0,
  end: at('2026-11-20T23:00:00Z'),
})

const short = overBudget([{ figures: figures({ available: 120, spent: 1814 }), needed: 640, leave: 0 }], 640, zone)

export const estimate = (changes: Partial<Estimate> = {}, { project }: Written = written): Estimate => ({
  kind: 'ranking',
  units: 640,
  projects: [{ project, units: u(640) }],
  allowed: true,
  problem: null,
  approval: null,
  lacks: 0,
  wouldHaveRefused: [],
  budgets: ['seo'],
  works: {},
  unowned: {},
  payers: { [project]: { budget: 'seo', owner: 'seo' } },
  figures: [figures(), today, account],
  ...changes,
})

const many = (count: number, { project }: Written) =>
  Array.from({ length: count }, (_, position) => ({ project: `${project}-${position + 1}`, units: u(40 + position) }))

export type Records = ReturnType<typeof recordsOf>

export function recordsOf(by: Written, size: number) {
  const problem = by === written ? short : { ...short, detail: by.detail }
  const projects = many(size, by)
  const refused = updateWith({ state: 'refused', problem, history: lines('refused', problem.detail, 'guard') }, by)
  return { by, size, problem, projects, refused, budgets: budgetsOf(by, size), ...updatesOf(by) }
}

function updatesOf(by: Written) {
  const released = updateWith(
    {
      state: 'released',
      charged: u(0),
      hold,
      closedBy: 'sender',
      problem: {
        slug: 'service-refused',
        detail:
          'The service refused the update with status 400, so it provably did not run: bad request. The units were given back.',
        members: {},
      },
      history: lines('released', 'status 400'),
    },
    by,
  )
  const saidNot = updateWith(
    {
      state: 'released',
      charged: u(0),
      hold,
      closedBy: 'person',
      history: lines('released', by.reason, 'slack:U03BOB'),
    },
    by,
  )
  const corrected = updateWith(
    {
      ...saidNot,
      charged: u(640),
      corrected: true,
      history: [
        ...saidNot.history,
        {
          state: 'released',
          at: now,
          by: 'sweep',
          note: 'it did run: the service has data of 2026-11-20 that it did not have before',
          move: { spent: 640 },
        },
      ],
    },
    by,
  )
  const overrun = updateWith(
    {
      ...settled(by),
      charged: u(700),
      overrun: u(60),
      history: lines('settled', 'ran; the answer states 700 at /units, 60 more than were held'),
    },
    by,
  )
  const requested = updateWith({ state: 'requested' }, by)
  const rejected = updateWith({ state: 'rejected', history: lines('rejected', by.reason, 'slack:U03BOB') }, by)
  const expired = updateWith({ state: 'expired', history: lines('expired', 'not approved in time', 'sweep') }, by)
  return { released, saidNot, corrected, overrun, requested, rejected, expired }
}

const budgetsOf = (by: Written, size: number) =>
  Array.from({ length: size }, (_, position) => ({
    budget: position === 0 ? by.budget : `${by.budget}-${position + 1}`,
    figures: [figures(), today],
    isFrozen: position === 2,
    isObserved: position === 1,
  }))
