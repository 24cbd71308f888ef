import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { copyFile, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEnvFile } from '../../../infra/local/data-directory.ts'
import { chanceOf } from '../../simulation/workloads/chance.ts'
import type { Flipped } from '../../support/process/flips.ts'
import { runHere } from '../../support/process/here.ts'
import {
  builtProgram,
  callerOf,
  newFolder,
  spawnLocal,
  startGuard,
  temporaryDirectory,
} from '../../support/process/local.ts'

let sound: Awaited<ReturnType<typeof temporaryDirectory>>
let ids: readonly string[] = []

/** The ledger of an `npm start` that ended after some updates. */
beforeAll(async () => {
  sound = await temporaryDirectory()
  const server = spawnLocal('start', { env: { DATA_DIR: sound.directory, DEMO: 'off' } })
  await server.ready()
  const call = callerOf(readEnvFile(sound.directory))
  const projects = ['acme.example', 'globex', 'initech', 'daily.example', 'café & co/paris']
  const { body } = await call('/updates', { body: { kind: 'ranking', projects }, key: 'one' })
  ids = body.updates.map(({ id }: { id: string }) => id)
  server.signal('SIGTERM')
  await server.ended
}, 60_000)
afterAll(() => sound?.remove())

/** A copy of the folder. Its file has another id, which the marker and the ledger accept. */
async function copied(): Promise<string> {
  const directory = await newFolder()
  await cp(sound.directory, directory, { recursive: true })
  const { code, err } = await runHere('account', ['moved'], { DATA_DIR: directory })
  expect([code, err]).toEqual([0, ''])
  return directory
}

async function changeFile(directory: string, change: (bytes: Buffer) => void): Promise<void> {
  const path = join(directory, 'ledger.db')
  const bytes = await readFile(path)
  change(bytes)
  await writeFile(path, bytes)
}

/** Writes bytes over each place of a text in the file of a ledger. */
const overwrite = (directory: string, old: string, by: Buffer) =>
  changeFile(directory, (bytes) => {
    expect(bytes.includes(old)).toBe(true)
    for (let at = bytes.indexOf(old); at >= 0; at = bytes.indexOf(old, at + 1)) by.copy(bytes, at)
  })

/** An item as an earlier version stored it: a text without a checksum, in a file of that version. */
function asBefore(directory: string, pk: string): void {
  const db = new Database(join(directory, 'ledger.db'))
  db.prepare<[string]>('UPDATE items SET item = CAST(substr(item, 5) AS TEXT) WHERE pk = ?').run(pk)
  db.exec('PRAGMA user_version = 1')
  db.close()
}

