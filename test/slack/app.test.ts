import { describe, expect, test } from 'vitest'
import { AnswerLost, LedgerUnavailable } from '../../shared/ledger/errors.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import { type SlackEvent, slackEvents } from '../../shared/slack/slack-events.ts'
import { startProduct } from '../support/product.ts'
import { listPeople, signedFor, signingSecret, slackSecretOf } from '../support/slack/slack.ts'
import { asLines, says } from '../support/slack/talk.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const everything = ['read', 'run', 'approve', 'admin']

async function slackProduct(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ slack: true, store: createMemoryStore(), ...options })
  await listPeople(product, { U1ADA: { scopes: everything } })
  return product
}
type Product = Awaited<ReturnType<typeof slackProduct>>

/** The recorded work that waits for an answer. */
const waiting = async ({ guard }: Product) =>
  (await guard.ledger.queue(slackEvents).open(100)).rows.map((event) => [`${event.user}:`, ...saidBy(event)].join(' '))

function saidBy(event: SlackEvent): string[] {
  if (event.kind === 'home') return ['opens App Home']
  return event.kind === 'command' ? [event.text] : [event.action, event.value]
}

/** The text that Slack shows to the user who typed. */
const shownBy = async (answer: Response | Promise<Response>) =>
  (await (await answer).json()) as { text: string; response_type: string }

const form = (changes: Record<string, string> = {}) => ({
  command: '/units',
  text: 'updates',
  user_id: 'U1ADA',
  trigger_id: '1.2.abc',
  response_url: 'https://hooks.slack.com/commands/T0/1/none',
  ...changes,
})
const formBody = (changes: Record<string, string> = {}) => new URLSearchParams(form(changes)).toString()

const press = (changes: object = {}) => ({
  payload: JSON.stringify({
    type: 'block_actions',
    user: { id: 'U1ADA' },
    trigger_id: 'press-1',
    response_url: 'https://hooks.slack.com/actions/T0/1/none',
    container: { type: 'message', message_ts: '1.2' },
    actions: [{ type: 'button', action_id: 'approve', value: 'upd_1' }],
    ...changes,
  }),
})

describe('signature', () => {
  const now = Date.parse('2026-11-20T10:00:00Z') / 1000
  test('a request without a valid and recent signature is 401 with a fixed text, and nothing is recorded', async () => {
    const product = await slackProduct()
    const wrong: Record<string, string>[] = [
      { 'x-slack-signature': '' },
      signedFor(formBody({ text: 'help' }), now),
      signedFor(formBody(), ''),
      signedFor(formBody(), now - 301),
    ]
    for (const headers of wrong) {
      for (const path of ['/slack/commands', '/slack/interactions', '/slack/events']) {
        const answer = await product.slack.sendBody(path, formBody(), headers)
        expect([answer.status, await answer.text()]).toEqual([401, 'unauthorized'])
      }
    }
    expect(await waiting(product)).toEqual([])
  })

  test('a signature covers the received bytes, so the same form in other bytes is another request', async () => {
    const product = await slackProduct()
    const signed = formBody({ text: 'show upd_1' })
    const reencoded = signed.replace('show+upd', 'show%20upd')
    expect(new URLSearchParams(reencoded).toString()).toBe(signed)
    const answer = await product.slack.sendBody('/slack/commands', reencoded, signedFor(signed, now))
    expect(answer.status).toBe(401)
    expect(await waiting(product)).toEqual([])
  })

  test('a signed request that is repeated within five minutes is one item', async () => {
    const product = await slackProduct()
    const headers = signedFor(formBody(), now)
    for (const secondsLater of [0, 1, 299]) {
      product.clock.set(new Date((now + secondsLater) * 1000).toISOString())
      expect((await product.slack.sendBody('/slack/commands', formBody(), headers)).status).toBe(200)
    }
    expect(await waiting(product)).toEqual(['U1ADA: updates'])
    const pressed = new URLSearchParams(press()).toString()
    for (let times = 0; times < 3; times++) await product.slack.sendBody('/slack/interactions', pressed)
    expect(await waiting(product)).toEqual(['U1ADA: approve upd_1', 'U1ADA: updates'])
  })
})

