import { expect, test } from 'vitest'
import type { Block, Message } from '../../shared/slack/blocks.ts'
import {
  frozenAboveIt,
  notEnabled,
  occurrenceMessage,
  stoppedMessage,
} from '../../shared/slack/messages/announcements.ts'
import { approvalMessage, approvalsMessage, doubtMessage } from '../../shared/slack/messages/decisions.ts'
import { doneMessage, loginMessage } from '../../shared/slack/messages/help.ts'
import { withEnd } from '../../shared/slack/messages/links.ts'
import { modalFor, type Opener, readForm } from '../../shared/slack/messages/modals.ts'
import { outcomeMessage, updateMessage, updatesMessage } from '../../shared/slack/messages/updates.ts'
import { figuresMessage } from '../../shared/slack/reports/figure-messages.ts'
import { homeView } from '../../shared/slack/reports/home-view.ts'
import { hours, minutes } from '../support/clock.ts'
import { json } from '../support/product.ts'
import {
  account,
  at,
  awaiting,
  code26,
  figures,
  inDoubtBySign,
  now,
  settled,
  u,
  untraced,
  updateWith,
  zone,
} from '../support/slack/records.ts'
import { samples } from '../support/slack/samples.ts'
import { listPeople } from '../support/slack/slack.ts'
import { month, startTalk } from '../support/slack/talk.ts'

const author = { by: 'slack:U02ALICE7', reason: 'the loop is fixed' }
const counts = { settled: 0, upToDate: 0, refused: 0, noPrice: 0, released: 0, awaitingApproval: 0, requested: 0 }
const day = figures({ window: 'day', limit: u(300), available: 260, end: at('2026-11-20T23:00:00Z') })

const tags = { ticket: 'SEO 47', client: '`*acme* <!channel>' }
const place = { zone, dashboardUrl: 'https://units.example' }
const asked = { update: awaiting(), owner: null, approvers: ['slack:U03BOB', 'slack:U04EVE'] }
const home = {
  troubles: [],
  account,
  leftAtReset: { from: 9_600, to: 12_000, isAtMost: true },
  notice: 'You asked for this, so someone else has to approve it.',
  atRisk: [{ budget: 'seo', sentence: 'Cannot pay its next update.' }],
  rows: [
    { update: awaiting(), whyNot: null },
    { update: untraced(), whyNot: 'You need the scope approve to decide.' },
    { update: inDoubtBySign(), whyNot: null },
  ],
  ...place,
}

/** Messages that no sample has. */
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
    'doubt: one of its sign, and too many to count, with the dashboard',
    doubtMessage({
      update: inDoubtBySign(),
      didNotRunFrom: now,
      ...place,
      like: { sign: code26, date: '2026-11-20', inDoubt: 1, isAtLeast: true },
    }),
  ],
  [
    'figures: granted',
    figuresMessage({ budgets: [{ budget: 'seo', figures: [figures({ granted: 500, available: 1734 }), day] }], zone }),
  ],
  [
    'occurrence: stopped, nothing charged',
    occurrenceMessage({
      plan: 'nightly',
      time: now,
      zone,
      state: 'stopped',
      reason: 'three in a row are in doubt',
      counts: { ...counts, inDoubt: 3, unsent: 9 },
      unitsCharged: 0,
      refusals: [],
    }),
  ],
  [
    'unfrozen: frozen above',
    stoppedMessage({ what: 'budget', name: 'seo', isStopped: false, ...author }, frozenAboveIt('agency')),
  ],
  ['resumed: not enabled', stoppedMessage({ what: 'plan', name: 'nightly', isStopped: false, ...author }, notEnabled)],
  ['update: with tags', updateMessage({ update: { ...settled(), tags }, zone })],
  ['approval: with tags', approvalMessage({ ...asked, update: { ...awaiting(), tags }, isReminder: false, zone })],
  [
    'approval: with a bot token and the dashboard',
    approvalMessage({ ...asked, hasModals: true, isReminder: false, ...place }),
  ],
  [
    'approval: several of one request',
    approvalsMessage({ rows: [asked, { update: settled(), owner: null }], isReminder: false, ...place }),
  ],
  [
    'frozen: with its remedy',
    withEnd(
      stoppedMessage({ what: 'budget', name: 'seo', isStopped: true, ...author }),
      { kind: 'unfreeze', name: 'seo', at: now },
      '/dashboard/budgets/seo',
      place,
    ),
  ],
  ['updates: with the dashboard', updatesMessage({ updates: [settled(), awaiting()], ...place })],
  ['update: with the dashboard', updateMessage({ update: settled(), ...place })],
  ['outcome: several, with the dashboard', outcomeMessage({ updates: [settled(), awaiting()], ...place })],
  ['App Home', { text: '', blocks: homeView(home).blocks }],
  ['done', doneMessage('Done: seo is frozen.')],
  ['login', loginMessage('https://units.example/login?code=abc')],
]

