import { isDeepStrictEqual } from 'node:util'
import { itemSize } from '../../../../shared/ledger/store/item-size.ts'
import type { SqliteFile } from '../../../../shared/ledger/store/sqlite-file.ts'
import type { Item, Store } from '../../../../shared/ledger/store/store.ts'
import { minuteMs } from '../../../../shared/platform/clock.ts'
import { digest } from '../../../../shared/platform/ids.ts'
import { CannotContinue } from '../../failures.ts'

const pageSize = 500
/** A table takes 500 write units a second at least, and a transaction of 100 KB costs 200 and its rows of indexes. */
const maxBatch = { items: 25, bytes: 100_000 }
/** For a table that is throttled. */
const patienceMs = 2 * minuteMs
const itemsPerLine = 5_000

/**
 * Puts every item of the file that the table does not have, in the order of their keys, so that it may be repeated.
 *
 * @returns how many items the file has.
 * @throws CannotContinue if the table has another item under the key of one.
 */
export async function copyItems(file: SqliteFile, to: Store, onProgress: (copied: number) => void): Promise<number> {
  let copied = 0
  for await (const batch of batchesOf(file)) {
    await putAbsent(to, batch)
    if (Math.floor((copied + batch.length) / itemsPerLine) > Math.floor(copied / itemsPerLine))
      onProgress(copied + batch.length)
    copied += batch.length
  }
  return copied
}

async function* batchesOf(file: SqliteFile): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = []
  let bytes = 0
  for await (const item of itemsOf(file)) {
    const size = itemSize(item)
    if (batch.length > 0 && (batch.length === maxBatch.items || bytes + size > maxBatch.bytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(item)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

async function* itemsOf({ db, read }: SqliteFile): AsyncGenerator<Item> {
  const page = db
    .prepare<[string, string]>(`SELECT item FROM items WHERE (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT ${pageSize}`)
    .raw()
  let last = { pk: '', sk: '' }
  for (;;) {
    const rows = (await read(() => page.all(last.pk, last.sk))) as [string][]
    for (const [text] of rows) {
      const item: Item = JSON.parse(text)
      yield item
      last = item
    }
    if (rows.length < pageSize) return
  }
}

async function putAbsent(to: Store, items: readonly Item[]): Promise<void> {
  const writes = items.map((item) => ({ kind: 'put', item, when: [{ kind: 'absent-item' }] }) as const)
  const outcome = await to.transact(writes, digest('move', JSON.stringify(writes)), patienceMs)
  if (outcome.applied) return
  const { found } = outcome
  const other = items.find((item, place) => found[place] && !isDeepStrictEqual(found[place], item))
  if (other)
    throw new CannotContinue(
      `The table has another item ${other.pk} (${other.sk}): another program writes there, so take another table.`,
    )
  const absent = items.filter((_, place) => !found[place])
  if (absent.length > 0) await putAbsent(to, absent)
}
