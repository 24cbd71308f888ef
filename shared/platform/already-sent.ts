import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'

// Reading the body once makes the library skip this response on every server.
void RESPONSE_ALREADY_SENT.body

/** Returned by a handler that has answered on Node's own response. */
export const alreadySent: Response = RESPONSE_ALREADY_SENT
