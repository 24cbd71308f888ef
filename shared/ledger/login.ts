import * as z from 'zod/mini'
import { minuteMs } from '../platform/clock.ts'
import { digest, type Ids } from '../platform/ids.ts'
import { type Scope, scopes } from '../platform/words.ts'
import type { Store } from './store/store.ts'
import { expiryOf } from './stored.ts'

const goodForMs = 5 * minuteMs
/** After this time the database may delete a code. The time limit of a code is checked when the code is used. */
const keptForDays = 1

/** Without `token`, the permissions come from the list of callers. */
export interface Login {
  readonly caller: string
  readonly token?: { readonly scopes: readonly Scope[]; readonly budgets: '*' | readonly string[] } | undefined
}

/** The table holds only digests of the codes, so a reader of the table cannot log in. */
export interface Logins {
  issue(caller: string, now: number, token?: Login['token']): Promise<string>
  /** True if the code can be redeemed now. The code stays unused. */
  isOpen(code: string, now: number): Promise<boolean>
  /** `null`: unknown, expired or used. */
  redeem(code: string, now: number): Promise<Login | null>
  /** Marks a login by an identity provider as used. True for the first use. */
  use(state: string, now: number): Promise<boolean>
}

export function createLogins({ store, ids }: { store: Store; ids: Ids }): Logins {
  /** `null`: unknown, expired or used. */
  async function read(code: string, now: number): Promise<Login | null> {
    if (!isCode(code)) return null
    const [item] = await store.get([loginKey(code)])
    const stored = storedLogin.safeParse(item).data
    if (!stored || stored.usedAt !== undefined || now >= stored.until) return null
    return { caller: stored.caller, ...(stored.token && { token: stored.token }) }
  }

  return {
    async issue(caller, now, token) {
      const code = ids.random()
      const until = now + goodForMs
      const item = { ...loginKey(code), caller, ...(token && { token }), until, ...expiryOf(now, keptForDays) }
      const writes = [{ kind: 'put', item, when: [{ kind: 'absent-item' }] }] as const
      const { applied } = await store.transact(writes, digest('login', JSON.stringify(item)))
      if (!applied) throw new Error('a new login code exists already')
      return code
    },

    isOpen: async (code, now) => (await read(code, now)) !== null,

    async redeem(code, now) {
      const key = loginKey(code)
      const login = await read(code, now)
      if (!login) return null
      const isUnused = { kind: 'absent', path: ['usedAt'] } as const
      const isGood = { kind: 'at-least', path: ['until'], value: now + 1 } as const
      const writes = [{ kind: 'update', key, set: [[['usedAt'], now]], add: [], when: [isUnused, isGood] }] as const
      // A random token: with equal tokens, two requests in the same millisecond would both log in.
      const { applied } = await store.transact(writes, ids.random())
      return applied ? login : null
    },

    async use(state, now) {
      const item = { ...loginKey(state), usedAt: now, ...expiryOf(now, keptForDays) }
      const writes = [{ kind: 'put', item, when: [{ kind: 'absent-item' }] }] as const
      return (await store.transact(writes, ids.random())).applied
    },
  }
}

const storedLogin = z.object({
  caller: z.string(),
  until: z.number(),
  usedAt: z.optional(z.number()),
  token: z.optional(
    z.object({ scopes: z.array(z.enum(scopes)), budgets: z.union([z.literal('*'), z.array(z.string())]) }),
  ),
})

const isCode = (text: string): boolean => /^[0-9a-z]{26}$/.test(text)

const loginKey = (code: string) => ({ pk: `login#${digest('login', code)}`, sk: 'login' })
