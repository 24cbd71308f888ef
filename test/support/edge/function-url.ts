import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { LambdaFunctionURLEvent } from 'aws-lambda'
import { urlEvent } from '../infra/lambda.ts'

// biome-ignore lint/suspicious/noExplicitAny: Lambda calls functions without types.
export type Handler = (...given: any[]) => Promise<any>

/**
 * The address of a function. Each request becomes an event with header names in lower case, equal headers joined, cookies apart and the
 * path unchanged.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
 */
export async function serveUrl(answer: (event: LambdaFunctionURLEvent, response: ServerResponse) => Promise<void>) {
  const server = createServer(async (request, response) => answer(await eventOf(request), response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Serves a function of this process. */
export const serveFunction = (handler: Handler, { streams }: { streams: boolean }) =>
  serveUrl(async (event, response) => {
    const context = { awsRequestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef', getRemainingTimeInMillis: () => 120_000 }
    if (streams) await stream(handler, event, context, response)
    else answerWhole(await handler(event, context), response)
  })

async function eventOf(request: IncomingMessage) {
  const { cookie, ...others } = request.headers
  const headers = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, [value].flat().join(',')]))
  const body = (await buffer(request)).toString()
  const cookies = cookie?.split('; ')
  return urlEvent(request.method ?? '', request.url ?? '', {
    headers,
    ...(cookies && { cookies }),
    ...(body && { body }),
  })
}

/** The head of a function's answer before its body. */
export interface FunctionHead {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly cookies?: readonly string[]
}

export function writeHead(response: ServerResponse, { statusCode, headers, cookies = [] }: FunctionHead): void {
  const { 'www-authenticate': challenge, ...others } = headers
  response.writeHead(statusCode, {
    ...others,
    ...(challenge !== undefined && { 'x-amzn-remapped-www-authenticate': challenge }),
    ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
  })
}

async function stream(handler: Handler, event: object, context: object, response: ServerResponse): Promise<void> {
  const out: PassThrough & { head?: FunctionHead } = new PassThrough()
  const begin = () => {
    if (!response.headersSent && out.head) writeHead(response, out.head)
  }
  out.on('data', (chunk) => {
    begin()
    response.write(chunk)
  })
  out.on('end', () => {
    begin()
    response.end()
  })
  await handler(event, out, context).catch(() => response.destroy())
}

export function answerWhole(
  result: FunctionHead & { body: string; isBase64Encoded: boolean },
  response: ServerResponse,
): void {
  writeHead(response, result)
  response.end(Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8'))
}
