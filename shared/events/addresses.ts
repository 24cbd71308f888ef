import ipaddr from 'ipaddr.js'
import { isLoopback } from '../platform/http.ts'

/**
 * True for an address of the public Internet. False for all others: private, link-local, loopback, multicast and reserved
 * addresses, and IPv4 inside IPv6.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  return ipaddr.parse(address).range() === 'unicast'
}

/** True if the host of a URL is a refused address. Names are checked when they are resolved. */
export function isRefusedHost(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(address) && !isPublicAddress(address) && !isLoopback(hostname)
}
