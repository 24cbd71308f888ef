import { setTimeout as sleep } from 'node:timers/promises'

export type ItemLocks = ReturnType<typeof createItemLocks>

/**
 * Cancels a transaction that meets another one at an item, as DynamoDB does and DynamoDB Local never does.
 *
 * @param lockedForMs how long an item is locked by a transaction, beside what DynamoDB Local takes.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-conflict-handling
 */
export function createItemLocks(lockedForMs: number) {
  const seen = { conflicts: 0 }
  const locked = new Set<string>()
  return {
    seen,
    /** @returns the codes of a cancelled transaction, which was not sent. `null`: it was sent. */
    async hold(keys: readonly string[], send: () => Promise<unknown>): Promise<readonly string[] | null> {
      if (keys.some((key) => locked.has(key))) {
        seen.conflicts++
        return keys.map((key) => (locked.has(key) ? 'TransactionConflict' : 'None'))
      }
      for (const key of keys) locked.add(key)
      try {
        await send()
        if (keys.length > 0) await sleep(lockedForMs)
        return null
      } finally {
        for (const key of keys) locked.delete(key)
      }
    },
  }
}

/** The keys of a transaction's items, in the SDK's form or the wire format. */
// biome-ignore lint/suspicious/noExplicitAny: the input of whatever command it is.
export const keyNamesOf = ({ TransactItems = [] }: any): readonly string[] =>
  TransactItems.map(({ Put, Update, ConditionCheck }: Record<string, Record<string, object>>) => {
    const { pk, sk } = (Put?.Item ?? Update?.Key ?? ConditionCheck?.Key ?? {}) as { pk?: object; sk?: object }
    return JSON.stringify([pk, sk])
  })
