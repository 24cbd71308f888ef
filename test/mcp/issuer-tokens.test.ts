import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { createTestClock } from '../support/clock.ts'
import { listenForAgents, revisions } from '../support/mcp.ts'
import { startProduct } from '../support/product.ts'
import { startProvider } from '../support/provider.ts'
import { publicUrl } from '../support/quote-key.ts'

const limits = [{ window: 'month', units: 1000 }]

async function start({ entry = {}, env = {} }: { entry?: object; env?: Record<string, string> } = {}) {
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  const product = await startProduct({ clock, env, issuers: [provider.entry({ budgets: '*', ...entry })] })
  const agents = await listenForAgents(product)
  for (const [name, project] of Object.entries({ acme: 'initech', press: 'globex' })) {
    const { status } = await product.call('PUT', `/budgets/${name}`, {
      body: { limits, projects: [{ name: project }] },
    })
    if (env.MINTED_TOKENS !== 'off') expect(status).toBe(201)
  }
  return { ...product, ...agents, provider, token: (claims = {}) => provider.sign({ groups: ['seo'], ...claims }) }
}

const challenge = `Bearer resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`

describe('an agent with a token of a trusted issuer', () => {
  test.each(revisions)(
    'an issuer’s agent finds the issuer by the metadata, and runs one update with a client of %s',
    async (revision) => {
      const { url, connect, provider, token, seen, call } = await start()
      const unknown = await fetch(url, { method: 'POST' })
      expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, challenge])
      const { origin } = new URL(url)
      for (const path of ['', '/mcp']) {
        const metadata = await (await fetch(`${origin}/.well-known/oauth-protected-resource${path}`)).json()
        expect(metadata).toMatchObject({ resource: `${publicUrl}${path}`, authorization_servers: [provider.issuer] })
      }
      const agent = await connect({ revision, token: await token() })
      expect((await agent.client.listTools()).tools).toHaveLength(8)
      const { data } = await agent.request(await agent.quote('initech'))
      expect(data).toMatchObject({ state: 'settled', caller: 'okta:ada', via: 'mcp' })
      expect((await call('GET', `/updates/${data.id}`)).body).toMatchObject({
        caller: 'okta:ada',
        units: { charged: 40 },
      })
      expect(seen('run')).toHaveLength(1)
    },
  )

  test('an issuer’s agent without a mapped group gets no tools, and reads which groups would help', async () => {
    const { connect, provider } = await start()
    const agent = await connect({ token: await provider.sign({ groups: ['sales'] }) })
    expect((await agent.client.listTools()).tools).toEqual([])
    const refusal = await agent.call('list_budgets')
    expect(refusal).toMatchObject({ isError: true, data: { type: '/problems/forbidden' } })
    expect(refusal.sentence).toMatch(/seo/)
    expect(refusal.sentence).not.toMatch(/sales/)
  })

  test('an issuer’s agent reads only the budgets of its claim', async () => {
    const { connect, token, seen } = await start({ entry: { readsBudgets: { claim: 'teams' } } })
    const agent = await connect({ token: await token({ teams: ['acme'] }) })
    const { data } = await agent.call('list_budgets')
    expect(data.budgets.map(({ name }: { name: string }) => name)).toEqual(['acme'])
    for (const [tool, input] of Object.entries({
      get_budget: { name: 'press' },
      estimate_update: { kind: 'ranking', project: 'globex' },
    }))
      expect((await agent.call(tool, input)).data.type, tool).toBe('/problems/not-found')
    const done = await agent.request(await agent.quote('initech'))
    const rest = [done, await agent.call('list_updates'), await agent.call('forecast')]
    expect(JSON.stringify(rest)).not.toMatch(/press|globex|"account"/)
    expect(seen('run')).toHaveLength(1)
  })

  test('an issuer’s agent cannot use the quote of another subject, or a quote after losing its groups', async () => {
    const { connect, token, provider, seen } = await start()
    const quote = await (await connect({ token: await token() })).quote('initech')
    const bob = await connect({ token: await token({ sub: 'bob' }) })
    expect((await bob.request(quote)).sentence).toContain('given to another caller')
    const without = await connect({ token: await provider.sign({ groups: [] }) })
    expect((await without.request(quote)).data.type).toBe('/problems/forbidden')
    expect(seen('run')).toHaveLength(0)
  })
})

describe('an issuer’s token that is refused', () => {
  test('a refused token is answered with 401 and the address of the metadata', async () => {
    const { url, token } = await start()
    const post = async (sent: string) => fetch(url, { method: 'POST', headers: { authorization: `Bearer ${sent}` } })
    const { status, headers } = await post(await token({ aud: 'payroll' }))
    expect([status, headers.get('www-authenticate')]).toEqual([401, challenge])
    expect((await post(await token())).status).toBe(400)
  })

  test('the official client says that it is unauthorized', async () => {
    const { url, token } = await start()
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      authProvider: { token: () => token({ aud: 'payroll' }) },
    })
    const client = new Client({ name: 'test', version: '1' })
    await expect(client.connect(transport)).rejects.toThrow(/unauthorized/i)
  })
})

test('MINTED_TOKENS=off refuses our own token of an agent, and the issuer’s is accepted', async () => {
  const { url, connect, signed, token } = await start({ env: { MINTED_TOKENS: 'off' } })
  const authorization = `Bearer ${await signed({ sub: 'agent', scope: 'read run', budgets: '*' })}`
  const refusal = await fetch(url, { method: 'POST', headers: { authorization } })
  expect([refusal.status, refusal.headers.get('www-authenticate')]).toEqual([401, challenge])
  expect((await connect({ token: await token() })).client.getServerVersion()?.name).toBe('unit-guard')
})
