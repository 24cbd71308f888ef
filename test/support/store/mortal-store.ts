import type { Store } from '../../../shared/ledger/store/store.ts'

/** A store that stops before its n-th write, as if its process died. */
export function mortal(inner: Store) {
  let writesLeft = Number.POSITIVE_INFINITY
  const living = <T>(act: () => Promise<T>): Promise<T> =>
    writesLeft <= 0 ? Promise.reject(new Error('killed')) : act()
  const store: Store = {
    get: (keys) => living(() => inner.get(keys)),
    list: (query) => living(() => inner.list(query)),
    transact: (writes, ...rest) => {
      writesLeft--
      return living(() => inner.transact(writes, ...rest))
    },
  }
  return {
    store,
    kill: (beforeWrite: number) => {
      writesLeft = beforeWrite
    },
    heal: () => {
      writesLeft = Number.POSITIVE_INFINITY
    },
  }
}