test('no message says a sentence twice', () => {
  const repeated = [...samples(), ...more].flatMap(([name, { blocks }]) => {
    const text = blocks
      .flatMap(linesOf)
      .join('\n')
      .replace(/[`*_>()]/g, '')
    const sentences = text.split(/(?<=[.!?])\s+|\n/).filter((each) => /^\S+\s+\S+.*[.!?]$/.test(each.trim()))
    return sentences.filter((each, at) => sentences.indexOf(each) < at).map((each) => `${name}: ${each}`)
  })
  expect(repeated).toEqual([])
})

/** Slack's mark of a time, shortened to be readable. */
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

const openers: readonly Omit<Opener, 'responseUrl'>[] = [
  { action: 'approve-up-to', value: 'upd_1', shown: u(640) },
  { action: 'reject-because', value: 'upd_1', shown: u(640) },
  { action: 'grant-units', value: 'seo' },
]

interface Form {
  title: { text: string }
  submit: { text: string }
  close: { text: string }
  blocks: { label: { text: string }; hint: { text: string }; optional?: boolean; element: { initial_value?: string } }[]
}

/** A form with its first view and its messages about wrong values. */
function renderForm(opener: Omit<Opener, 'responseUrl'>): string {
  const { title, submit, close, blocks } = modalFor({ ...opener, responseUrl: '' }) as Form
  const inputs = blocks.map(({ label, hint, optional, element }) => {
    const value = element.initial_value === undefined ? '' : ` (${element.initial_value})`
    return `${label.text}${optional ? ', optional' : ''}:${value}\n${hint.text}`
  })
  const faults = (['0 ', '639 x\ny', `5 ${'x'.repeat(501)}`] as const).flatMap((typed) => {
    const [units = '', ...reason] = typed.split(' ')
    const values = { units: { units: { value: units } }, reason: { reason: { value: reason.join(' ') } } }
    const view = { id: 'V1', private_metadata: JSON.stringify({ ...opener, responseUrl: '' }), state: { values } }
    const read = readForm({ type: 'view_submission', user: { id: 'U1ADA' }, view })
    return read?.kind === 'faults' ? Object.entries(read.faults).map(([field, fault]) => `${field}: ${fault}`) : []
  })
  const buttons = `[${close.text}] [${submit.text}]`
  return [`## Form: ${title.text}`, ...inputs, buttons, ...new Set(faults)].join('\n\n')
}

const command = 'npx vitest run --config test/vitest.config.ts catalogue -u'
const hint = `A message has changed. If that is meant, run \`${command}\`.`

test('every message and form has exactly the text of the reviewed catalogue', async () => {
  const intro = `What Slack shows, one message after another. To update: ${command}`
  const parts = ['# Slack messages', intro, ...[...samples(), ...more].map(render), ...openers.map(renderForm)]
  await expect(`${parts.join('\n\n')}\n`, hint).toMatchFileSnapshot('messages.golden.txt')
})

const people = { Ada: 'U1ADA', Bob: 'U2BOB', Rita: 'U3RITA', Pia: 'U4PIA', Zoe: 'U5ZOE', Carl: 'U6CARL', New: 'U9NEW' }
type Talk = Awaited<ReturnType<typeof startTalk>>
/** `Bob: …` types a command; `Bob presses …` presses that button for the latest update; anything else is an event. */
type Step = string | readonly [happens: string, effect: (talk: Talk) => unknown]

const priceOf =
  (units: number) =>
  ({ product }: Talk) =>
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: units }))
const acme = 'run ranking acme budget=seo'

const talks: Readonly<Record<string, readonly Step[]>> = {
  'Who may do what': [
    'New: updates',
    'New presses approve',
    'Ada: rnu ranking acme',
    'Zoe: updates',
    'Rita: run ranking acme',
    'Rita: cancel upd_1',
    'Bob: freeze seo it loops',
    'Bob: run ranking acme',
    'Bob: run ranking acme budget=none',
    ['Zoe loses her scopes.', ({ product }) => listPeople(product, { U5ZOE: { scopes: [] } })],
    'Zoe: updates',
    ['Zoe is disabled.', ({ product }) => listPeople(product, { U5ZOE: { scopes: ['run'], disabled: true } })],
    'Zoe: updates',
    'Ada: login',
    'Ada: show upd_unknown',
    'Ada: freeze none why not',
    'Ada: pause none why not',
  ],
  'A run': [
    'Bob: estimate ranking acme',
    `Bob: ${acme}`,
    'Ada presses confirm',
    'Rita presses confirm',
    'New presses confirm',
    'Bob presses confirm',
    'Bob presses confirm',
    'Bob: updates',
    'Bob: show {id}',
    'Carl presses approve',
    'Ada: cancel {id}',
    ['Updates cost 6,000 units now.', priceOf(6_000)],
    'Bob: run ranking blog budget=seo',
  ],
  'A run that comes to nothing': [
    `Bob: ${acme}`,
    ['More than an hour passes.', ({ sweep }) => sweep(hours(1) + 1)],
    'Bob presses confirm',
    `Bob: ${acme}`,
    ['Updates cost 41 units now.', priceOf(41)],
    'Bob presses confirm',
    'Bob: run ranking blog budget=seo',
    ['ada freezes seo.', ({ product }) => product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })],
    'Bob presses confirm',
    [
      'The service knows no project.',
      ({ product }) => product.service.script(({ url }) => url.endsWith('/estimate'), { status: 404 }),
    ],
    'Bob: estimate ranking unknown',
  ],
  'An approval': [
    `Pia: ${acme}`,
    'Pia presses confirm',
    'Bob: cancel {id}',
    'Pia presses approve',
    'Rita presses approve',
    'Carl presses approve',
    'Carl presses reject',
    'Pia: run ranking blog budget=seo',
    'Pia presses confirm',
    'Pia: cancel {id}',
    'Pia: cancel {id}',
    'Carl presses approve',
    [
      'ada asks for shop, and seo wants approval above 39 units.',
      async ({ product }) => {
        await product.call('PUT', '/budgets/seo', { body: { limits: month(1_000), approvalAbove: 39 } })
        await product.update({ kind: 'ranking', project: 'shop', budget: 'seo' })
      },
    ],
    ['A minute passes.', ({ product }) => product.clock.advance(minutes(1))],
    ['Updates cost 700 units now.', priceOf(700)],
    'Carl presses approve',
    'Carl presses the first approve',
    ['seo is deleted.', ({ product }) => product.call('DELETE', '/budgets/seo')],
    'Carl presses approve',
    'Carl presses reject',
  ],
  'An approval that comes too late': [
    `Pia: ${acme}`,
    'Pia presses confirm',
    ['A day passes.', ({ product }) => product.clock.advance(hours(24))],
    'Carl presses approve',
    ['The sweep runs.', ({ sweep }) => sweep()],
    'Carl presses approve',
  ],
  'A doubt': [
    ['The service fails.', ({ product }) => product.service.script('/on-demand/acme/run', { status: 500 })],
    `Bob: ${acme}`,
    'Bob presses confirm',
    'Carl presses resolve-did-not-run',
    ['Five minutes pass.', ({ sweep }) => sweep(minutes(5))],
    'Carl presses resolve-did-not-run',
    'Ada presses resolve-ran',
  ],
  'Stops and bookings': [
    'Ada: freeze seo a loop',
    'Ada: freeze account all of it',
    'Ada: unfreeze seo it ended',
    'Ada: unfreeze account it ended',
    'Ada: pause nightly the site moves',
    'Ada: resume nightly done',
    'Ada: reconcile 49000 as of 09:40',
    'Ada: reconcile 49000',
    'Ada presses confirm',
    'Ada: reconcile 49000 as of 10:41',
  ],
}

