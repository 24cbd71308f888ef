import type { ClientRequest } from 'node:http'

export interface Connection {
  /** True from the moment at which a byte of the request may leave; never false again. */
  isUsable(): boolean
  /** An error of this connection in a few words, without an address. */
  describe(error: NodeJS.ErrnoException): string
}

/**
 * Watches how far a request's connection comes. Until TCP, and TLS where there is one, are up, node keeps the request
 * to itself: an error before that proves that the service saw nothing of it.
 */
export function watchConnection(request: ClientRequest, isSecure: boolean): Connection {
  let progress: 'none' | 'connected' | 'usable' = 'none'
  request.once('socket', (socket) => {
    if (!socket.connecting) {
      progress = 'usable' // a kept connection
      return
    }
    socket.once('connect', () => {
      progress = isSecure ? 'connected' : 'usable'
    })
    socket.once('secureConnect', () => {
      progress = 'usable'
    })
  })
  return {
    isUsable: () => progress === 'usable',
    describe: (error) => (progress === 'connected' ? 'TLS refused' : describeCode(error.code)),
  }
}

function describeCode(code: string | undefined): string {
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'name not resolved'
    case 'ECONNREFUSED':
      return 'connection refused'
    case 'ECONNRESET':
      return 'connection reset'
    default:
      return `connection failed (${code ?? 'no code'})`
  }
}
