import { when } from '../guard/sentences.ts'

/**
 * Text for Slack's mrkdwn. What users wrote (names, reasons, details) passes `code` or `prose`: it can then
 * neither ping, nor link, nor format, nor hide.
 *
 * @see https://docs.slack.dev/messaging/formatting-message-text
 */

/** What Slack takes at most; what is longer is refused as a whole. https://docs.slack.dev/reference/block-kit/blocks */
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
  /** Slack would take more; no one reads more. */
  message: 3000,
  /**
   * All blocks together, as bytes of JSON. Slack names no number, and refuses with `msg_blocks_too_long` from about
   * 13,200 on (https://github.com/slackapi/bolt-js/issues/2509).
   */
  blocksBytes: 12_000,
} as const

const maxNameLength = 80
const maxProseLength = 1_000
const maxReadLength = 10_000

/** A name, in the one form that Slack leaves alone. */
export const code = (text: string, max = maxNameLength): string =>
  `\`${escaped(cut(clean(text).replaceAll('`', 'ˋ'), max))}\``

/** A user's sentence, on one line and without effect. */
export const prose = (text: string, max = maxProseLength): string => escaped(inert(cut(clean(text), max)))

/** Slack allows no other characters to be encoded. */
export const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? '')

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** At most so many characters, of which the last is … where something was cut, and no half of a character or entity. */
export const cut = (text: string, max: number): string =>
  text.length <= max ? text : `${withoutHalves(text.slice(0, max - 1))}…`

/** The same for text with marks of ours, of which none is left open. */
export function cutMarked(text: string, max: number): string {
  if (text.length <= max) return text
  const kept = withoutHalves(text.slice(0, max - 1)).replace(/<[^<>]*$/, '')
  const isInsideCode = kept.split('`').length % 2 === 0
  return `${isInsideCode ? kept.slice(0, kept.lastIndexOf('`')) : kept}…`
}

const withoutHalves = (text: string): string => text.replace(/[\ud800-\udbff]$/, '').replace(/&[a-z]{0,3}$/, '')

/** One line of visible text: control characters, line ends and what turns or hides other letters are gone. */
export const clean = (text: string): string =>
  text
    .slice(0, maxReadLength)
    .toWellFormed()
    .replace(/[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu, '')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim() || '(blank)'

/** Letters that look like those which begin formatting, a quote or an emoji, and do not. */
const inert = (text: string): string =>
  text
    .replaceAll('*', '∗')
    .replaceAll('~', '∼')
    .replaceAll('`', 'ˋ')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, 'ˍ')
    .replace(/:(?=[\w+'-]+:)/g, '∶')
    .replace(/^>+/, '›')

/**
 * A time that each reader sees on their own clock; where Slack cannot, the account's time.
 *
 * @see https://docs.slack.dev/messaging/formatting-message-text#date-formatting
 */
export const date = (instant: number, zone: string): string =>
  `<!date^${Math.floor(instant / 1000)}^{date_short_pretty} {time}|${when(instant, zone)}>`

/** The same text without any marks, for a notification: times are the account's, names stand bare, and it is one line. */
export const withoutMarks = (text: string): string =>
  text
    .replace(/\n> ([^\n]*)/g, ' “$1”')
    .replaceAll('\n', ' ')
    .replace(
      /`([^`]*)`|<!date\^[^|<>]*\|([^<>]*)>|\*([^*`]+)\*/g,
      (_mark, name?: string, time?: string, bold?: string) => (name === undefined ? (time ?? bold ?? '') : inert(name)),
    )
