import { announcement } from '../ledger/announcement.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type Clock, dayMs } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'

const warnedBeforeMs = 14 * dayMs
/** Seconds: what is farther away is no time that can be written. */
const farthest = 8.64e12

/** When the service's token says that it ends (RFC 7519, section 4.1.4), in ms; `null`: it does not say. It is not verified: it is ours. */
function expiryOf(token: string): number | null {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown }
    return typeof exp === 'number' && Math.abs(exp) < farthest ? exp * 1000 : null
  } catch {
    return null
  }
}

/** A token that ends unseen stops every update at once: people hear of it two weeks before, every day of the last one, and once more when it is over. */
export function createTokenExpiry(parts: {
  ledger: Ledger
  serviceToken: () => Promise<string>
  clock: Clock
  log: Log
}) {
  const { ledger, serviceToken, clock, log } = parts

  async function watchToken(): Promise<void> {
    const expiresAt = expiryOf(await serviceToken())
    const now = clock.now()
    if (expiresAt === null || expiresAt - now > warnedBeforeMs) return
    // Below 0 when it has ended.
    const daysLeft = Math.max(-1, Math.floor((expiresAt - now) / dayMs))
    log.error('service-token-expires', { expiresAt: new Date(expiresAt).toISOString(), daysLeft })
    const told = daysLeft > 7 ? 'two-weeks' : String(daysLeft)
    const about = { kind: 'token-expires', expiresAt, daysLeft } as const
    await ledger.announcements.add(announcement(`token-expires#${expiresAt}#${told}`, now, about))
  }

  return { watchToken }
}
