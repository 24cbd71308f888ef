import { existsSync } from 'node:fs'
import { copyFile, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { backUp } from '../../../infra/local/database/backup.ts'
import { fileMarker } from '../../../infra/local/database/marker-store.ts'
import { openForCommand } from '../../../infra/local/database/open.ts'
import { takeServer } from '../../../infra/local/database/server-lock.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { connect, firstValue } from '../../../shared/ledger/store/sqlite-file.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { runHere } from '../../support/process/here.ts'
import { runLocal } from '../../support/process/local.ts'
import { begun, lookInto, markerIn, newFolder, service, spend } from './ledger.ts'

const restore = (folder: string, args: readonly string[], env: object = {}) =>
  runHere('restore', args, { DATA_DIR: folder, ...env })

/** A ledger with a backup that lacks its last entry. */
async function backedUp() {
  const folder = await begun()
  await spend(folder, 100, 'spent before')
  const { file } = await openForCommand(folder)
  const backup = `${folder}-backup.db`
  const { at, ledger } = await backUp(file, backup)
  file.db.close()
  await spend(folder, 50, 'spent after')
  return { folder, backup, at, ledger }
}

/** What a start would find with the marker and the service of the settings. */
async function served(folder: string): Promise<string> {
  const opened = await openForCommand(folder).catch((error: Error) => error)
  if (opened instanceof Error) return opened.name
  const { store, file } = opened
  const expected = { service: service.TRACKING_BASE_URL, marker: await fileMarker(folder).read() }
  const ledger = createLedger({ store, clock: systemClock, account: usualAccount, expected, begins: false })
  try {
    const { definitions, month } = await ledger.view()
    const { rows } = await ledger.entries({ month: month.name }, 10)
    const has = rows.some(({ reason }) => reason === 'spent after')
    return `${has ? 'all' : 'restored'}, ${definitions.budgets.account?.frozen ? 'frozen' : 'open'}`
  } catch (error) {
    return (error as Error).name
  } finally {
    file.db.close()
  }
}

const asideIn = async (folder: string) =>
  (await readdir(folder)).filter((name) => name.startsWith('ledger.db.before-') && !name.endsWith('-journal'))

/** Whether the earlier file has the entry that the backup lacks. */
function hasLast(path: string): boolean {
  const db = connect(path)
  try {
    return firstValue(db, "SELECT count(*) FROM sqlite_master WHERE name = 'items'") === 1
      ? firstValue(
          db,
          "SELECT count(*) FROM items WHERE instr(item, CAST('spent after' AS BLOB)) > 0 AND pk LIKE 'entry#%'",
        ) === 1
      : false
  } finally {
    db.close()
  }
}

describe('npm run restore -- from', () => {
  test('a restore keeps the replaced ledger, freezes the account and raises the epoch', async () => {
    const { folder, backup, at, ledger } = await backedUp()
    const before = await readFile(backup)
    const dry = await restore(folder, ['from', backup, '--dry-run'])
    expect([dry.code, dry.err]).toEqual([0, ''])
    expect(dry.out).toBe(
      `${backup} has the ledger ${ledger} as of ${new Date(at).toISOString()}; it takes the place of ${join(folder, 'ledger.db')}.\nNothing was changed (--dry-run).\n`,
    )
    expect(await served(folder)).toBe('all, open')
    expect((await readdir(folder)).filter((name) => /\.(new|before)/.test(name))).toEqual([])

    const { code, out, err } = await restore(folder, ['from', backup])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(' stays in the file ')
    expect(out).toMatch(
      /Accepted\. Start, book what ran since \(npm run recover\), reconcile, and unfreeze account\.\n$/,
    )
    const { definitions, isSound, reasons } = await lookInto(folder)
    expect(isSound).toBe(true)
    expect(reasons).toContain('spent before')
    expect(reasons).not.toContain('spent after')
    expect(definitions.identity).toMatchObject({ ledger, epoch: 1, restored: { to: at } })
    expect(definitions.budgets.account?.frozen).toMatchObject({ by: 'setup' })
    expect(await markerIn(folder)).toBe(`${ledger} 1 ${definitions.identity?.table} ledger.db\n`)
    expect(await served(folder)).toBe('restored, frozen')
    const [aside = '', ...more] = await asideIn(folder)
    expect([more, hasLast(join(folder, aside))]).toEqual([[], true])
    expect(await readFile(backup)).toEqual(before)
  })

  test('a restore leaves an old journal with the replaced file, which the journal completes', async () => {
    const { folder, backup } = await backedUp()
    const path = join(folder, 'ledger.db')
    // A killed writer leaves a torn file and the journal that repairs it.
    const db = connect(path)
    db.pragma('cache_size = 2')
    db.exec('BEGIN IMMEDIATE')
    db.exec("UPDATE items SET item = replace(hex(zeroblob(50000)), '00', 'torn')")
    for (const name of [path, `${path}-journal`]) await copyFile(name, `${name}.torn`)
    db.exec('ROLLBACK')
    db.close()
    for (const name of [path, `${path}-journal`]) await rename(`${name}.torn`, name)
    expect((await readFile(path)).includes('torn')).toBe(true)

    expect(await restore(folder, ['from', backup])).toMatchObject({ code: 0, err: '' })
    expect(await served(folder)).toBe('restored, frozen')
    const [aside = ''] = await asideIn(folder)
    expect(existsSync(join(folder, `${aside}-journal`))).toBe(true)
    expect(hasLast(join(folder, aside))).toBe(true)
  })

  test('a restore repairs a damaged ledger, and a ledger whose file is gone', async () => {
    const { folder, backup } = await backedUp()
    await truncate(join(folder, 'ledger.db'), 8_192)
    expect(await restore(folder, ['from', backup])).toMatchObject({ code: 0, err: '' })
    expect(await served(folder)).toBe('restored, frozen')
    await rm(join(folder, 'ledger.db'))
    expect(await restore(folder, ['from', backup])).toMatchObject({ code: 0, err: '' })
    expect(await served(folder)).toBe('restored, frozen')
    expect((await lookInto(folder)).definitions.identity?.epoch).toBe(2)
  })

  test('a restore gives the ledger and its marker to a new folder', async () => {
    const { backup, ledger } = await backedUp()
    const folder = await newFolder()
    expect(await restore(folder, ['from', backup], service)).toMatchObject({ code: 0, err: '' })
    expect(await served(folder)).toBe('restored, frozen')
    expect(await markerIn(folder)).toContain(`${ledger} 1 `)
  })

  test.each<[string, (of: Awaited<ReturnType<typeof backedUp>>) => Promise<string>, RegExp]>([
    [
      'a plain copy of a ledger',
      async ({ folder, backup }) => {
        await copyFile(join(folder, 'ledger.db'), `${backup}.copy`)
        return `${backup}.copy`
      },
      /\.copy was not made by npm run backup, so it is not restored\n$/,
    ],
    [
      'a file of something else',
      async ({ backup }) => {
        await writeFile(`${backup}.text`, 'spend '.repeat(1_000))
        return `${backup}.text`
      },
      /\.text was not made by npm run backup/,
    ],
    [
      'an empty file',
      async ({ backup }) => {
        await writeFile(`${backup}.empty`, '')
        return `${backup}.empty`
      },
      /\.empty was not made by npm run backup/,
    ],
    ['a missing file', async ({ backup }) => `${backup}.missing`, /\.missing cannot be restored \(it is not there\)/],
    ['a folder', async ({ folder }) => folder, /cannot be restored \(it is a folder\)/],
    [
      'a backup that was cut short',
      async ({ backup }) => {
        await truncate(backup, 8_192)
        return backup
      },
      /-backup\.db cannot be restored \(.*malformed.*\): take another backup\n$/,
    ],
    [
      'a backup of another ledger',
      async () => (await backedUp()).backup,
      /is a backup of the ledger led_\w+, but the marker in \S+ names led_\w+: set DATA_DIR to the folder of its ledger/,
    ],
    [
      'a backup where the ledger has no marker',
      async ({ folder, backup }) => {
        await rm(join(folder, 'ledger'))
        return backup
      },
      /ledger\.db has no marker beside it, so it may be of another ledger: move it out of the folder first\.\n$/,
    ],
  ])('a restore refuses %s, and changes nothing', async (_name, make, sentence) => {
    const made = await backedUp()
    const source = await make(made)
    const files = (await readdir(made.folder)).filter((name) => !name.startsWith('server.db'))
    const { code, out, err } = await restore(made.folder, ['from', source])
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(sentence)])
    expect((await readdir(made.folder)).filter((name) => !name.startsWith('server.db'))).toEqual(files)
    expect(await served(made.folder)).toBe('all, open')
  })

  test('a restore is refused while another process serves the folder', async () => {
    const { folder, backup } = await backedUp()
    const { release } = await takeServer(folder)
    const { code, err } = await restore(folder, ['from', backup])
    release()
    expect([code, err]).toEqual([1, expect.stringContaining('another Unit Guard is using')])
    expect(await served(folder)).toBe('all, open')
  })
})

