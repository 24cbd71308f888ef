import type { MrkdwnElement, PlainTextElement } from '@slack/types'
import type { Block, Message } from '../../../shared/slack/blocks.ts'

/**
 * Blocks as HTML, for people and tests, which look for the classes `ping` and `link`.
 *
 * @see https://docs.slack.dev/messaging/formatting-message-text
 */

export function toHtml({ blocks }: Pick<Message, 'blocks'> & Partial<Message>): string {
  return `<div class="message">${blocks.map(blockHtml).join('')}</div>`
}

export function toPage(messages: readonly (readonly [name: string, message: Message])[]): string {
  const items = messages.map(
    ([name, message]) =>
      `<h2>${plainHtml(name)}</h2><div class="row"><div class="icon">UG</div><div><b>Unit Guard</b> <i>APP</i>${toHtml(message)}` +
      `<p class="notification">${markedHtml(message.text)}</p></div></div>`,
  )
  return `<!doctype html><meta charset="utf-8"><title>Messages</title><style>${style}</style>${items.join('')}`
}

function blockHtml(block: Block): string {
  switch (block.type) {
    case 'header':
      return `<h3>${textHtml(block.text)}</h3>`
    case 'section': {
      const fields = block.fields?.map((field) => `<div>${textHtml(field)}</div>`).join('')
      return `${block.text ? `<p>${textHtml(block.text)}</p>` : ''}${fields ? `<div class="fields">${fields}</div>` : ''}`
    }
    case 'context':
      return `<p class="context">${block.elements.map((each) => ('text' in each ? textHtml(each) : '')).join(' ')}</p>`
    case 'actions':
      return `<p>${block.elements.map((each) => (each.type === 'button' ? buttonHtml(each) : '')).join(' ')}</p>`
  }
}

type Button = Extract<Extract<Block, { type: 'actions' }>['elements'][number], { type: 'button' }>

function buttonHtml({ text, style, confirm }: Button): string {
  const dialog =
    confirm &&
    `<span class="dialog"><b>${confirm.title ? textHtml(confirm.title) : ''}</b><br>${textHtml(confirm.text)}<br>` +
      `[${confirm.deny ? textHtml(confirm.deny) : ''}] [${confirm.confirm ? textHtml(confirm.confirm) : ''}]</span>`
  return `<span class="button ${style ?? ''}">${textHtml(text)}</span>${dialog ?? ''}`
}

const textHtml = (text: MrkdwnElement | PlainTextElement): string =>
  text.type === 'mrkdwn' ? markedHtml(text.text) : plainHtml(text.text)

const plainHtml = (text: string): string =>
  text
    .replace(/&(?!(?:amp|lt|gt);)/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/\n/g, '<br>')

const markedHtml = (text: string): string =>
  text
    .split('\n')
    .map((line) => {
      const quote = /^(?:>|&gt;) ?(.*)$/.exec(line)?.[1]
      return quote === undefined ? `${inlineHtml(line)}<br>` : `<blockquote>${inlineHtml(quote)}</blockquote>`
    })
    .join('')

/** The marks in the order in which Slack reads them. */
const marks: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/`([^`]+)`/, ([, inside = '']) => `<code>${plainHtml(inside)}</code>`],
  [/<!date\^(\d+)\^[^|<>]*\|[^<>]*>/, ([, seconds]) => `<span class="date">${dateHtml(Number(seconds))}</span>`],
  [/<@([UW][A-Z0-9]+)>/, ([, user = '']) => `<span class="user">@${user}</span>`],
  [/<[!#@]([^<>]*)>/, ([, inside = '']) => `<span class="ping">@${plainHtml(inside)}</span>`],
  [/<([^<>]+)>/, ([, inside = '']) => linkHtml(inside)],
  [/(?<![\p{L}\p{N}])\*(\S(?:[^*]*\S)?)\*(?![\p{L}\p{N}])/u, ([, inside = '']) => `<b>${inlineHtml(inside)}</b>`],
  [/(?<![\p{L}\p{N}])_(\S(?:[^_]*\S)?)_(?![\p{L}\p{N}])/u, ([, inside = '']) => `<em>${inlineHtml(inside)}</em>`],
  [/(?<![\p{L}\p{N}])~(\S(?:[^~]*\S)?)~(?![\p{L}\p{N}])/u, ([, inside = '']) => `<s>${inlineHtml(inside)}</s>`],
  [/:[\w+'-]+:/, ([emoji]) => `<span class="emoji">${emoji}</span>`],
]

function linkHtml(inside: string): string {
  const [address = '', label = address] = inside.split('|')
  const href = /^https?:/.test(address) ? ` href="${address.replace(/"/g, '&quot;')}"` : ''
  return `<a class="link"${href}>${plainHtml(label)}</a>`
}

function inlineHtml(text: string): string {
  for (const [pattern, show] of marks) {
    const match = pattern.exec(text)
    if (!match) continue
    const end = match.index + match[0].length
    return `${inlineHtml(text.slice(0, match.index))}${show(match)}${inlineHtml(text.slice(end))}`
  }
  return plainHtml(text)
}

const dateHtml = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleString('en-US', {
    timeZone: 'UTC',
    month: 'short',
    day: 'numeric',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  })

const style = `
body { font: 15px/1.46 Lato, 'Noto Color Emoji', sans-serif; color: #1d1c1d; background: #fff; width: 720px; margin: 16px }
h2 { font-size: 12px; color: #999; border-top: 1px solid #ddd; margin: 20px 0 6px; padding-top: 4px }
h3 { font-size: 18px; margin: 8px 0 4px }
p { margin: 6px 0 }
i { font-style: normal; font-size: 10px; background: #ddd; color: #616061; padding: 1px 3px; border-radius: 2px }
.row { display: flex; gap: 8px }
.icon { width: 36px; height: 36px; border-radius: 4px; background: #4a154b; color: #fff; text-align: center; line-height: 36px; flex: none }
code { font: 12px 'Noto Mono', 'DejaVu Sans Mono', monospace; color: #c01343; background: #f6f6f6; border: 1px solid #ddd; border-radius: 3px; padding: 1px 3px; word-break: break-all }
blockquote { margin: 2px 0; padding-left: 10px; border-left: 4px solid #ddd }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 8px; margin: 6px 0 }
.context { font-size: 12px; color: #616061 }
.button { display: inline-block; border: 1px solid #bbb; border-radius: 4px; padding: 4px 12px; font-weight: 700; margin-right: 6px }
.primary { background: #007a5a; color: #fff; border-color: #007a5a }
.danger { color: #fff; background: #e01e5a; border-color: #e01e5a }
.dialog { display: inline-block; border: 1px dashed #bbb; border-radius: 6px; padding: 4px 8px; font-size: 12px; margin-right: 6px; max-width: 330px; vertical-align: top }
.user { background: #e8f5fa; color: #1264a3 }
.ping, .link { background: #ff0; color: #f00 }
.notification { font-size: 12px; color: #999; border-left: 2px solid #eee; padding-left: 6px }
`
