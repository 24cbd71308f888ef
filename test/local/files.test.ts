import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openFile } from '../../infra/local/database/file.ts'
import { holderOf, takeServer } from '../../infra/local/database/server-lock.ts'
import { firstValue } from '../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../shared/ledger/store/sqlite-store.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { runHere } from '../support/process/here.ts'
import { newFolder, runLocal, startGuard } from '../support/process/local.ts'

const openIn = (directory: string, how: Parameters<typeof openFile>[2] = {}) => openFile(directory, 'ledger.db', how)

const item = (number: number, more: object = {}) => ({
  pk: `item#${number}`,
  sk: 'item',
  text: 'x'.repeat(2_000),
  ...more,
})

/** A ledger with some pages, closed. */
async function ledgerIn(directory: string): Promise<string> {
  const { file } = await openIn(directory)
  const store = createSqliteStore(file, { clock: systemClock })
  for (let number = 0; number < 20; number++)
    await store.transact([{ kind: 'put', item: item(number), when: [] }], `token-${number}`)
  file.db.close()
  return join(directory, 'ledger.db')
}

async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  const handle = await open(path, 'r+')
  await handle.write(bytes, 0, bytes.length, at)
  await handle.close()
}

/** The path of a ledger that an earlier version wrote. */
async function earlierLedgerIn(directory: string): Promise<string> {
  const path = await ledgerIn(directory)
  const db = new Database(path)
  db.exec('PRAGMA user_version = 1')
  db.close()
  return path
}

test('a command beside an earlier version does not take its file over', async () => {
  const directory = await newFolder()
  const path = await earlierLedgerIn(directory)
  const { code, err } = await runHere('backup', [`${path}.copy`], { DATA_DIR: directory })
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('was written by an earlier version: run this command with that version, or start this one'),
  ])
  const db = new Database(path)
  expect(firstValue(db, 'PRAGMA user_version')).toBe(1)
  db.close()
})

test('the first start on a file of an earlier version says that there is no way back', async () => {
  const said = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => void said.mockRestore())
  const directory = await newFolder()
  const path = await earlierLedgerIn(directory)
  for (const _ of ['first', 'second']) (await openIn(directory)).file.db.close()
  expect(said.mock.calls).toEqual([
    [
      `unit-guard: ${path} was written by an earlier version, which now refuses it: to go back, restore a backup that the earlier version made (docs/one-machine.md, "Upgrade")`,
    ],
  ])
})

describe('a file that is not a ledger of this version', () => {
  test.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    [
      'is in WAL mode',
      async (path) => {
        const db = new Database(path)
        db.pragma('journal_mode = WAL')
        db.exec('CREATE TABLE t (a)')
        // Closing may leave the log, and the next program that opens the file would apply it.
        db.pragma('wal_checkpoint(TRUNCATE)')
        db.close()
      },
      /is in WAL mode, in which SQLite can lose updates: stop all programs that have it open, and run sqlite3 .* "PRAGMA journal_mode=DELETE"$/,
    ],
    [
      'is no file of SQLite',
      (path) => writeFile(path, 'spend '.repeat(1_000)),
      /is damaged \(it is not a file of SQLite\): keep it/,
    ],
    [
      'belongs to another program',
      async (path) => {
        const db = new Database(path)
        db.exec('CREATE TABLE t (a)')
        db.close()
      },
      /was written by another program or version: use that one, or set DATA_DIR to another folder.* \(0 0 instead of \d+ 2\)$/,
    ],
    [
      'has another format',
      async (path) => {
        await ledgerIn(join(path, '..'))
        const db = new Database(path)
        db.pragma('user_version = 3')
        db.close()
      },
      /was written by another program or version.* \((\d+) 3 instead of \1 2\)$/,
    ],
    [
      'was cut short',
      async (path) => {
        await ledgerIn(join(path, '..'))
        await truncate(path, 8_192)
      },
      /ledger\.db is damaged \(.*malformed\): keep it, restore a backup \(npm run restore -- from <file>\), or set DATA_DIR/,
    ],
    [
      'is a folder',
      (path) => mkdir(path),
      /ledger\.db cannot be written \(it is a folder\); set DATA_DIR to another folder$/,
    ],
  ])('a file that %s is named in one sentence and not changed', async (_name, make, sentence) => {
    const directory = await newFolder()
    const path = join(directory, 'ledger.db')
    await make(path)
    const before = await stat(path)
    await expect(openIn(directory)).rejects.toThrow(sentence)
    await expect(openIn(directory)).rejects.toMatchObject({ name: 'CannotContinue' })
    const { ino, size } = await stat(path)
    expect([ino, size]).toEqual([before.ino, before.size])
  })
})