describe('acknowledgements', () => {
  test('a command is recorded and acknowledged at once, without a request to the hanging service', async () => {
    const product = await slackProduct()
    product.service.script('', { kind: 'hang' })
    const answer = await product.slack.command('estimate ranking acme')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ response_type: 'ephemeral', text: expect.stringContaining('Asking') })
    expect((await product.slack.press('approve', 'upd_1')).status).toBe(200)
    expect(product.service.requests).toEqual([])
    expect(product.slack.posted()).toEqual([])
    expect(await waiting(product)).toEqual(['U1ADA: approve upd_1', 'U1ADA: estimate ranking acme'])
  })

  test('help and mistakes are answered at once to every user, without reading the ledger', async () => {
    const product = await slackProduct()
    for (const user of ['U1ADA', 'U9NOBODY']) {
      const help = await shownBy(product.slack.command('help', { user }))
      expect([help.response_type, help.text]).toEqual([
        'ephemeral',
        expect.stringContaining('The commands: estimate, run,'),
      ])
      const mistake = await shownBy(product.slack.command('rnu ranking acme', { user }))
      expect(mistake.text).toContain('did you mean /units run?')
    }
    expect(await waiting(product)).toEqual([])
    expect(product.slack.posted()).toEqual([])
  })

  test('other messages from Slack to its apps are acknowledged and ignored', async () => {
    const product = await slackProduct()
    for (const type of ['view_submission', 'shortcut', 'block_suggestion', 'message_action']) {
      const answer = await product.slack.send('/slack/interactions', { payload: JSON.stringify({ type, user: {} }) })
      expect([answer.status, await answer.text()]).toEqual([200, ''])
    }
    expect(await waiting(product)).toEqual([])
  })

  test('an ssl_check is answered with or without a signature, and has no effect', async () => {
    const product = await slackProduct()
    const { slackApp } = product.startProcess()
    expect((await slackApp.request('/slack/commands?ssl_check=1&token=x')).status).toBe(200)
    const body = formBody({ ssl_check: '1' })
    expect((await slackApp.request('/slack/commands', { method: 'POST', body })).status).toBe(200)
    expect((await product.slack.sendBody('/slack/commands', body)).status).toBe(200)
    expect(await waiting(product)).toEqual([])
  })
})

