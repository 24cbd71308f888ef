import { decodeJwt } from 'jose'
import { count, when } from '../../../../shared/guard/sentences.ts'
import { dayMs, systemClock } from '../../../../shared/platform/clock.ts'
import { createReader } from '../../../../shared/tracking/tracking.ts'
import { createTransport, type Exchange } from '../../../../shared/tracking/transport.ts'
import type { Findings } from './findings.ts'

export const tokenRefused = "renew the service's token: the service refuses it"

/** The token that is in hand, which is read once. */
export const tokenInHand = (token: string) => ({ read: async () => token, reread: async () => token })

const soonMs = 14 * dayMs

/** What can be told about the service's token without showing any of it: whether it is taken, and when it ends. */
export function describeToken(token: string, listing: Exchange, now: number): Findings {
  const expiresAt = expiryOf(token)
  const status = listing.kind === 'answered' ? listing.status : null
  const accepted =
    status === 401 || status === 403
      ? `refused by the service (status ${status})`
      : status !== null && status < 400
        ? 'accepted by the service'
        : 'not known whether the service takes it'
  const ends = expiresAt === null ? 'does not say when it expires' : expiry(expiresAt, now)
  return { lines: [`token: ${accepted}; ${ends}`], toDo: toDo(status, expiresAt, now) }
}

function expiry(expiresAt: number, now: number): string {
  const at = when(expiresAt, 'UTC')
  if (expiresAt <= now) return `expired ${at}`
  const days = Math.floor((expiresAt - now) / dayMs)
  return `expires ${at}, ${count(days)} ${days === 1 ? 'day' : 'days'} left`
}

function toDo(status: number | null, expiresAt: number | null, now: number): string[] {
  if (expiresAt !== null && expiresAt <= now) return ["renew the service's token: it has expired"]
  if (status === 401 || status === 403) return [tokenRefused]
  if (expiresAt !== null && expiresAt - now < soonMs) return ["renew the service's token: it expires within two weeks"]
  return []
}

/** Not every token is a JWT, and not every JWT expires; no signature is checked here. */
function expiryOf(token: string): number | null {
  try {
    const { exp } = decodeJwt(token)
    return exp !== undefined && Number.isSafeInteger(exp) && Math.abs(exp) < 8.64e12 ? exp * 1000 : null
  } catch {
    return null
  }
}

/**
 * Asks the service for its projects, which is free, and says in the terminal where it refuses the token, or where the
 * token ends soon. Says nothing where the service does not answer.
 */
export async function checkToken(service: { baseUrl: string; token: string; timeoutMs: number }): Promise<void> {
  const { baseUrl, token, timeoutMs } = service
  const read = createReader({ transport: createTransport(baseUrl), token: tokenInHand(token), timeoutMs })
  const { exchange } = await read('/projects')
  const { lines, toDo } = describeToken(token, exchange, systemClock.now())
  if (toDo.length > 0)
    console.log(
      [...lines, ...toDo.map((each) => `  ${each}; stop with Ctrl-C, set TRACKING_TOKEN, and start again`)].join('\n'),
    )
}
