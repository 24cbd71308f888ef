import { DamagedItem } from '../ledger/errors.ts'
import type { ItemKind } from '../ledger/store/item-kind.ts'
import { either, instant, list, type Of, oneOf, optional, record, text } from '../ledger/store/stored.ts'
import { minuteMs } from '../platform/clock.ts'
import { digest, systemIds } from '../platform/ids.ts'
import { type Scope, scopes } from '../platform/words.ts'

const goodForMs = 5 * minuteMs

/** Without `token`, the permissions come from the list of callers. */
export interface Login {
  readonly caller: string
  readonly token?: { readonly scopes: readonly Scope[]; readonly budgets: '*' | readonly string[] } | undefined
}

/** The table holds only digests of the codes, so a reader of the table cannot log in. */
interface Logins {
  issue(caller: string, now: number, token?: Login['token']): Promise<string>
  /** True if the code can be redeemed now. The code stays unused. */
  isOpen(code: string, now: number): Promise<boolean>
  /** `null`: unknown, expired or used. */
  redeem(code: string, now: number): Promise<Login | null>
  /** Marks a login by an identity provider as used. True for the first use. */
  use(state: string, now: number): Promise<boolean>
}

const storedCode = record({
  caller: text,
  token: optional(record({ scopes: list(oneOf(scopes)), budgets: either(oneOf(['*']), list(text)) })),
  until: instant,
  usedAt: optional(instant),
})
/** A code, or the mark of a login by an identity provider. */
const storedLogin = either(storedCode, record({ usedAt: instant }))
type StoredLogin = Of<typeof storedLogin>

export const logins: ItemKind<Logins, StoredLogin, string> = {
  name: 'login',
  stored: storedLogin,
  restOf: (code) => digest('login', code),
  /** After this time the database may delete a code. The time limit of a code is checked when the code is used. */
  keptForDays: 1,
  narrowed: 'own',
  functions: (items) => {
    /** `null`: unknown, expired, used or damaged. */
    async function read(code: string, now: number): Promise<Login | null> {
      if (!isCode(code)) return null
      const [stored] = await items.read([code]).catch(ifDamaged)
      if (!stored || !('until' in stored) || stored.usedAt !== undefined || now >= stored.until) return null
      return { caller: stored.caller, ...(stored.token && { token: stored.token }) }
    }

    return {
      async issue(caller, now, token) {
        const code = systemIds.random()
        const put = { caller, ...(token && { token }), until: now + goodForMs }
        const write = { id: code, put, when: [{ kind: 'absent-item' }], keptFrom: now } as const
        if (!(await items.write([write], digest('login', code)))) throw new Error('a new login code exists already')
        return code
      },

      isOpen: async (code, now) => (await read(code, now)) !== null,

      async redeem(code, now) {
        const login = await read(code, now)
        if (!login) return null
        const isUnused = { kind: 'absent', path: ['usedAt'] } as const
        const isGood = { kind: 'at-least', path: ['until'], value: now + 1 } as const
        const write = { id: code, set: { usedAt: now }, when: [isUnused, isGood] }
        // A random token: with equal tokens, two requests in the same millisecond would both log in.
        return (await items.write([write], systemIds.random())) ? login : null
      },

      use: (state, now) => {
        const write = { id: state, put: { usedAt: now }, when: [{ kind: 'absent-item' }], keptFrom: now } as const
        return items.write([write], systemIds.random())
      },
    }
  },
}

function ifDamaged(cause: unknown): [] {
  if (cause instanceof DamagedItem) return []
  throw cause
}

const isCode = (text: string): boolean => /^[0-9a-z]{26}$/.test(text)
