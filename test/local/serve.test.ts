import { createHmac } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readServedSettings } from '../../infra/local/settings.ts'
import { hourMs, minuteMs } from '../../shared/platform/clock.ts'
import { patienceMs } from '../support/patience.ts'
import { runHere } from '../support/process/here.ts'
import { spawnLocal, temporaryDirectory } from '../support/process/local.ts'
import { json } from '../support/product.ts'
import { type Answer, gate, type Recorded, startScriptedService } from '../support/scripted-service.ts'

/** The events in docs/runbook.md under "Only on one machine". */
const eventsHere = readFileSync('docs/runbook.md', 'utf8').split('## Only on one machine')[1] ?? ''

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

type Environment = Readonly<Record<string, string>>

const serviceToken = 'canary-service-token-7f3a9c'
const callerKey = 'canary-caller-key-0123456789abcdefghijklmnop'
const secrets = { TRACKING_TOKEN: serviceToken, CALLER_KEY: callerKey }

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token as the operator's own issuer with the same key would sign it. */
function tokenOf(sub: string, scope: string): string {
  const exp = Math.floor(Date.now() / 1000) + 3_600
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub, scope, budgets: '*', aud: 'unit-guard', exp })}`
  return `${signed}.${createHmac('sha256', callerKey).update(signed).digest('base64url')}`
}

const token = tokenOf('ada', 'read run admin')

type Fallback = (request: Recorded) => Answer
const usual: Fallback = () => json({ keyword_units: 40, dates: [] })

/** A folder with a ledger of the operator's own service. */
async function begun(name: string, fallback = usual) {
  const data = join(directory, name)
  const service = await startScriptedService({ fallback })
  onTestFinished(() => service.close())
  const env: Environment = { DATA_DIR: data, TRACKING_BASE_URL: service.baseUrl, ...secrets }
  const account = { ACCOUNT_UNITS_PER_MONTH: '1000', ACCOUNT_UNITS_USED_AT_START: '0' }
  const opening = { ...account, ACCOUNT_RENEWAL_DAY: '1', ACCOUNT_TIME_ZONE: 'UTC' }
  expect(await runHere('account', ['begin'], { ...env, ...opening })).toMatchObject({ code: 0, err: '' })
  return { data, env, service }
}

async function serve(env: Environment) {
  const server = spawnLocal('serve', { env })
  onTestFinished(() => server.signalGroup('SIGKILL'))
  const url = await server.ready()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      headers: { ...headers, 'idempotency-key': String(Math.random()) },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as callers do, without knowing our types.
    return { status: answer.status, body: (await answer.json()) as any }
  }
  const lines = () =>
    server.said.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  return { server, url, call, lines }
}

const ask = { kind: 'ranking', project: 'acme.example' }
const runs = (requests: readonly Recorded[]) => requests.filter(({ url }) => url.endsWith('/run')).length

describe('npm run serve', () => {
  it('npm run serve answers, writes only JSON lines to its log, and prints no token', async () => {
    const { data, env } = await begun('served')
    const open = { HOST: '0.0.0.0', PUBLIC_URL: 'https://units.example' }
    const { server, call, lines, url } = await serve({ ...env, ...open })
    expect((await fetch(`${url}/health`)).status).toBe(200)
    const asked = await call('/updates', ask)
    expect([asked.status, asked.body.updates[0].state]).toEqual([201, 'settled'])
    const events = lines().map(({ event }) => event)
    expect(events).toEqual(expect.arrayContaining(['serving', 'request']))
    await vi.waitFor(async () => expect((await call('/status')).body.sweptAt).not.toBeNull(), patienceMs)
    const waiting = { requested: 0, awaitingApproval: 0, inDoubt: 0 }
    expect((await call('/status')).body).toEqual({
      version: expect.any(String),
      troubles: [],
      sweptAt: expect.any(String),
      backedUpAt: null,
      waiting,
      setAside: 0,
    })

    // Commands find the ledger by its folder.
    const minted = await runHere('token', ['--sub', 'bob', '--scope', 'read'], { DATA_DIR: data })
    const login = await runHere('login', [], { DATA_DIR: data })
    const doctor = await runHere('doctor', ['--project', 'acme.example'], { DATA_DIR: data })
    expect([minted.code, login.code]).toEqual([0, 0])
    expect(login.out).toContain('https://units.example/login?code=')
    expect(doctor.out).toContain('ranking estimate: 40 units, read by keyword_units')

    for (const file of readdirSync(data)) {
      const text = readFileSync(join(data, file), 'latin1')
      for (const secret of [serviceToken, callerKey, 'eyJ', 'UNIT_GUARD_TOKEN='])
        expect(`${file}: ${text}`).not.toContain(secret)
    }
    expect(readdirSync(data)).not.toContain('guard.log')
    server.signal('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0, err: '' })
    expect(lines().at(-1)).toMatchObject({ event: 'stopping' })
  })

  it('SIGTERM lets a slow run of npm run serve end, and the next process continues the plan', async () => {
    const stopping = gate()
    const { env, service } = await begun('slow', ({ url }) => ({
      ...json({ keyword_units: 40, dates: [] }),
      ...(url.endsWith('/run') && { once: stopping.opened }),
    }))
    const PLANS = join(directory, 'night.json')
    const plan = { name: 'night', kind: 'ranking', projects: ['a.example', 'b.example'], schedule: 'cron(0 5 * * ? *)' }
    await writeFile(PLANS, JSON.stringify({ plans: [plan] }))
    const first = await serve({ ...env, PLANS })
    const fired = first.call('/plans/night/run', { time: new Date().toISOString() })
    await vi.waitFor(() => expect(runs(service.requests)).toBe(1), patienceMs)
    // npm sends a second signal in addition to the signal of the group.
    first.server.signal('SIGTERM')
    first.server.signal('SIGTERM')
    await vi.waitFor(() => expect(first.server.said.out).toContain('"stopping"'), patienceMs)
    // A stop without a run ends earlier.
    await sleep(2_500)
    stopping.open()
    expect((await fired).status).toBe(202)
    expect(await first.server.ended).toMatchObject({ code: 0, err: '' })
    expect(runs(service.requests)).toBe(1)

    const next = await serve({ ...env, PLANS })
    const settled = async () => (await next.call('/updates?state=settled')).body.updates
    await vi.waitFor(async () => expect(await settled()).toHaveLength(2), patienceMs)
    expect(runs(service.requests)).toBe(2)
  })

  it('a second SIGTERM ends npm run serve at once', async () => {
    const { env, service } = await begun('hanging', ({ url }) =>
      url.endsWith('/run') ? { kind: 'hang' } : json({ keyword_units: 40, dates: [] }),
    )
    const { server, call } = await serve(env)
    const lost = call('/updates', ask).catch((error: Error) => error)
    await vi.waitFor(() => expect(runs(service.requests)).toBe(1), patienceMs)
    server.signal('SIGTERM')
    await sleep(1_200)
    server.signal('SIGTERM')
    expect((await server.ended).code).toBe(1)
    expect(await lost).toBeInstanceOf(Error)
  })

  it('npm run serve fires a plan at its time, and afterwards the times that it missed while down', async () => {
    const { data, env, service } = await begun('plans')
    const PLANS = join(directory, 'plans.json')
    const plan = { name: 'often', kind: 'ranking', projects: ['acme.example'], schedule: 'rate(1 minute)' }
    await writeFile(PLANS, JSON.stringify({ plans: [plan] }))
    const first = await serve({ ...env, PLANS })
    first.server.signal('SIGTERM')
    await first.server.ended

    // Simulates that no process has run since then.
    const file = new Database(join(data, 'ledger.db'))
    const now = Date.now()
    const until = { 'often rate(1 minute)': now - 62 * minuteMs, digest: now }
    file.exec(`UPDATE notes SET value = '${JSON.stringify(until)}' WHERE name = 'plans-fired'`)
    file.close()
    const { lines, call } = await serve({ ...env, PLANS })
    const fired = () => lines().filter(({ event }) => event === 'occurrence')
    const states = () => new Map<number, string>(fired().map(({ time, state }) => [time, state]))
    await vi.waitFor(() => expect(states().size).toBeGreaterThanOrEqual(60), patienceMs)
    for (const [time, state] of states()) {
      if (now - time > hourMs + minuteMs) expect(state).toBe('missed')
      if (now - time < hourMs - minuteMs) expect(state).not.toBe('missed')
    }
    await vi.waitFor(() => expect(runs(service.requests)).toBe(1), patienceMs)
    const { body } = await call('/updates?plan=often&state=settled')
    expect(body.updates).toHaveLength(1)
  })

  it('an update that was requested when a backup was made does not run after the restore', async () => {
    let isSlow = false
    const { data, env, service } = await begun('restored', ({ url }) =>
      isSlow && url.includes('/estimate') ? { kind: 'hang' } : json({ keyword_units: 40, dates: [] }),
    )
    const first = await serve(env)
    const post = (path: string, sub: string, scope: string, body: object) =>
      fetch(`${first.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tokenOf(sub, scope)}`,
          'content-type': 'application/json',
          'idempotency-key': sub,
        },
        body: JSON.stringify(body),
      })
    await post('/updates', 'eve', 'read propose', ask)
    const path = `/updates/${(await first.call('/updates')).body.updates[0].id}`
    isSlow = true
    void post(`${path}/approve`, 'bob', 'read approve', { reason: 'needed' }).catch(() => null)
    await vi.waitFor(async () => expect((await first.call(path)).body.state).toBe('requested'), patienceMs)
    first.server.signalGroup('SIGKILL')
    await first.server.ended
    const backup = join(directory, 'restored.backup')
    expect(await runHere('backup', [backup], { DATA_DIR: data })).toMatchObject({ code: 0, err: '' })
    expect(await runHere('restore', ['from', backup], { DATA_DIR: data })).toMatchObject({ code: 0, err: '' })

    isSlow = false
    const next = await serve(env)
    const told = async () => (await next.call(path)).body
    await vi.waitFor(async () => expect((await told()).state).toBe('refused'), patienceMs)
    expect((await told()).problem.type).toBe('/problems/ledger-restored')
    expect(runs(service.requests)).toBe(0)
  })
})

describe('the refusals of npm run serve', () => {
  const own: Environment = { TRACKING_BASE_URL: 'https://service.example/v3', ...secrets }
  const refused = async (env: Environment) => {
    const { code, out, err } = await runHere('serve', [], env)
    expect([code, out, err.trim().split('\n').length]).toEqual([1, '', 1])
    return err.trim()
  }

  it('npm run serve refuses a folder without a ledger, and creates nothing there', async () => {
    const data = join(directory, 'unmounted')
    await mkdir(data)
    expect(await refused({ ...own, DATA_DIR: data })).toBe(
      `${data} holds no ledger: mount the volume that has it, restore a backup (npm run restore -- from <file>), or begin one with npm run account -- begin`,
    )
    expect(readdirSync(data)).toEqual([])
  })

  it('npm run serve does not accept an empty file as a ledger', async () => {
    const data = join(directory, 'empty')
    await mkdir(data)
    await writeFile(join(data, 'ledger.db'), '')
    expect(await refused({ ...own, DATA_DIR: data })).toContain('begin it once with npm run account -- begin')
    expect(existsSync(join(data, 'env'))).toBe(false)
  })

  it('npm run serve names all settings that it needs at once', async () => {
    const err = await refused({ DATA_DIR: 'memory', HOST: 'localhost' })
    for (const name of ['TRACKING_BASE_URL', 'TRACKING_TOKEN', 'CALLER_KEY', 'DATA_DIR', 'HOST'])
      expect(err).toContain(`${name}: must be`)
  })

  it('npm run serve names missing or wrong settings in a folder without a start', async () => {
    const data = { DATA_DIR: join(directory, 'fresh') }
    expect(await refused({ ...own, ...data, CALLER_KEY: '' })).toContain('CALLER_KEY: must be ')
  })

  it.each([
    [{ HOST: '0.0.0.0' }, 'PUBLIC_URL: must be the address that people use'],
    [{ CALLER_KEY: 'short' }, 'CALLER_KEY: must be at least 32 visible ASCII characters'],
    [{ CALLER_KEY: '{"current":"short"}' }, 'CALLER_KEY: must be at least 32 visible ASCII characters'],
  ])('npm run serve refuses %o', (given: Environment, sentence) => {
    expect(() => readServedSettings({ ...own, ...given })).toThrow(sentence)
  })
})

describe('secrets in files', () => {
  const own = { TRACKING_BASE_URL: 'https://service.example/v3', ...secrets }
  const fileOf = async (name: string, text: string) => {
    const file = join(directory, name)
    await writeFile(file, text)
    return file
  }

  it('a secret comes from the file that its variable with _FILE names, without the final newline', async () => {
    const targets = await fileOf(
      'targets.json',
      JSON.stringify([
        { name: 'crm', url: 'https://crm.example/', secret: 'unit-guard/events/crm', types: ['update.settled'] },
      ]),
    )
    const hook = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
    const env = {
      TRACKING_BASE_URL: own.TRACKING_BASE_URL,
      EVENT_TARGETS: targets,
      TRACKING_TOKEN_FILE: await fileOf('token', `${serviceToken}\n`),
      CALLER_KEY_FILE: await fileOf('key', `{"current":"${callerKey}","previous":"${callerKey}-old"}\r\n`),
      QUOTE_KEY_FILE: await fileOf('quote', 'q'.repeat(40)),
      SLACK_SIGNING_SECRET_FILE: await fileOf('slack', 'signing'),
      SLACK_BOT_TOKEN_FILE: await fileOf('bot', 'xoxb-canary\n'),
      LOGIN_CLIENT_FILE: await fileOf('login', 'client\n'),
      EVENTS_CRM_FILE: await fileOf('crm', `${hook}\n`),
    }
    expect(readServedSettings(env)).toMatchObject({
      serviceToken,
      callerKey: { current: callerKey, previous: `${callerKey}-old` },
      quoteKey: { current: 'q'.repeat(40) },
      slack: { signingSecret: 'signing', botToken: 'xoxb-canary' },
      loginClient: 'client',
      events: { secrets: { 'unit-guard/events/crm': { current: hook } } },
    })
    expect(() => readServedSettings({ ...env, EVENTS_CRM: hook })).toThrow(
      'EVENTS_CRM and EVENTS_CRM_FILE are both set: unset one of them',
    )
  })

  it.each([
    [
      { TRACKING_TOKEN_FILE: '/nowhere/token' },
      'TRACKING_TOKEN and TRACKING_TOKEN_FILE are both set: unset one of them',
    ],
    [
      { TRACKING_TOKEN: '', TRACKING_TOKEN_FILE: '/nowhere/token' },
      'TRACKING_TOKEN_FILE: the file token is not there; it must hold the secret and nothing else',
    ],
    [
      { TRACKING_TOKEN: '', TRACKING_TOKEN_FILE: '/' },
      'TRACKING_TOKEN_FILE: the file  cannot be read; it must hold the secret and nothing else',
    ],
    [{ TRACKING_TOKEN: 'two words' }, 'TRACKING_TOKEN: must be visible ASCII characters'],
  ])('a secret in a file or beside it is refused: %o', (given, sentence) => {
    expect(() => readServedSettings({ ...own, ...given })).toThrow(sentence)
  })

  it('an empty file holds no secret', async () => {
    for (const text of ['', '\n']) {
      const given = { TRACKING_TOKEN: '', TRACKING_TOKEN_FILE: await fileOf('empty-token', text) }
      expect(() => readServedSettings({ ...own, ...given })).toThrow(
        'TRACKING_TOKEN_FILE: the file empty-token is empty; it must hold the secret and nothing else',
      )
    }
  })

  it('requests of Slack are refused until a signing secret is set', () => {
    const { slack } = readServedSettings(own)
    expect(slack.signingSecret).toMatch(/^[0-9a-f]{64}$/)
    expect(readServedSettings(own).slack.signingSecret).not.toBe(slack.signingSecret)
  })
})

it('docs/runbook.md lists the events of one machine, and no other event', () => {
  const files = readdirSync('infra/local', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const logged = files.flatMap((file) => [
    ...readFileSync(join('infra/local', file), 'utf8').matchAll(
      /\blog\.(?:info|error)\(\s*'([\w-]+)'|'([\w-]+-failed)'/g,
    ),
  ])
  const listed = [...eventsHere.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)
  const members = ['version', 'url', 'ledger', 'cause', 'reader', 'records']
  const events = new Set(logged.map(([, event, failure]) => event ?? failure))
  expect([...events].sort()).toEqual([...new Set(listed)].filter((name) => !members.includes(name ?? '')).sort())
})