async function play({ product, news, updates }: Talk, step: Extract<Step, string>): Promise<string[]> {
  const [, name = '', verb, text = ''] = /^(\w+)(: | presses (?:the first )?)(.*)$/.exec(step) ?? []
  const user = people[name as keyof typeof people]
  const { slack } = product
  const [{ id = 'upd_1' } = {}] = await updates()
  const shown = slack.posted().flatMap(({ body }) => /"value":"(cmd_\w+)"/.exec(JSON.stringify(body))?.[1] ?? [])
  const value = text === 'confirm' ? (shown.at(-1) ?? '') : id
  const block = verb?.includes('first') ? 'shown:40' : slack.block()
  const answer = await (verb === ': '
    ? slack.command(text.replace('{id}', id), { user })
    : slack.press(text, value, { user, block }))
  const body = await answer.text()
  return [...(body.startsWith('{') ? [`at once: ${JSON.parse(body).text}`] : []), ...(await news())]
}

test('commands and presses get exactly the answers of the reviewed catalogue', async () => {
  const parts = ['# Talks in Slack', `What each command and press is answered with. To update: ${command}`]
  const scopes = {
    U1ADA: ['read', 'run', 'approve', 'admin'],
    U2BOB: ['read', 'run'],
    U3RITA: ['read'],
    U4PIA: ['read', 'propose', 'approve'],
  }
  const listed = Object.entries({ ...scopes, U5ZOE: ['run'], U6CARL: ['approve'] })
  const plans = [{ name: 'nightly', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 3 * * ? *)' }]
  for (const [title, steps] of Object.entries(talks)) {
    const talk = await startTalk(
      {
        budgets: { seo: { limits: month(1_000) } },
        people: Object.fromEntries(listed.map(([user, of]) => [user, { scopes: of, budgets: ['seo'] }])),
      },
      { plans },
    )
    parts.push(`## ${title}`)
    for (const step of steps) {
      // The clock moves, so that the latest update is unique.
      talk.product.clock.advance(1_000)
      const [happens, effect] = typeof step === 'string' ? [step] : step
      const told = effect ? [(await effect(talk)) ?? [], await talk.news()].flat() : await play(talk, happens)
      const lines = told.filter((line) => typeof line === 'string').map((line) => `→ ${line}`)
      parts.push([happens, ...lines].join('\n').replace(/\b(upd)_[0-9a-z]{8,}/g, '$1_…'))
    }
  }
  await expect(`${parts.join('\n\n')}\n`, hint).toMatchFileSnapshot('talks.golden.txt')
})