describe('requests that do not come from Slack', () => {
  test('a request that cannot be read is 400, and nothing is recorded', async () => {
    const product = await slackProduct()
    const bodies: [what: string, path: string, body: string][] = [
      ['nothing', '/slack/commands', ''],
      ['JSON', '/slack/commands', '{"text":"help"}'],
      ['no user', '/slack/commands', formBody({ user_id: '' })],
      ['a user of a strange form', '/slack/commands', formBody({ user_id: 'U1#admin' })],
      ['no trigger', '/slack/commands', formBody({ trigger_id: '' })],
      ['an endless trigger', '/slack/commands', formBody({ trigger_id: 'x'.repeat(201) })],
      ['no response_url', '/slack/commands', formBody({ response_url: '' })],
      ['more than 40,000 characters', '/slack/commands', formBody({ text: 'x'.repeat(40_001) })],
      ['no payload', '/slack/interactions', 'a=b'],
      ['a payload that is no JSON', '/slack/interactions', 'payload={'],
      ['a payload of nothing', '/slack/interactions', 'payload=null'],
      ['a payload without a type', '/slack/interactions', 'payload={}'],
      ['a payload that is a list', '/slack/interactions', 'payload=[]'],
      ['a form that is no event', '/slack/events', formBody()],
    ]
    for (const [what, path, body] of bodies) {
      const { status } = await product.slack.sendBody(path, body)
      expect([what, status]).toEqual([what, 400])
    }
    expect(await waiting(product)).toEqual([])
  })

  test('a forged press is acknowledged and not recorded', async () => {
    const product = await slackProduct()
    const forged: [what: string, changes: object][] = [
      ['a forged value', { actions: [{ action_id: 'approve', value: "'; drop" }] }],
      ['an endless value', { actions: [{ action_id: 'approve', value: 'u'.repeat(101) }] }],
      ['no value', { actions: [{ action_id: 'approve' }] }],
      ['another button', { actions: [{ action_id: 'delete', value: 'upd_1' }] }],
      ['no button', { actions: [] }],
      ['two buttons', { actions: [1, 2].map(() => ({ action_id: 'approve', value: 'upd_1' })) }],
      ['a user of a strange form', { user: { id: 'slack:U1ADA' } }],
    ]
    for (const [what, changes] of forged) {
      const { status } = await product.slack.send('/slack/interactions', press(changes))
      expect([what, status]).toEqual([what, 200])
    }
    expect(await waiting(product)).toEqual([])
  })

  test('approval: malformed: a button with an id of another kind says so and does nothing', async () => {
    const product = await slackProduct()
    for (const [action, value] of [
      ['approve', 'upd_none'],
      ['resolve-ran', 'account'],
      ['confirm', 'upd_none'],
    ] as const) {
      await product.slack.press(action, value)
      await product.deliver()
    }
    expect(asLines(product.slack.posted())).toEqual(
      says('private: no update upd_none', 'private: no update account', 'place: nothing to confirm here'),
    )
  })

  test('a request of more than 256 KiB is 413, before the signature', async () => {
    const product = await slackProduct()
    const body = formBody({ text: 'x'.repeat(256 * 1024) })
    for (const path of ['/slack/commands', '/slack/interactions'])
      expect((await product.slack.sendBody(path, body, { 'content-length': String(body.length) })).status).toBe(413)
  })

  test('a command of 40,000 characters is answered quickly with one message', async () => {
    const product = await slackProduct()
    for (const text of ['<'.repeat(40_000), `run ranking ${'"a b" '.repeat(6_600)}`, `show ${'x'.repeat(39_995)}`]) {
      const answer = await product.slack.command(text)
      const body = await answer.text()
      expect([answer.status, body.length < 4_000]).toEqual([200, true])
      expect(JSON.parse(body).response_type).toBe('ephemeral')
    }
    expect(await waiting(product)).toEqual([])
  })

  test('another path is 404, and another method 405', async () => {
    const { slackApp } = (await slackProduct()).startProcess()
    const asked: [method: string, path: string, status: number][] = [
      ['GET', '/slack/commands', 405],
      ['HEAD', '/slack/commands', 405],
      ['PUT', '/slack/interactions', 405],
      ['GET', '/slack/interactions', 405],
      ['GET', '/slack/events', 405],
      ['POST', '/slack/commands/', 404],
      ['POST', '/slack%2Fcommands', 404],
    ]
    for (const [method, path, status] of asked) {
      const answer = await slackApp.request(path, { method })
      expect([method, path, answer.status, answer.headers.get('allow')]).toEqual([
        method,
        path,
        status,
        status === 405 ? 'POST' : null,
      ])
    }
  })
})

describe('hostile content of a request', () => {
  test('an answer never goes to a response_url on another host, but to the channel', async () => {
    const product = await slackProduct()
    const evil = product.service.baseUrl.replace('127.0.0.1', '127.0.0.2')
    for (const [position, response_url] of [
      evil,
      'https://hooks.slack.com.evil.example/x',
      'https://user@hooks.slack.com/x',
      'http://hooks.slack.com/x',
      'https://evil.example/?https://hooks.slack.com/',
    ].entries()) {
      await product.slack.send('/slack/commands', form({ response_url, trigger_id: `t${position}`, text: 'updates' }))
      await product.deliver()
    }
    expect(product.service.requests).toEqual([])
    expect(product.slack.posted().map(({ to, body }) => [to, body.response_type])).toEqual(
      Array.from({ length: 5 }, () => ['channel', undefined]),
    )
    expect(await waiting(product)).toEqual([])
  })

  test('<!channel> in projects and reasons pings no one', async () => {
    const product = await slackProduct()
    const typed = 'run ranking "&lt;!channel&gt;" &lt;@U1&gt; because &lt;!here&gt; *now* https://evil.example'
    await product.slack.command(typed)
    await product.deliver()
    const [confirm] = product.slack.buttons()
    await product.slack.press('confirm', confirm?.value ?? '')
    await product.deliver()
    await product.slack.command('freeze account &lt;!everyone&gt;')
    await product.deliver()
    const said = JSON.stringify(product.slack.posted().map(({ body }) => body))
    expect(said).toContain('&lt;!channel&gt;')
    expect(said).toContain('&lt;!everyone&gt;')
    expect(said).not.toMatch(/<!(?!date\^)|<@U1>|<http/)
    expect(product.seen('run').map(({ url }) => url)).toEqual([
      '/v3/on-demand/%3C!channel%3E/run',
      '/v3/on-demand/%3C%40U1%3E/run',
    ])
  })
})