describe('one record with a byte that is not UTF-8', () => {
  test.each([
    ['with a checksum', false, 'its checksum does not match its content'],
    ['of an earlier version', true, 'it is not UTF-8'],
  ])('a record %s stops only what needs it, and start, doctor and backup name it', async (_, isOld, fault) => {
    const directory = await copied()
    const [bad = '', good = ''] = ids
    const key = `update#${bad} (update)`
    if (isOld) asBefore(directory, `update#${bad}`)
    await overwrite(directory, `"id":"${bad}"`, Buffer.from([0x22, 0xff]))

    const guard = await startGuard({ DATA_DIR: directory, DEMO: 'off' })
    const answer = await guard.call(`/updates/${bad}`)
    expect([answer.status, answer.body.detail]).toEqual([
      503,
      `The stored item ${key} is damaged, so what needs it is refused. Sending the request again does not help: an operator restores a backup (npm run doctor names all damage).`,
    ])
    const list = await guard.call('/updates')
    expect([list.status, list.body.detail]).toEqual([503, expect.stringContaining(key)])
    expect((await guard.call(`/updates/${good}`)).status).toBe(200)
    const more = { kind: 'keyword-difficulty', project: 'daily.example' }
    expect((await guard.call('/updates', { body: more, key: 'two' })).status).toBeLessThan(300)
    expect(await guard.stop()).toMatchObject({ code: 0 })

    const env = { DATA_DIR: directory }
    const doctor = await runHere('doctor', [], env)
    expect(doctor.code).toBe(1)
    expect(doctor.out).toContain('1 part of the ledger is damaged (see below), and what needs it is answered 503')
    expect(doctor.out).toContain(`${key}: ${fault}`)
    const backup = await runHere('backup', [join(directory, 'backup.db')], env)
    expect([backup.code, backup.err]).toEqual([
      1,
      [
        'It is not audited, because a part of the ledger is damaged, and so is its copy. Keep the earlier backups and restore one without this damage (npm run restore -- from <file>):',
        `  ${key}: ${fault}\n`,
      ].join('\n'),
    ])
  })

  test.each([
    ['the definitions', 'definitions', 'definitions (definitions)'],
    ['the book of the month', 'book', 'book (month:'],
  ])('damage in %s allows no hold, and the answer names it', async (_, pk, key) => {
    const directory = await copied()
    const db = new Database(join(directory, 'ledger.db'))
    db.prepare<[string]>('UPDATE items SET item = CAST(\'{"pk":\' AS BLOB) WHERE pk = ?').run(pk)
    db.close()
    const { call, stop } = await startGuard({ DATA_DIR: directory, DEMO: 'off' })
    const body = { kind: 'ranking', project: 'initech' }
    const answer = await call('/updates', { body, key: 'two' })
    expect([answer.status, answer.body.detail]).toEqual([503, expect.stringContaining(`The stored item ${key}`)])
    await stop()
    const { code, out } = await runHere('doctor', [], { DATA_DIR: directory })
    expect([code, out]).toEqual([1, expect.stringContaining(key)])
  })
})

/** How many flips one process opened, what they became, and how it ended. */
async function openFlips(folder: string, first: number) {
  const child = spawn(process.execPath, [builtProgram('flips'), folder, String(first)])
  const ended = new Promise<string>((resolve) => child.on('exit', (code, signal) => resolve(signal ?? String(code))))
  const [out, err, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  const lines = out.split('\n').filter((line) => line.endsWith('}'))
  return { flips: lines.map((line): Flipped => JSON.parse(line)), end, err }
}

const flips = 150
const sentence =
  /ledger\.db is damaged \(|was written by another program or version|is in WAL mode|is a backup|cannot be read or written/

test(`of a ledger with one flipped bit, ${flips} times, every read is right, or names the damage as doctor and backup do`, async () => {
  const seed = randomInt(2 ** 31)
  const folder = await newFolder()
  await copyFile(join(sound.directory, 'ledger.db'), join(folder, 'sound.db'))
  const bytes = await readFile(join(folder, 'sound.db'))
  const chance = chanceOf(seed)
  const bits: number[] = []
  while (bits.length < flips) {
    const bit = chance(bytes.length * 8)
    // Most bytes are zero, because pages are not full.
    if (bytes[bit >> 3] !== 0) bits.push(bit)
  }
  await writeFile(join(folder, 'bits.json'), JSON.stringify(bits))
  const seen: Flipped[] = []
  while (seen.length < flips) {
    const { flips: found, end, err } = await openFlips(folder, seen.length)
    seen.push(...found)
    expect([end, seen.length, err], `seed ${seed}`).toEqual(['0', flips, ''])
  }
  for (const flip of seen) {
    const { ended, damaged, silent, doctor, backup } = flip
    const said = `seed ${seed}: ${JSON.stringify(flip, null, 1)}`
    expect(silent, said).toEqual([])
    if (ended !== undefined) expect(ended, said).toMatch(sentence)
    for (const lines of [doctor, backup]) {
      if (ended !== undefined) expect(lines, said).not.toEqual([])
      for (const key of damaged) expect(lines.join('\n'), said).toContain(key.replace(/^list /, ''))
    }
  }
  // Otherwise the flips would show nothing.
  expect(seen.filter(({ damaged }) => damaged.length > 0).length, `seed ${seed}`).toBeGreaterThan(10)
}, 60_000)
