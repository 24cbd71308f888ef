import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { LambdaFunctionURLEvent } from 'aws-lambda'
import { expect } from 'vitest'
import { secretsIn } from '../canaries.ts'

/**
 * An event of a function URL, payload format 2.0: a body is base64 unless it is plain text, and cookies are separate.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
 */
export const urlEvent = (
  method: string,
  target: string,
  how: { headers?: Record<string, string>; cookies?: readonly string[]; body?: string } = {},
): LambdaFunctionURLEvent => {
  const [rawPath = '', rawQueryString = ''] = target.split('?')
  const { headers = {}, cookies, body } = how
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookies && { cookies: [...cookies] }),
    headers: {
      'x-amzn-trace-id': 'Root=1-65a8f3c1-4d1c2b3a4e5f60718293a4b5',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '443',
      'x-forwarded-for': '192.0.2.1',
      host: 'abc.lambda-url.eu-central-1.on.aws',
      'user-agent': 'curl/8.5.0',
      accept: '*/*',
      ...headers,
    },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'abc',
      domainName: 'abc.lambda-url.eu-central-1.on.aws',
      domainPrefix: 'abc',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'curl/8.5.0' },
      requestId: 'e1506fd5-9e7b-434f-bd42-4f8fa224b599',
      routeKey: '$default',
      stage: '$default',
      time: '20/Nov/2026:10:00:00 +0000',
      timeEpoch: 1795168800000,
    },
    ...(body !== undefined && { body: Buffer.from(body).toString('base64') }),
    isBase64Encoded: body !== undefined,
  }
}

export interface Head {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]
}

type ResponseStream = PassThrough & { head?: Head; onFirstWrite?: () => void }
type Streaming = (event: object, response: ResponseStream, context: object) => Promise<unknown>

/**
 * The runtime's object for a function in response streaming mode. Like the real one it sends the head with the first write, so an answer
 * that writes nothing has no head.
 */
export const awslambda = {
  streamifyResponse: (handler: Streaming) => handler,
  HttpResponseStream: {
    from: (response: ResponseStream, head: Head) => {
      const write = response.write.bind(response)
      response.write = ((...chunk: Parameters<typeof write>) => {
        response.head ??= head
        return write(...chunk)
      }) as typeof response.write
      return response
    },
  },
}

export const contextFor = (remainingMs: number) => ({
  awsRequestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
  functionName: 'unit-guard',
  functionVersion: '$LATEST',
  getRemainingTimeInMillis: () => remainingMs,
})

/** Calls a streaming function, and puts its answer together. */
export async function callStreaming(handler: Streaming, event: object, remainingMs = 120_000) {
  const response: ResponseStream = new PassThrough()
  const [body] = await Promise.all([buffer(response), handler(event, response, contextFor(remainingMs))])
  expect(secretsIn(JSON.stringify(response.head?.headers ?? {}) + body), 'secrets in the answer').toEqual([])
  return { ...response.head, text: body.toString() }
}
