import { existsSync, statSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { isDynamoDb } from '../infra/local/dynamodb-probe.ts'
import { readEnvFile } from '../infra/local/env-file.ts'
import { hasJava, runLocal, spawnLocal, temporaryDirectory } from './support/local.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

type Environment = Readonly<Record<string, string | undefined>>
type Local = ReturnType<typeof spawnLocal>

/** Started for one test or one group, and gone with it. */
function start(env: Environment, onEnd: (stop: () => void) => void): Local {
  const local = spawnLocal('start', { env })
  onEnd(() => local.signalGroup('SIGKILL'))
  return local
}

const get = (path: string, { UNIT_GUARD_URL, UNIT_GUARD_TOKEN }: Environment) =>
  fetch(`${UNIT_GUARD_URL}${path}`, { headers: { authorization: `Bearer ${UNIT_GUARD_TOKEN}` } })

/** How long it takes until all of it is gone. */
async function msToStop(local: Local, stop: () => void) {
  const began = performance.now()
  stop()
  const { code } = await local.ended
  return { code, ms: performance.now() - began }
}

describe.skipIf(!hasJava())('npm start with a ledger that is kept', () => {
  const data = join(directory, 'kept')
  let first: Local
  let env: Environment

  beforeAll(async () => {
    first = start({ DATA_DIR: data }, afterAll)
    await first.ready()
    env = readEnvFile(data)
  })

  it('says what runs, demonstrates one update that runs and one that is refused, and is ready', async () => {
    expect(first.said.err).toBe('')
    expect(first.said.out).toContain('kept in')
    expect(first.said.out).toContain('201 settled. Estimated at 40 units; 40 were charged.')
    expect(first.said.out).toMatch(
      /402 refused\. demo has 60 of 100 units left this month and this needs 640; resets .*; ask for 580 more\./,
    )
    expect(first.said.out).not.toContain('Answered from the record')
    expect(first.said.out).toMatch(/\nready http:\/\/127\.0\.0\.1:\d+\n$/)
    const health = await fetch(`${env.UNIT_GUARD_URL}/health`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
  })

  it('writes an env file for this user alone, without the token of the service', async () => {
    expect(env).toMatchObject({
      UNIT_GUARD_URL: await first.ready(),
      UNIT_GUARD_TOKEN: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      SANDBOX_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v3$/),
      SANDBOX_TOKEN: expect.any(String),
      DYNAMODB_ENDPOINT: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      SECRETS_ENDPOINT: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      TABLE_NAME: 'unit-guard',
      TRACKING_BASE_URL: env.SANDBOX_URL,
      ACCOUNT_UNITS_PER_MONTH: '50000',
      ACCOUNT_UNITS_USED_AT_START: '0',
      ACCOUNT_RENEWAL_DAY: '1',
      ACCOUNT_RENEWAL_TIME: '00:00',
      ACCOUNT_TIME_ZONE: 'UTC',
      SERVICE_TIMEOUT_MS: '20000',
      SERVICE_FLIGHT_MS: '300000',
      COOLDOWN_RANKING: 'day',
      COOLDOWN_DIFFICULTY: '7d',
    })
    expect(Object.keys(env)).not.toContain('TRACKING_TOKEN')
    for (const file of ['env', 'secrets.json']) expect(statSync(join(data, file)).mode & 0o777).toBe(0o600)
  })

  it('npm run token: the token is accepted for what it says', async () => {
    const args = ['--sub', 'alice', '--scope', 'read run', '--budgets', 'demo', '--expires', '30m']
    const { code, out } = await runLocal('token', args, { DATA_DIR: data })
    expect([code, out.trim().split('\n')]).toEqual([0, [expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)]])
    const token = out.trim()
    expect((await get('/budgets', { ...env, UNIT_GUARD_TOKEN: token })).status).toBe(200)
    expect((await get('/audit', { ...env, UNIT_GUARD_TOKEN: `${token}A` })).status).toBe(401)
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ sub: 'alice', scope: 'read run', budgets: ['demo'], aud: 'unit-guard' })
    expect(claims.exp - claims.iat).toBe(1800)
  })

  it('npm run sweep and npm run doctor: what there is, and nothing to do', async () => {
    const [sweep, doctor] = await Promise.all([
      runLocal('sweep', ['--at', '2026-11-20T09:00:00Z'], { DATA_DIR: data }),
      runLocal('doctor', ['--project', 'globex'], { DATA_DIR: data }),
    ])
    expect(sweep).toEqual({ code: 0, out: 'The sweep as of 2026-11-20T09:00:00.000Z: nothing to do\n', err: '' })
    expect(doctor).toMatchObject({ code: 0, err: '' })
    expect(doctor.out).toContain('ranking estimate: 640 units, read by keyword_units')
    expect(doctor.out).toContain('keyword-difficulty estimate: 480 units, read by keyword_units')
    expect(doctor.out).toContain('demo, month: 60 of 100 available, 0 held, 0 in doubt, 40 spent')
    expect(doctor.out).toContain('nothing: updates can be guarded as it is')
  })

  it('a second start on the same port says which, and starts nothing', async () => {
    const { port } = new URL(await first.ready())
    const other = join(directory, 'other')
    const { code, out, err } = await runLocal('start', [], { PORT: port, DATA_DIR: other })
    expect({ code, out, err }).toEqual({
      code: 1,
      out: '',
      err: `unit-guard: port ${port} is in use; set PORT to another one\n`,
    })
    expect(existsSync(other)).toBe(false)
  })

  it('stopped, killed and started again: nothing is left behind, nothing is lost, nothing is spent twice', async () => {
    const stopped = await msToStop(first, () => first.signal('SIGTERM'))
    expect(stopped.code).toBe(0)
    expect(stopped.ms).toBeLessThan(5_000)
    expect(await isDynamoDb(env.DYNAMODB_ENDPOINT ?? '')).toBe(false)
    expect(existsSync(join(data, 'dynamodb.lock'))).toBe(false)

    // As from a shell that has sourced the file: the addresses in it are of the first start.
    const second = start({ ...env, DATA_DIR: data }, onTestFinished)
    await second.ready()
    expect(second.said.out.match(/Answered from the record/g)).toHaveLength(2)
    const again: Environment = { ...readEnvFile(data), UNIT_GUARD_TOKEN: env.UNIT_GUARD_TOKEN }
    expect(await (await get('/budgets/demo', again)).json()).toMatchObject({ windows: [{ available: 60, spent: 40 }] })
    const asked = await fetch(`${again.UNIT_GUARD_URL}/updates`, {
      method: 'POST',
      headers: { authorization: `Bearer ${again.UNIT_GUARD_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'ranking', project: 'initech' }),
    })
    expect(asked.status).toBe(201)
    second.signalGroup('SIGKILL')
    await second.ended

    const third = start({ DATA_DIR: data, DEMO: 'off' }, onTestFinished)
    await third.ready()
    expect(third.said.out).not.toContain('demonstration')
    const kept = await (await get(asked.headers.get('location') ?? '', readEnvFile(data))).json()
    expect(kept).toMatchObject({ state: 'settled', units: { charged: 120 } })
    const interrupted = await msToStop(third, () => {
      third.signalGroup('SIGINT')
      third.signalGroup('SIGINT')
    })
    expect(interrupted.code).toBe(0)
    expect(interrupted.ms).toBeLessThan(5_000)
  })
})

describe('npm start without Java', () => {
  it('says what to install, goes on in memory, and says so to whoever asks from outside', async () => {
    const bin = join(directory, 'bin')
    const data = join(directory, 'memory')
    await mkdir(bin)
    await symlink(process.execPath, join(bin, 'node'))
    const local = start({ DATA_DIR: data, PATH: bin }, onTestFinished)
    await local.ready()
    expect(local.said.err).toContain('NO JAVA: install Java 17 or newer')
    expect(local.said.out).toContain('IN MEMORY, nothing is kept')
    expect(local.said.out).toContain('201 settled. Estimated at 40 units; 40 were charged.')
    const env = readEnvFile(data)
    expect(env.DYNAMODB_ENDPOINT).toBeUndefined()
    expect((await get('/budgets', env)).status).toBe(200)
    const sweep = await runLocal('sweep', [], { DATA_DIR: data })
    expect(sweep).toMatchObject({ code: 1, err: expect.stringContaining('in the memory of npm start') })
    expect((await msToStop(local, () => local.signal('SIGTERM'))).code).toBe(0)
  })
})

describe('what cannot work is one line and exit code 1', () => {
  it('wrong settings, each by name', async () => {
    const data = join(directory, 'wrong')
    const env = { DATA_DIR: data, PORT: 'http', ACCOUNT_RENEWAL_DAY: '32', TRACKING_BASE_URL: 'https://x.example/v2' }
    const { code, out, err } = await runLocal('start', [], env)
    expect([code, out]).toEqual([1, ''])
    expect(err.trim().split('\n')).toHaveLength(1)
    for (const name of ['PORT', 'ACCOUNT_RENEWAL_DAY', 'TRACKING_BASE_URL']) expect(err).toContain(`${name}: takes`)
    expect(existsSync(data)).toBe(false)
  })

  it('a command without npm start', async () => {
    const { code, err } = await runLocal('token', ['--sub', 'a', '--scope', 'read'], {
      DATA_DIR: join(directory, 'none'),
      SECRETS_ENDPOINT: 'http://127.0.0.1:1',
    })
    expect([code, err.trim().split('\n').length]).toEqual([1, 1])
    expect(err).toContain('Is npm start running?')
  })
})
