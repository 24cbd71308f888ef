import { describe, expect, test } from 'vitest'
import type { Store } from '../../shared/ledger/store/store.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { hours, minutes } from '../support/clock.ts'
import { listenForAgents } from '../support/mcp.ts'
import { json, serviceToken, startProduct } from '../support/product.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

type Options = NonNullable<Parameters<typeof startProduct>[0]>

const refused = { response_code: 26, message: 'not enough keyword units' }
const sign = 'response_code 26 at /response_code'

/** Each run of the service answers with `body`. */
async function start(body: unknown = refused, options: Options = { bot: true }) {
  const product = await startProduct({
    slack: true,
    store: createMemoryStore(),
    service: ({ url }) => (url.endsWith('/run') ? json(body) : undefined),
    ...options,
  })
  const { recorder } = product.slack
  const ask = async (project: string): Promise<string> => {
    product.clock.advance(1_000)
    const { body } = await product.update({ kind: 'ranking', project })
    expect(body.updates[0].state).toBe('in-doubt')
    return body.updates[0].id
  }
  const decide = async (id: string) => {
    product.clock.advance(minutes(6))
    const { status } = await product.call('POST', `/updates/${id}/resolve`, {
      body: { outcome: 'did-not-run', reason: 'not on the screen' },
    })
    expect(status).toBe(200)
  }
  const sweep = async () => {
    product.clock.advance(minutes(5))
    await product.triggers.sweep(product.endsAt())
  }
  /** The messages of the channel as they are now: the count of doubts, the buttons, and the number of edits. */
  const shown = () =>
    (recorder?.messages ?? []).map(({ text, edits, blocks }) => ({
      doubts: Number(/(\d+) ranking update/.exec(JSON.stringify(blocks))?.[1] ?? 0),
      buttons: blocks.flatMap((block) =>
        block.type === 'actions' ? block.elements.flatMap((each) => ('value' in each ? `${each.value}` : [])) : [],
      ),
      text,
      edits,
    }))
  return { product, ask, decide, sweep, shown }
}

describe('doubts of one sign and day', () => {
  test('three doubts are one message, which counts those still in doubt and decides the first', async () => {
    const { product, ask, decide, shown } = await start()
    const first = await ask('acme')
    await product.deliver()
    expect(shown()).toMatchObject([{ doubts: 1, buttons: [first, first], edits: 0 }])
    const [second, third] = [await ask('blog'), await ask('shop')]
    await product.deliver()
    expect(shown()).toMatchObject([{ doubts: 3, buttons: [first, first] }])
    expect(shown()[0]?.text).toContain(`3 ranking updates of 2026-11-20 are in doubt with the sign ${sign}.`)
    await decide(first)
    await product.deliver()
    expect(shown()).toMatchObject([{ doubts: 2, buttons: [], text: expect.stringContaining('did not run') }])
    for (const id of [second, third]) await decide(id)
    await product.deliver()
    expect(shown()).toMatchObject([{ doubts: 0, buttons: [], text: expect.not.stringContaining('in doubt with') }])
  })

  test('the first doubt of the next day is a message of its own', async () => {
    const { product, ask, shown } = await start()
    const first = await ask('acme')
    product.clock.advance(hours(24))
    const second = await ask('blog')
    await product.deliver()
    expect(shown()).toMatchObject([
      { doubts: 1, buttons: [first, first] },
      { doubts: 1, buttons: [second, second] },
    ])
  })

  test('the sweep corrects the number if the index lagged, and edits nothing if the number is right', async () => {
    const memory = createMemoryStore()
    let isLagging = false
    const store: Store = {
      ...memory,
      list: async (query) => {
        const page = await memory.list(query)
        return isLagging && query.index === 'open' ? { ...page, positions: [] } : page
      },
    }
    const { product, ask, sweep, shown } = await start(refused, { bot: true, store })
    isLagging = true
    await ask('acme')
    await ask('blog')
    await product.deliver()
    expect(shown()).toMatchObject([{ doubts: 1 }])
    isLagging = false
    await sweep()
    const [corrected] = shown()
    expect(corrected?.doubts).toBe(2)
    await sweep()
    expect(shown()).toEqual([corrected])
  })

  test('doubts are still announced if the first one was decided before Slack took its message', async () => {
    const { product, ask, decide, sweep, shown } = await start()
    product.slack.recorder?.fail({ method: 'chat.postMessage', error: 'internal_error' })
    const first = await ask('acme')
    await ask('blog')
    await product.deliver()
    expect(shown()).toEqual([])
    await decide(first)
    await sweep()
    expect(shown()).toMatchObject([{ doubts: 1, buttons: [], text: expect.stringContaining(sign) }])
  })

  test('with a webhook, only the first doubt is announced', async () => {
    const { product, ask } = await start(refused, {})
    for (const project of ['acme', 'blog']) await ask(project)
    await product.deliver()
    const texts = product.slack.posted().map(({ text }) => text)
    expect(texts).toEqual([expect.stringMatching(/acme ran\. .* 2 ranking updates of 2026-11-20 are in doubt/)])
  })

  test('each doubt is an event for other systems', async () => {
    const warehouse = await startReceiver()
    const { product, ask } = await start(refused, {
      targets: [targetAt(warehouse.url, { types: ['update.in-doubt'] })],
    })
    const ids = [await ask('acme'), await ask('blog')]
    await product.deliver()
    expect(warehouse.received.map(({ event }) => event.data.id)).toEqual(ids)
  })
})

describe('what people read about a doubt', () => {
  const hostileName = `\u202e<!channel> ${serviceToken} *x* `
  const hostile = { data: { [hostileName + 'n'.repeat(10_000)]: { error: `call <@U1ADA>, or use ${serviceToken}` } } }

  test.each([
    ['a code', refused, sign, 'not enough'],
    ['a hostile name', hostile, 'error at /data/', 'call'],
  ])(
    'page, channel, App Home, digest and agents name the sign and no other text: %s',
    async (_case, body, named, hidden) => {
      const { product, ask, shown } = await start(body)
      await product.call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read', 'approve'], budgets: '*' } })
      const id = await ask('acme')
      await product.deliver()
      await product.slack.event({ type: 'app_home_opened', user: 'U2BOB', tab: 'home' })
      await product.deliver()
      const { recorder } = product.slack
      const update = await product.guard.ledger.update(id)
      await product.triggers.digest(product.endsAt())
      await product.deliver()
      const browser = openBrowser(product)
      await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
      const { html } = await browser.get(`/dashboard/updates/${id}`)
      expect(html).toContain(named)
      expect(html).not.toContain(serviceToken)
      const agent = await (await listenForAgents(product)).connect()
      const read = await agent.call('get_update', { id })
      const places = {
        history: update?.history.at(-1)?.note ?? '',
        agent: JSON.stringify(read.data.timeline),
        'agent, in words': read.sentence,
        message: JSON.stringify(recorder?.messages[0]?.blocks),
        home: JSON.stringify(recorder?.homes.get('U2BOB')),
        digest: JSON.stringify(recorder?.messages.at(-1)?.blocks),
      }
      expect(shown()).toHaveLength(2)
      for (const [place, text] of Object.entries(places)) {
        expect([place, text]).toEqual([place, expect.stringContaining(named)])
        for (const other of [hidden, serviceToken, 'n'.repeat(41)]) {
          expect([place, text]).toEqual([place, expect.not.stringContaining(other)])
        }
      }
      for (const text of Object.values(places)) expect(text).not.toMatch(/\u202e/)
      for (const text of [places.message, places.home, places.digest]) expect(text).not.toContain('<!channel')
    },
  )
})
