import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { step } from './steps.ts'

/** Uses the function for agents with the official client, in the latest revision and in one with `initialize`. */
export async function rehearseAgents(url: string, token: string): Promise<void> {
  await step('agents: a request without a token is refused, and the metadata are public', async () => {
    assert.equal((await fetch(`${url}/mcp`, { method: 'POST', body: '{}' })).status, 401)
    const metadata = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)
    assert.match(Object(await metadata.json()).resource, /^https:\/\/[^/]+\/mcp$/)
  })
  const clients = [
    ['2026-07-28', { pin: '2026-07-28' }, { kind: 'keyword-difficulty', project: 'acme.example' }],
    ['earlier revisions', 'legacy', { kind: 'keyword-difficulty', project: 'initech' }],
  ] as const
  for (const [revision, mode, work] of clients) {
    await step(`agents: a quote is good for one update (${revision})`, async () => {
      const client = new Client({ name: 'rehearsal', version: '1' }, { versionNegotiation: { mode } })
      const authProvider = { token: async () => token }
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }))
      assert.equal((await client.listTools()).tools.length, 8)
      const use = async (name: string, input: object) => {
        const { content, structuredContent, isError } = await client.callTool({ name, arguments: { ...input } })
        assert.ok(!isError, JSON.stringify(content))
        return Object(structuredContent)
      }
      const { quote } = await use('estimate_update', work)
      const first = await use('request_update', { quote, reason: 'rehearsal' })
      const again = await use('request_update', { quote, reason: 'rehearsal' })
      assert.deepEqual([first.state, first.via, again.id], ['settled', 'mcp', first.id])
      const { timeline } = await use('get_update', { id: first.id, waitSeconds: 20 })
      assert.match(timeline.at(-1), /settled/)
      await client.close()
    })
  }
}
