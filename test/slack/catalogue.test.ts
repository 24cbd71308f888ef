import { expect, test } from 'vitest'
import type { Block, Message } from '../../shared/slack/blocks.ts'
import { frozenMessage, occurrenceMessage, pausedMessage } from '../../shared/slack/messages/announcements.ts'
import { approvalMessage, approvalsMessage, doubtMessage } from '../../shared/slack/messages/decisions.ts'
import { figuresMessage } from '../../shared/slack/messages/figures.ts'
import { doneMessage, loginMessage } from '../../shared/slack/messages/help.ts'
import { homeView } from '../../shared/slack/messages/home.ts'
import { withEnd } from '../../shared/slack/messages/links.ts'
import { outcomeMessage } from '../../shared/slack/messages/updates.ts'
import {
  account,
  at,
  awaiting,
  figures,
  now,
  settled,
  u,
  untraced,
  updateWith,
  zone,
} from '../support/slack/records.ts'
import { samples } from '../support/slack/samples.ts'

const author = { by: 'slack:U02ALICE7', reason: 'the loop is fixed' }
const counts = { settled: 0, upToDate: 0, refused: 0, released: 0, awaitingApproval: 0, requested: 0 }
const day = figures({ window: 'day', limit: u(300), available: 260, end: at('2026-11-20T23:00:00Z') })

const place = { zone, dashboardUrl: 'https://units.example' }
const asked = { update: awaiting(), owner: null, approvers: ['slack:U03BOB', 'slack:U04EVE'] }
const home = {
  ...{
    account,
    leftAtReset: { from: 9_600, to: 12_000 },
    notice: 'You asked for this, so someone else has to approve it.',
  },
  atRisk: [{ budget: 'seo', sentence: 'Cannot pay its next update.' }],
  rows: [
    { update: awaiting(), whyNot: null },
    { update: untraced(), whyNot: 'You need the scope approve to decide.' },
  ],
  ...place,
}

/** Sentences that no sample has. */
const more: readonly (readonly [name: string, message: Message])[] = [
  ...(
    [
      ['overrun', { ...settled(), charged: u(700), overrun: u(60) }],
      ['settled by evidence', { ...settled(), closedBy: 'evidence' }],
      ['settled by time', { ...settled(), closedBy: 'time' }],
      ['settled, found not to have run', { ...settled(), charged: u(0), corrected: true }],
      ['cancelled', updateWith({ state: 'cancelled', history: [{ state: 'cancelled', at: now, by: 'slack:U03BOB' }] })],
    ] as const
  ).map(([name, update]) => [`outcome: ${name}`, outcomeMessage({ updates: [update], zone })] as const),
  ['doubt: without a trace', doubtMessage({ update: untraced(), didNotRunFrom: now, zone })],
  [
    'figures: granted',
    figuresMessage({ budgets: [{ budget: 'seo', figures: [figures({ granted: 500, available: 1734 }), day] }], zone }),
  ],
  [
    'occurrence: stopped, nothing charged',
    occurrenceMessage({
      ...{ plan: 'nightly', time: now, zone, state: 'stopped', reason: 'three in a row are in doubt' },
      ...{ counts: { ...counts, inDoubt: 3, unsent: 9 }, unitsCharged: 0, refusals: [] },
    }),
  ],
  ['unfrozen: frozen above', frozenMessage({ budget: 'seo', frozen: false, frozenAbove: 'agency', ...author })],
  ['resumed: not enabled', pausedMessage({ plan: 'nightly', paused: false, isEnabled: false, ...author })],
  [
    'approval: with a bot token and the dashboard',
    approvalMessage({ ...{ ...asked, hasModals: true, isReminder: false }, ...place }),
  ],
  [
    'approval: several of one request',
    approvalsMessage({ rows: [asked, { update: settled(), owner: null }], isReminder: false, ...place }),
  ],
  [
    'frozen: with its remedy',
    withEnd(
      frozenMessage({ budget: 'seo', frozen: true, ...author }),
      { kind: 'unfreeze', name: 'seo', at: now },
      '/dashboard/budgets/seo',
      place,
    ),
  ],
  ['App Home', { text: '', blocks: homeView(home).blocks }],
  ['done', doneMessage('Done: seo is frozen.')],
  ['login', loginMessage('https://units.example/login?code=abc')],
]

/** Slack's mark of a time, short enough to read. */
const readable = (text: string): string =>
  text.replace(/<!date\^(\d+)\^\{date_short_pretty\} \{time\}\|([^<>]*)>/g, '‹$2, $1›')

function linesOf(block: Block): readonly string[] {
  switch (block.type) {
    case 'header':
      return [`### ${block.text.text}`]
    case 'context':
      return block.elements.map((each) => `(${'text' in each ? each.text : ''})`)
    case 'section':
      return [...(block.text ? [block.text.text] : []), ...(block.fields ?? []).map(({ text }) => `| ${text}`)]
    case 'actions':
      return block.elements.flatMap((each) => {
        if (each.type !== 'button') return []
        const { title, text, confirm, deny } = each.confirm ?? {}
        const dialog = [`  ${title?.text}`, `  ${text?.text}`, `  [${deny?.text}] [${confirm?.text}]`]
        return [`[${each.text.text}] ${each.action_id}`, ...(each.confirm ? dialog : [])]
      })
  }
}

const render = ([name, { text, blocks }]: readonly [string, Message]): string =>
  [`## ${name}`, `Notification: ${text}`, ...blocks.flatMap(linesOf)].map(readable).join('\n\n')

test('says in every message exactly what the reviewed catalogue says', async () => {
  const intro =
    'What Slack shows, one message after another. To update: npx vitest run --config test/vitest.config.ts catalogue -u'
  const page = ['# Slack messages', intro, ...[...samples(), ...more].map(render)].join('\n\n')
  const hint =
    'A message has changed. If that is meant, run `npx vitest run --config test/vitest.config.ts catalogue -u`.'
  await expect(`${page}\n`, hint).toMatchFileSnapshot('messages.golden.txt')
})
