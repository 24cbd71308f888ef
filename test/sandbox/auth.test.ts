import { describe, expect, it } from 'vitest'
import { createSandbox } from '../../functions/sandbox/app.ts'
import { createTestClock } from '../support/clock.ts'
import { auth, globex, sandbox } from '../support/sandbox.ts'

describe('sandbox: authentication', () => {
  it.each([
    ['no header', {}],
    ['another token', { authorization: 'Bearer other' }],
    ['another scheme', { authorization: auth.authorization.replace('Bearer', 'Basic') }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['something behind the token', { authorization: `${auth.authorization} x` }],
  ])('%s is 401, also on the sandbox’s own paths, and changes nothing', async (_, headers) => {
    const { app, used } = sandbox()
    for (const path of [`${globex}/run`, '/v3/projects', '/sandbox/account', '/sandbox/faults', '/elsewhere']) {
      const response = await app.request(path, { headers: headers as Record<string, string> })
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({ response_code: 401, error: 'Unauthorized' })
    }
    expect(await used()).toBe(0)
  })

  it('an empty token gets no access', async () => {
    const app = createSandbox({ clock: { now: () => 0, sleep: async () => {} }, token: '' })
    expect((await app.request('/v3/projects')).status).toBe(401)
    expect((await app.request('/v3/projects', { headers: { authorization: 'Bearer ' } })).status).toBe(401)
  })

  it('a JWT gives access until it expires', async () => {
    const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const exp = Date.parse('2026-11-20T11:00:00Z') / 1000
    const token = `${segment({ alg: 'HS256' })}.${segment({ sub: 'guard', exp })}.c2lnbmF0dXJl`
    const clock = createTestClock('2026-11-20T10:59:59Z')
    const app = createSandbox({ clock, token })
    const status = async (given: string) =>
      (await app.request('/v3/projects', { headers: { authorization: `Bearer ${given}` } })).status
    expect(await status(token)).toBe(200)
    expect(await status(`${token}x`)).toBe(401)
    expect(await status(token.replace(/^[^.]*/, segment({ alg: 'none' })))).toBe(401)
    clock.set('2026-11-20T11:00:00Z')
    expect(await status(token)).toBe(401)
  })

  it('both values of a secret give access while it is rotated', async () => {
    const app = createSandbox({ clock: createTestClock(), token: async () => ['new-token', 'old-token'] })
    const answers = ['new-token', 'old-token', 'older-token', 'new-token,old-token'].map((token) =>
      app.request('/v3/projects', { headers: { authorization: `Bearer ${token}` } }),
    )
    const responses = await Promise.all(answers)
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 401, 401])
    expect(responses[2]?.headers.get('www-authenticate')).toBe('Bearer')
  })

  it('an unknown path is 404 and costs nothing', async () => {
    const { json, used } = sandbox()
    expect((await json('/v3/elsewhere')).status).toBe(404)
    expect((await json(`${globex}/RUN`)).status).toBe(404)
    expect((await json(`${globex}/run/`)).status).toBe(404)
    expect((await json('/v3/on-demand/café/paris/run')).status).toBe(404)
    expect(await used()).toBe(0)
  })
})
