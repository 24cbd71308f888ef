import { when } from '../guard/sentences.ts'

/** @see https://docs.slack.dev/reference/block-kit/blocks */
export const limits = {
  blocks: 50,
  section: 3000,
  field: 2000,
  context: 2000,
  header: 150,
  button: 75,
  value: 2000,
  dialogTitle: 100,
  dialogText: 300,
  dialogButton: 30,
  message: 3000,
  /** Bytes of JSON. Slack refuses about 13,200: https://github.com/slackapi/bolt-js/issues/2509 */
  blocksBytes: 12_000,
} as const

const maxNameLength = 80
const maxProseLength = 1_000
const maxReadLength = 10_000

export const code = (text: string, max = maxNameLength): string =>
  `\`${escapeMarks(cut(clean(text).replaceAll('`', 'ˋ'), max))}\``

/** Returns one line without mentions, links, formatting or hidden text. */
export const prose = (text: string, max = maxProseLength): string => escapeMarks(disarm(cut(clean(text), max)))

export const escapeMarks = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? '')

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

export const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${withoutHalves(text.slice(0, max - 1))}…`

/** Never cuts inside a date, a link or `code`. */
export function cutMarked(text: string, max: number): string {
  if (text.length <= max) return text
  const start = withoutHalves(text.slice(0, max - 1)).replace(/<[^<>]*$/, '')
  const isInsideCode = start.split('`').length % 2 === 0
  return `${isInsideCode ? start.slice(0, start.lastIndexOf('`')) : start}…`
}

const withoutHalves = (text: string): string => text.replace(/[\ud800-\udbff]$/, '').replace(/&[a-z]{0,3}$/, '')

/** Returns one line without invisible characters or characters that change the direction of text. */
export const clean = (text: string): string =>
  text
    .slice(0, maxReadLength)
    .toWellFormed()
    .replace(/[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu, '')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim() || '(blank)'

/** Replaces formatting characters with characters that look similar. */
const disarm = (text: string): string =>
  text
    .replaceAll('*', '∗')
    .replaceAll('~', '∼')
    .replaceAll('`', 'ˋ')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, 'ˍ')
    .replace(/:(?=[\w+'-]+:)/g, '∶')
    .replace(/^>+/, '›')

/** @see https://docs.slack.dev/messaging/formatting-message-text#date-formatting */
export const date = (instant: number, zone: string): string =>
  `<!date^${Math.floor(instant / 1000)}^{date_short_pretty} {time}|${when(instant, zone)}>`

/** For notifications, which show neither formatting nor the reader's time zone. */
export const withoutMarks = (text: string): string =>
  text
    .replace(/\n> ([^\n]*)/g, ' “$1”')
    .replaceAll('\n', ' ')
    .replace(
      /`([^`]*)`|<!date\^[^|<>]*\|([^<>]*)>|\*([^*`]+)\*/g,
      (_mark, name?: string, time?: string, bold?: string) =>
        name === undefined ? (time ?? bold ?? '') : disarm(name),
    )
