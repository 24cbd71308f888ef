import { expect, onTestFinished, test } from 'vitest'
import { createRecorder } from '../../infra/local/slack/recorder.ts'
import { signatureOf } from '../../infra/local/slack/requests.ts'
import { createWorkspace } from '../../infra/local/slack/workspace.ts'
import { modalFor } from '../../shared/slack/messages/modals.ts'
import { createTestClock } from '../support/clock.ts'
import { startScriptedService } from '../support/scripted-service.ts'

const user = 'U02ADA'
const buttons = {
  type: 'actions',
  block_id: 'b7',
  elements: [{ type: 'button', action_id: 'approve', value: 'upd_1', text: { type: 'plain_text', text: 'Approve' } }],
}
const text = 'A *dear* update of &lt;acme&gt;, <https://units.example/u?a=1&amp;b=2|see it>, <!date^1^{date}|today>'

async function open() {
  const guard = await startScriptedService({ fallback: () => ({ status: 200, body: '' }) })
  onTestFinished(guard.close)
  const recorder = createRecorder({ token: 'xoxb', clock: createTestClock() })
  const place = {
    guardUrl: guard.baseUrl,
    url: 'http://127.0.0.1:1/slack',
    signingSecret: 'secret',
    channel: 'C0LOCAL',
  }
  const workspace = createWorkspace(recorder, place)
  const call = (method: string, body: object) =>
    workspace.request(`/slack/api/${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: 'Bearer xoxb' },
    })
  const press = (action: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    workspace.request(`/slack/${action}`, { method: 'POST', body: new URLSearchParams(form), headers })
  const page = async (of = user) => (await workspace.request(`/slack/?user=${of}`)).text()
  const payload = () => JSON.parse(new URLSearchParams(guard.requests.at(-1)?.body).get('payload') ?? '{}')
  return { guard, recorder, call, press, page, payload }
}

test('the workspace shows posted and edited messages with their links and buttons', async () => {
  const { call, page } = await open()
  const section = { type: 'section', text: { type: 'mrkdwn', text } }
  const posted = await call('chat.postMessage', {
    channel: 'C0LOCAL',
    text: '<b>plain</b>',
    blocks: [section, buttons],
  })
  const { ts } = (await posted.json()) as { ts: string }
  const shown = await page()
  expect(shown).toMatch(/^<!doctype html><html lang="en">/)
  expect(shown).toContain('A <b>dear</b> update of &lt;acme&gt;, ')
  expect(shown).toContain('<a href="https://units.example/u?a=1&amp;b=2">see it</a>, today')
  expect(shown).toContain('&lt;b&gt;plain&lt;/b&gt;')
  expect(shown).toMatch(/name="value" value="upd_1".*<button[^>]*>Approve<\/button>/)
  await call('chat.update', { channel: 'C0LOCAL', ts, text: 'done' })
  expect(await page()).toMatch(/C0LOCAL · edited 1×.*done/)
  expect(await (await call('chat.update', { channel: 'C0LOCAL', ts: '1.2', text: '' })).json()).toMatchObject({
    error: 'message_not_found',
  })
})

test('a pressed button sends a signed form with its message, which an answer may replace', async () => {
  const { guard, recorder, press, page, payload } = await open()
  await press('press', { user, channel: 'C0LOCAL', ts: '1.000001', action: 'approve', value: 'upd_1', block: 'b7' })
  const [{ body, headers } = { body: '', headers: {} as Record<string, string> }] = guard.requests
  expect(headers).toMatchObject(signatureOf('secret', body, String(headers['x-slack-request-timestamp'])))
  expect(payload()).toMatchObject({
    container: { message_ts: '1.000001', channel_id: 'C0LOCAL' },
    actions: [{ action_id: 'approve', value: 'upd_1', block_id: 'b7' }],
  })
  recorder.respond({ channel: 'C0LOCAL', ts: null, user }, { text: 'only for Ada' })
  expect([(await page()).includes('only for Ada'), (await page('U03BOB')).includes('only for Ada')]).toEqual([
    true,
    false,
  ])
})

test('an opened form is shown with its fields and submitted once', async () => {
  const { guard, call, press, page, payload } = await open()
  const opener = { action: 'grant-units', value: 'seo', responseUrl: 'http://127.0.0.1:1/slack/response' } as const
  await call('views.open', { trigger_id: 't', view: modalFor(opener) })
  const shown = await page()
  expect(shown).toMatch(/Grant units.*name="value:units".*name="value:reason"/)
  const [, id = ''] = /name="id" value="(\w+)"/.exec(shown) ?? []
  const form = { user, id, 'value:units': '80', 'value:reason': 'agreed' }
  await press('submit', form)
  await press('submit', form)
  expect(guard.requests).toHaveLength(1)
  expect(payload().view.state.values).toEqual({
    units: { units: { value: '80' } },
    reason: { reason: { value: 'agreed' } },
  })
  expect(await page()).not.toContain('Grant units')
})

test('the workspace shows App Home, and lets no other site press a button', async () => {
  const { guard, call, press, page } = await open()
  await call('views.publish', { user_id: user, view: { type: 'home', blocks: [buttons] } })
  expect(await page()).toMatch(/App Home.*Approve/)
  expect((await press('press', { user }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect(guard.requests).toEqual([])
})
