import { createMcpHandler, type Server } from '@modelcontextprotocol/server'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { acceptRequests, type FaceEnv, readBytes, refuseTwoHosts } from '../../shared/api/accept-requests.ts'
import { problemOf } from '../../shared/api/refusal.ts'
import { showProblem } from '../../shared/api/to-json.ts'
import { createTokens } from '../../shared/auth/tokens.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { Problem } from '../../shared/ledger/updates/update.ts'
import { rawPathOf } from '../../shared/platform/http.ts'
import { fromUtf8, isObject, type Json, parseStrictJson } from '../../shared/platform/json.ts'
import { scopes } from '../../shared/platform/words.ts'
import type { Services } from '../../shared/services/services.ts'
import type { McpRequest } from './call.ts'

const endpoint = '/mcp'
const metadata = '/.well-known/oauth-protected-resource'

type McpContext = Context<FaceEnv>

/**
 * The Model Context Protocol over stateless Streamable HTTP: nothing is kept between requests, so any process may answer.
 *
 * @param options.publicUrl Without a slash at its end. Default: the address that was called, which on AWS is a function
 * URL, so callers cannot choose its host.
 */
export function createEndpoint(
  services: Services,
  {
    publicUrl,
    toolNames,
    serverFor,
  }: {
    readonly publicUrl?: string | undefined
    readonly toolNames: readonly string[]
    readonly serverFor: (request: McpRequest) => Server
  },
) {
  const { log, issuers } = services
  const tokens = createTokens(services)
  const addressOf = ({ req }: McpContext) => publicUrl ?? new URL(req.url).origin
  const app = new Hono<FaceEnv>({ getPath: rawPathOf })

  app.use(acceptRequests('mcp', services))
  app.use(refuseTwoHosts)

  /** RFC 9728. Each document describes the resource at its own address. */
  for (const path of ['', endpoint]) {
    app.get(`${metadata}${path}`, async (c) => {
      const trusted = (await issuers()).map(({ issuer }) => issuer)
      return c.json({
        resource: `${addressOf(c)}${path}`,
        resource_name: 'Unit Guard',
        ...(trusted.length > 0 && { authorization_servers: [...new Set(trusted)] }),
        bearer_methods_supported: ['header'],
        scopes_supported: scopes,
      })
    })
  }

  app.all(endpoint, async (c) => {
    const origin = c.req.header('origin')
    // A page of another site must not reach this endpoint through a browser in the same network.
    if (origin !== undefined && origin !== addressOf(c))
      return answerProblem(c, problem('forbidden', 'Requests of web pages from other sites are not accepted here.'))
    const checked = await tokens.verify(c.req.header('authorization'))
    if (checked.kind === 'refused') {
      c.set('refusedToken', checked)
      c.header('WWW-Authenticate', `Bearer resource_metadata="${addressOf(c)}${metadata}${endpoint}"`)
      return answerProblem(c, problem('unauthorized', 'This address needs a valid bearer token of Unit Guard.'))
    }
    const token = checked.caller
    c.set('sub', token.sub)
    if (c.req.method !== 'POST') {
      c.header('Allow', 'POST')
      return answerProblem(c, problem('method-not-allowed', `This address allows POST, not ${c.req.method}.`))
    }
    const message = await readMessage(c)
    if (message === null) return c.json(notOneMessage, 400)
    c.set('route', routeOf(message, toolNames))
    if (!hasArgumentsOrNone(message)) return c.json(wrongArguments(message))
    const { requestId, traceparent, endsAt } = c.var
    const request = { token, requestId, traceparent, endsAt, signal: c.req.raw.signal }
    return answerMessage(() => serverFor(request), { raw: c.req.raw, message })
  })

  app.notFound((c) =>
    answerProblem(c, problem('not-found', `There is nothing at this address; agents use ${endpoint}.`)),
  )
  app.onError((error, c) => answerProblem(c, problemOf(error, log)))
  return app
}

function answerMessage(
  factory: () => Server,
  { raw, message }: { readonly raw: Request; readonly message: Json },
): Promise<Response> {
  const { url, method, headers } = raw
  // No list changes, so there is nothing to subscribe to.
  const { fetch } = createMcpHandler(factory, { maxSubscriptions: 0 })
  // Leaves out the signal of the HTTP request: a caller who disconnects must not end an update.
  return fetch(new Request(url, { method, headers }), { parsedBody: message })
}

/** Logs only known names of tools, because a caller may write any text as the name. */
function routeOf({ method, params }: { readonly [member: string]: Json }, toolNames: readonly string[]): string {
  const name = method === 'tools/call' && isObject(params) ? params.name : undefined
  return typeof name === 'string' && toolNames.includes(name) ? `mcp ${name}` : endpoint
}

function hasArgumentsOrNone({ method, params }: { readonly [member: string]: Json }): boolean {
  if (method !== 'tools/call' || !isObject(params) || params.arguments === undefined) return true
  return isObject(params.arguments)
}

/** The library would answer with its own words for a schema. */
const wrongArguments = ({ id }: { readonly [member: string]: Json }) => ({
  jsonrpc: '2.0',
  id: typeof id === 'string' || typeof id === 'number' ? id : null,
  error: {
    code: -32602,
    message: '`arguments` must be an object. For a tool without arguments send {}, or leave it out.',
  },
})

/** `null` if the body is not one JSON object. A batch could hold a thousand calls. @throws Refusal 400, 413 */
async function readMessage(c: McpContext) {
  const text = fromUtf8(await readBytes(c), { keepsByteOrderMark: true })
  const read = text === null ? null : parseStrictJson(text)
  return read?.ok && isObject(read.value) ? read.value : null
}

const notOneMessage = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32700, message: 'The body must be one JSON-RPC message: unambiguous JSON, no batch.' },
}

function answerProblem(c: McpContext, refusal: Problem): Response {
  const { status, ...fields } = showProblem(refusal)
  const body = JSON.stringify({ ...fields, status, requestId: c.var.requestId })
  return c.body(body, status as ContentfulStatusCode, { 'content-type': 'application/problem+json' })
}
