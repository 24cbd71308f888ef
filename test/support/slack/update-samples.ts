import type { Message } from '../../../shared/slack/blocks.ts'
import {
  approvalMessage,
  correctionMessage,
  decidedDoubtMessage,
  doubtMessage,
  overrunMessage,
} from '../../../shared/slack/messages/decisions.ts'
import { acceptedMessage, confirmMessage, estimateMessage } from '../../../shared/slack/messages/estimate.ts'
import {
  decidedMessage,
  outcomeMessage,
  updateMessage,
  updatesMessage,
} from '../../../shared/slack/messages/updates.ts'
import {
  awaiting,
  code26,
  estimate,
  hold,
  inDoubt,
  inDoubtBySign,
  lines,
  now,
  type Records,
  settled,
  u,
  updateWith,
  written,
  zone,
} from './records.ts'

export type Sample = readonly [name: string, message: Message]

const over = ({ budget }: Records['by']) => ({ wouldHaveRefused: [{ budget, window: 'month', units: u(60) }] }) as const

export function estimateSamples({ by, problem, projects, budgets }: Records): Sample[] {
  const several = estimate({ projects, units: projects.reduce((sum, { units }) => sum + units, 0) }, by)
  const confirm = { askId: 'ask_7f3a9c', budgets: [by.budget], estimate: estimate({}, by) }

  return [
    ['accepted', acceptedMessage({ kind: 'ranking', projects: [by.project] })],
    ['estimate', estimateMessage(estimate({}, by))],
    ['estimate: several', estimateMessage(several)],
    [
      'estimate: several, each refused',
      estimateMessage({
        ...several,
        problem,
        allowed: false,
        projects: several.projects.map((each, position) => ({
          ...each,
          units: position === 0 ? null : each.units,
          problem: position === 1 ? { ...problem, detail: 'acme-shop was updated today.' } : problem,
        })),
      }),
    ],
    ['estimate: refused', estimateMessage(estimate({ problem, allowed: false }, by))],
    ['estimate: observed', estimateMessage(estimate(over(by), by))],
    ['confirm: observed', confirmMessage({ ...confirm, estimate: estimate(over(by), by) })],
    ['outcome: observed', outcomeMessage({ updates: [{ ...settled(by), ...over(by) }], zone })],
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
  ]
}

export function outcomeSamples({
  by,
  size,
  refused,
  released,
  corrected,
  overrun,
  requested,
  rejected,
  expired,
}: Records): Sample[] {
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
  return [
    ['outcome: settled', outcomeMessage({ updates: [settled(by)], zone })],
    ['outcome: refused', outcomeMessage({ updates: [refused], zone })],
    ['outcome: already done', outcomeMessage({ updates: [{ ...refused, problem: repeated }], zone })],
    ['outcome: released', outcomeMessage({ updates: [released], zone })],
    ['outcome: in doubt', outcomeMessage({ updates: [inDoubt(by)], zone })],
    ['outcome: in doubt, with a sign', outcomeMessage({ updates: [inDoubtBySign(by)], zone })],
    ['outcome: awaiting approval', outcomeMessage({ updates: [awaiting(by)], zone })],
    ['outcome: requested', outcomeMessage({ updates: [requested], zone })],
    ['outcome: running', outcomeMessage({ updates: [updateWith({ hold }, by)], zone })],
    ['outcome: many', outcomeMessage({ updates: list, zone })],
    ['outcome: none', outcomeMessage({ updates: [], zone })],
    ['updates', updatesMessage({ updates: list, zone })],
    ['updates: none', updatesMessage({ updates: [], zone })],
    ['update', updateMessage({ update: corrected, zone })],
  ]
}

export function decisionSamples({ by, saidNot, corrected, overrun, rejected, requested }: Records): Sample[] {
  const bySign = inDoubtBySign(by)
  const like = { sign: by === written ? code26 : by.detail, date: '2026-11-20', inDoubt: 3, isAtLeast: false }
  return [
    ['approval', approvalMessage({ update: awaiting(by), owner: null, isReminder: false, zone })],
    ['approval: reminder', approvalMessage({ update: awaiting(by), owner: 'seo', isReminder: true, zone })],
    ['doubt', doubtMessage({ update: inDoubt(by), didNotRunFrom: now + 300_000, zone })],
    [
      'doubt: without evidence',
      doubtMessage({ update: { ...inDoubt(by), kind: 'keyword-difficulty' }, didNotRunFrom: now, zone }),
    ],
    ['doubt: three of one sign', doubtMessage({ update: bySign, like, didNotRunFrom: now, zone })],
    [
      'doubt: decided, and one of its sign is not',
      decidedDoubtMessage({ update: saidNot, like: { ...like, inDoubt: 1 }, zone }),
    ],
    ['overrun', overrunMessage(overrun)],
    ['correction', correctionMessage(corrected)],
    [
      'pressed: approved',
      decidedMessage({
        update: {
          ...requested,
          approval: { by: 'slack:U03BOB', at: now, units: u(640) },
          history: lines('requested', 'approved', 'slack:U03BOB'),
        },
        by: 'slack:U03BOB',
        zone,
      }),
    ],
    ['pressed: rejected', decidedMessage({ update: rejected, by: 'slack:U03BOB', zone })],
    ['pressed: resolved', decidedMessage({ update: saidNot, by: 'slack:U03BOB', zone })],
  ]
}

const repeated = {
  slug: 'already-updated',
  detail:
    'The ranking update of acme-shop was done at 20 Nov 2026 09:00 Europe/Berlin as upd_1; until 21 Nov 2026 00:00 Europe/Berlin that is the answer, and nothing is spent.',
  members: {},
}
