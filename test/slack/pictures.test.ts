import { describe, expect, test } from 'vitest'
import { toHtml, toPage } from '../support/slack/block-kit.ts'
import { samples } from '../support/slack/samples.ts'

/** The visible text, without the marks of HTML. */
const seen = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

const mischief = '<!channel> <@U999XXX> <http://evil.example|here> *bold* _italic_ ~gone~ :tada: `code` <b>html</b>'
const byRogue = {
  project: mischief,
  reason: mischief,
  detail: mischief,
  caller: mischief,
  plan: mischief,
  budget: mischief,
}

describe.each(samples(byRogue).map(([name, message]) => [name, toHtml(message)] as const))('%s', (_name, html) => {
  test('a message of hostile texts pings no one, links nowhere, and has only our formatting', () => {
    expect(html).not.toMatch(/class="(?:ping|link|emoji)"|<em>|<s>|@U999XXX<|<b>(?:bold|html)/)
  })
})

test.each(samples().map(([name, message]) => [name, toHtml(message)] as const))('%s can be read', (_name, html) => {
  expect(html).not.toMatch(/undefined|NaN|null|\[object|class="(?:ping|link)"/)
  expect(seen(html)).not.toMatch(/&lt;!|\{date|\*/)
  expect(seen(html).length).toBeLessThan(2_500)
})

test('the renderer shows the effect of unescaped text in Slack', () => {
  const text = '<!channel> <http://evil.example|here> *bold* _it_ ~s~ :tada: <@U02ALICE7>\n> said'
  const html = toHtml({ text, blocks: [{ type: 'section', text: { type: 'mrkdwn', text } }] })
  expect(html.match(/class="\w+"|<(?:b|em|s|blockquote)>/g)).toEqual([
    'class="message"',
    'class="ping"',
    'class="link"',
    '<b>',
    '<em>',
    '<s>',
    'class="emoji"',
    'class="user"',
    '<blockquote>',
  ])
})

test('one page shows all messages', () => {
  const page = toPage(samples())
  expect(page.match(/<h2>/g)).toHaveLength(samples().length)
  expect(page).not.toMatch(/<script/)
})
