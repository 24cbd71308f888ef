import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { troublesInWords } from '../../../infra/local/commands/doctor/troubles.ts'
import { backUp as copyLedger, unpackBackup } from '../../../infra/local/database/backup.ts'
import { machineFacts } from '../../../infra/local/database/machine-facts.ts'
import { openForCommand } from '../../../infra/local/database/open.ts'
import type { View } from '../../../shared/ledger/book/view.ts'
import type { Definitions } from '../../../shared/ledger/definitions/definitions.ts'
import { connect, firstValue, noteIn, setNote } from '../../../shared/ledger/store/sqlite-file.ts'
import { runHere } from '../../support/process/here.ts'
import { builtProgram, runLocal } from '../../support/process/local.ts'
import { diesAtEachStep } from '../../support/process/mortal.ts'
import { begun, lookInto, newFolder, service, spend } from './ledger.ts'

const backUp = (folder: string, target: string) => runHere('backup', [target], { DATA_DIR: folder })

async function targetFolder(): Promise<string> {
  const folder = await newFolder()
  await mkdir(folder, { mode: 0o755 })
  return folder
}

test('npm run backup copies the ledger into a private file, audits it and says so', async () => {
  const folder = await begun()
  await spend(folder, 100, 'spent before')
  const to = await targetFolder()
  const target = join(to, 'monday.db')
  const before = Date.now()
  const { code, out, err } = await backUp(folder, target)
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(
    /^Backed up led_\w{26} as of \S+Z: \S+monday\.db\n {2}0\.\d MB, 0 updates, 2 entries\n {2}audited: all \d+ counters match\n$/,
  )
  const { mode } = await stat(target)
  expect((mode & 0o777).toString(8)).toBe('600')
  // The folder belongs to its owner and may contain other files.
  expect(((await stat(to)).mode & 0o777).toString(8)).toBe('755')
  expect(await readdir(to)).toEqual(['monday.db'])
  const { file } = await openForCommand(folder)
  const at = Number(noteIn(file.db, 'backed-up-at'))
  file.db.close()
  expect(at).toBeGreaterThanOrEqual(before)
  expect(at).toBeLessThanOrEqual(Date.now())
  expect(out).toContain(`as of ${new Date(at).toISOString()}`)
})

/** A ledger, opened as the command opens it, and the file that gets its backup. */
async function toBackUp() {
  const folder = await begun()
  const { file } = await openForCommand(folder)
  onTestFinished(() => void file.db.close())
  const to = await targetFolder()
  return { file, to, target: join(to, 'monday.db'), notedAt: () => noteIn(file.db, 'backed-up-at') }
}

/** The time that a backup itself says. */
async function timeOf(backup: string): Promise<number> {
  const copy = `${backup}.unpacked`
  const { at } = await unpackBackup(backup, copy)
  await rm(copy)
  return at
}

test('the time of a backup is before its copy, so that the log of later runs is complete', async () => {
  const { file, target, notedAt } = await toBackUp()
  const [before, after] = [Date.now(), Date.now() + 60_000]
  vi.spyOn(Date, 'now').mockImplementation(() => (existsSync(`${target}.new`) || existsSync(target) ? after : before))
  onTestFinished(() => void vi.restoreAllMocks())
  const { at } = await copyLedger(file, target)
  expect([at, await timeOf(target), notedAt()]).toEqual([before, before, String(before)])
})

test('a backup that dies at any step is either whole or not noted, and can be repeated', async () => {
  const steps = await diesAtEachStep(toBackUp, async (process, { file, to, target, notedAt }) => {
    const made = await copyLedger(file, target).catch(() => null)
    process.revive()
    expect(made?.isNoted !== true).toBe(process.isDead())
    const isThere = existsSync(target)
    if (isThere) expect(await timeOf(target)).toBeGreaterThan(0)
    if (notedAt() !== null) expect([isThere, await timeOf(target)]).toEqual([true, Number(notedAt())])

    const second = isThere ? `${target}.second` : target
    const { at } = await copyLedger(file, second)
    expect([await timeOf(second), notedAt()]).toEqual([at, String(at)])
    expect((await readdir(to)).toSorted()).toEqual(isThere ? ['monday.db', 'monday.db.second'] : ['monday.db'])
  })
  // The header and the file, then its name and the folder: a power cut must not leave a note without its backup.
  expect(steps).toEqual(['write', 'sync', 'rename', 'sync', 'rm', 'commit'])
})

test('a backup replaces no file, not even an earlier backup', async () => {
  const folder = await begun()
  const target = join(await targetFolder(), 'monday.db')
  await writeFile(target, 'mine')
  const { code, out, err } = await backUp(folder, target)
  expect([code, out, err]).toEqual([1, '', `${target} exists: a backup replaces nothing, so name a new file\n`])
  expect(await readFile(target, 'utf8')).toBe('mine')
  const own = await backUp(folder, join(folder, 'ledger.db'))
  expect([own.code, own.err]).toEqual([1, expect.stringContaining('a backup replaces nothing')])
})

test('a missing folder for the backup is named, and the ledger does not count as backed up', async () => {
  const folder = await begun()
  const target = join(folder, 'missing', 'monday.db')
  const { code, err } = await backUp(folder, target)
  expect([code, err]).toEqual([1, `${target} could not be made (it is not there)\n`])
  const { file } = await openForCommand(folder)
  expect(noteIn(file.db, 'backed-up-at')).toBeNull()
  file.db.close()
})

