import ipaddr from 'ipaddr.js'
import { isLoopback } from '../platform/http.ts'

/**
 * Whether an address is one of the public Internet. All else is refused: private, link-local and loopback addresses,
 * IPv4 inside IPv6, multicast, and what is reserved.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  return ipaddr.parse(address).range() === 'unicast'
}

/** Of a URL's host; names are judged when they are resolved. */
export function isRefusedHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(address) && !isPublicAddress(address) && !isLoopback(hostname)
}
