import {
  auditFailedMessage,
  foreignDataMessage,
  givenBackMessage,
  priceJumpedMessage,
  refusalsMessage,
  releasedMessage,
  repeatsMessage,
  stoppedMessage,
  thresholdMessage,
  tokenExpiresMessage,
  willRunOutMessage,
} from '../../../shared/slack/messages/announcements.ts'
import { unreadFigureMessage } from '../../../shared/slack/messages/unread-figures.ts'
import { at, type Records, written, zone } from './records.ts'
import type { Sample } from './update-samples.ts'

export function limitSamples({ by }: Records): Sample[] {
  const resetsAt = at('2026-12-11T23:00:00Z')
  const runsOut = { budget: by.budget, at: at('2026-12-03T12:00:00Z'), left: 388, resetsAt, zone }
  return [
    [
      'threshold',
      thresholdMessage({
        budget: by.budget,
        window: 'month',
        used: 118,
        of: 120,
        resetsAt: at('2026-12-11T23:00:00Z'),
        zone,
      }),
    ],
    [
      'threshold: all',
      thresholdMessage({
        budget: by.budget,
        window: 'day',
        used: 300,
        of: 300,
        resetsAt: at('2026-11-20T23:00:00Z'),
        zone,
      }),
    ],
    [
      'threshold: observed',
      thresholdMessage({
        budget: by.budget,
        window: 'month',
        used: 2060,
        of: 2000,
        isObserved: true,
        resetsAt: at('2026-12-11T23:00:00Z'),
        zone,
      }),
    ],
    ['will run out: plan', willRunOutMessage({ ...runsOut, plan: by.plan, short: 1200 })],
    ['will run out: pace', willRunOutMessage({ ...runsOut, short: 90 })],
    ['will run out: prices are missing', willRunOutMessage({ ...runsOut, short: 90, isAtLeast: true })],
  ]
}

export function warningSamples({ by, problem }: Records): Sample[] {
  const author = { by: by.caller, reason: by.reason }
  return [
    [
      'refusals',
      refusalsMessage({
        caller: by.caller === written.caller ? 'price-bot' : by.caller,
        budget: by.budget,
        count: 25,
        detail: problem.detail,
      }),
    ],
    ['frozen', stoppedMessage({ what: 'budget', name: by.budget, isStopped: true, ...author })],
    ['unfrozen', stoppedMessage({ what: 'budget', name: by.budget, isStopped: false, ...author })],
    ['paused', stoppedMessage({ what: 'plan', name: by.plan, isStopped: true, ...author })],
    ['resumed', stoppedMessage({ what: 'plan', name: by.plan, isStopped: false, ...author })],
    [
      'foreign data',
      foreignDataMessage({ found: [{ project: by.project, dates: ['2026-11-18', '2026-11-19'] }], more: 2 }),
    ],
    ['audit failed', auditFailedMessage({ books: [{ window: 'month:2026-11-12', budget: by.budget }], more: 2 })],
    ['token', tokenExpiresMessage({ expiresAt: at('2026-11-30T12:00:00Z'), daysLeft: 9, zone })],
  ]
}

export function noticedSamples({ by }: Records): Sample[] {
  return [
    ['units that a reconciliation gave back', givenBackMessage({ units: 848, by: by.caller, reason: by.reason })],
    [
      'released',
      releasedMessage({
        budget: by.budget,
        otherBudgets: 0,
        projects: [by.project],
        more: 0,
        by: by.caller,
        reason: by.reason,
        payer: 'account pays for it',
      }),
    ],
    [
      'repeats',
      repeatsMessage({
        caller: by.caller === written.caller ? 'price-bot' : by.caller,
        budget: by.budget,
        project: by.project,
        count: 50,
        since: at('2026-11-20T11:50:00Z'),
      }),
    ],
    [
      'price jumped',
      priceJumpedMessage({ update: 'upd_1', budget: by.budget, project: by.project, units: 640, before: 120 }, {}),
    ],
    [
      'unread figure',
      unreadFigureMessage(
        {
          update: 'upd_1',
          updateKind: 'ranking',
          units: 48_210,
          held: 640,
          place: by === written ? '/total' : by.detail,
        },
        { setting: 'RUN_POINTER_RANKING' },
      ),
    ],
  ]
}
