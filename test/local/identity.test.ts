import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readSettings } from '../../infra/local/settings.ts'
import { runHere } from '../support/process/here.ts'
import { startGuard, temporaryDirectory } from '../support/process/local.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

const ofAnAccount = { TRACKING_BASE_URL: 'https://service.example/v3', TRACKING_TOKEN: 'canary-of-the-service' }

describe('the place and identity of a stored ledger', () => {
  it.each([
    [{}, '.local'],
    [{ TRACKING_BASE_URL: 'https://API.service.example:8443/v3' }, '.local/api.service.example'],
    [{ TRACKING_BASE_URL: 'https://service.example/v3', DATA_DIR: 'elsewhere' }, 'elsewhere'],
    [{ TRACKING_BASE_URL: '', DATA_DIR: '' }, '.local'],
  ])('with %o the ledger is in %s', (env, folder) => {
    const { keptIn, directory: files } = readSettings(env)
    expect([keptIn, files]).toEqual([folder, folder])
  })

  it.each([
    [{ DATA_DIR: 'memory' }, '.local/memory'],
    [{ DATA_DIR: 'memory', PORT: '8787' }, '.local/memory'],
    [{ DATA_DIR: 'memory', PORT: '8801' }, '.local/memory-8801'],
    [{ DATA_DIR: 'memory:8801' }, '.local/memory-8801'],
  ])('with %o, the env file and the log are in %s', (env, folder) => {
    const { keptIn, directory: files } = readSettings({ ...ofAnAccount, ...env })
    expect([keptIn, files]).toEqual([null, folder])
  })
})

describe('the ledger of a trial', () => {
  const data = join(directory, 'trial')
  const begin = (env: object = {}) => startGuard({ DATA_DIR: data, DEMO: 'off', ...env })
  const refused = async (env: object) => {
    const { code, out, err } = await runHere('start', [], { DATA_DIR: data, DEMO: 'off', ...env })
    expect([code, out]).toEqual([1, ''])
    return err
  }

  it('the sandbox’s ledger is refused for a real account, and for another renewal until an operator changes it', async () => {
    const first = await begin()
    expect(first.env).toMatchObject({ LEDGER_SERVICE: 'sandbox' })
    await first.stop()

    expect(await refused(ofAnAccount)).toBe(
      'This ledger is not the one that is set here: it began with the service sandbox, but the service set now is https://service.example/v3: use the service that it began with, or another ledger (DATA_DIR, or another deployment); if the same account has moved to a new address, say so with npm run account -- adopt.\n',
    )
    const other = { ACCOUNT_RENEWAL_DAY: '12', ACCOUNT_UNITS_USED_AT_START: '12800' }
    expect(await refused(other)).toBe(
      'This ledger is not the one that is set here: ACCOUNT_UNITS_USED_AT_START is 12800, but the ledger began with 0: unset the setting (the opening entry can be corrected); ACCOUNT_RENEWAL_DAY is 12, but the ledger began with 1: unset the setting (to change the renewal, npm run account -- renewal).\n',
    )

    const account = (...args: string[]) => runHere('account', args, { DATA_DIR: data })
    const dry = await account('renewal', '--day', '12', '--dry-run')
    expect(dry).toMatchObject({ code: 0, err: '' })
    expect(dry.out).toMatch(
      /\n {2}months turn on day 12 at 00:00 UTC after the current month\n {2}before, months turned on day 1 at 00:00 UTC\n {2}month:\d{4}-\d\d-01 ends 12 \w+ \d{4} 00:00 UTC instead of 1 \w+ \d{4} 00:00 UTC\nNothing was changed \(--dry-run\)\.\n$/,
    )
    expect(await refused({ ACCOUNT_RENEWAL_DAY: '12' })).toContain('ACCOUNT_RENEWAL_DAY is 12, but')
    expect((await account('renewal', '--day', '12')).out).toMatch(/\nChanged: revision 2\.\n$/)
    const again = await begin({ ACCOUNT_RENEWAL_DAY: '12' })
    // While the server runs, a command uses the server's database.
    expect(await account('renewal', '--day', '12')).toMatchObject({
      code: 1,
      err: 'The month already turns on day 12 at 00:00 UTC.\n',
    })
    await again.stop()
    expect(await runHere('account', ['adopt'], { DATA_DIR: data, ...ofAnAccount })).toMatchObject({
      code: 1,
      err: expect.stringContaining('so it cannot become the ledger of a real account'),
    })
  })

  it('npm run account -- renewal refuses an impossible day and makes no folder', async () => {
    const DATA_DIR = join(directory, 'none')
    const { code, err } = await runHere('account', ['renewal', '--day', '32'], { DATA_DIR })
    expect([code, err]).toEqual([2, expect.stringContaining('day: must be a day of the month, 1 to 31')])
    expect(existsSync(DATA_DIR)).toBe(false)
  })
})

describe('a file that was put back', () => {
  const data = join(directory, 'restored')
  const begin = () => startGuard({ DATA_DIR: data, DEMO: 'off' })

  it('a disk snapshot, which brings back file and marker, is treated as restored', async () => {
    const first = await begin()
    await first.stop()
    const accepted = await runHere('restore', ['accept', '--to', '2026-11-20T09:55:00Z'], { DATA_DIR: data })
    expect([accepted.code, accepted.err]).toEqual([0, ''])
    expect(await readFile(join(data, 'ledger'), 'utf8')).toMatch(/^led_\w{26} 1 /)
    await rm(data, { recursive: true })
  })

  it('a restored file is refused until an operator accepts it', async () => {
    const first = await begin()
    const marker = await readFile(join(data, 'ledger'), 'utf8')
    expect(marker).toMatch(/^led_\w{26} 0 \d+@\d+ ledger\.db\n$/)
    await first.stop()
    const restore = (...args: string[]) => runHere('restore', args, { DATA_DIR: data })
    const to = '2026-11-20T09:55:00Z'

    await copyFile(join(data, 'ledger.db'), join(data, 'backup'))
    await rename(join(data, 'backup'), join(data, 'ledger.db'))
    const { code, err } = await runHere('start', [], { DATA_DIR: data, DEMO: 'off' })
    expect([code, err]).toEqual([1, expect.stringContaining('is a copy of the ledger')])
    expect((await restore('accept', '--to', to, '--dry-run')).out).toContain('Nothing was changed (--dry-run).')
    const accepted = await restore('accept', '--to', to)
    expect(accepted).toMatchObject({ code: 0, err: '' })
    expect(accepted.out).toContain(
      `stays in the file ${join(data, 'ledger.db')} (epoch 1).\n  account is frozen until it is reconciled and unfrozen\n`,
    )
    expect(await restore('accept', '--to', to)).toMatchObject({ code: 1, err: 'ledger.db holds the ledger already.\n' })
    const second = await begin()
    expect((await second.call('/budgets/account')).body).toMatchObject({
      frozen: { by: 'setup', reason: expect.stringContaining('restored to 2026-11-20T09:55:00.000Z') },
    })
    await second.stop()
  })
})
