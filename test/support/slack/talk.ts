import { expect } from 'vitest'
import { startProduct } from '../product.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import { listPeople, type Posted } from './slack.ts'

export const month = (units: number) => [{ window: 'month', units }]

type Options = NonNullable<Parameters<typeof startProduct>[0]>
type People = Parameters<typeof listPeople>[1]

/** The product with people in Slack. Each action returns the messages that it caused, written by `asLines`. */
export async function startTalk(
  { budgets, people }: { readonly budgets?: Readonly<Record<string, object>>; readonly people: People },
  options: Options & { readonly isRealStore?: boolean } = {},
) {
  const { isRealStore = false, ...rest } = options
  const product = await startProduct({ slack: true, ...(!isRealStore && { store: createMemoryStore() }), ...rest })
  const { slack } = product
  for (const [name, body] of Object.entries(budgets ?? {}))
    expect((await product.call('PUT', `/budgets/${name}`, { body })).status).toBeLessThan(300)
  await listPeople(product, people)

  const news = async () => {
    await product.deliver()
    return asLines(slack.news())
  }
  await news()
  const sweep = async (afterMs = 0, { triggers } = { triggers: product.triggers }) => {
    product.clock.advance(afterMs)
    await triggers.sweep(product.endsAt())
    return news()
  }
  const type = async (text: string, how: Parameters<typeof slack.command>[1] = {}) => {
    await slack.command(text, how)
    return news()
  }
  const press = async (action: string, value: string, how: Parameters<typeof slack.press>[2] = {}) => {
    await slack.press(action, value, how)
    return news()
  }
  /** Types a command and returns the id that its Confirm button carries. */
  const offered = async (text: string, user = 'U2BOB') => {
    await type(text, { user })
    const [button] = slack.buttons()
    expect(button?.action).toBe('confirm')
    return button?.value ?? ''
  }
  const updates = async () => (await product.call('GET', '/updates')).body.updates
  const updateOf = async (id: string) => (await product.call('GET', `/updates/${id}`)).body
  return { product, news, sweep, type, press, offered, updates, updateOf }
}

/**
 * Each message as `<where>: <notification>`: `private` to the user, in `place` of the message whose button was pressed,
 * or in the `channel`.
 */
export const asLines = (told: readonly Posted[]): string[] =>
  told.map(({ to, body, text }) => {
    const isPrivate = to === 'asker' && body.response_type === 'ephemeral'
    return `${body.replace_original === true ? 'place' : isPrivate ? 'private' : to}: ${text}`
  })

/** Matches messages by where they went and by key words. The catalogues have the whole sentences. */
export const says = (...rows: readonly `${'private' | 'place' | 'channel'}: ${string}`[]) =>
  rows.map((row) => expect.stringMatching(new RegExp(`^${row.replace(': ', ': .*')}`)))
