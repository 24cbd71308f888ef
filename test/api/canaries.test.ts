import { describe, expect, test } from 'vitest'
import { secretsIn } from '../support/canaries.ts'
import { callerKey, serviceToken, startProduct } from '../support/product.ts'
import { signingSecret } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln'

describe('secrets in text', () => {
  test.each([
    ['the token of the service', `{"echo":"Bearer ${serviceToken}"}`, [serviceToken]],
    ['the key of the callers', `key=${callerKey}&`, [callerKey]],
    ['Slack’s signing secret', signingSecret, [signingSecret]],
    ['a webhook address of Slack', 'http://127.0.0.1:1/v3/services/T0/B0/canary-webhook', ['canary-webhook']],
    ['a token that was issued', `authorization: Bearer ${jwt}`, [jwt]],
    ['the cookie of a session', `__Host-session=${jwt}; Path=/dashboard`, [jwt]],
    ['twice is once', `${jwt} ${jwt}`, [jwt]],
    ['nothing', '{"updates":[{"id":"upd_xhxj8ess4jz3ze87ef0x4zsw9p"}]}', []],
  ])('the search finds a secret wherever it appears: %s', (_name, text, secrets) => {
    expect(secretsIn(text)).toEqual(secrets)
  })

  test('the search does not report a secret in its allowed place', () => {
    expect(secretsIn('http://127.0.0.1:1/v3/commands/T0/1/canary-response', 'canary-response')).toEqual([])
  })
})

describe('a test that leaks a secret', () => {
  test.fails('a secret in a stored item fails the test', async () => {
    const product = await startProduct({ store: createMemoryStore() })
    await product.update({ kind: 'ranking', project: 'acme', reason: serviceToken })
  })

  test.fails('a secret in an answer fails the test', async () => {
    const product = await startProduct({ store: createMemoryStore() })
    product.api.get('/careless', (c) => c.text(jwt))
    await product.api.request('/careless', {
      headers: { authorization: `Bearer ${await product.signed({ sub: 'a' })}` },
    })
  })
})
