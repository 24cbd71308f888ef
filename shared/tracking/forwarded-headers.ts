/**
 * The headers of a caller that mean something to the service. Everything else stays here: the caller's own token and
 * cookies, hop-by-hop headers, `Accept-Encoding` (an encoded answer could not be searched for our token) and `Range`
 * (nor could one that is asked for in pieces).
 */
const forwarded: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'user-agent',
])

/** What a header may hold (`field-content` of RFC 9110, section 5.5); node throws at anything else. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Names in lower case; of a name that is there twice the values are joined (RFC 9110, section 5.3). */
export function forwardedHeaders(given: Iterable<readonly [name: string, value: string]>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [anyCase, value] of given) {
    const name = anyCase.toLowerCase()
    if (!forwarded.has(name) || !headerValue.test(value)) continue
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
