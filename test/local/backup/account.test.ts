import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openForCommand } from '../../../infra/local/database/open.ts'
import { takeServer } from '../../../infra/local/database/server-lock.ts'
import { usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { runHere } from '../../support/process/here.ts'
import { temporaryDirectory } from '../../support/process/local.ts'
import { diesAtEachStep } from '../../support/process/mortal.ts'

const service = { TRACKING_BASE_URL: 'https://service.example/v3' }
const opening = {
  ...service,
  ACCOUNT_UNITS_PER_MONTH: '20000',
  ACCOUNT_UNITS_USED_AT_START: '800',
  ACCOUNT_RENEWAL_DAY: '12',
  ACCOUNT_TIME_ZONE: 'UTC',
}

async function newFolder(): Promise<string> {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  return join(directory, 'data')
}

const account = (folder: string, what: string, env: object = {}, ...more: string[]) =>
  runHere('account', [what, ...more], { DATA_DIR: folder, ...env })

async function begun() {
  const folder = await newFolder()
  const { code, err } = await account(folder, 'begin', opening)
  expect([code, err]).toEqual([0, ''])
  return folder
}

async function definitionsIn(folder: string) {
  const { store, file } = await openForCommand(folder)
  const { definitions } = await createLedger({ store, clock: systemClock, account: usualAccount, begins: false }).view()
  file.db.close()
  return definitions
}

/** A copy of a folder, in which every file is a new one. */
async function copied(): Promise<string> {
  const folder = await begun()
  const target = `${folder}-moved`
  await cp(folder, target, { recursive: true })
  return target
}

const markerIn = (folder: string) => readFile(join(folder, 'ledger'), 'utf8')

describe('npm run account -- begin, on one machine', () => {
  test('account -- begin makes the ledger with its opening position and the marker, once', async () => {
    const folder = await newFolder()
    const first = await account(folder, 'begin', opening)
    expect([first.code, first.err]).toEqual([0, ''])
    expect(first.out).toMatch(
      /^Begun: led_\w{26} in the file .*ledger\.db, a ledger of https:\/\/service\.example\/v3\. Keep the marker beside the file\.\n$/,
    )
    const { identity } = await definitionsIn(folder)
    expect(identity).toMatchObject({
      service: 'https://service.example/v3',
      began: { unitsPerMonth: 20_000, usedAtStart: 800, renewal: { day: 12, time: '00:00', zone: 'UTC' } },
    })
    const marker = await markerIn(folder)
    expect(marker).toBe(`${identity?.ledger} 0 ${identity?.table} ledger.db\n`)

    const again = await account(folder, 'begin', opening)
    expect([again.code, again.err]).toEqual([
      1,
      `The marker ${join(folder, 'ledger')} names the ledger ${identity?.ledger}, which was begun already and is in ledger.db.\n`,
    ])
    await rm(join(folder, 'ledger.db'))
    expect((await account(folder, 'begin', opening)).err).toContain(
      'is not here: mount its disk, or restore a backup (npm run restore -- from <file>)',
    )
    expect(existsSync(join(folder, 'ledger.db'))).toBe(false)
    expect(await markerIn(folder)).toBe(marker)
  })

  test.each<[string, object, RegExp]>([
    ['without a service', { TRACKING_BASE_URL: '' }, /^Set TRACKING_BASE_URL to .* npm start begins .* the stand-in/],
    ['with a service that is no address', { TRACKING_BASE_URL: 'service' }, /TRACKING_BASE_URL: must be/],
    ['without a limit', { ACCOUNT_UNITS_PER_MONTH: '' }, /ACCOUNT_UNITS_PER_MONTH: must be a whole number/],
    ['without an opening position', { ACCOUNT_UNITS_USED_AT_START: '' }, /ACCOUNT_UNITS_USED_AT_START: must be/],
    ['without a renewal day', { ACCOUNT_RENEWAL_DAY: '' }, /ACCOUNT_RENEWAL_DAY: must be/],
    ['without a time zone', { ACCOUNT_TIME_ZONE: '' }, /ACCOUNT_TIME_ZONE: must be/],
    [
      'with more used than there is',
      { ACCOUNT_UNITS_USED_AT_START: '20001' },
      /must be at most ACCOUNT_UNITS_PER_MONTH/,
    ],
    ['in memory', { DATA_DIR: 'memory' }, /^DATA_DIR=memory keeps nothing/],
  ])('account -- begin %s begins nothing and makes no file', async (_name, env, sentence) => {
    const folder = await newFolder()
    const { code, out, err } = await account(folder, 'begin', { ...opening, ...env })
    expect([code, out, err]).toEqual([1, '', expect.stringMatching(sentence)])
    expect(existsSync(folder)).toBe(false)
  })

  test('account -- begin refuses a ledger without its marker, and adopt writes the marker again', async () => {
    const folder = await begun()
    const marker = await markerIn(folder)
    const changed = await account(folder, 'renewal', service, '--day', '20')
    expect(changed.code).toBe(0)
    await rm(join(folder, 'ledger'))
    const { code, err } = await account(folder, 'begin', opening)
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /already holds the ledger led_\w+, but its marker is missing: npm run account -- adopt writes/,
      ),
    ])
    expect((await account(folder, 'adopt', service, '--dry-run')).out).toContain('Nothing was changed (--dry-run).')
    expect(existsSync(join(folder, 'ledger'))).toBe(false)
    expect(await account(folder, 'adopt', service)).toMatchObject({ code: 0, err: '' })
    expect(await markerIn(folder)).toBe(marker)
  })

  test('account -- renewal is refused, also with --dry-run, if it would lose grants of the next month', async () => {
    const folder = await begun()
    const { store, file } = await openForCommand(folder)
    await createLedger({ store, clock: systemClock, account: usualAccount, begins: false }).enter({
      id: 'ent_next',
      content: 'c',
      type: 'grant',
      budget: 'account',
      units: 70,
      window: 'next-month',
      wholeChain: false,
      reason: 'bought',
      by: 'ada',
    })
    file.db.close()
    const { calendar } = await definitionsIn(folder)
    for (const dry of [['--dry-run'], []]) {
      const { code, err } = await account(folder, 'renewal', service, '--day', '20', ...dry)
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/month:[\d-]{10}, which has grants \(account 70\): correct these entries to 0, change/),
      ])
    }
    expect((await definitionsIn(folder)).calendar).toEqual(calendar)
  })

  test('account -- begin completes an interrupted beginning, but only with the same settings', async () => {
    const folder = await begun()
    const marker = await markerIn(folder)
    await rm(join(folder, 'ledger'))
    const other = await account(folder, 'begin', { ...opening, ACCOUNT_UNITS_USED_AT_START: '900' })
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('ACCOUNT_UNITS_USED_AT_START is 900, but')])
    expect((await account(folder, 'begin', opening)).code).toBe(0)
    expect(await markerIn(folder)).toBe(marker)
  })

  test('account -- begin is refused while another process serves the folder', async () => {
    const folder = await newFolder()
    const { release } = await takeServer(folder)
    onTestFinished(() => release())
    const { code, err } = await account(folder, 'begin', opening)
    expect([code, err]).toEqual([1, expect.stringContaining('another Unit Guard is using')])
    expect(await readdir(folder)).not.toContain('ledger.db')
  })
})

