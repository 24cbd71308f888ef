import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openFile } from '../../../infra/local/database/file.ts'
import { diskFault } from '../../../infra/local/database/machine-facts.ts'
import { connect, createSqliteFile, firstValue } from '../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { patienceMs } from '../../support/patience.ts'
import { newFolder, runLocal, startGuard, temporaryDirectory } from '../../support/process/local.ts'

const item = (number: number, size = 10) => ({ pk: `item#${number}`, sk: 'item', text: 'x'.repeat(size) })

/** A ledger with one item. */
async function newLedger(how: Parameters<typeof openFile>[2] = {}, given?: string) {
  const { directory, remove } =
    given === undefined ? await temporaryDirectory() : { directory: given, remove: () => {} }
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
  ])('a file is not kept locked after %s that found it busy', async (_name, use) => {
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

  test('other reads of a file are right while one reading waits', async () => {
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

const itemsIn = ({ file }: { file: { db: Database.Database } }) =>
  (file.db.prepare('SELECT pk FROM items').raw().all() as string[][]).flat()

describe('a transaction that fails', () => {
  test('a transaction is undone if a reader of another process keeps the file at COMMIT', async () => {
    const ledger = await newLedger()
    const script = `const db = new (require('libsql'))(${JSON.stringify(ledger.path)})
      db.exec('BEGIN; SELECT 1 FROM sqlite_master')
      console.log('reads')
      process.stdin.once('data', () => db.exec('COMMIT') || process.exit(0))`
    const reader = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    onTestFinished(() => void reader.kill())
    await once(reader.stdout, 'data')
    await expect(ledger.put(1)).rejects.toMatchObject({
      name: 'Contention',
      message: `the file of the ledger is busy (process ${reader.pid})`,
    })
    expect([ledger.file.db.inTransaction, itemsIn(ledger)]).toEqual([false, ['item#0']])
    const waiting = ledger.put(2, { maxWaitMs: 10_000 })
    reader.stdin.write('end')
    expect(await waiting).toEqual({ applied: true })
  })

  test('a transaction that cannot be undone closes the file, which is not read or written again', async () => {
    const { path } = await newLedger()
    const db = connect(path)
    const damage: unknown[] = []
    const broken = new Proxy(db, {
      get: (of, name) => {
        if (name !== 'exec')
          return typeof of[name as 'close'] === 'function' ? of[name as 'close'].bind(of) : of[name as 'open']
        return (sql: string) => {
          if (sql === 'ROLLBACK') throw new Error('disk I/O error')
          of.exec(sql)
        }
      },
    })
    const file = createSqliteFile({
      db: broken,
      clock: systemClock,
      ids: systemIds,
      onDamage: (error) => damage.push(error),
    })
    const store = createSqliteStore(file, { clock: systemClock })
    const writes = [
      { kind: 'update', key: { pk: 'item#0', sk: 'item' }, set: [], add: [[['none', 'a'], 1]], when: [] },
    ] as const
    await expect(store.transact(writes, 'broken')).rejects.toMatchObject({ name: 'LedgerUnavailable' })
    expect([db.open, damage.length]).toEqual([false, 1])
    await expect(store.get([{ pk: 'item#0', sk: 'item' }])).rejects.toMatchObject({ name: 'LedgerUnavailable' })
  })

  test('a transaction is undone if the file may not grow, and the next one has room', async () => {
    const ledger = await newLedger()
    const pages = Number(firstValue(ledger.file.db, 'PRAGMA page_count'))
    ledger.file.db.exec(`PRAGMA max_page_count = ${pages}`)
    await expect(ledger.put(1, { size: 20_000 })).rejects.toMatchObject({ name: 'LedgerUnavailable', disk: 'full' })
    expect([ledger.file.db.inTransaction, itemsIn(ledger)]).toEqual([false, ['item#0']])
    ledger.file.db.exec('PRAGMA max_page_count = 100000')
    expect(await ledger.put(1, { size: 20_000 })).toEqual({ applied: true })
  })

  test('a write that SQLite refuses as read-only names the disk', async () => {
    const ledger = await newLedger()
    ledger.file.db.exec('PRAGMA query_only = 1')
    await expect(ledger.put(1)).rejects.toMatchObject({ name: 'LedgerUnavailable', disk: 'read-only' })
  })
})

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: 'ignore' })

/** A small disk; `null` if this user may not mount one. */
function mountSmall(size: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'unit-guard-disk-'))
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=700`, 'none', folder)
    return folder
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
}

const canMount = (() => {
  const folder = mountSmall('64k')
  if (folder !== null) unmount(folder)
  return folder !== null
})()

function unmount(folder: string): void {
  run('umount', '-l', folder)
  rmSync(folder, { recursive: true })
}

function smallDisk(size: string) {
  const folder = mountSmall(size) ?? ''
  onTestFinished(() => unmount(folder))
  const room = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  return {
    folder,
    room,
    fill: (left: number) => writeFileSync(join(folder, 'fill'), Buffer.alloc(Math.max(0, room() - left))),
    free: () => rmSync(join(folder, 'fill')),
  }
}

/** Fills a disk while a server writes and removes its own files: until no room has come back for 100 ms. */
async function fillBesideServer({ folder, room }: ReturnType<typeof smallDisk>): Promise<void> {
  for (let quiet = 0; quiet < 10; quiet++) {
    if (room() > 0) quiet = 0
    try {
      appendFileSync(join(folder, 'fill'), Buffer.alloc(room()))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

describe.skipIf(!canMount)('a full disk (skipped for a user who may not mount a small one)', () => {
  test('a full disk undoes a write at any point, and the next one after freeing room succeeds', async () => {
    const { folder, fill, free } = smallDisk('300k')
    const ledger = await newLedger({}, folder)
    const met = new Set<string>()
    let number = 0
    for (let left = 0; left <= 40_960; left += 4_096) {
      const before = itemsIn(ledger)
      fill(left)
      const failure = await ledger.put(++number, { size: 3_000 }).then(
        () => null,
        (error: Error) => error,
      )
      if (failure) {
        met.add(failure.name)
        expect([ledger.file.db.inTransaction, itemsIn(ledger)]).toEqual([false, before])
      }
      free()
      expect(await ledger.put(number, { size: 3_000 })).toEqual({ applied: true })
    }
    // The second fault comes at COMMIT, and leaves no transaction open.
    expect(met).toEqual(new Set(['LedgerUnavailable', 'AnswerLost']))
    expect(firstValue(ledger.file.db, 'PRAGMA integrity_check')).toBe('ok')
  })

  test('a full disk is 503 at the server, which continues as soon as there is room', async () => {
    const disk = smallDisk('4m')
    const { call, stop } = await startGuard({ DATA_DIR: disk.folder, DEMO: 'off' })
    const startedAt = Date.now()
    const ask = () => call('/updates', { body: { kind: 'ranking', project: 'initech' }, key: 'monday' })
    const statement = async () => (await call('/budgets/account')).body
    const before = await statement()
    await fillBesideServer(disk)
    const refused = await ask()
    expect([refused.status, refused.body.detail]).toEqual([
      503,
      expect.stringMatching(/^The disk of the ledger is full\./),
    ])
    const ready = async () => {
      const { status, body } = await call('/ready')
      return [status, body.detail ?? body.status]
    }
    const troubles = async () => (await call('/status')).body.troubles.map(({ slug }: { slug: string }) => slug)
    const full = 'The disk of the ledger is full. Make room on the disk of DATA_DIR, or make it writable.'
    expect([await ready(), await troubles()]).toEqual([[503, full], ['disk']])
    expect(await statement()).toEqual(before)
    for (let more = 0; more < 20; more++) expect((await ask()).status).toBe(503)
    disk.free()
    expect((await ask()).status).toBe(201)
    await expect.poll(ready, { timeout: patienceMs, interval: 500 }).toEqual([200, 'ready'])
    expect(await troubles()).toEqual([])
    await fillBesideServer(disk)
    const { code, err } = await stop()
    expect([code, err]).toEqual([0, expect.not.stringContaining('SqliteError')])
    const minutesPassed = Math.ceil((Date.now() - startedAt) / 60_000)
    expect(err.match(/^unit-guard: .*disk of the ledger is full/gm)?.length ?? 0).toBeLessThanOrEqual(minutesPassed)
  })

  test('a backup to another disk is whole while the disk of the ledger is full, and says that it is not noted', async () => {
    const { folder, fill, free } = smallDisk('4m')
    const { stop } = await startGuard({ DATA_DIR: folder, DEMO: 'off' })
    await stop()
    fill(0)
    const { directory, remove } = await temporaryDirectory()
    onTestFinished(remove)
    const target = join(directory, 'monday.db')
    const { code, out, err } = await runLocal('backup', [target], { DATA_DIR: folder })
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Backed up led_\w+ as of .*\n.*\n {2}audited: all \d+ counters match\n$/),
    ])
    expect(err).toBe('The ledger takes no note of this backup (see npm run doctor), so it may be called late.\n')
    free()
    expect((await runLocal('backup', [join(directory, 'tuesday.db')], { DATA_DIR: folder })).err).toBe('')
  })

  test('the probe of a disk finds it full, read-only and good again, and leaves no file', async () => {
    const { folder, fill, free } = smallDisk('300k')
    expect(await diskFault(folder)).toBe(null)
    fill(8_192)
    expect(await diskFault(folder)).toBe('full')
    free()
    run('mount', '-o', 'remount,ro', folder)
    expect(await diskFault(folder)).toBe('read-only')
    run('mount', '-o', 'remount,rw', folder)
    expect([await diskFault(folder), readdirSync(folder)]).toEqual([null, []])
    expect(await diskFault(join(folder, 'none'))).toBe('failing')
  })

  test('a start on a full disk ends with one sentence', async () => {
    const { folder, fill } = smallDisk('64k')
    fill(0)
    const { code, out, err } = await runLocal('start', [], { DATA_DIR: folder, DEMO: 'off' })
    expect([code, out, err.trim().split('\n')]).toEqual([1, '', [expect.stringContaining(`${folder}/`)]])
    expect(err).toContain('make room')
  })
})

describe('an error of the disk', () => {
  test('a disk error ends the server before it answers, and the next start checks the file', async () => {
    const env = { DATA_DIR: await newFolder(), DEMO: 'off' }
    // No file may exceed 150 blocks of 1 KB: SQLite gets EFBIG, an input/output error to it.
    const { call, ended } = await startGuard(env, { under: ['bash', '-c', 'ulimit -f 150; exec "$@"', 'bash'] })
    const ask = (number: number) => {
      const projects = [{ name: `p${number}${'x'.repeat(90)}` }]
      const body = { limits: [{ window: 'month', units: 10 }], projects }
      return call(`/budgets/b${number}`, { method: 'PUT', body }).catch(() => ({ status: 'ended' }))
    }
    let status: number | string = 201
    for (let number = 0; number < 300 && status === 201; number++) status = (await ask(number)).status
    expect(status).toBe('ended')
    const { code, err } = await ended
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^unit-guard: .*ledger\.db cannot be read or written \(disk I\/O error\): check its disk/m),
    ])
    expect((await (await startGuard(env)).stop()).code).toBe(0)
  })
})
