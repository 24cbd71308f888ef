import type { ItemKind } from '../ledger/store/item-kind.ts'
import type { Condition } from '../ledger/store/store.ts'
import { instant, type Of, record, text } from '../ledger/store/stored.ts'
import { digest } from '../platform/ids.ts'

/** The last good keys of a trusted issuer. The name belongs to this issuer permanently. */
const storedKeys = record({
  name: text,
  issuer: text,
  /** A JSON Web Key Set (RFC 7517) of public keys. */
  jwks: text,
  fetchedAt: instant,
})
export type StoredIssuerKeys = Of<typeof storedKeys>

export interface IssuerKeys {
  /** `null`: no keys were ever kept under this name. @throws LedgerUnavailable, DamagedItem */
  read(name: string): Promise<StoredIssuerKeys | null>
  /** `other-issuer`: the name belongs to another issuer. Older keys never replace later ones. */
  keep(keys: StoredIssuerKeys): Promise<'kept' | 'other-issuer'>
}

export const issuerKeys: ItemKind<IssuerKeys, StoredIssuerKeys, string> = {
  name: 'issuer-keys',
  stored: storedKeys,
  restOf: (name) => name,
  idOf: ({ name }) => name,
  narrowed: 'own',
  functions: (items) => {
    const read = async (name: string) => (await items.read([name]))[0] ?? null

    async function keep(keys: StoredIssuerKeys): Promise<'kept' | 'other-issuer'> {
      const { name, issuer, fetchedAt } = keys
      // Another process may write its keys at the same time. The second read finds them.
      for (let look = 0; look < 2; look++) {
        const seen = await read(name)
        if (seen && seen.issuer !== issuer) return 'other-issuer'
        if (seen && seen.fetchedAt >= fetchedAt) return 'kept'
        const when: Condition = seen
          ? { kind: 'equal', path: ['fetchedAt'], value: seen.fetchedAt }
          : { kind: 'absent-item' }
        const token = digest('issuer-keys', `${look}`, JSON.stringify(keys))
        if (await items.write([{ id: name, put: keys, when: [when] }], token)) return 'kept'
      }
      const seen = await read(name)
      return seen && seen.issuer !== issuer ? 'other-issuer' : 'kept'
    }

    return { read, keep }
  },
}