const kills = 120_000

test(
  'a restore that is killed at any step leaves no partial ledger to serve, and can be repeated',
  async () => {
    const hook = `--import=${resolve('test/support/process/killed-at.js')}`
    const killedAt = async (step: number) => {
      const made = await backedUp()
      const env = { DATA_DIR: made.folder, NODE_OPTIONS: hook, KILL_AT: String(step) }
      return { ...made, step, killed: await runLocal('restore', ['from', made.backup], env) }
    }
    const seen = new Set<string>()
    // The next restore runs while this restore is examined.
    let next = killedAt(1)
    for (;;) {
      const { step, folder, backup, ledger, killed } = await next
      next = killedAt(step + 1)
      expect([null, 0]).toContain(killed.code)
      const isThere = existsSync(join(folder, 'ledger.db'))
      // Another start may come between the two restores.
      const between = isThere || step % 2 === 0 ? await served(folder) : 'nothing'
      // The marker does not know the id of the restored file yet, so its journal counts as another file's.
      expect(['all, open', 'WrongLedger', 'CannotContinue', 'restored, frozen', 'nothing']).toContain(between)
      seen.add(between)

      const again = await restore(folder, ['from', backup])
      expect([step, again.code, again.err]).toEqual([step, 0, ''])
      const { definitions, isSound } = await lookInto(folder)
      const { identity } = definitions
      expect(isSound).toBe(true)
      expect(await served(folder)).toBe('restored, frozen')
      expect([1, 2]).toContain(identity?.epoch)
      expect(await markerIn(folder)).toBe(`${ledger} ${identity?.epoch} ${identity?.table} ledger.db\n`)
      const aside = await asideIn(folder)
      expect(aside.filter((name) => hasLast(join(folder, name)))).toHaveLength(1)
      expect((await readdir(folder)).filter((name) => name.includes('.new'))).toEqual([])
      if (killed.code === 0) break
      expect(step).toBeLessThan(50)
    }
    await next
    expect([...seen].sort()).toEqual(['CannotContinue', 'WrongLedger', 'all, open', 'nothing', 'restored, frozen'])
  },
  kills,
)
