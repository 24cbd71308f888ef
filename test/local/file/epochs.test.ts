import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createBell, followChanges } from '../../../infra/local/database/changes.ts'
import { openFile } from '../../../infra/local/database/file.ts'
import { acceptance, replacement, WrongLedger } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { runHere } from '../../support/process/here.ts'
import { newFolder, startGuard } from '../../support/process/local.ts'
import { json } from '../../support/product.ts'
import { u } from '../../support/records.ts'
import { gate, startScriptedService } from '../../support/scripted-service.ts'
import { createFileStore } from '../../support/store/stores.ts'

const account = { unitsPerMonth: u(1_000), usedAtStart: u(0), renewal: { day: 1, time: '00:00', zone: 'UTC' } }

/** Everything that a process of the ledger may write. */
function contentsOf(path: string): unknown {
  const db = new Database(path)
  const tables = ['items', 'changes', 'notes'].map((table) => db.prepare(`SELECT * FROM ${table}`).raw().all())
  db.close()
  return tables
}

describe('a process whose ledger was accepted or replaced by another command', () => {
  test.each([
    [
      'accepted',
      acceptance({ table: 'other', epoch: 1, to: undefined, toText: 'now' }),
      /accepted as restored \(epoch 1\) after this process began \(epoch 0\)/,
    ],
    ['replaced', replacement('another table'), /was replaced by the table another table/],
  ])('a process whose ledger was %s writes nothing more', async (_name, make, sentence) => {
    const path = join(await newFolder(), 'ledger.db')
    const store = createFileStore(path)
    const put = (token: string) => store.transact([{ kind: 'put', item: { pk: token, sk: 'item' }, when: [] }], token)
    await createLedger({ store, clock: systemClock, account, expected: { service: 'sandbox' } }).view()
    expect(await put('before')).toEqual({ applied: true })

    const operator = createLedger({ store: createFileStore(path), clock: systemClock, account })
    expect(await operator.change('setup', make)).toMatchObject({ kind: 'changed' })
    const before = contentsOf(path)
    await expect(put('after')).rejects.toThrow(sentence)
    await expect(put('after')).rejects.toMatchObject({ name: 'WrongLedger' })
    expect(contentsOf(path)).toEqual(before)
  })

  test('a replaced process leaves changes to the next one, and pauses between attempts', async () => {
    const { file } = await openFile(await newFolder(), 'ledger.db')
    const item = { pk: 'update#upd_1', sk: 'update', state: 'requested' }
    await createSqliteStore(file, { clock: systemClock }).transact([{ kind: 'put', item, when: [] }], 'token')
    file.checkFirst(() => {
      throw new WrongLedger([])
    })
    let reads = 0
    const read = async () => {
      reads++
      return { batchItemFailures: [] }
    }
    const log = { info() {}, error() {}, hide() {} }
    const follower = followChanges(
      { file, bell: createBell(), log, repeatsAfterMs: 500 },
      { name: 'start', batchSize: 5, batchesAtOnce: 5, read },
    )
    await sleep(1_600)
    await follower.stop(Promise.resolve())
    expect([2, 3]).toContain(reads)
    expect(file.db.prepare('SELECT start FROM changes').raw().all()).toEqual([[0]])
  })

  test('a server writes nothing more after npm run restore -- accept between run and settlement', async () => {
    const directory = await newFolder()
    const answered = gate()
    const service = await startScriptedService({
      fallback: ({ url }) => ({
        ...json({ keyword_units: 40, dates: [] }),
        ...(url.endsWith('/run') && { once: answered.opened }),
      }),
    })
    onTestFinished(() => service.close())
    const env = {
      DATA_DIR: directory,
      TRACKING_BASE_URL: service.baseUrl,
      TRACKING_TOKEN: 'canary-service-token',
      SERVICE_TIMEOUT_MS: '10000',
    }
    const { call } = await startGuard(env)
    const asked = call('/updates', { body: { kind: 'ranking', project: 'acme.example' } })
    while (!service.requests.some((request) => request.url.endsWith('/run'))) await sleep(5)

    // Simulates an older file that was put back.
    const marker = await readFile(join(directory, 'ledger'), 'utf8')
    await writeFile(join(directory, 'ledger'), marker.replace(' 0 ', ' 1 '))
    const accepted = await runHere('restore', ['accept', '--to', '2026-11-20T09:55:00Z'], env)
    expect(accepted).toMatchObject({ code: 0, err: '' })
    const before = contentsOf(join(directory, 'ledger.db'))
    answered.open()
    expect(await asked).toMatchObject({ status: 202, body: { updates: [{ state: 'running' }] } })
    expect(contentsOf(join(directory, 'ledger.db'))).toEqual(before)
    const refused = { detail: expect.stringContaining('accepted as restored (epoch 2)') }
    expect(await call('/budgets')).toMatchObject({ status: 503, body: refused })
    expect(contentsOf(join(directory, 'ledger.db'))).toEqual(before)
  })
})
