import type { ActionsBlock, Button, ContextBlock, HeaderBlock, MrkdwnElement, SectionBlock } from '@slack/types'
import { toUnits, type Units } from '../platform/words.ts'
import { clean, cut, cutMarked, limits, withoutMarks } from './text.ts'

/** @see https://docs.slack.dev/reference/block-kit/blocks */
export type Block = HeaderBlock | SectionBlock | ContextBlock | ActionsBlock

export interface Message {
  /** Plain words: notifications and screen readers show nothing else. */
  readonly text: string
  readonly blocks: readonly Block[]
  /** `ephemeral`: only the user who asked sees it. */
  readonly response_type?: 'ephemeral' | 'in_channel'
  readonly replace_original?: boolean
}

/** A button's value is an id and nothing else. */
export type Action = 'confirm' | 'approve' | 'reject' | 'resolve-ran' | 'resolve-did-not-run'

export const toAsker = { response_type: 'ephemeral' } as const
/** Replaces the message whose button was pressed. */
export const inPlace = { replace_original: true } as const

/** @param lead marked text; the notification shows it without marks. */
export const message = (
  lead: string,
  blocks: readonly Block[],
  how: Pick<Message, 'response_type' | 'replace_original'> = {},
): Message => ({ text: cut(withoutMarks(lead), limits.message), blocks: fitting(blocks), ...how })

/** @param text headers take no marks. */
export const header = (text: string): HeaderBlock => ({
  type: 'header',
  text: { type: 'plain_text', text: cut(clean(text), limits.header), emoji: false },
})

export const section = (text: string): SectionBlock => ({ type: 'section', text: marked(text, limits.section) })

export const context = (text: string): ContextBlock => ({
  type: 'context',
  elements: [marked(text, limits.context)],
})

/** Names and values in two columns, at most ten. */
export const fields = (rows: readonly (readonly [name: string, value: string])[]): SectionBlock => ({
  type: 'section',
  fields: rows.slice(0, maxFields).map(([name, value]) => marked(`*${name}*\n${value}`, limits.field)),
})

const maxFields = 10

/** Lines, in as few sections as possible. */
export function sections(lines: readonly string[], between = '\n'): SectionBlock[] {
  const texts: string[] = []
  for (const line of lines.map((each) => cutMarked(each, limits.section))) {
    const longer = texts.length === 0 ? line : `${texts.at(-1)}${between}${line}`
    if (texts.length > 0 && longer.length <= limits.section) texts[texts.length - 1] = longer
    else texts.push(line)
  }
  return texts.map(section)
}

/** The first lines, and the number of the rest. */
export function first(lines: readonly string[], max: number, maxBytes: number = limits.section): string[] {
  let bytes = 0
  const kept = lines.slice(0, max).filter((line) => {
    bytes += Buffer.byteLength(line)
    return bytes <= maxBytes
  })
  const more = lines.length - kept.length
  return more === 0 ? kept : [...kept, `… and ${more} more`]
}

export const buttons = (...elements: readonly Button[]): ActionsBlock => ({ type: 'actions', elements: [...elements] })

/** Buttons whose press also carries the price that was shown. */
export const buttonsShowing = (units: Units, ...elements: readonly Button[]): ActionsBlock => ({
  ...buttons(...elements),
  block_id: `${shownPrefix}${units}`,
})

/** The price that the pressed button's block carries, if any. */
export function shownIn(blockId: string | undefined): Units | undefined {
  const digits = blockId?.startsWith(shownPrefix) ? blockId.slice(shownPrefix.length) : ''
  return /^\d{1,15}$/.test(digits) ? toUnits(Number(digits)) : undefined
}

const shownPrefix = 'shown:'

export interface Dialog {
  readonly title: string
  readonly text: string
  readonly confirm: string
  readonly deny: string
}

/** @param dialog asked before the press counts, where a slip would be costly. */
export const button = (
  action: Action,
  id: string,
  { text, style, dialog }: { text: string; style?: 'primary' | 'danger'; dialog?: Dialog },
): Button => ({
  type: 'button',
  action_id: action,
  value: id,
  text: plain(text, limits.button),
  ...(style && { style }),
  ...(dialog && {
    confirm: {
      title: plain(dialog.title, limits.dialogTitle),
      text: plain(dialog.text, limits.dialogText),
      confirm: plain(dialog.confirm, limits.dialogButton),
      deny: plain(dialog.deny, limits.dialogButton),
      ...(style && { style }),
    },
  }),
})

const plain = (text: string, max: number) => ({ type: 'plain_text', text: cut(text, max), emoji: false }) as const

/** `verbatim`: Slack makes no links, channels or mentions of similar text. */
const marked = (text: string, max: number): MrkdwnElement => ({
  type: 'mrkdwn',
  text: cutMarked(text, max),
  verbatim: true,
})

/** Cuts from the end, but keeps buttons. */
function fitting(blocks: readonly Block[]): Block[] {
  const cutHere = context('This message was cut: Slack takes no longer one.')
  const reserved = [cutHere, ...blocks.filter(isActions)]
  let bytes = sum(reserved.map(bytesOf))
  let count = reserved.length
  let isCut = false
  const kept = blocks.filter((block) => {
    if (isActions(block)) return true
    bytes += bytesOf(block)
    count++
    isCut ||= bytes > limits.blocksBytes || count > limits.blocks
    return !isCut
  })
  return isCut ? [...kept, cutHere] : kept
}

const isActions = (block: Block): boolean => block.type === 'actions'
/** Includes the comma after it. */
const bytesOf = (block: Block): number => Buffer.byteLength(JSON.stringify(block)) + 1
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