describe('a file after a process that was killed', () => {
  /** Only a full check finds the damage in the last page. */
  async function damaged(): Promise<string> {
    const directory = await newFolder()
    const path = await ledgerIn(directory)
    const { size } = await stat(path)
    await overwrite(path, size - 4_096, Buffer.alloc(4_096, 0xff))
    return directory
  }

  test('a file after a killed process is checked completely at each start until it is sound', async () => {
    const directory = await damaged()
    await (await startGuard({ DATA_DIR: join(directory, 'other'), DEMO: 'off' })).kill()
    await rm(join(directory, 'other', 'ledger.db-journal'))
    await rename(join(directory, 'ledger.db'), join(directory, 'other', 'ledger.db'))
    for (let round = 0; round < 2; round++) {
      const { code, err } = await runLocal('start', [], { DATA_DIR: join(directory, 'other') })
      expect([code, err]).toEqual([1, expect.stringMatching(/^\S+ledger\.db is damaged \(.*\n$/)])
    }
  })

  test('a file is not checked after a clean end, and damage that is found later ends the process', async () => {
    const directory = await damaged()
    await expect(openIn(directory, { mustCheck: true })).rejects.toThrow('ledger.db is damaged')
    const said: string[] = []
    const { file } = await openIn(directory, { onDamage: (sentence) => said.push(sentence) })
    const store = createSqliteStore(file, { clock: systemClock })
    const keys = Array.from({ length: 20 }, (_, number) => ({ pk: item(number).pk, sk: 'item' }))
    await expect(store.get(keys)).rejects.toMatchObject({ name: 'LedgerUnavailable' })
    expect(said).toEqual([expect.stringContaining('ledger.db is damaged')])
  })
})

describe('the folder of a ledger', () => {
  test('a folder without write permission is named', async () => {
    await expect(openIn('/sys')).rejects.toThrow(/\/sys.* cannot be (made|written) \(.*\); set DATA_DIR to another/)
  })

  test('a folder is refused together with DYNAMODB_ENDPOINT', async () => {
    const directory = await newFolder()
    for (const script of ['start', 'sandbox', 'demo:month', 'serve'] as const) {
      const env = { DATA_DIR: directory, DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' }
      const { code, err } = await runHere(script, [], env)
      expect([code, err.trim().split('\n')]).toEqual([1, [expect.stringContaining('unset DYNAMODB_ENDPOINT')]])
    }
    expect(existsSync(join(directory, 'ledger.db'))).toBe(false)
  })
})

describe('one process serves a folder', () => {
  test('a second start names the process of the first, and a killed process does not block it', async () => {
    const env = { DATA_DIR: await newFolder(), DEMO: 'off' }
    const first = await startGuard(env)
    const words = holderOf(env.DATA_DIR)
    expect(words).toMatch(/^process \d+ on \S+$/)
    const served = {
      TRACKING_BASE_URL: 'https://service.example/v3',
      TRACKING_TOKEN: 'any',
      CALLER_KEY: 'k'.repeat(32),
    }
    for (const [script, more] of [['start'], ['demo:month'], ['serve', served]] as const) {
      const { code, out, err } = await runHere(script, [], { ...env, ...more })
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain(`another Unit Guard is using ${env.DATA_DIR} (${words}); stop it, or set DATA_DIR\n`)
    }
    await first.kill()
    const { before, release } = await takeServer(env.DATA_DIR)
    expect(before).toBe(words)
    release()
    const again = await takeServer(env.DATA_DIR)
    expect(again.before).toBe('')
    again.release()
  })

  const others = 'process 2 on elsewhere'

  /** Starts, and lets another process start before the n-th statement: it writes its words, and then has the lock or comes too late for it. */
  async function startBeside(n: number, hasLock: boolean) {
    const directory = await newFolder()
    ;(await takeServer(directory)).release()
    const other = new Database(join(directory, 'server.db'), { timeout: 1 })
    onTestFinished(() => void other.close())
    const { exec } = Database.prototype
    let [statements, comes] = [0, false]
    const start = () => {
      try {
        exec.call(other, `BEGIN IMMEDIATE; DELETE FROM holder; INSERT INTO holder VALUES ('${others}'); COMMIT`)
        if (hasLock) exec.call(other, 'BEGIN IMMEDIATE')
        return true
      } catch {
        return false
      }
    }
    Database.prototype.exec = function (sql) {
      if (statements++ === n) comes = start()
      return exec.call(this, sql)
    }
    const taken = await takeServer(directory).catch(String)
    Database.prototype.exec = exec
    return { directory, taken, comes, isOver: statements <= n }
  }

  test.each([
    ['too late for the lock', false],
    ['with the lock', true],
  ])(
    'of two starts in the same moment, the one with the lock serves under its own words: the other %s',
    async (_, hasLock) => {
      let met = 0
      for (let n = 0; ; n++) {
        const { directory, taken, comes, isOver } = await startBeside(n, hasLock)
        if (isOver) break
        if (comes) met++
        if (typeof taken === 'string') {
          expect(taken).toContain(`another Unit Guard is using ${directory} (${others})`)
          expect([comes, hasLock, holderOf(directory)]).toEqual([true, true, others])
        } else {
          expect(comes && hasLock).toBe(false)
          expect(holderOf(directory)).toBe(`process ${process.pid} on ${hostname()}`)
          taken.release()
        }
      }
      // Twice before this start has the lock, and once while it takes the lock again.
      expect(met).toBe(3)
    },
  )

  test('a busy file is retried, and then the process that uses it is named', async () => {
    const directory = await newFolder()
    const path = await ledgerIn(directory)
    const { release } = await takeServer(directory)
    onTestFinished(() => release())
    const { file } = await openIn(directory)
    const store = createSqliteStore(file, { clock: systemClock })
    const other = new Database(path)
    other.exec('BEGIN EXCLUSIVE')
    const put = (token: string, maxWaitMs: number) =>
      store.transact([{ kind: 'put', item: item(1), when: [] }], token, maxWaitMs)
    await expect(put('busy', 100)).rejects.toThrow(`the file of the ledger is busy (${holderOf(directory)})`)
    const waiting = put('waits', 10_000)
    await sleep(100)
    other.exec('COMMIT')
    other.close()
    expect(await waiting).toEqual({ applied: true })
  })
})

describe('the identity of a file', () => {
  test('the identity of a file survives opening and renaming, and a copy has another identity', async () => {
    const directory = await newFolder()
    const path = await ledgerIn(directory)
    const { id } = await openIn(directory)
    await rename(path, `${path}.moved`)
    await rename(`${path}.moved`, path)
    expect((await openIn(directory)).id).toBe(id)
    await copyFile(path, `${path}.copy`)
    await rename(`${path}.copy`, path)
    expect((await openIn(directory)).id).not.toBe(id)
  })
})
