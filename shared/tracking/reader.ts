import { withDeadline } from './deadline.ts'
import type { ServiceToken } from './service-token.ts'
import type { Exchange, Transport } from './transport.ts'

/** The last exchange of a read, and the token it was made with, which its answer may echo. */
export interface Read {
  readonly exchange: Exchange
  readonly token: string
}

/**
 * Reads consume nothing, so one that failed may be sent once more, within the same deadline: after a 5xx, a broken or
 * refused connection, or a 401 when the store has another token by now. Never more than two requests. After a failure
 * the second has a connection of its own: while a function is frozen, all that it keeps may die, without anyone knowing.
 *
 * @returns a read; its `onSend` is called before anything of the first request reaches a socket.
 * @throws what `token` throws: without a token nothing is sent.
 */
export function createReader(options: {
  transport: Transport
  token: ServiceToken
  timeoutMs: number
}): (path: string, onSend?: () => void) => Promise<Read> {
  const { transport, token, timeoutMs } = options

  return (path, onSend) =>
    withDeadline(timeoutMs, async (deadline) => {
      const attempt = async (token: string, { fresh }: { fresh: boolean }): Promise<Read> => ({
        exchange: await transport.get({ path, token, fresh, deadline, ...(onSend && { onSend }) }),
        token,
      })
      const first = await attempt(await token.read(), { fresh: false })
      if (isUnauthorized(first.exchange)) {
        const renewed = await token.reread(first.token)
        return renewed === first.token ? first : attempt(renewed, { fresh: false })
      }
      return isWorthRepeating(first.exchange) ? attempt(first.token, { fresh: true }) : first
    })
}

const isUnauthorized = (exchange: Exchange) => exchange.kind === 'answered' && exchange.status === 401

function isWorthRepeating(exchange: Exchange): boolean {
  return exchange.kind === 'failed' ? exchange.cause === 'connection' : exchange.status >= 500
}
