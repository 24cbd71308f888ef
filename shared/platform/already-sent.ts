import { once } from './parallel.ts'

/**
 * The result of a handler that has answered on Node's own response. Loads with the first call, because the library loads
 * undici, which takes a fifth of a cold start.
 */
export const alreadySent = once(async (): Promise<Response> => {
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response')
  // After this read of the body, the library skips this response on every server.
  void RESPONSE_ALREADY_SENT.body
  return RESPONSE_ALREADY_SENT
})
