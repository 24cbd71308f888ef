export interface BaseUrl {
  readonly isSecure: boolean
  /** Without the brackets of an IPv6 address. */
  readonly host: string
  readonly port: number
  /** Ends in `/v3`, without a trailing slash. */
  readonly path: string
}

/**
 * The one address that is ever contacted (interface document, "Versioning").
 *
 * @throws RangeError when `text` is not an http(s) address whose path ends in `/v3`, or holds credentials, a query or
 * a fragment. The address itself is not in the message: it may hold a password.
 */
export function parseBaseUrl(text: string): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : null
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  const path = url?.pathname.replace(/\/$/, '')
  const hasMore = Boolean(url?.username || url?.password || url?.search || url?.hash)
  if (!url || !path || !isHttp || hasMore || !path.endsWith('/v3')) {
    throw new RangeError('the base address must be http(s), end in /v3 and hold no credentials, query or fragment')
  }
  const isSecure = url.protocol === 'https:'
  const defaultPort = isSecure ? 443 : 80
  return { isSecure, host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || defaultPort, path }
}
