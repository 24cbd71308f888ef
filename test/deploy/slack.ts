import assert from 'node:assert/strict'
import { signedFor } from '../support/slack/slack.ts'
import { step } from './steps.ts'

interface Rehearsal {
  readonly urls: { readonly slack: string }
  call(method: string, path: string, body: object): Promise<{ readonly status: number }>
}

export async function rehearseSlack({ urls, call }: Rehearsal): Promise<void> {
  await step('Slack: a signed command is accepted and recorded', async () => {
    const scopes = ['read', 'run']
    assert.ok((await call('PUT', '/callers/slack:U1ADA', { scopes, budgets: '*' })).status < 300)
    const form = new URLSearchParams({
      command: '/units',
      text: 'updates',
      user_id: 'U1ADA',
      trigger_id: `${Date.now()}.1.a`,
      response_url: 'https://hooks.slack.com/commands/T0/1/none',
    }).toString()
    const signed = signedFor(form, Math.floor(Date.now() / 1000))
    const send = async (more: Record<string, string>) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signed, ...more }
      return (await fetch(`${urls.slack}/slack/commands`, { method: 'POST', headers, body: form })).status
    }
    assert.equal(await send({ 'x-slack-signature': 'v0=wrong' }), 401)
    assert.equal(await send({}), 200)
  })
}
