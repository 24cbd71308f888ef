import { describe, expect, test } from 'vitest'
import { openBrowser } from '../support/browser/browser.ts'
import { hours, minutes } from '../support/clock.ts'
import { startProduct } from '../support/product.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), stream: true, ...options })
  /** Logs in each time, because a session ends after some hours. */
  const show = async (path = '/dashboard/events') => {
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub: 'rita', scope: 'read' }))
    return browser.get(path)
  }
  return { ...product, show }
}

const sweeping = ({ triggers, endsAt }: Awaited<ReturnType<typeof start>>) =>
  triggers.handle({ task: 'sweep' }, endsAt())

/** Name and value of each fact, in the order of the page. */
const factsOf = (html: string) =>
  [...html.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, name, value = '']) => [
    name,
    value.replace(/<[^>]*>/g, '').replaceAll('\u00a0', ' '),
  ])

describe('the page Events', () => {
  test('the page Events shows what a target received, what waits for it and why, but no path or secret', async () => {
    const receiver = await startReceiver()
    const product = await start({ targets: [targetAt(`${receiver.url}?key=canary-in-the-address`)] })
    await product.update({ kind: 'ranking', project: 'acme' })
    await product.deliver()
    receiver.answers((response) => response.writeHead(503).end())
    product.clock.advance(minutes(5))
    await product.update({ kind: 'ranking', project: 'globex' })
    await product.deliver()
    product.clock.advance(hours(3))
    const { html, status } = await product.show()
    expect([status, html.includes('canary'), html.includes('/hook')]).toEqual([200, false, false])
    expect(factsOf(html)).toEqual([
      ['Sent to', `127.0.0.1:${receiver.port}`],
      ['Types', 'update.*'],
      ['Last delivery', '20 Nov 2026 10:00'],
      ['Last failure', '20 Nov 2026 10:05: status 503'],
      ['Waiting', '2'],
      ['Lag', '3 h'],
      ['Dead', '0'],
    ])
  })

  test('the page Events lists dead events with ids and types, also the ids of a target that no longer wants their type', async () => {
    const receiver = await startReceiver((response) => response.writeHead(410).end())
    const product = await start({ targets: [targetAt(receiver.url, { types: ['update.settled'] })] })
    const { id: gone } = (await product.update({ kind: 'ranking', project: 'acme' })).body.updates[0]
    await product.deliver()
    receiver.answers((response) => response.writeHead(500).end())
    product.clock.advance(hours(1))
    const { id: late } = (await product.update({ kind: 'ranking', project: 'globex' })).body.updates[0]
    await product.deliver()
    for (let sweep = 0; sweep < 2; sweep++) {
      product.clock.advance(hours(23.9))
      await sweeping(product)
    }
    const { html } = await product.show()
    const rows = [...html.matchAll(/<tr><th scope="row"><code>(.*?)<\/code>.*?<\/tr>/gs)].map(([row, id]) => [
      id,
      ...[...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, text = '']) => text.replace(/<[^>]*>/g, '')),
    ])
    expect(rows.map((row) => row.map((text) => text?.replaceAll('\u00a0', ' ')))).toEqual([
      [`${late}-2`, 'unit-guard.update.settled', '22 Nov 2026 10:48', 'status 500'],
      [`${gone}-2`, 'unit-guard.update.settled', '20 Nov 2026 10:00', 'status 410'],
    ])
    expect(Object.fromEntries(factsOf(html))).toMatchObject({ Waiting: '0', Lag: 'none', Dead: '2' })
  })

  test('without targets, the page Events says how to add a target, and the menu has no link to the page', async () => {
    const { show } = await start()
    const { html, text } = await show()
    expect(text).toContain('No other system gets events.')
    expect(text).toContain('EVENT_TARGETS')
    expect(html).not.toContain('href="/dashboard/events"')
  })

  test('the menu shows the page Events to readers of all budgets, and other users may not open it', async () => {
    const { url } = await startReceiver()
    const product = await start({ targets: [targetAt(url)] })
    const link = 'href="/dashboard/events"'
    expect((await product.show('/dashboard/plans')).html).toContain(link)
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 1000 }] } })
    await product.call('PUT', '/callers/rita', { body: { readsBudgets: ['seo'] } })
    product.clock.advance(minutes(1))
    expect((await product.show('/dashboard/plans')).html).not.toContain(link)
    const refused = await product.show()
    expect([refused.status, refused.text.includes('rita reads only some budgets')]).toEqual([403, true])
    expect(refused.html).not.toContain('warehouse')
  })
})
