import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { percent } from '../../shared/guard/sentences.ts'
import type { Message } from '../../shared/slack/blocks.ts'
import { occurrenceMessage } from '../../shared/slack/messages/announcements.ts'
import { approvalMessage, doubtMessage } from '../../shared/slack/messages/decisions.ts'
import { confirmMessage } from '../../shared/slack/messages/estimate.ts'
import { decidedMessage, deciderOf, outcomeMessage } from '../../shared/slack/messages/updates.ts'
import { bar, person } from '../../shared/slack/messages/words.ts'
import { digestMessage, figuresMessage } from '../../shared/slack/reports/figure-messages.ts'
import {
  anyText,
  awaiting,
  estimate,
  figures,
  inDoubt,
  now,
  settled,
  u,
  untraced,
  updateWith,
  zone,
} from '../support/slack/records.ts'
import { samples } from '../support/slack/samples.ts'

/** The marked texts of a message, in order. */
const texts = ({ blocks }: Message): string[] =>
  blocks.flatMap((block) => {
    if (block.type === 'actions') return []
    if (block.type === 'context') return block.elements.map((each) => ('text' in each ? each.text : ''))
    if (block.type === 'header') return [block.text.text]
    return [...(block.text ? [block.text.text] : []), ...(block.fields ?? []).map(({ text }) => text)]
  })

/** The figures of a text, in order. messages.golden.txt has the whole sentences. */
const figuresIn = (text: string): readonly string[] => text.match(/\d[\d,]*/g) ?? []

const buttonsOf = ({ blocks }: Message) =>
  blocks.flatMap((block) => (block.type === 'actions' ? block.elements : [])).filter((each) => each.type === 'button')

