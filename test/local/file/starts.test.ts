import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openFile } from '../../../infra/local/database/file.ts'
import { takeServer } from '../../../infra/local/database/server-lock.ts'
import { runHere } from '../../support/process/here.ts'
import { newFolder, spawnLocal, startGuard } from '../../support/process/local.ts'

const openIn = (directory: string) => openFile(directory, 'ledger.db')

/** A folder of an ended `npm start`, without the files that a killed one leaves. */
async function begun(): Promise<string> {
  const directory = await newFolder()
  await (await startGuard({ DATA_DIR: directory, DEMO: 'off' })).stop()
  return directory
}

/** The sentence of a command that is refused; by default of `start`. */
async function sentenceOf(directory: string, how: { day?: string; isBare?: boolean } = {}): Promise<string> {
  const env = { DATA_DIR: directory, DEMO: 'off' }
  // Without these capabilities, even root may not write other users' files.
  const under = ['setpriv', '--bounding-set=-dac_override,-dac_read_search']
  const ended = how.isBare
    ? spawnLocal('start', { env, ...(process.getuid?.() === 0 && { under }) }).ended
    : runHere(how.day ? 'account' : 'start', how.day ? ['renewal', '--day', how.day] : [], env)
  const { code, out, err } = await ended
  expect([code, out, err.trim().split('\n')]).toEqual([1, '', [err.trim()]])
  return err
}

describe('a start in a folder with a missing or foreign file says one sentence and begins nothing:', () => {
  test('the state of the stand-in is missing, empty or damaged beside a ledger', async () => {
    const directory = await begun()
    const state = join(directory, 'sandbox.db')
    await truncate(state, 0)
    expect(await sentenceOf(directory)).toContain(
      `${state}, the state of the stand-in, is missing, but its ledger is here`,
    )
    await rm(state)
    expect(await sentenceOf(directory)).toContain(
      `${state}, the state of the stand-in, is missing, but its ledger is here`,
    )
    expect(existsSync(state)).toBe(false)
    await writeFile(state, 'spend '.repeat(1_000))
    expect(await sentenceOf(directory)).toContain(`${state} is damaged (it is not a file of SQLite)`)
  })

  test('the ledger is missing, of another form, or not writable by this user', async () => {
    const directory = await begun()
    const path = join(directory, 'ledger.db')
    const db = new Database(path)
    // Without its checksum, the item is one of an earlier version.
    const json = "json_remove(CAST(substr(item, 5) AS TEXT), '$.form')"
    db.exec(`UPDATE items SET item = ${json} WHERE pk = 'definitions'`)
    db.close()
    const otherForm = `${path} was written by another program or version: use that one, or set DATA_DIR to another folder, where a new ledger begins (form none instead of 1)\n`
    expect(await sentenceOf(directory, { isBare: true })).toBe(otherForm)
    expect(await sentenceOf(directory, { day: '3' })).toBe(otherForm)

    if (process.getuid?.() === 0) await chown(path, 65_534, 65_534)
    await chmod(path, 0o400)
    expect(await sentenceOf(directory, { isBare: true })).toContain(`${path} cannot be written (permission denied)`)

    await rm(path)
    expect(await sentenceOf(directory)).toContain('the file is empty, and the ledger led_')
    expect(existsSync(path)).toBe(false)
  })

  test('the file of the lock belongs to another program', async () => {
    const directory = await newFolder()
    await writeFile(join(directory, 'server.db'), 'spend '.repeat(1_000))
    await expect(takeServer(directory)).rejects.toThrow(
      /server\.db cannot be used \(.*\): make room on its disk, or delete this file/,
    )
  })
})

/** A process in the middle of a transaction on a file. */
async function startWriter(path: string, transaction: string) {
  const open = `const db = new (require('libsql'))(${JSON.stringify(path)})`
  const script = [open, transaction, "console.log('writes'); setTimeout(() => {}, 60000)"].join('\n')
  const writer = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void writer.kill('SIGKILL'))
  await once(writer.stdout, 'data')
  return writer
}

describe('the journal of a killed process', () => {
  /** A ledger with a journal that SQLite would replay, as kill -9 leaves it. */
  async function killed() {
    const directory = await newFolder()
    const path = join(directory, 'ledger.db')
    const { file, id } = await openIn(directory)
    file.db.close()
    await writeFile(join(directory, 'ledger'), `led_${'0'.repeat(26)} 0 ${id} ledger.db\n`)
    const writer = await startWriter(
      path,
      `db.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE")
      for (let n = 0; n < 50; n++) db.exec("INSERT INTO items VALUES ('half" + n + "', 's', '" + 'x'.repeat(3000) + "', NULL, NULL, NULL, NULL, NULL)")`,
    )
    writer.kill('SIGKILL')
    await once(writer, 'exit')
    expect((await stat(`${path}-journal`)).size).toBeGreaterThan(0)
    return { directory, path }
  }

  test('a journal is replayed over its own file', async () => {
    const { directory } = await killed()
    const { file } = await openIn(directory)
    expect(file.db.prepare('SELECT count(*) FROM items').raw().get()).toEqual([0])
  })

  test('a journal is not replayed over another file of that name, and not lost if the file was renamed', async () => {
    const { directory, path } = await killed()
    await rename(path, `${path}.old`)
    const left = (await stat(`${path}-journal`)).size
    const missing = `${path}-journal is there, but its file ${path} is missing: put that file back, or restore a backup`
    await expect(openIn(directory)).rejects.toThrow(missing)
    expect(existsSync(path)).toBe(false)
    await writeFile(path, '')
    await expect(openIn(directory)).rejects.toThrow(missing)

    const other = await newFolder()
    ;(await openIn(other)).file.db.close()
    await rename(join(other, 'ledger.db'), path)
    const before = await stat(path)
    await expect(openIn(directory)).rejects.toThrow('-journal belongs to another file than')
    expect([(await stat(path)).mtimeMs, (await stat(`${path}-journal`)).size]).toEqual([before.mtimeMs, left])
    await rename(`${path}.old`, path)
    await openIn(directory)
  })
})

test('a command waits ten seconds for a busy file, and then names the process that uses it', async () => {
  const directory = await newFolder()
  ;(await openIn(directory)).file.db.close()
  const { pid } = await startWriter(join(directory, 'ledger.db'), "db.exec('BEGIN EXCLUSIVE')")
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const from = Date.now()
  let isOver = false
  const said = sentenceOf(directory, { day: '3' }).finally(() => {
    isOver = true
  })
  for (; !isOver; await sleep(20)) vi.setSystemTime(Date.now() + 500)
  expect(await said).toBe(`The ledger does not answer: the file of the ledger is busy (process ${pid}).\n`)
  expect(Date.now() - from).toBeGreaterThanOrEqual(10_000)
})
