import { occurrenceMessage } from '../../../shared/slack/messages/announcements.ts'
import { helpMessage, problemMessage, usageMessage } from '../../../shared/slack/messages/help.ts'
import { parseCommand } from '../../../shared/slack/receive/command.ts'
import { digestMessage, figuresMessage } from '../../../shared/slack/reports/figure-messages.ts'
import {
  account,
  awaiting,
  figures,
  inDoubt,
  now,
  type Records,
  recordsOf,
  type Written,
  written,
  zone,
} from './records.ts'
import { decisionSamples, estimateSamples, outcomeSamples, type Sample } from './update-samples.ts'
import { limitSamples, noticedSamples, warningSamples } from './warning-samples.ts'

/**
 * Every message at least once, as one account could see them. @param by the foreign texts in all of them. @param size the number of
 * everything.
 */
export function samples(by: Written = written, size = 3): readonly Sample[] {
  const records = recordsOf(by, size)
  const groups = [
    figureSamples,
    estimateSamples,
    outcomeSamples,
    decisionSamples,
    occurrenceSamples,
    limitSamples,
    warningSamples,
    noticedSamples,
    otherSamples,
  ]
  return groups.flatMap((samplesOf) => samplesOf(records))
}

const none = {
  settled: 0,
  upToDate: 0,
  refused: 0,
  noPrice: 0,
  released: 0,
  inDoubt: 0,
  awaitingApproval: 0,
  unsent: 0,
  requested: 0,
}

function figureSamples({ budgets }: Records): Sample[] {
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
  ]
}

function occurrenceSamples({ by, size, problem, projects }: Records): Sample[] {
  const occurrence = {
    plan: by.plan,
    time: now,
    zone,
    state: 'done',
    counts: {
      settled: 12,
      upToDate: 3,
      refused: size,
      noPrice: 2,
      released: 1,
      inDoubt: 1,
      awaitingApproval: 2,
      unsent: 0,
      requested: 1,
    },
    unitsCharged: 7680,
    refusals: [
      ...['globex', 'initech'].map((project) => ({ project, detail: 'The service says 0 units.' })),
      ...projects.map(({ project }) => ({ project, detail: problem.detail })),
    ],
  } as const
  return [
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
  ]
}

function otherSamples({ by, size, problem, projects, budgets }: Records): Sample[] {
  const digest = {
    troubles: [],
    day: '2026-11-20',
    zone,
    budgets: [
      {
        budget: 'account',
        spentToday: 1920,
        costToday: '23.04 EUR',
        month: account,
        status: 'on-track' as const,
        reason: null,
        projected: 44_000,
        projectedAtPace: null,
        isProjectedAtLeast: false,
      },
      ...budgets.map(({ budget }, at) => ({
        budget,
        spentToday: 640,
        costToday: '7.68 EUR',
        month: figures(),
        status: 'at-risk' as const,
        reason: by.detail,
        projected: 2600 + at,
        projectedAtPace: 3100,
        isProjectedAtLeast: true,
        wouldHaveRefused: { updates: 3, units: 120 + at },
      })),
    ],
    approvals: [awaiting(by)],
    refused: 4,
    inDoubt: Array.from({ length: size }, () => inDoubt(by)),
    priceMoves: projects.map(({ project, units }) => ({ project, kind: 'ranking' as const, before: 30, now: units })),
    nothingHappened: false,
  }
  const mistake = parseCommand(`rnu ${by.project}`)
  return [
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
