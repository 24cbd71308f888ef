import * as fc from 'fast-check'
import type { Figures } from '../../../shared/guard/sentences.ts'
import type { Estimate } from '../../../shared/guard/update/estimate.ts'
import { overBudget } from '../../../shared/guard/update/limits.ts'
import type { State, Update } from '../../../shared/ledger/updates/update.ts'
import type { Units } from '../../../shared/platform/words.ts'
import type { Message } from '../../../shared/slack/blocks.ts'
import {
  foreignDataMessage,
  frozenMessage,
  occurrenceMessage,
  pausedMessage,
  refusalsMessage,
  thresholdMessage,
  tokenExpiresMessage,
} from '../../../shared/slack/messages/announcements.ts'
import {
  approvalMessage,
  correctionMessage,
  doubtMessage,
  overrunMessage,
} from '../../../shared/slack/messages/decisions.ts'
import { acceptedMessage, confirmMessage, estimateMessage } from '../../../shared/slack/messages/estimate.ts'
import { digestMessage, figuresMessage } from '../../../shared/slack/messages/figures.ts'
import { helpMessage, problemMessage, usageMessage } from '../../../shared/slack/messages/help.ts'
import {
  outcomeMessage,
  pressedMessage,
  updateMessage,
  updatesMessage,
} from '../../../shared/slack/messages/updates.ts'
import { parseCommand } from '../../../shared/slack/receive/command.ts'

/** Every message once or more, as one account could have seen them. */

export const zone = 'Europe/Berlin'
export const at = (rfc3339: string): number => Date.parse(rfc3339)
export const now = at('2026-11-20T10:00:00Z')
export const u = (units: number): Units => units as Units

/** Any characters at all. For a unit called `binary` fast-check first makes a table of them all, which takes a second. */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0x10_ff_ff }).map((code) => String.fromCodePoint(code)),
})

/** What other people wrote. */
export interface Written {
  readonly project: string
  readonly reason: string
  readonly detail: string
  readonly caller: string
  readonly plan: string
  readonly budget: string
}

