import { digest } from '../platform/ids.ts'
import type { Condition, Item, Store } from './store/store.ts'
import { instant, type Of, readItem, record, text } from './stored.ts'

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

export function createIssuerKeysStore({ store }: { store: Store }): IssuerKeys {
  async function read(name: string): Promise<StoredIssuerKeys | null> {
    const [item] = await store.get([issuerKeysKey(name)])
    return item ? fromIssuerKeysItem(item) : null
  }

  async function keep(keys: StoredIssuerKeys): Promise<'kept' | 'other-issuer'> {
    const item = toIssuerKeysItem(keys)
    // Another process may write its keys at the same time. The second read finds them.
    for (let look = 0; look < 2; look++) {
      const seen = await read(keys.name)
      if (seen && seen.issuer !== keys.issuer) return 'other-issuer'
      if (seen && seen.fetchedAt >= keys.fetchedAt) return 'kept'
      const when: Condition = seen
        ? { kind: 'equal', path: ['fetchedAt'], value: seen.fetchedAt }
        : { kind: 'absent-item' }
      const { applied } = await store.transact(
        [{ kind: 'put', item, when: [when] }],
        digest('issuer-keys', `${look}`, JSON.stringify(item)),
      )
      if (applied) return 'kept'
    }
    const seen = await read(keys.name)
    return seen && seen.issuer !== keys.issuer ? 'other-issuer' : 'kept'
  }

  return { read, keep }
}

const issuerKeysKey = (name: string) => ({ pk: `issuer-keys#${name}`, sk: 'issuer-keys' })

const toIssuerKeysItem = (keys: StoredIssuerKeys): Item => ({ ...issuerKeysKey(keys.name), ...keys })

const fromIssuerKeysItem = (item: Item): StoredIssuerKeys =>
  readItem(item, storedKeys, ({ name }) => issuerKeysKey(name))