describe('the content of messages', () => {
  test('a message shows figures to the asker alone, of forty budgets at most', () => {
    const budgets = Array.from({ length: 500 }, (_, position) => ({ budget: `b${position}`, figures: [figures()] }))
    const message = figuresMessage({ budgets, zone })
    expect(message.response_type).toBe('ephemeral')
    const shown = texts(message).join('\n')
    expect(shown).toContain('*b39*')
    expect(shown).not.toContain('*b40*')
    expect(shown).toContain('… and 460 more')
  })

  test('several outcomes are a line each, at most twenty', () => {
    const updates = [settled(), ...Array.from({ length: 30 }, () => updateWith({ state: 'requested' }))]
    const [lead, lines = ''] = texts(outcomeMessage({ updates, zone }))
    expect(lead).toBe('1 of 31 updates done, *640 units* charged.')
    expect(lines.split('\n')).toHaveLength(21)
    expect(lines).toMatch(
      /^✅ `acme-shop` ranking · 640 units charged\n⏳ `acme-shop` ranking · will begin in a moment\n/,
    )
    expect(lines).toMatch(/… and 11 more$/)
  })

  test('the outcome of a confirmation replaces its button', () => {
    const shown = outcomeMessage({ updates: [settled()], zone, replaces: true })
    expect([shown.replace_original, shown.response_type, buttonsOf(shown)]).toEqual([true, 'ephemeral', []])
  })

  test('the answer to a press replaces the message and its buttons', () => {
    const shown = decidedMessage({ update: settled(), by: 'slack:U03BOB', zone })
    expect(shown.replace_original).toBe(true)
    expect(buttonsOf(shown)).toEqual([])
    expect(texts(shown).at(-1)).toMatch(/^Decided by <@U03BOB> · <!date\^.* · More: `\/units show upd_4t8kx2m9q7w3`$/)
  })

  test.each([
    ['the approver of an update that ran', 'awaiting-approval', 'settled', 'service', 'carl'],
    ['the caller who cancelled an approved update', 'awaiting-approval', 'cancelled', 'bob', 'bob'],
    ['the person who ended a doubt', 'in-doubt', 'settled', 'dora', 'dora'],
  ] as const)('a decided message names %s', (_who, asked, state, by, named) => {
    const approved = { state: 'requested', at: now, by: 'carl' } as const
    const history = [approved, { state, at: now, by }]
    const update = updateWith({ state, history, approval: { by: 'carl', at: now, units: u(40) } })
    expect(deciderOf(update, asked)).toBe(named)
  })

  test('a decided message has the time of the latest decision of its author', () => {
    const history = [now, now + 3_600_000].map((at) => ({ state: 'settled', at, by: 'carl' }) as const)
    const shown = decidedMessage({ update: { ...settled(), history }, by: 'carl', zone })
    expect(texts(shown).at(-1)).toContain(`<!date^${now / 1000 + 3600}^`)
  })

  test('an occurrence counts its projects and shows five refusals', () => {
    const shown = occurrenceMessage({
      plan: 'nightly',
      time: now,
      zone,
      state: 'done',
      counts: {
        settled: 12,
        upToDate: 0,
        refused: 7,
        noPrice: 0,
        released: 0,
        inDoubt: 1,
        awaitingApproval: 0,
        unsent: 0,
        requested: 0,
      },
      unitsCharged: 7680,
      refusals: Array.from({ length: 7 }, (_, position) => ({ project: `p${position}`, detail: 'seo is frozen.' })),
    })
    expect(figuresIn(shown.text)).toEqual(['20', '2026', '11', '00', '12', '7', '1', '7,680'])
    expect(texts(shown).find((text) => text.startsWith('• `p0`'))).toBe(
      '• `p0`, `p1`, `p2`, `p3` and `p4`: seo is frozen.\n… and 2 more',
    )
  })

  test.each(samples().map(([name, message]) => [name, message.text] as const))(
    'a notification has no marks: %s',
    (_name, text) => {
      expect(text).not.toMatch(/[*`]|<(?!@)|\n/)
      expect(text).toMatch(/[.!?]|units/)
    },
  )
})

describe('the buttons of messages', () => {
  test.each<[string, Message, [string, string, string, string | undefined][]]>([
    [
      'confirm',
      confirmMessage({ askId: 'ask_1', estimate: estimate(), budgets: ['seo'] }),
      [['confirm', 'ask_1', 'Confirm: spend 640 units', 'primary']],
    ],
    [
      'approval',
      approvalMessage({ update: awaiting(), owner: null, isReminder: false, zone }),
      [
        ['approve', 'upd_4t8kx2m9q7w3', 'Approve', 'primary'],
        ['reject', 'upd_4t8kx2m9q7w3', 'Reject', 'danger'],
      ],
    ],
    [
      'doubt',
      doubtMessage({ update: inDoubt(), didNotRunFrom: now, zone }),
      [
        ['resolve-ran', 'upd_4t8kx2m9q7w3', 'It ran', 'primary'],
        ['resolve-did-not-run', 'upd_4t8kx2m9q7w3', 'It did not run', 'danger'],
      ],
    ],
  ])('a button is labelled with its action and carries only an id: %s', (_name, message, expected) => {
    expect(buttonsOf(message).map((each) => [each.action_id, each.value, each.text.text, each.style])).toEqual(expected)
  })

  test('a button with a final effect asks for confirmation', () => {
    const [approve, reject] = buttonsOf(approvalMessage({ update: awaiting(), owner: null, isReminder: false, zone }))
    const [ran, didNotRun] = buttonsOf(doubtMessage({ update: inDoubt(), didNotRunFrom: now, zone }))
    expect([reject?.confirm, ran?.confirm]).toEqual([undefined, undefined])
    expect([approve, didNotRun].map((each) => figuresIn(each?.confirm?.text.text ?? ''))).toEqual([['640'], ['640']])
  })

  test('an action that would be refused has no button', () => {
    const problem = { slug: 'over-budget', detail: 'Nothing is left.', members: {} }
    const refused = confirmMessage({
      askId: 'ask_1',
      estimate: estimate({ problem, allowed: false }),
      budgets: ['seo'],
    })
    expect(buttonsOf(refused)).toEqual([])
    expect(refused.text).toContain('Nothing is left.')
  })
})

test('a doubt promises evidence in the data only if the update leaves a trace', () => {
  const promises = [inDoubt(), untraced()].map((update) => {
    const message = doubtMessage({ update, didNotRunFrom: now, zone })
    return /dates for which|data show/.test([message.text, ...texts(message)].join('\n'))
  })
  expect(promises).toEqual([true, false])
})

test.each([
  ['slack:U123ABC', '<@U123ABC>'],
  ['slack:W1', '`slack:W1`'],
  ['slack:W123', '<@W123>'],
  ['slack:u123abc', '`slack:u123abc`'],
  ['slack:U123ABC>', '`slack:U123ABC&gt;`'],
  ['slack:U123|x', '`slack:U123|x`'],
  ['xslack:U123ABC', '`xslack:U123ABC`'],
  ['alice', '`alice`'],
  ['<!channel>', '`&lt;!channel&gt;`'],
  ['schedule:nightly', 'the plan `nightly`'],
])('the caller %s is shown as %s', (caller, expected) => {
  expect(person(caller)).toBe(expected)
})

test.each([
  [0, 2000, '░░░░░░░░░░', '0 %'],
  [1, 2000, '█░░░░░░░░░', '< 1 %'],
  [20, 2000, '█░░░░░░░░░', '1 %'],
  [145, 2000, '█░░░░░░░░░', '7.3 %'],
  [199, 2000, '█░░░░░░░░░', '10 %'],
  [1612, 2000, '████████░░', '81 %'],
  [1999, 2000, '█████████░', '99 %'],
  [2000, 2000, '██████████', '100 %'],
  [2500, 2000, '██████████', '125 %'],
  [-5, 2000, '░░░░░░░░░░', '0 %'],
  [0, 0, '██████████', '100 %'],
])('a bar shows %d of %d used', (used, of, cells, share) => {
  expect([bar(used, of), percent(used, of)]).toEqual([cells, share])
})

/** Slack's limits, as its reference states them: https://docs.slack.dev/reference/block-kit/blocks */
function mustFit({ text, blocks }: Message): void {
  const length = (shown: string, most: number) => {
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.length).toBeLessThanOrEqual(most)
    expect(shown.isWellFormed()).toBe(true)
  }
  length(text, 3000)
  expect(blocks.length).toBeGreaterThan(0)
  expect(blocks.length).toBeLessThanOrEqual(50)
  expect(Buffer.byteLength(JSON.stringify(blocks))).toBeLessThan(13_000)
  for (const block of blocks) {
    if (block.type === 'header') length(block.text.text, 150)
    if (block.type === 'section') {
      expect(block.text ?? block.fields).toBeDefined()
      if (block.text) length(block.text.text, 3000)
      expect(block.fields?.length ?? 1).toBeGreaterThan(0)
      expect(block.fields?.length ?? 1).toBeLessThanOrEqual(10)
      for (const field of block.fields ?? []) length(field.text, 2000)
    }
    if (block.type === 'context') {
      expect(block.elements.length).toBeLessThanOrEqual(10)
      for (const each of block.elements) length('text' in each ? each.text : '', 2000)
    }
  }
  for (const { text: label, value = '', confirm } of buttonsOf({ text, blocks })) {
    length(label.text, 75)
    length(value, 2000)
    if (!confirm) continue
    length(confirm.title?.text ?? '', 100)
    length(confirm.text.text, 300)
    length(confirm.confirm?.text ?? '', 30)
    length(confirm.deny?.text ?? '', 30)
  }
}

/** The only `<…>` are well-formed mentions and times, and no `<…>` comes from foreign text. */
function mustBeTame({ text, blocks }: Message): void {
  const all = [text, ...texts({ text, blocks })].join('\n')
  const rest = all.replace(/<@[UW][A-Z0-9]{2,20}>|<!date\^\d+\^[^<>|]*\|[^<>]*>/g, '')
  expect(rest).not.toMatch(/[<]|&(?!(?:amp|lt|gt);)/)
  for (const block of blocks)
    if (block.type === 'section' && block.text) expect(block.text).toMatchObject({ verbatim: true })
}

describe('foreign texts of any length', () => {
  const hostile = [
    '<!channel> <!here|x> <!everyone> <@U999XXX> <#C1|general> <!subteam^S1>',
    '*bold* _it_ ~s~ `code` ```block``` :tada:',
    '> quote\n>>> more\n\n\n',
    '<http://evil.example|click here> http://evil.example',
    '<!date^1^{date}|<!channel>>',
    '&lt;!channel&gt; &amp;lt; &#60;',
    '`'.repeat(3000),
    '<'.repeat(40_000),
    '😀'.repeat(20_000),
    '\ud83d'.repeat(100),
    '\u202egnp.exe\u0000\u0007',
    'x'.repeat(40_000),
    '',
  ]
  const anything = fc.oneof(fc.constantFrom(...hostile), anyText, fc.string({ maxLength: 2000 }))
  const written = fc.record({
    project: anything,
    reason: anything,
    detail: anything,
    caller: anything,
    plan: anything,
    budget: anything,
  })

  test('every message stays within the limits and pings no one', () => {
    fc.assert(
      fc.property(written, fc.constantFrom(0, 1, 3, 21, 60, 500), (by, size) => {
        for (const [, message] of samples(by, size)) {
          mustFit(message)
          mustBeTame(message)
        }
      }),
      { numRuns: 25 },
    )
  })

  test.each(hostile.map((text) => [text.slice(0, 40), text]))('hostile text stays text: %j', (_start, text) => {
    const by = { project: text, reason: text, detail: text, caller: text, plan: text, budget: text }
    for (const [name, message] of samples(by, 500)) {
      mustFit(message)
      mustBeTame(message)
      expect(JSON.stringify(message), name).not.toMatch(/U999XXX>|<!channel|<!here|<!everyone|<http/)
    }
  })

  test('a message shows numbers of any size', () => {
    const number = fc.integer({ min: -1e12, max: 1e12 })
    const counter = fc.record({ available: number, spent: number, held: number, inDoubt: number, granted: number })
    const limit = fc.oneof(fc.constant('unlimited' as const), fc.nat(1e12).map(u))
    fc.assert(
      fc.property(counter, limit, number, number, (counters, limit, before, now) => {
        const month = figures({ ...counters, limit })
        const outlook = {
          status: 'at-risk' as const,
          reason: null,
          projected: now,
          projectedAtPace: before,
          isProjectedAtLeast: true,
        }
        const budgets = [{ budget: 'seo', spentToday: before, costToday: '1.50 EUR', month, ...outlook }]
        const priceMoves = [{ project: 'a', kind: 'ranking' as const, before, now }]
        for (const message of [
          figuresMessage({ budgets: [{ budget: 'seo', figures: [month] }], zone }),
          digestMessage({
            troubles: [],
            day: 'd',
            zone,
            budgets,
            priceMoves,
            refused: 0,
            inDoubt: [],
            approvals: [],
            nothingHappened: false,
          }),
        ]) {
          mustFit(message)
          expect(texts(message).join('\n')).not.toMatch(/NaN|Infinity|undefined|[█░]{11}/)
        }
      }),
    )
  })

  test('a long list keeps its buttons', () => {
    const projects = Array.from({ length: 500 }, (_, position) => ({
      project: `${position}${'é'.repeat(500)}`,
      units: u(1),
    }))
    const shown = confirmMessage({
      askId: 'ask_1',
      estimate: estimate({ projects, figures: Array.from({ length: 400 }, () => figures({ budget: 'é'.repeat(63) })) }),
      budgets: Array.from({ length: 400 }, (_, position) => `b${position}`),
      reason: '"'.repeat(5_000),
      approval: '\\'.repeat(5_000),
    })
    mustFit(shown)
    expect(buttonsOf(shown)).toHaveLength(1)
  })
})
