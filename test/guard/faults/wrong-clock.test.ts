import { describe, expect, test } from 'vitest'
import { when } from '../../../shared/guard/sentences.ts'
import { openBrowser } from '../../support/browser/browser.ts'
import { send } from '../../support/browser/page-forms.ts'
import { minutes } from '../../support/clock.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { json, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const ask = { kind: 'ranking', project: 'acme.example' }
const second = 1_000
const now = Date.parse('2026-11-20T10:00:00Z')
const dateOf = (instant: number) => new Date(instant).toUTCString()

const night = { name: 'night', kind: 'ranking', projects: ['acme.example'], schedule: 'cron(0 9 * * ? *)' }

/** @param dateAt the Date of the service's estimates, by the time of the test's clock; `null` leaves it out. */
async function start(dateAt: (now: number) => string | null) {
  const time = { dateAt }
  const product = await startProduct({
    store: createMemoryStore(),
    slack: true,
    plans: [night],
    service: ({ url }) => {
      if (!url.split('?')[0]?.endsWith('/estimate')) return undefined
      const date = time.dateAt(product.clock.now())
      const body = JSON.stringify({ units: 40 })
      const length = `content-type: application/json\r\ncontent-length: ${body.length}`
      return date === null
        ? { kind: 'raw', bytes: `HTTP/1.1 200 OK\r\nconnection: close\r\n${length}\r\n\r\n${body}` }
        : { ...json({ units: 40 }), headers: { date } }
    },
  })
  return { product, time }
}

describe('estimate: malformed: the clock of the service differs from ours', () => {
  test.each([
    [-minutes(60), 503],
    [-minutes(5) - second, 503],
    [-minutes(5), 201],
    [-second, 201],
    [0, 201],
    [second, 201],
    [minutes(5), 201],
    [minutes(5) + second, 503],
    [minutes(60), 503],
    [minutes(60 * 24 * 365), 503],
  ])('a clock of the service that differs by %i ms is answered with %i', async (offset, expected) => {
    const { product } = await start((at) => dateOf(at + offset))
    const { status, body } = await product.update(ask)
    expect([status, product.seen('run').length]).toEqual([expected, expected === 201 ? 1 : 0])
    if (status === 201) return
    const [here, atService] = [new Date(now).toISOString(), new Date(now + offset).toISOString()]
    expect(body).toMatchObject({
      type: '/problems/wrong-clock',
      here,
      atService,
      detail: `It is ${when(now, 'UTC')} by the clock of this machine and ${when(now + offset, 'UTC')} by that of the service: more than five minutes apart, so nothing was run and nothing spent. Set the clock that is wrong, then send the same request again.`,
    })
  })

  test('a request under the same key runs after the clock is set, and holds nothing before', async () => {
    const { product, time } = await start((at) => dateOf(at - minutes(10)))
    const key = { headers: { 'idempotency-key': 'same' } }
    expect((await product.update(ask, key)).status).toBe(503)
    expect((await product.call('GET', '/updates')).body.updates).toEqual([])
    expect(await product.figures()).toMatchObject({ available: 50_000, held: 0, inDoubt: 0, spent: 0 })
    time.dateAt = dateOf
    expect((await product.update(ask, key)).status).toBe(201)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test.each([
    ['is missing', null],
    ['is empty', ''],
    ['is no time', 'yesterday'],
    ['is a bare number, which JavaScript takes for a year', '5'],
    ['is in another format', '2020-01-01T00:00:00Z'],
  ])('a Date that %s is ignored, and the update runs', async (_name, date) => {
    const { product } = await start(() => date)
    expect((await product.update(ask)).status).toBe(201)
  })
})

const far = minutes(6)

describe('a wrong clock holds nothing, and the sentence names both times', () => {
  const sentence =
    /2\d\sNov\s2026\s\d\d[:∶]\d\d\sUTC by the clock of this machine and 2\d\sNov\s2026\s\d\d[:∶]\d\d\sUTC by/

  test.each(['ahead', 'behind'])('every way to request refuses a hold if the service’s clock is %s', async (side) => {
    const { product } = await start((at) => dateOf(at + (side === 'ahead' ? far : -far)))
    const { call, slack, deliver, clock, endsAt } = product
    await call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read', 'run'], budgets: '*' } })

    for (const answer of [
      await product.update(ask),
      await product.update({ kind: 'keyword-difficulty', projects: ['one', 'two'], whenShort: 'fit' }),
      await call('GET', '/v3/on-demand/acme.example/run'),
      await call('GET', '/estimates?kind=ranking&project=acme.example'),
    ]) {
      expect([answer.status, answer.body.type]).toEqual([503, '/problems/wrong-clock'])
      expect(answer.body.detail).toMatch(sentence)
    }

    const later = await product.update(ask, { headers: { prefer: 'respond-async' } })
    await deliver()
    const [{ id }] = later.body.updates
    expect((await call('GET', `/updates/${id}`)).body.state).toBe('requested')

    const page = await openBrowser(product)
    await page.logIn(product.signed({ sub: 'ben', scope: 'read run', budgets: '*' }))
    const shown = await page.get('/dashboard/ask?kind=ranking&project=other-form')
    expect(shown.html).toMatch(sentence)
    if (shown.html.includes('Ask for the update</button>')) await send(page, shown, 'Ask for the update')

    const agent = await (await listenForAgents(product)).connect()
    expect(JSON.stringify(await agent.call('estimate_update', { kind: 'ranking', project: 'agents' }))).toMatch(
      sentence,
    )

    for (const command of ['estimate', 'run'])
      await slack.command(`${command} ranking slack-project`, { user: 'U2BOB' })
    await deliver()
    expect(JSON.stringify(slack.news().map(({ body }) => body))).toMatch(sentence)

    clock.set('2026-11-21T09:00:10Z')
    const fired = await (await product.guard.jobs()).fire('night', Date.parse('2026-11-21T09:00:00Z'), endsAt())
    expect(fired.kind).not.toBe('problem')

    expect(product.seen('run')).toEqual([])
    expect(await product.figures()).toMatchObject({ available: 50_000, held: 0, inDoubt: 0, spent: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('the agent, Slack and the page name both times if a clock goes wrong after the estimate', async () => {
    const { product, time } = await start(dateOf)
    const { call, slack, deliver } = product
    await call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read', 'run'], budgets: '*' } })
    const agent = await (await listenForAgents(product)).connect()
    const quote = await agent.quote('agents')
    const page = openBrowser(product)
    await page.logIn(product.signed({ sub: 'ben', scope: 'read run', budgets: '*' }))
    const form = await page.get('/dashboard/ask?kind=ranking&project=pages')
    await slack.command('run ranking slack-project', { user: 'U2BOB' })
    await deliver()
    const [button] = slack.buttons()

    time.dateAt = (at) => dateOf(at - far)
    expect(JSON.stringify(await agent.request(quote))).toMatch(sentence)
    await send(page, form, 'Ask for the update')
    await slack.press('confirm', button?.value ?? '', { user: 'U2BOB' })
    await deliver()
    expect(product.seen('run')).toEqual([])
    expect(await product.figures()).toMatchObject({ held: 0, inDoubt: 0, spent: 0 })

    // The requests of the page and of Slack wait, and run as soon as the clock is right.
    time.dateAt = dateOf
    product.clock.advance(minutes(3))
    await (await product.guard.jobs()).sweep(product.endsAt())
    expect(product.seen('run')).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })
})
