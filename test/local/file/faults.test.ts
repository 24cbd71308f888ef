import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openFile } from '../../../infra/local/database/file.ts'
import { firstValue } from '../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { temporaryDirectory } from '../../support/process/local.ts'

const item = (number: number, size = 10) => ({ pk: `item#${number}`, sk: 'item', text: 'x'.repeat(size) })

/** A ledger with one item. */
async function newLedger(how: Parameters<typeof openFile>[2] = {}) {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  const { file } = await openFile(directory, 'ledger.db', how)
  const store = createSqliteStore(file, { clock: systemClock })
  const put = (number: number, { maxWaitMs = 100, size = 10 } = {}) =>
    store.transact([{ kind: 'put', item: item(number, size), when: [] }], `token-${number}`, maxWaitMs)
  await put(0)
  return { path: join(directory, 'ledger.db'), directory, file, store, put }
}

describe('a file that other processes use', () => {
  const list = { index: 'by-time', partition: 'none', newestFirst: false, limit: 10 } as const

  test.each<[string, (ledger: Awaited<ReturnType<typeof newLedger>>) => unknown]>([
    ['a reading', ({ file, store }) => file.read(() => store, 50).then(() => store.get([item(0)]))],
    ['a list', ({ store }) => store.list(list)],
    ['a single value', ({ file }) => firstValue(file.db, 'SELECT count(*) FROM items')],
    ['a write', ({ put }) => put(1)],
  ])('is not kept locked after %s that found it busy', async (_name, use) => {
    const ledger = await newLedger()
    const other = new Database(ledger.path)
    onTestFinished(() => void other.close())
    other.exec('BEGIN EXCLUSIVE')
    const meanwhile = (async () => use(ledger))().catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 200))
    other.exec('COMMIT')
    await meanwhile
    await ledger.store.get([item(0)])
    expect(() => other.exec('BEGIN EXCLUSIVE; COMMIT')).not.toThrow()
  })

  test('is read right by others while a reading waits for it', async () => {
    const { path, store, put } = await newLedger()
    for (const number of [1, 2]) await put(number)
    const other = new Database(path)
    onTestFinished(() => void other.close())
    other.exec('BEGIN EXCLUSIVE')
    const waits = store.get([item(0), item(1)])
    other.exec('ROLLBACK')
    expect(await store.get([item(2)])).toEqual([item(2)])
    expect(await waits).toEqual([item(0), item(1)])
  })
})