describe('npm run account -- moved', () => {
  async function copiedWithout(...names: string[]) {
    const target = await copied()
    for (const name of names) await rm(join(target, name))
    return { target }
  }
  const refusedStart = async (folder: string) => {
    const { code, out, err } = await runHere('start', [], { DATA_DIR: folder, ...service })
    expect([code, out]).toEqual([1, ''])
    return err
  }

  test('a folder on another disk is refused until an operator confirms the move, which freezes nothing', async () => {
    const target = await copied()
    expect(await refusedStart(target)).toMatch(
      /this file is a copy of the ledger led_\w+, and lacks the updates that ran since: use the original, or accept this one with npm run restore -- accept; if you moved its folder here, run npm run account -- moved\.\n$/,
    )
    const before = await definitionsIn(target)
    expect((await account(target, 'moved', {}, '--dry-run')).out).toContain('Nothing was changed (--dry-run).')
    expect(await definitionsIn(target)).toEqual(before)
    expect(await account(target, 'moved')).toMatchObject({ code: 0, err: '' })
    const { identity, budgets } = await definitionsIn(target)
    expect(identity).toMatchObject({ ledger: before.identity?.ledger, began: before.identity?.began })
    expect(identity?.table).not.toBe(before.identity?.table)
    expect(budgets.account?.frozen).toBeUndefined()
    expect(await markerIn(target)).toBe(`${identity?.ledger} 0 ${identity?.table} ledger.db\n`)
    expect(await account(target, 'moved')).toMatchObject({ code: 1, err: expect.stringMatching(/was not moved\.\n$/) })
  })

  test('account -- moved completes a move that was interrupted before its marker', async () => {
    const target = await copied()
    const marker = await markerIn(target)
    await account(target, 'moved')
    const done = await markerIn(target)
    await writeFile(join(target, 'ledger'), marker)
    expect(await account(target, 'moved')).toMatchObject({ code: 0, err: '' })
    expect(await markerIn(target)).toBe(done)
  })

  test('a copy without its marker is refused', async () => {
    const { target } = await copiedWithout('ledger')
    expect(await refusedStart(target)).toContain('this file is a copy')
    expect(await account(target, 'moved')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/ledger\.db has no marker beside it, so it may be a copy: move the whole folder/),
    })
    expect(existsSync(join(target, 'ledger'))).toBe(false)
  })

  test('a marker of another ledger, or of another epoch, is refused', async () => {
    const target = await copied()
    const marker = await markerIn(target)
    for (const [other, sentence] of [
      [marker.replace(/^led_\w/, 'led_l'), 'but the marker expects the ledger led_l'],
      ['led_', 'does not name a ledger: remove it, and the next start writes it again'],
      [marker.replace(' 0 ', ' 1 '), 'has epoch 0, but the marker expects epoch 1'],
    ] as const) {
      await writeFile(join(target, 'ledger'), other)
      expect(await account(target, 'moved')).toMatchObject({ code: 1, err: expect.stringContaining(sentence) })
    }
  })

  test('a folder that is in use, or that was copied while in use, is refused', async () => {
    const folder = await begun()
    const { release } = await takeServer(folder)
    expect((await account(folder, 'moved')).err).toContain('another Unit Guard is using')
    const target = `${folder}-copied`
    await cp(folder, target, { recursive: true })
    release()
    for (let round = 0; round < 2; round++) {
      const { code, err } = await account(target, 'moved')
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/was copied while a Unit Guard served it \(process \d+ on \S+\), or that one was killed/),
      ])
    }
  })

  test('a folder that was renamed on its disk needs no command', async () => {
    const folder = await begun()
    await rename(folder, `${folder}-renamed`)
    expect((await account(`${folder}-renamed`, 'moved')).err).toMatch(/was not moved\.\n$/)
  })
})

describe('a command of the account that dies at any step is completed by a repeat:', () => {
  test.each<[string, () => Promise<string>, object, RegExp]>([
    ['begin', newFolder, opening, /was begun already/],
    ['moved', copied, {}, /was not moved/],
  ])('account -- %s', async (what, prepare, env, isDone) => {
    const steps = await diesAtEachStep(prepare, async (process, folder) => {
      const first = await account(folder, what, env).catch(() => null)
      process.revive()
      if (!process.isDead()) expect(first).toMatchObject({ code: 0, err: '' })
      const again = await account(folder, what, env)
      if (again.code !== 0) expect(again.err).toMatch(isDone)
      const { identity } = await definitionsIn(folder)
      expect(await markerIn(folder)).toBe(`${identity?.ledger} 0 ${identity?.table} ledger.db\n`)
      expect((await account(folder, 'moved')).err).toMatch(/was not moved/)
    })
    expect(steps.slice(-5)).toEqual(['writeFile', 'sync', 'rename', 'sync', 'commit'])
  })
})
