import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'

// Where a server listens already when it is made, the library writes it like any other, unless its body was asked for.
void RESPONSE_ALREADY_SENT.body

/** What a handler returns that has answered on node's own response. */
export const alreadySent: Response = RESPONSE_ALREADY_SENT