describe('an outage during a request', () => {
  const sorry = expect.stringContaining('cannot take this right now, so nothing was done')

  test('request, key: answer lost: a command that may have been recorded gets no apology, and runs', async () => {
    const inner = createMemoryStore()
    let isLosing = false
    const store: Store = {
      ...inner,
      transact: async (...of) => {
        const outcome = await inner.transact(...of)
        if (isLosing) throw new AnswerLost('canary-endpoint')
        return outcome
      },
    }
    const product = await slackProduct({ store })
    const unsure = expect.stringContaining('Unit Guard may not have recorded this')
    isLosing = true
    const typed = await product.slack.command('freeze account a loop')
    expect([typed.status, (await shownBy(typed)).text]).toEqual([200, unsure])
    const pressed = await product.slack.press('approve', 'upd_1')
    expect([pressed.status, await pressed.text()]).toEqual([503, unsure])
    isLosing = false
    product.clock.advance(5 * 60_000)
    await product.triggers.sweep(product.endsAt())
    expect(product.slack.posted().map(({ text }) => text)).toContain('Done: account is frozen.')
    expect(product.logged.join('\n')).toContain('slack-failed')
  })

  test('without the ledger, a command gets an apology and a press fails, and nothing is recorded', async () => {
    const inner = createMemoryStore()
    let isDown = false
    const fail = () => Promise.reject(new LedgerUnavailable('canary-endpoint'))
    const store: Store = {
      get: (...of) => (isDown ? fail() : inner.get(...of)),
      list: (...of) => (isDown ? fail() : inner.list(...of)),
      transact: (...of) => (isDown ? fail() : inner.transact(...of)),
    }
    const product = await slackProduct({ store })
    isDown = true
    const typed = await product.slack.command('run ranking acme')
    const shown = await shownBy(typed)
    expect([typed.status, shown.response_type, shown.text]).toEqual([200, 'ephemeral', sorry])
    const pressed = await product.slack.press('approve', 'upd_1')
    expect([pressed.status, await pressed.text()]).toEqual([503, sorry])
    isDown = false
    expect(await waiting(product)).toEqual([])
    expect(product.logged.join('\n')).toContain('slack-failed')
  })

  test('a missing or unreadable secret gets an apology, and no part of it is shown or logged', async () => {
    const product = await slackProduct()
    const body = formBody()
    const headers = signedFor(body, product.clock.now() / 1000)
    for (const value of [
      undefined,
      signingSecret,
      '{"webhookUrl":"https://hooks.slack.com/services/canary-path"}',
      '{"signingSecret":""}',
    ]) {
      product.secrets.values['unit-guard/slack'] = value
      const { slackApp } = product.startProcess()
      const typed = await slackApp.request('/slack/commands', { method: 'POST', body, headers })
      expect([typed.status, (await shownBy(typed)).text]).toEqual([200, sorry])
      const pressed = await slackApp.request('/slack/interactions', { method: 'POST', body, headers })
      expect([pressed.status, await pressed.text()]).toEqual([503, sorry])
    }
    expect(await waiting(product)).toEqual([])
    expect(product.logged.join('\n')).not.toMatch(/canary-(slack|path)/)
  })

  test('a cached secret is still used while it cannot be read', async () => {
    const product = await slackProduct()
    expect((await product.slack.command('updates')).status).toBe(200)
    product.secrets.values['unit-guard/slack'] = undefined
    product.clock.advance(10 * 60_000)
    await product.slack.command('show upd_1')
    expect(await waiting(product)).toEqual(['U1ADA: show upd_1', 'U1ADA: updates'])
  })

  test('a new signing secret is accepted as soon as the cached secret is five minutes old', async () => {
    const product = await slackProduct()
    await product.slack.command('updates')
    product.secrets.values['unit-guard/slack'] = slackSecretOf(undefined).replace(signingSecret, 'another-secret')
    product.clock.advance(5 * 60_000)
    expect((await product.slack.command('updates')).status).toBe(401)
  })
})