test('a backup that failed is a trouble until the next one', async () => {
  const folder = await begun()
  const { definitions } = await lookInto(folder)
  const { file } = await openForCommand(folder)
  onTestFinished(() => void file.db.close())
  const troubles = async () => {
    const now = Date.now()
    const machine = await machineFacts(file, folder)
    return troublesInWords({ view: { definitions } as View, machine, noted: [], now })
  }
  expect((await backUp(folder, join(folder, 'missing', 'monday.db'))).code).toBe(1)
  expect(await troubles()).toEqual([
    expect.stringMatching(/^The backup of .* failed\. Run npm run backup -- <file>, which says why\.$/),
  ])
  expect((await backUp(folder, join(await targetFolder(), 'tuesday.db'))).code).toBe(0)
  expect(await troubles()).toEqual([])
})

test('no backup is made of a damaged ledger', async () => {
  const folder = await begun()
  const path = join(folder, 'ledger.db')
  // The file lacks its last pages.
  await truncate(path, (await stat(path)).size - 8_192)
  const to = await targetFolder()
  const { code, out, err } = await backUp(folder, join(to, 'monday.db'))
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/malformed/)
  expect(await readdir(to)).toEqual([])
})

test('no backup is made of a folder without a ledger, or of an empty file', async () => {
  const folder = await targetFolder()
  const target = join(folder, 'monday.db')
  expect((await backUp(folder, target)).err).toContain('There is no ledger in')
  await writeFile(join(folder, 'ledger.db'), '')
  expect((await backUp(folder, target)).err).toContain('the file holds no ledger yet: begin it once')
  expect(await readdir(folder)).not.toContain('monday.db')
})

test('a backup in place of a ledger is never served, and no command opens it', async () => {
  const folder = await begun()
  const other = await targetFolder()
  await backUp(folder, join(other, 'ledger.db'))
  await chmod(other, 0o700)
  const env = { DATA_DIR: other, ...service }
  for (const { code, out, err } of [await runLocal('start', [], env), await runHere('account', ['adopt'], env)])
    expect([code, out, err]).toEqual([
      1,
      '',
      `${join(other, 'ledger.db')} is a backup, which lacks what ran since: move it out of the folder, and run npm run restore -- from <file>\n`,
    ])
})

test('npm run doctor asks for a backup after 26 hours without one, but not for a ledger of the stand-in', async () => {
  const folder = await begun()
  const { definitions } = await lookInto(folder)
  const { file } = await openForCommand(folder)
  onTestFinished(() => void file.db.close())
  const late = 26 * 3600_000
  const missing = async (now: number, of = definitions) =>
    troublesInWords({ view: { definitions: of } as View, machine: await machineFacts(file, folder), noted: [], now })
  const remedy = 'Run npm run backup -- <file>, and see why the timer did not.'
  expect(await missing(definitions.createdAt + late)).toEqual([])
  expect(await missing(definitions.createdAt + late + 1)).toEqual([`There is no backup yet. ${remedy}`])
  const at = Date.parse('2030-01-02T03:04:00Z')
  setNote(file.db, 'backed-up-at', String(at))
  expect(await missing(at + late)).toEqual([])
  expect(await missing(at + late + 1)).toEqual([`The last backup is of 2 Jan 2030 03:04 UTC. ${remedy}`])
  const { identity } = definitions
  expect(
    await missing(at + 9 * late, { ...definitions, identity: { ...identity, service: 'sandbox' } } as Definitions),
  ).toEqual([])

  setNote(file.db, 'backed-up-at', String(Date.now() - late - 1))
  const { out } = await runHere('doctor', [], { DATA_DIR: folder, ...service, TRACKING_TOKEN: 'canary' })
  expect(out).toMatch(/What matters first\n( {2}.*\n)* {2}The last backup is of .*\. Run npm run backup/)
})

test('a backup shows one moment while another process writes, and the writer waits less than its limit', async () => {
  const folder = await begun()
  const writer = spawn(process.execPath, [builtProgram('writer'), folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void writer.kill('SIGKILL'))
  const waits: number[] = []
  writer.stdout.setEncoding('utf8').on('data', (text: string) => waits.push(...text.trim().split('\n').map(Number)))
  await once(writer.stdout, 'data')
  const to = await targetFolder()
  const numbers: unknown[] = []
  for (let round = 0; round < 3; round++) {
    const target = join(to, `${round}.db`)
    const began = waits.length
    expect(await backUp(folder, target)).toMatchObject({ code: 0, err: '' })
    expect(waits.length).toBeGreaterThan(began)
    const db = connect(target)
    const [one, two] = ['one', 'two'].map((name) =>
      firstValue(
        db,
        `SELECT json_extract(CAST(substr(item, 5) AS TEXT), '$.number') FROM items WHERE pk = 'pair#${name}'`,
      ),
    )
    db.close()
    expect(one).toBe(two)
    numbers.push(one)
  }
  expect(new Set(numbers).size).toBe(3)
  expect(Math.max(...waits)).toBeLessThan(10_000)
  expect(writer.exitCode).toBeNull()
})
