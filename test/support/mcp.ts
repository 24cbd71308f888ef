import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { createListener } from '../../infra/local/listener.ts'
import type { Product } from './product.ts'

/** `legacy`: the client begins with `initialize`. */
export const revisions = ['2026-07-28', 'legacy'] as const
type Revision = (typeof revisions)[number]

export interface Result {
  readonly isError: boolean
  readonly sentence: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as agents do, without knowing our types.
  readonly data: any
}

interface AgentOptions {
  readonly sub?: string
  readonly scope?: string
  readonly revision?: Revision
  readonly claims?: Record<string, unknown>
  /** A token instead of one of Unit Guard's own. */
  readonly token?: string
  readonly fetch?: typeof fetch
}

/** The product's MCP endpoint over real HTTP, with official clients. */
export async function listenForAgents({ signed, mcp }: Product) {
  const listener = await createListener({ port: 0 })
  listener.open(mcp)
  onTestFinished(() => listener.close(Promise.resolve()))
  const url = `${listener.url}/mcp`

  async function connect(options: AgentOptions = {}) {
    const { sub = 'agent', scope = 'read run', revision = '2026-07-28', claims = {} } = options
    const token = options.token ?? (await signed({ sub, scope, budgets: '*', ...claims }))
    const mode = revision === 'legacy' ? 'legacy' : { pin: revision }
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      authProvider: { token: async () => token },
      ...(options.fetch && { fetch: options.fetch }),
    })
    await client.connect(transport)
    onTestFinished(() => client.close())
    const call = async (name: string, input: object = {}, how: { signal?: AbortSignal } = {}): Promise<Result> => {
      const params = { name, arguments: { ...input } }
      const { content, structuredContent: data, isError = false } = await client.callTool(params, how)
      const [first] = content
      return { isError, sentence: first?.type === 'text' ? first.text : '', data }
    }
    const quote = async (project: string, input: object = {}): Promise<string> =>
      (await call('estimate_update', { kind: 'ranking', project, ...input })).data.quote
    const request = (quote: string, reason = 'report', how: { signal?: AbortSignal } = {}): Promise<Result> =>
      call('request_update', { quote, reason }, how)
    return { client, token, call, quote, request }
  }

  return { url, connect }
}
