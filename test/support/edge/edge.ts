import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { handle } from 'hono/aws-lambda'
import { onTestFinished, vi } from 'vitest'
import { createListener } from '../../../infra/local/listener.ts'
import { streamAnswers } from '../../../shared/platform/http.ts'
import { awslambda } from '../infra/lambda.ts'
import { callerKey, type Product, serviceToken, startProduct } from '../product.ts'
import { quoteKey } from '../quote-key.ts'
import { slackSecretOf } from '../slack/slack.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import { type Edge, startCloudFront } from './cloudfront.ts'
import { type Handler, serveFunction } from './function-url.ts'

export const originSecret = 'unit-guard/origin'
export const originValue = 'canary-origin-0123456789abcdefghijklmnopqrstuvwxyz'
export const address = 'https://guard.example'

export interface Sent {
  readonly headers?: http.OutgoingHttpHeaders
  readonly body?: string
}

export interface Got {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
}

type Hosts = Record<'api' | 'dashboard' | 'mcp' | 'slack', string>

/** The product behind an edge. `product` itself is a process beside it, without an edge. */
export async function startBehindEdge(
  options: Parameters<typeof startProduct>[0] & {
    on?: 'sockets' | 'events'
    /** The content of the secret, by default only the value of the edge. */
    secret?: string
  } & Pick<Edge, 'givesUp' | 'attempts'> = {},
) {
  const { on = 'events', secret, givesUp, attempts, ...how } = options
  const product = await startProduct({
    store: createMemoryStore(),
    ...how,
    env: { DASHBOARD_URL: address, ...how.env },
    secrets: {
      'unit-guard/service-token': serviceToken,
      'unit-guard/caller-key': callerKey,
      'unit-guard/quote-key': quoteKey,
      'unit-guard/slack': slackSecretOf(undefined),
      [originSecret]: secret ?? JSON.stringify({ current: originValue }),
    },
  })
  const behind = product.startProcess({ ORIGIN_SECRET: originSecret })
  const hosts = await (on === 'events' ? serveEvents(behind) : serveSockets(behind))
  const edge = await startCloudFront({
    hosts,
    secret: originValue,
    ...(givesUp && { givesUp }),
    ...(attempts !== undefined && { attempts }),
  })
  onTestFinished(() => edge.close())
  const token = await product.signed({ sub: 'tool', scope: 'read run write admin', budgets: '*' })
  const open = (method: string, path: string, sent: Sent = {}) => send(`127.0.0.1:${edge.port}`, method, path, sent)
  return {
    product,
    behind,
    token,
    /** Sends a request through the edge, up to the head of the answer. */
    open,
    call: async (method: string, path: string, { headers = {}, ...sent }: Sent = {}) =>
      read(await open(method, path, { ...sent, headers: { authorization: `Bearer ${token}`, ...headers } })),
    /** Sends a request to the address of a function. */
    skip: async (app: keyof Hosts, method: string, path: string, sent: Sent = {}) =>
      read(await send(hosts[app], method, path, sent)),
  }
}

type Behind = ReturnType<Product['startProcess']>

async function serveEvents({ api, dashboard, mcp, slackApp, services: { log } }: Behind): Promise<Hosts> {
  vi.stubGlobal('awslambda', awslambda)
  onTestFinished(() => void vi.unstubAllGlobals())
  const streaming = [
    streamAnswers('api', api, log),
    streamAnswers('dashboard', dashboard, log),
    streamAnswers('mcp', mcp, log),
  ]
  const serving = streaming.map((handler) => serveFunction(handler as Handler, { streams: true }))
  const served = await Promise.all([...serving, serveFunction(handle(slackApp), { streams: false })])
  onTestFinished(() => {
    for (const { close } of served) close()
  })
  const [ofApi = '', ofDashboard = '', ofMcp = '', ofSlack = ''] = served.map(({ host }) => host)
  return { api: ofApi, dashboard: ofDashboard, mcp: ofMcp, slack: ofSlack }
}

async function serveSockets({ api, dashboard, mcp, slackApp }: Behind): Promise<Hosts> {
  const apps = Object.entries({ api, dashboard, mcp, slack: slackApp })
  const listening = apps.map(async ([name, app]) => {
    const listener = await createListener({ port: 0 })
    onTestFinished(() => listener.close(Promise.resolve()))
    listener.open(app)
    return [name, `127.0.0.1:${listener.port}`]
  })
  return Object.fromEntries(await Promise.all(listening))
}

async function send(host: string, method: string, path: string, { headers, body }: Sent): Promise<IncomingMessage> {
  const [hostname, port] = host.split(':')
  const request = http.request({ hostname, port, method, path, agent: false, ...(headers && { headers }) })
  request.end(body)
  const [response] = await once(request, 'response')
  return response
}

export async function read(response: IncomingMessage): Promise<Got> {
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, headers: response.headers, text }
}