const written: Written = {
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

const hold = {
  units: u(640),
  attempt: 'a',
  at: now - 80_000,
  leaseUntil: now,
  senderUntil: now,
  day: 'day:2026-11-20',
  budgets: ['seo', 'account'],
  datesBefore: ['2026-11-19'],
}

const lines = (state: State, note?: string, by = 'service') => [
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

const account = figures({ budget: 'account', limit: u(50_000), available: 31_000, spent: 18_934 })
const today = figures({
  window: 'day',
  limit: u(3000),
  available: 2260,
  spent: 740,
  held: 0,
  inDoubt: 0,
  end: at('2026-11-20T23:00:00Z'),
})

const short = overBudget([{ figures: figures({ available: 120, spent: 1814 }), needed: 640 }], 640, zone)

export const estimate = (changes: Partial<Estimate> = {}, { project }: Written = written): Estimate => ({
  kind: 'ranking',
  units: 640,
  projects: [{ project, units: u(640) }],
  allowed: true,
  problem: null,
  approval: null,
  budgets: ['seo'],
  payers: { [project]: { budget: 'seo', owner: 'seo' } },
  figures: [figures(), today, account],
  ...changes,
})

const many = (count: number, { project }: Written) =>
  Array.from({ length: count }, (_, position) => ({ project: `${project}-${position + 1}`, units: u(40 + position) }))

/** @param by what other people wrote, in all of them. @param size how many of everything there is. */
export function samples(by: Written = written, size = 3): readonly (readonly [name: string, message: Message])[] {
  const problem = by === written ? short : { ...short, detail: by.detail }
  const projects = many(size, by)
  const several = estimate({ projects, units: projects.reduce((sum, { units }) => sum + units, 0) }, by)
  const refused = updateWith({ state: 'refused', problem, history: lines('refused', problem.detail, 'guard') }, by)
  const repeated = {
    slug: 'already-updated',
    detail:
      'The ranking update of acme-shop was done at 20 Nov 2026 09:00 Europe/Berlin as upd_1; until 21 Nov 2026 00:00 Europe/Berlin that is the answer, and nothing is spent.',
    members: {},
  }
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
  const all = [
    settled(by),
    refused,
    released,
    inDoubt(by),
    awaiting(by),
    requested,
    overrun,
    corrected,
    rejected,
    expired,
  ]
  const list = Array.from(
    { length: Math.max(size, all.length) },
    (_, position) => all[position % all.length] ?? requested,
  )
  const budgets = Array.from({ length: size }, (_, position) => ({
    budget: position === 0 ? by.budget : `${by.budget}-${position + 1}`,
    figures: [figures(), today],
    isFrozen: position === 2,
  }))
  const occurrence = {
    plan: by.plan,
    time: now,
    zone,
    state: 'done',
    counts: {
      settled: 12,
      upToDate: 3,
      refused: size,
      released: 1,
      inDoubt: 1,
      awaitingApproval: 2,
      unsent: 0,
      requested: 1,
    },
    unitsCharged: 7680,
    refusals: projects.map(({ project }) => ({ project, detail: problem.detail })),
  } as const
  const none = {
    settled: 0,
    upToDate: 0,
    refused: 0,
    released: 0,
    inDoubt: 0,
    awaitingApproval: 0,
    unsent: 0,
    requested: 0,
  }
  const digest = {
    day: '2026-11-20',
    zone,
    budgets: [
      { budget: 'account', spentToday: 1920, month: account, projected: 44_000, exhaustedAt: null },
      ...budgets.map(({ budget }) => ({
        budget,
        spentToday: 640,
        month: figures(),
        projected: 2600,
        exhaustedAt: at('2026-12-03T12:00:00Z'),
      })),
    ],
    refused: 4,
    inDoubt: Array.from({ length: size }, () => inDoubt(by)),
    priceMoves: projects.map(({ project, units }) => ({ project, kind: 'ranking' as const, before: 30, now: units })),
    nothingHappened: false,
  }
  const mistake = parseCommand(`rnu ${by.project}`)
  const confirm = { askId: 'ask_7f3a9c', budgets: [by.budget], estimate: estimate({}, by) }
  return [
    [
      'figures',
      figuresMessage({
        budgets: [
          { budget: 'account', figures: [account, figures({ budget: 'account', window: 'day', limit: 'unlimited' })] },
          ...budgets,
          { budget: 'free', figures: [figures({ budget: 'free', limit: 'unlimited', held: 0, inDoubt: 0 })] },
          { budget: 'empty', figures: [figures({ budget: 'empty', available: 0, spent: 2000, held: 0, inDoubt: 0 })] },
        ],
        zone,
      }),
    ],
    ['figures: none', figuresMessage({ budgets: [], zone })],
    ['accepted', acceptedMessage({ kind: 'ranking', projects: [by.project] })],
    ['estimate', estimateMessage(estimate({}, by))],
    ['estimate: several', estimateMessage(several)],
    [
      'estimate: several, each refused',
      estimateMessage({
        ...several,
        ...{ problem, allowed: false },
        projects: several.projects.map((each, position) => ({
          ...each,
          ...{ units: position === 0 ? null : each.units, problem },
        })),
      }),
    ],
    ['estimate: refused', estimateMessage(estimate({ problem, allowed: false }, by))],
    ['confirm', confirmMessage({ ...confirm, reason: by.reason })],
    [
      'confirm: several, with approval',
      confirmMessage({
        ...confirm,
        estimate: several,
        budgets: budgets.map(({ budget }) => budget),
        approval: by === written ? 'it needs 640 units, and seo wants approval above 500' : by.detail,
      }),
    ],
    ['confirm: refused', confirmMessage({ ...confirm, estimate: estimate({ problem, allowed: false }, by) })],
    ['outcome: settled', outcomeMessage({ updates: [settled(by)], zone })],
    ['outcome: refused', outcomeMessage({ updates: [refused], zone })],
    ['outcome: already done', outcomeMessage({ updates: [{ ...refused, problem: repeated }], zone })],
    ['outcome: released', outcomeMessage({ updates: [released], zone })],
    ['outcome: in doubt', outcomeMessage({ updates: [inDoubt(by)], zone })],
    ['outcome: awaiting approval', outcomeMessage({ updates: [awaiting(by)], zone })],
    ['outcome: requested', outcomeMessage({ updates: [requested], zone })],
    ['outcome: running', outcomeMessage({ updates: [updateWith({ hold }, by)], zone })],
    ['outcome: many', outcomeMessage({ updates: list, zone })],
    ['outcome: none', outcomeMessage({ updates: [], zone })],
    ['updates', updatesMessage({ updates: list, zone })],
    ['updates: none', updatesMessage({ updates: [], zone })],
    ['update', updateMessage({ update: corrected, zone })],
    [
      'approval',
      approvalMessage({ update: awaiting(by), owner: null, until: now + 86_400_000, isReminder: false, zone }),
    ],
    [
      'approval: reminder',
      approvalMessage({ update: awaiting(by), owner: 'seo', until: now + 43_200_000, isReminder: true, zone }),
    ],
    ['doubt', doubtMessage({ update: inDoubt(by), didNotRunFrom: now + 300_000, zone })],
    [
      'doubt: without evidence',
      doubtMessage({ update: { ...inDoubt(by), kind: 'keyword-difficulty' }, didNotRunFrom: now, zone }),
    ],
    ['overrun', overrunMessage(overrun)],
    ['correction', correctionMessage(corrected)],
    [
      'pressed: approved',
      pressedMessage({
        update: {
          ...requested,
          approval: { by: 'slack:U03BOB', at: now, units: u(640) },
          history: lines('requested', 'approved', 'slack:U03BOB'),
        },
        by: 'slack:U03BOB',
        zone,
      }),
    ],
    ['pressed: rejected', pressedMessage({ update: rejected, by: 'slack:U03BOB', zone })],
    ['pressed: resolved', pressedMessage({ update: saidNot, by: 'slack:U03BOB', zone })],
    ['occurrence', occurrenceMessage(occurrence)],
    [
      'occurrence: stopped',
      occurrenceMessage({
        ...occurrence,
        state: 'stopped',
        reason: by === written ? 'three updates in a row are in doubt' : by.reason,
        counts: { ...none, settled: 2, inDoubt: 3, unsent: 9 },
        unitsCharged: 1280,
        refusals: [],
      }),
    ],
    [
      'occurrence: missed',
      occurrenceMessage({ ...occurrence, state: 'missed', counts: none, unitsCharged: 0, refusals: [] }),
    ],
    [
      'occurrence: paused',
      occurrenceMessage({
        ...occurrence,
        state: 'paused',
        reason: by.reason,
        counts: none,
        unitsCharged: 0,
        refusals: [],
      }),
    ],
    [
      'threshold',
      thresholdMessage({
        budget: by.budget,
        window: 'month',
        percent: 80,
        used: 1612,
        of: 2000,
        resetsAt: at('2026-12-11T23:00:00Z'),
        zone,
      }),
    ],
    [
      'threshold: all',
      thresholdMessage({
        budget: by.budget,
        window: 'day',
        percent: 100,
        used: 300,
        of: 300,
        resetsAt: at('2026-11-20T23:00:00Z'),
        zone,
      }),
    ],
    [
      'refusals',
      refusalsMessage({
        caller: by.caller === written.caller ? 'price-bot' : by.caller,
        budget: by.budget,
        count: 25,
        sinceMinutes: 10,
        detail: problem.detail,
      }),
    ],
    ['frozen', frozenMessage({ budget: by.budget, frozen: true, by: by.caller, reason: by.reason })],
    ['unfrozen', frozenMessage({ budget: by.budget, frozen: false, by: by.caller, reason: by.reason })],
    ['paused', pausedMessage({ plan: by.plan, paused: true, by: by.caller, reason: by.reason })],
    ['resumed', pausedMessage({ plan: by.plan, paused: false, by: by.caller, reason: by.reason })],
    [
      'foreign data',
      foreignDataMessage({ found: [{ project: by.project, dates: ['2026-11-18', '2026-11-19'] }], more: 2 }),
    ],
    ['token', tokenExpiresMessage({ expiresAt: at('2026-11-30T12:00:00Z'), daysLeft: 9, zone })],
    ['digest', digestMessage(digest)],
    ['digest: nothing', digestMessage({ ...digest, nothingHappened: true })],
    ['help', helpMessage()],
    [
      'usage',
      usageMessage(mistake.do === 'mistake' ? mistake : { do: 'mistake', sentence: by.detail, usage: by.detail }),
    ],
    ['problem', problemMessage(problem.detail)],
  ]
}
