import { minuteMs } from '../platform/clock.ts'
import { digest, type Ids } from '../platform/ids.ts'
import type { Store } from './store/store.ts'
import { expiryOf } from './stored.ts'

const goodForMs = 5 * minuteMs
/** A condition checks expiry; this only cleans up. */
const keptForDays = 1

/**
 * Codes that let a user into the dashboard, once, for five minutes. The table has only their digests, so its readers
 * cannot log in.
 */
export interface Logins {
  /** @param caller permissions are looked up when the caller acts. */
  issue(caller: string, now: number): Promise<string>
  /** The caller; `null`: unknown, expired or used. */
  redeem(code: string, now: number): Promise<string | null>
}

export function createLogins({ store, ids }: { store: Store; ids: Ids }): Logins {
  return {
    async issue(caller, now) {
      const code = ids.random()
      const until = now + goodForMs
      const item = { ...loginKey(code), caller, until, ...expiryOf(now, keptForDays) }
      const writes = [{ kind: 'put', item, when: [{ kind: 'absent-item' }] }] as const
      const { applied } = await store.transact(writes, digest('login', JSON.stringify(item)))
      if (!applied) throw new Error('a new code was there before')
      return code
    },

    async redeem(code, now) {
      if (!isCode(code)) return null
      const key = loginKey(code)
      const [item] = await store.get([key])
      if (typeof item?.caller !== 'string') return null
      const isUnused = { kind: 'absent', path: ['usedAt'] } as const
      const isGood = { kind: 'at-least', path: ['until'], value: now + 1 } as const
      const writes = [{ kind: 'update', key, set: [[['usedAt'], now]], add: [], when: [isUnused, isGood] }] as const
      // A random token, because with equal tokens two requests in one millisecond would both get in.
      const { applied } = await store.transact(writes, ids.random())
      return applied ? item.caller : null
    },
  }
}

const isCode = (text: string): boolean => /^[0-9a-z]{26}$/.test(text)

const loginKey = (code: string) => ({ pk: `login#${digest('login', code)}`, sk: 'login' })
