import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { createListener } from '../../infra/local/listener.ts'
import { commandForm, signatureOf } from '../../infra/local/slack/requests.ts'
import { okta } from '../support/infra/deployment.ts'
import { patienceMs } from '../support/patience.ts'
import { runHere } from '../support/process/here.ts'
import { callerOf, spawnLocal, temporaryDirectory } from '../support/process/local.ts'
import { startScriptedService } from '../support/scripted-service.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

type Environment = Readonly<Record<string, string | undefined>>
type Local = ReturnType<typeof spawnLocal>

/** Starts a process that ends with its test. */
function start(env: Environment, cwd = '.'): Local {
  const local = spawnLocal('start', { env, cwd })
  onTestFinished(() => local.signalGroup('SIGKILL'))
  return local
}

/** Requests an update that the queue starts, and waits until it is settled. */
async function settleLater(env: Environment, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${env.UNIT_GUARD_TOKEN}`, prefer: 'respond-async' }
  const how = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const asked = await fetch(`${env.UNIT_GUARD_URL}/updates`, how)
  const { updates } = (await asked.json()) as { updates: { id: string; state: string }[] }
  expect([asked.status, updates[0]?.state]).toEqual([202, 'requested'])
  const state = async () => (await callerOf(env)(`/updates/${updates[0]?.id}`)).body.state
  await vi.waitFor(async () => expect(await state()).toBe('settled'), patienceMs)
}

/** Sends a command as Slack does. */
function command(text: string, responseUrl: string, { UNIT_GUARD_URL, SLACK_SIGNING_SECRET = '' }: Environment) {
  const sender = { user: 'U0ALICE1', trigger: randomUUID(), responseUrl }
  const body = new URLSearchParams(commandForm(sender, text)).toString()
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...signatureOf(SLACK_SIGNING_SECRET, body, Math.floor(Date.now() / 1000)),
  }
  return fetch(`${UNIT_GUARD_URL}/slack/commands`, { method: 'POST', headers, body })
}

async function plansFile(name: string, plans: readonly object[]): Promise<string> {
  const file = join(directory, name)
  await writeFile(file, JSON.stringify({ plans }))
  return file
}

/** The time until all processes have ended. */
async function msToStop(local: Local, stop: () => void) {
  const began = performance.now()
  stop()
  const { code } = await local.ended
  return { code, ms: performance.now() - began }
}

describe('npm start with a stored ledger', () => {
  const data = join(directory, 'kept')
  let first: Local
  /** The output until the first start was ready. */
  let greeting: string
  let env: Environment

  beforeAll(async () => {
    const plan = { kind: 'ranking', schedule: 'cron(0 5 * * ? *)' }
    const PLANS = await plansFile('plans of a test.json', [
      { ...plan, name: 'nightly', projects: ['globex', 'acme.example'] },
      { ...plan, name: 'later', projects: ['globex'], enabled: false },
      { ...plan, name: 'unknown', projects: ['missing.example'] },
    ])
    first = spawnLocal('start', { env: { DATA_DIR: data, PLANS }, asIs: true })
    await first.ready()
    greeting = first.said.out
    env = readEnvFile(data)
  })
  // Vitest would ignore this hook within beforeAll, and the process would never end.
  afterAll(() => first?.signalGroup('SIGKILL'))

  it('npm start prints its parts, demonstrates two updates and says that it is ready', async () => {
    expect(first.said.err).toBe('')
    expect(greeting).toContain(`ledger   the file ${join(data, 'ledger.db')}\n`)
    expect(greeting).toContain('201 settled. Estimated at 40 units; 40 were charged.')
    expect(greeting).toMatch(
      /402 refused\. demo has 60 of 100 units left this month and this needs 640; resets .*; ask for 580 more\./,
    )
    expect(greeting).not.toContain('Answered from the record')
    expect(greeting).toMatch(/\nready http:\/\/127\.0\.0\.1:\d+\n$/)
    const health = await fetch(`${env.UNIT_GUARD_URL}/health`)
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }])
  })

  it('npm start writes an env file for this user only, without the service token', async () => {
    expect(env).toMatchObject({
      UNIT_GUARD_URL: await first.ready(),
      UNIT_GUARD_TOKEN: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      SANDBOX_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v3$/),
      SANDBOX_TOKEN: expect.any(String),
      DATA_DIR: data,
      SECRETS_ENDPOINT: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      SECRETS_ACCESS_KEY: expect.stringMatching(/^[0-9a-f]{40}$/),
      TRACKING_BASE_URL: env.SANDBOX_URL,
      LEDGER_SERVICE: 'sandbox',
      SERVICE_TIMEOUT_MS: '20000',
      SERVICE_FLIGHT_MS: '300000',
      COOLDOWN_RANKING: 'day',
      COOLDOWN_DIFFICULTY: '7d',
      PROJECT_SEPARATOR: ',',
      SLACK_SIGNING_SECRET: 'local-slack-signing-secret',
      PLANS: expect.stringMatching(/plans of a test\.json$/),
    })
    // Unset variables are left out, because a shell with this file would require them of the next ledger.
    for (const name of [
      'TABLE_NAME',
      'DYNAMODB_ENDPOINT',
      'TRACKING_TOKEN',
      'ACCOUNT_UNITS_PER_MONTH',
      'ACCOUNT_RENEWAL_DAY',
    ])
      expect(Object.keys(env)).not.toContain(name)
    const modes = readdirSync(data).map((file) => [file, (statSync(join(data, file)).mode & 0o777).toString(8)])
    expect(modes).toEqual(modes.map(([file]) => [file, '600']))
    expect(modes.map(([file]) => file)).toEqual(
      expect.arrayContaining(['env', 'ledger.db', 'sandbox.db', 'secrets.json']),
    )
    expect(statSync(data).mode & 0o777).toBe(0o700)
  })

  it('npm start and npm run login print links that log an administrator in to the dashboard once', async () => {
    const { out } = await runHere('login', [], { DATA_DIR: data })
    const links = [...`${greeting}${out}`.matchAll(/(http\S+\/login)\?code=(\w+)/g)]
    expect(links).toHaveLength(2)
    for (const [, url = '', code = ''] of links) {
      const enter = () => fetch(url, { method: 'POST', body: new URLSearchParams({ code }), redirect: 'manual' })
      const { status, headers } = await enter()
      const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
      const page = await fetch(`${env.UNIT_GUARD_URL}/dashboard/callers`, { headers: { cookie } })
      expect([status, page.status, (await page.text()).includes('local-admin')]).toEqual([303, 200, true])
      expect((await enter()).status).toBe(401)
    }
  })

  it('npm run token prints a token that is accepted with its scopes', async () => {
    const args = ['--sub', 'alice', '--scope', 'read run', '--budgets', 'demo', '--expires', '30m']
    const { code, out } = await runHere('token', args, { DATA_DIR: data })
    expect([code, out.trim().split('\n')]).toEqual([0, [expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)]])
    const token = out.trim()
    const status = async (UNIT_GUARD_TOKEN: string) => (await callerOf({ ...env, UNIT_GUARD_TOKEN })('/budgets')).status
    expect([await status(token), await status(`${token}A`)]).toEqual([200, 401])
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ sub: 'alice', scope: 'read run', budgets: ['demo'], aud: 'unit-guard' })
    expect(claims.exp - claims.iat).toBe(1800)
  })

  it('npm run sweep and npm run doctor find nothing to do', async () => {
    const [sweep, doctor] = await Promise.all([
      runHere('sweep', ['--at', '2026-11-20T09:00:00Z'], { DATA_DIR: data }),
      runHere('doctor', ['--project', 'globex'], { DATA_DIR: data }),
    ])
    expect(sweep).toEqual({ code: 0, out: 'The sweep as of 2026-11-20T09:00:00.000Z: nothing to do\n', err: '' })
    expect(doctor).toMatchObject({ code: 0, err: '' })
    expect(doctor.out).toContain('ranking estimate: 640 units, read by keyword_units')
    expect(doctor.out).toContain('keyword-difficulty estimate: 480 units, read by keyword_units')
    expect(doctor.out).toContain('demo, month: 60 of 100 available, 0 held, 0 in doubt, 40 spent')
    expect(doctor.out).toContain('nothing: updates can be guarded as it is')
  })

  it('npm run plan runs each time of a plan once', async () => {
    const run = (...args: string[]) => runHere('plan', args, { DATA_DIR: data })
    const spent = async () => (await callerOf(env)('/budgets/account')).body.windows[0].spent
    const spentBefore = await spent()
    const time = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString()
    const once = await run('nightly', '--time', time)
    expect(once).toMatchObject({ code: 0, err: '' })
    const [heading, ...lines] = once.out.trim().split('\n')
    expect(heading).toBe(`The plan nightly of ${time}`)
    expect(lines).toEqual([
      '  globex  settled, 640 units',
      expect.stringMatching(/^ {2}acme\.example {2}up to date: .* acme\.example was done at /),
      '  1 settled, 1 up to date; 640 units charged',
    ])
    const again = await run('nightly', '--time', time)
    expect(again).toEqual({
      ...once,
      out: [heading, '  It was fired before: nothing runs again.', ...lines, ''].join('\n'),
    })
    expect(await spent()).toBe(spentBefore + 640)
    await vi.waitFor(() => expect(first.said.out).toMatch(/\nslack: .*nightly.* 640 units charged/), patienceMs)
  })

  it('npm run plan exits with 1 and one line for a plan that cannot run, and names a later retry', async () => {
    const run = (...args: string[]) => runHere('plan', args, { DATA_DIR: data })
    const [disabled, unknown, late, never, wrong, waiting] = await Promise.all([
      run('later'),
      run('missing'),
      run('nightly', '--time', '2020-01-01T05:00:00Z'),
      run('nightly', '--time', '2020-01-01T06:00:00Z'),
      run(),
      run('unknown'),
    ])
    expect(disabled).toEqual({ code: 1, out: '', err: 'The plan later is not enabled in the plans file.\n' })
    expect(unknown.err).toBe('There is no plan missing. The plans file has nightly, later and unknown.\n')
    expect([unknown.code, unknown.out]).toEqual([1, ''])
    expect([late.code, late.out.trim().split('\n')[1]]).toEqual([1, '  not run, it came more than an hour late'])
    const neverDue =
      /^nightly is not scheduled at 1 Jan 2020 06:00 UTC; its last run was due at \d+ \w+ \d{4} 05:00 UTC\.\n$/
    expect(never).toEqual({ code: 1, out: '', err: expect.stringMatching(neverDue) })
    expect([wrong.code, wrong.err]).toEqual([2, '<name> is needed (npm run plan -- --help)\n'])
    expect(waiting).toMatchObject({ code: 0, err: '' })
    expect(waiting.out).toMatch(/ {2}1 requested; 0 units charged\n {2}unfinished projects are retried at 2.*Z; /)
    const sweep = await runHere('sweep', ['--at', '+6m'], { DATA_DIR: data })
    expect(sweep).toMatchObject({ code: 0, err: '' })
    expect(sweep.out).toMatch(/^ {2}the plan unknown of 2.*Z {2}continues at 2.*Z$/m)
  })

  it('npm run plan names the answer of the service that makes a plan wait', async () => {
    const faults = `${env.SANDBOX_URL?.replace('/v3', '')}/sandbox/faults`
    const headers = { authorization: `Bearer ${env.SANDBOX_TOKEN}`, 'content-type': 'application/json' }
    const fault = { operation: 'any', fault: 'status', status: 429, retryAfter: 900 }
    expect((await fetch(faults, { method: 'PUT', headers, body: JSON.stringify({ faults: [fault] }) })).status).toBe(
      200,
    )
    const time = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 60_000).toISOString()
    const { out } = await runHere('plan', ['unknown', '--time', time], { DATA_DIR: data })
    expect((await fetch(faults, { method: 'DELETE', headers })).status).toBe(200)
    expect(out).toMatch(
      / {2}waits: the service answered an estimate at .* with status 429 and asked to wait 900 seconds\n {2}unfinished projects are retried at 2.*Z; /,
    )
  })

  it('npm start runs a queued update at once, without a sweep', async () => {
    await settleLater(env, { kind: 'keyword-difficulty', project: '1001' })
  })

  it('npm start acknowledges a Slack command and answers at its response URL', async () => {
    const receiver = await startScriptedService({ fallback: () => ({ status: 200, body: 'ok' }) })
    onTestFinished(() => receiver.close())
    await callerOf(env)('/callers/slack:U0ALICE1', { method: 'PUT', body: { scopes: ['read'] } })
    const acknowledged = await command('', receiver.baseUrl, env)
    expect([acknowledged.status, await acknowledged.text()]).toEqual([200, ''])
    await vi.waitFor(() => expect(receiver.requests).toHaveLength(1), patienceMs)
    expect(JSON.parse(receiver.requests[0]?.body ?? '')).toMatchObject({ text: expect.stringContaining('account has') })
    const forged = await command('', receiver.baseUrl, { ...env, SLACK_SIGNING_SECRET: 'another' })
    expect(forged.status).toBe(401)
  })

  it('npm start leaves no process behind, loses nothing and spends nothing twice when stopped or killed', async () => {
    const data = join(directory, 'stopped')
    const first = start({ DATA_DIR: data })
    await first.ready()
    const env: Environment = readEnvFile(data)
    const stopped = await msToStop(first, () => first.signal('SIGTERM'))
    expect(stopped.code).toBe(0)
    expect(stopped.ms).toBeLessThan(5_000)

    // This shell has sourced the file, with the addresses of the first start.
    const second = start({ ...env, DATA_DIR: data })
    await second.ready()
    expect(second.said.out.match(/Answered from the record/g)).toHaveLength(2)
    const again = callerOf({ ...readEnvFile(data), UNIT_GUARD_TOKEN: env.UNIT_GUARD_TOKEN })
    expect((await again('/budgets/demo')).body).toMatchObject({ windows: [{ available: 60, spent: 40 }] })
    const asked = await again('/updates', { body: { kind: 'ranking', project: 'initech' } })
    expect(asked.status).toBe(201)
    const listed = { limits: [{ window: 'month', units: 500 }], projects: [{ name: 'initech' }] }
    expect((await again('/budgets/own', { method: 'PUT', body: listed })).status).toBe(201)
    second.signalGroup('SIGKILL')
    await second.ended

    const TRUSTED_ISSUERS = join(directory, 'trusted.json')
    await writeFile(TRUSTED_ISSUERS, JSON.stringify([okta]))
    const login = { LOGIN_ISSUER: 'okta', LOGIN_CLIENT_ID: 'web', LOGIN_CLIENT: 'canary-login' }
    const greedy = { name: 'greedy', kind: 'ranking', schedule: 'rate(1 day)', leave: { own: 500 } }
    const PLANS = await plansFile('greedy.json', [{ ...greedy, projects: ['initech', 'acme.example', 'globex'] }])
    const third = start({ DATA_DIR: data, DEMO: 'off', TRUSTED_ISSUERS, PLANS, ...login })
    await third.ready()
    expect(third.said.out).not.toContain('demonstration')
    expect(second.said.out).not.toContain('No budget lists')
    expect(third.said.out.match(/No budget lists .*/g)).toEqual([
      'No budget lists acme.example and globex, and account pays for them without asking. List them in a budget, or set unowned of account to approve or refuse.',
    ])
    expect(third.said.out.match(/.* leaves .*/g)).toEqual([
      'The plan greedy leaves 500 units of own to others, but own has 500 a month. None of the plan’s updates can pass. Lower leave in the plans file.',
    ])
    expect(third.said.out).toContain(`issuers  okta (${okta.issuer}); people log in to the dashboard at okta\n`)
    expect(readEnvFile(data)).toMatchObject({ TRUSTED_ISSUERS, LOGIN_ISSUER: 'okta' })
    expect(JSON.stringify(readEnvFile(data))).not.toContain('canary-login')
    const kept = await callerOf(readEnvFile(data))(`/updates/${asked.body.updates[0].id}`)
    expect(kept.body).toMatchObject({ state: 'settled', units: { charged: 120 } })
    const interrupted = await msToStop(third, () => {
      third.signalGroup('SIGINT')
      third.signalGroup('SIGINT')
    })
    expect(interrupted.code).toBe(0)
    expect(interrupted.ms).toBeLessThan(5_000)
  })
})

describe('npm start with DATA_DIR=memory', () => {
  it('npm start with DATA_DIR=memory stores nothing, says so, and passes changes on to the service and Slack', async () => {
    const webhook = await startScriptedService({ fallback: () => ({ status: 200, body: 'ok' }) })
    onTestFinished(() => webhook.close())
    const cwd = join(directory, 'memory')
    await mkdir(cwd)
    const local = start({ DATA_DIR: 'memory', SLACK_WEBHOOK_URL: webhook.baseUrl }, cwd)
    const url = await local.ready()
    expect(local.said.out).toContain('ledger   IN MEMORY: nothing is kept, and other commands cannot see it\n')
    expect(local.said.out).toContain('201 settled. Estimated at 40 units; 40 were charged.')
    const data = join(cwd, '.local', `memory-${new URL(url).port}`)
    expect(readdirSync(data).toSorted()).toEqual(['env', 'guard.log'])
    const env = readEnvFile(data)
    for (const [script, args] of [['sweep', []] as const, ['plan', ['morning']] as const]) {
      const { code, err } = await runHere(script, args, { DATA_DIR: data })
      expect([code, err]).toEqual([1, expect.stringContaining('in the memory of npm start')])
    }
    await settleLater(env, { kind: 'ranking', project: 'globex' })
    expect((await callerOf(env)('/budgets/demo/freeze', { body: { reason: 'seen enough' } })).status).toBe(200)
    await vi.waitFor(() => expect(webhook.requests[0]?.body).toContain('seen enough'), patienceMs)
    expect((await msToStop(local, () => local.signal('SIGTERM'))).code).toBe(0)
  })
})

it('two starts with DATA_DIR=memory have an env file each, with which commands find their own', async () => {
  const cwd = join(directory, 'two')
  await mkdir(cwd)
  const guards = [1, 2].map(() => start({ DATA_DIR: 'memory', DEMO: 'off' }, cwd))
  for (const guard of guards) {
    const url = await guard.ready()
    const { port } = new URL(url)
    const env = readEnvFile(join(cwd, '.local', `memory-${port}`))
    expect(env).toMatchObject({ DATA_DIR: `memory:${port}`, UNIT_GUARD_URL: url })
    expect(guard.said.out).toContain(`source .local/memory-${port}/env`)
  }
  expect(readdirSync(join(cwd, '.local'))).toHaveLength(2)
})

describe('a start that cannot work', () => {
  const fileOf = async (name: string, content: object) => {
    const file = join(directory, name)
    await writeFile(file, JSON.stringify(content))
    return file
  }
  const target = { name: 'warehouse', url: 'https://hooks.example/', secret: 'unit-guard/events/the-warehouse' }
  const targets = (...types: string[]) => fileOf('targets.json', [{ ...target, types }])

  it.each<[what: string, env: () => Environment | Promise<Environment>, sentences: readonly string[]]>([
    [
      'every wrong setting',
      () => ({ PORT: 'http', ACCOUNT_RENEWAL_DAY: '32', TRACKING_BASE_URL: 'https://x.example/v2' }),
      ['PORT: must be', 'ACCOUNT_RENEWAL_DAY: must be', 'TRACKING_BASE_URL: must be'],
    ],
    [
      'wrong plans',
      async () => ({
        PLANS: await plansFile('wrong.json', [{ name: 'x', kind: 'ranking', projects: ['a'], schedule: '@daily' }]),
      }),
      ['wrong.json: these plans are wrong: plan 1 (x), schedule: EventBridge has no @daily'],
    ],
    [
      'wrong issuers',
      async () => ({ TRUSTED_ISSUERS: await plansFile('issuers.json', []) }),
      ['the issuers file issuers.json: must be a list of issuers'],
    ],
    [
      'wrong event targets',
      async () => ({ EVENT_TARGETS: await targets('update.settle') }),
      ['the targets file targets.json: 0.types.0: must be the type of an event, such as'],
    ],
    [
      'the key that an event target lacks',
      async () => ({ EVENT_TARGETS: await targets('update.settled') }),
      ['EVENTS_THE_WAREHOUSE: must be the key of the event target warehouse'],
    ],
    [
      'a port that is in use',
      async () => {
        const { port, close } = await createListener({ port: 0 })
        onTestFinished(() => close(Promise.resolve()))
        return { PORT: String(port) }
      },
      [' is in use; set PORT to another one'],
    ],
  ])('npm start names %s in one line, and makes no folder', async (_what, env, sentences) => {
    const data = join(directory, 'wrong')
    const { code, out, err } = await runHere('start', [], { DATA_DIR: data, ...(await env()) })
    expect([code, out, err.trim().split('\n').length]).toEqual([1, '', 1])
    for (const sentence of sentences) expect(err).toContain(sentence)
    expect(existsSync(data)).toBe(false)
  })
})
