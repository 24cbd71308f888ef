import * as z from 'zod/mini'

/**
 * Schemas as strict as Slack's checks.
 *
 * @see https://docs.slack.dev/reference/block-kit/blocks
 * @see https://docs.slack.dev/reference/views
 */

const sized = (max: number) => z.string().check(z.minLength(1), z.maxLength(max))
const plain = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: sized(max), emoji: z.optional(z.boolean()) })
const marked = (max: number) =>
  z.strictObject({ type: z.literal('mrkdwn'), text: sized(max), verbatim: z.optional(z.boolean()) })
const either = (max: number) => z.union([plain(max), marked(max)])
const style = z.optional(z.enum(['primary', 'danger']))
const block_id = z.optional(sized(255))
const action_id = sized(255)

const button = z.strictObject({
  type: z.literal('button'),
  action_id,
  text: plain(75),
  value: z.optional(sized(2000)),
  style,
  confirm: z.optional(
    z.strictObject({ title: plain(100), text: either(300), confirm: plain(30), deny: plain(30), style }),
  ),
})

const inputElement = z.union([
  z.strictObject({
    type: z.literal('plain_text_input'),
    action_id,
    multiline: z.optional(z.boolean()),
    max_length: z.optional(z.int().check(z.gte(1), z.lte(3000))),
    initial_value: z.optional(sized(3000)),
  }),
  z.strictObject({
    type: z.literal('number_input'),
    action_id,
    is_decimal_allowed: z.boolean(),
    min_value: z.optional(z.string()),
    initial_value: z.optional(z.string()),
  }),
])

const shown = [
  z.strictObject({ type: z.literal('header'), block_id, text: plain(150) }),
  z
    .strictObject({
      type: z.literal('section'),
      block_id,
      text: z.optional(either(3000)),
      fields: z.optional(z.array(either(2000)).check(z.minLength(1), z.maxLength(10))),
    })
    .check(z.refine(({ text, fields }) => text !== undefined || fields !== undefined)),
  z.strictObject({
    type: z.literal('context'),
    block_id,
    elements: z.array(either(2000)).check(z.minLength(1), z.maxLength(10)),
  }),
  z.strictObject({
    type: z.literal('actions'),
    block_id,
    elements: z.array(button).check(z.minLength(1), z.maxLength(25)),
  }),
] as const
const input = z.strictObject({
  type: z.literal('input'),
  block_id,
  label: plain(2000),
  hint: z.optional(plain(2000)),
  optional: z.optional(z.boolean()),
  element: inputElement,
})

const blocksOf = <Block extends z.ZodMiniType>(block: Block, max: number) =>
  z.array(block).check(
    z.maxLength(max),
    z.refine((blocks) => {
      const ids = blocks.flatMap((each) => (each as { block_id?: string }).block_id ?? [])
      return new Set(ids).size === ids.length
    }, 'block_id'),
  )

export const blocks = blocksOf(z.union(shown), 50)
/** @see https://github.com/slackapi/bolt-js/issues/2509 */
export const maxBlocksBytes = 13_200

export const homeView = z.strictObject({ type: z.literal('home'), blocks: blocksOf(z.union(shown), 100) })

export const modalView = z.strictObject({
  type: z.literal('modal'),
  callback_id: sized(255),
  private_metadata: z.optional(z.string().check(z.maxLength(3000))),
  title: plain(24),
  submit: plain(24),
  close: z.optional(plain(24)),
  blocks: blocksOf(z.union([...shown, input]), 100),
})

const message = { text: z.optional(z.string().check(z.maxLength(40_000))), blocks: z.optional(z.unknown()) }

export const bodies = {
  'chat.postMessage': z.strictObject({
    channel: z.string(),
    ...message,
    unfurl_links: z.optional(z.boolean()),
    unfurl_media: z.optional(z.boolean()),
  }),
  'chat.update': z.strictObject({ channel: z.string(), ts: z.string(), ...message }),
  'views.open': z.strictObject({ trigger_id: sized(200), view: z.unknown() }),
  'views.publish': z.strictObject({ user_id: z.string(), view: z.unknown() }),
} as const
