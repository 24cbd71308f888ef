import { once } from './parallel.ts'

/**
 * For a handler that has answered on Node's own response. Loaded when first called: the library's module loads undici,
 * a fifth of a cold start.
 */
export const alreadySent = once(async (): Promise<Response> => {
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response')
  // Once the body was read, the library skips this response on every server.
  void RESPONSE_ALREADY_SENT.body
  return RESPONSE_ALREADY_SENT
})
