import { once } from './parallel.ts'

/**
 * Returned by a handler that has answered on Node's own response. Loads when first called, because the library's module makes a
 * `Response`, which loads undici: a fifth of a cold start.
 */
export const alreadySent = once(async (): Promise<Response> => {
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response')
  // Reading the body once makes the library skip this response on every server.
  void RESPONSE_ALREADY_SENT.body
  return RESPONSE_ALREADY_SENT
})
