import type { ActionsBlock, Button, ContextBlock, HeaderBlock, MrkdwnElement, SectionBlock } from '@slack/types'
import { toUnits, type Units } from '../platform/words.ts'
import type { PressedAction } from './slack-events.ts'
import { clean, cut, cutMarked, limits, withoutMarks } from './text.ts'

/** @see https://docs.slack.dev/reference/block-kit/blocks */
export type Block = HeaderBlock | SectionBlock | ContextBlock | ActionsBlock

export interface Message {
  /** The notification, which Slack shows without formatting. */
  readonly text: string
  readonly blocks: readonly Block[]
  readonly response_type?: 'ephemeral' | 'in_channel'
  readonly replace_original?: boolean
}

export type Action = PressedAction | ModalAction

/** These buttons open a form. Submitting it counts as the press. */
export const modalActions = ['approve-up-to', 'reject-because', 'grant-units', 'units-given-back'] as const
export type ModalAction = (typeof modalActions)[number]

export const toAsker = { response_type: 'ephemeral' } as const
export const inPlace = { replace_original: true } as const

export const message = (
  lead: string,
  blocks: readonly Block[],
  options: Pick<Message, 'response_type' | 'replace_original'> = {},
): Message => ({ text: cut(withoutMarks(lead), limits.message), blocks: fitBlocks(blocks), ...options })

export const header = (text: string): HeaderBlock => ({
  type: 'header',
  text: { type: 'plain_text', text: cut(clean(text), limits.header), emoji: false },
})

export const section = (text: string): SectionBlock => ({ type: 'section', text: markdown(text, limits.section) })

export const context = (text: string): ContextBlock => ({ type: 'context', elements: [markdown(text, limits.context)] })

export const fields = (rows: readonly (readonly [name: string, value: string])[]): SectionBlock => ({
  type: 'section',
  fields: rows.slice(0, maxFields).map(([name, value]) => markdown(`*${name}*\n${value}`, limits.field)),
})

const maxFields = 10

export function sections(lines: readonly string[], between = '\n'): SectionBlock[] {
  const texts: string[] = []
  for (const line of lines.map((each) => cutMarked(each, limits.section))) {
    const longer = texts.length === 0 ? line : `${texts.at(-1)}${between}${line}`
    if (texts.length > 0 && longer.length <= limits.section) texts[texts.length - 1] = longer
    else texts.push(line)
  }
  return texts.map(section)
}

export function firstLines(lines: readonly string[], max: number, maxBytes: number = limits.section): string[] {
  let bytes = 0
  const shownLines = lines.slice(0, max).filter((line) => {
    bytes += Buffer.byteLength(line)
    return bytes <= maxBytes
  })
  const more = lines.length - shownLines.length
  return more === 0 ? shownLines : [...shownLines, `… and ${more} more`]
}

export const buttons = (...elements: readonly Button[]): ActionsBlock => ({ type: 'actions', elements: [...elements] })

/** @param of makes the block's id unique, as Slack requires. */
export const buttonsWithPrice = (
  { units, of }: { readonly units: Units; readonly of: string },
  ...elements: readonly Button[]
): ActionsBlock => ({ ...buttons(...elements), block_id: `${pricePrefix}${units}:${of}` })

export function priceIn(blockId: string | undefined): Units | undefined {
  const digits = blockId?.startsWith(pricePrefix) ? (blockId.slice(pricePrefix.length).split(':')[0] ?? '') : ''
  return /^\d{1,15}$/.test(digits) ? toUnits(Number(digits)) : undefined
}

const pricePrefix = 'shown:'

export interface Dialog {
  readonly title: string
  readonly text: string
  readonly confirm: string
  readonly deny: string
}

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

/** With `verbatim`, Slack makes no links or mentions from plain text. */
const markdown = (text: string, max: number): MrkdwnElement => ({
  type: 'mrkdwn',
  text: cutMarked(text, max),
  verbatim: true,
})

/** Cuts from the end, but keeps buttons. */
function fitBlocks(blocks: readonly Block[]): Block[] {
  const cutHere = context('This message was cut because Slack limits its length.')
  const reserved = [cutHere, ...blocks.filter(isActions)]
  let bytes = sum(reserved.map(bytesOf))
  let blockCount = reserved.length
  let isCut = false
  const fittingBlocks = blocks.filter((block) => {
    if (isActions(block)) return true
    bytes += bytesOf(block)
    blockCount++
    isCut ||= bytes > limits.blocksBytes || blockCount > limits.blocks
    return !isCut
  })
  return isCut ? [...fittingBlocks, cutHere] : fittingBlocks
}

const isActions = (block: Block): boolean => block.type === 'actions'
/** Counts the comma after the block, too. */
const bytesOf = (block: Block): number => Buffer.byteLength(JSON.stringify(block)) + 1
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** @see https://docs.slack.dev/reference/views/home-tab-views */
export interface HomeView {
  readonly type: 'home'
  readonly blocks: readonly Block[]
}
