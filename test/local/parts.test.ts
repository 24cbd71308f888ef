import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { attentionOf } from '../../infra/local/commands/attention.ts'
import { examineStore } from '../../infra/local/commands/doctor/doctor.ts'
import { describeToken, examineService } from '../../infra/local/commands/doctor/service.ts'
import { pointersToUnits } from '../../infra/local/commands/projects.ts'
import { readEnvFile, withoutFound, writeEnvFile } from '../../infra/local/data-directory.ts'
import { createListener } from '../../infra/local/listener.ts'
import { createSecretsEndpoint, readKeys } from '../../infra/local/secrets.ts'
import { readSettings, sandboxToken } from '../../infra/local/settings.ts'
import { createShutdown } from '../../infra/local/shutdown.ts'
import { createTicker } from '../../infra/local/ticker.ts'
import { commandEnvironment } from '../../infra/local/where.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { parsePlans } from '../../shared/guard/plans-file.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { createSecret, createSecretsClient } from '../../shared/platform/secrets.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { toUnits } from '../../shared/platform/words.ts'
import { readProjects } from '../../shared/tracking/project-list.ts'
import { createTestClock, days } from '../support/clock.ts'
import { runHere } from '../support/process/here.ts'
import { newFolder } from '../support/process/local.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const answered = (body: unknown, status = 200) =>
  ({ kind: 'answered', status, headers: {}, body: Buffer.from(JSON.stringify(body)) }) as const

describe('the env file', () => {
  const odd = `it's "$HOME" \`x\` \\ é\nand more`

  it('the env file has the same meaning for a shell and for the commands', async () => {
    const directory = await newFolder()
    const file = await writeEnvFile(directory, { TABLE_NAME: odd, RUN_POINTER_RANKING: '' }, { SECRETS_ENDPOINT: 'a' })
    const shown = execFileSync('/bin/sh', ['-c', `. '${file}'; printf %s "$TABLE_NAME"`], { encoding: 'utf8' })
    expect(shown).toBe(odd)
    expect(readEnvFile(directory)).toEqual({
      TABLE_NAME: odd,
      SECRETS_ENDPOINT: 'a',
      FOUND_HERE: 'SECRETS_ENDPOINT',
      SET_HERE: expect.stringMatching(/^[\w-]{8}$/),
    })
    await writeEnvFile(directory, {}, { PLANS: '/my plans/é.json', SECRETS_ENDPOINT: 'a' })
    expect(Object.keys(withoutFound(readEnvFile(directory)))).toEqual(['FOUND_HERE', 'SET_HERE'])
    expect(readEnvFile(join(directory, 'nowhere'))).toEqual({})
  })

  it('each line of the env file has a comment of one line above it', async () => {
    const file = await writeEnvFile(
      await newFolder(),
      { DATA_DIR: 'd', UNIT_GUARD_URL: 'u', TABLE_NAME: '# no comment', COOLDOWN_RANKING: 'day' },
      { SECRETS_ENDPOINT: 'a' },
    )
    const [head = '', ...groups] = (await readFile(file, 'utf8')).split('\n\n')
    expect(head).toMatch(/^# Written by Unit Guard.*\.$/)
    const shown = groups.map((group) => group.trim().split('\n'))
    expect(shown.map(([comment, ...lines]) => [comment, lines.map((line) => /\w+ (\w+)/.exec(line)?.[1])])).toEqual([
      [expect.stringMatching(/^# This Unit Guard: .*\.$/), ['DATA_DIR', 'UNIT_GUARD_URL']],
      [expect.stringMatching(/^# Its settings .*\.$/), ['TABLE_NAME', 'COOLDOWN_RANKING']],
      [expect.stringMatching(/^# What this start found itself\. .*\.$/), ['SECRETS_ENDPOINT']],
      [expect.stringMatching(/^# By these two the next start knows .*\.$/), ['FOUND_HERE', 'SET_HERE']],
      [expect.stringMatching(/^# Variables that the shell may have .*\.$/), [expect.any(String)]],
    ])
  })

  it('addresses from a sourced env file do not affect the next start, and variables set by hand do', async () => {
    const directory = await newFolder()
    await writeEnvFile(directory, { TABLE_NAME: 't' }, { SECRETS_ENDPOINT: 'a', SLACK_CHANNEL: 'b' })
    const next = withoutFound({ ...readEnvFile(directory), SLACK_CHANNEL: 'mine' })
    expect(next).toMatchObject({ TABLE_NAME: 't', SLACK_CHANNEL: 'mine' })
    expect(next).not.toHaveProperty('SECRETS_ENDPOINT')
  })
})

describe('a command', () => {
  const here = { UNIT_GUARD_URL: 'http://127.0.0.1:1', UNIT_GUARD_TOKEN: 'here' }

  it('a command keeps the directory of the sourced env file after restarts', async () => {
    const directory = await newFolder()
    await writeEnvFile(directory, { ...here, DATA_DIR: directory }, { SECRETS_ENDPOINT: 'old' })
    const sourced = readEnvFile(directory)
    await writeEnvFile(directory, { ...here, DATA_DIR: directory }, { SECRETS_ENDPOINT: 'new' })
    expect(commandEnvironment(sourced)).toMatchObject({ ...here, SECRETS_ENDPOINT: 'new' })
    expect(withoutFound(sourced)).toMatchObject({ DATA_DIR: directory })
  })

  it('a command does not use the service of its env file as another service', async () => {
    const directory = await newFolder()
    const sandbox = { TRACKING_BASE_URL: 'http://127.0.0.1:1/v3', LEDGER_SERVICE: 'sandbox' }
    await writeEnvFile(directory, {}, sandbox)
    expect(commandEnvironment({ DATA_DIR: directory })).toMatchObject(sandbox)
    const elsewhere = { DATA_DIR: directory, TRACKING_BASE_URL: 'https://service.example/v3' }
    expect(commandEnvironment(elsewhere)).not.toHaveProperty('LEDGER_SERVICE')
  })

  it('a command with GUARD_PREFIX reads the secrets of that guard, which have no region in their names', async () => {
    const env = commandEnvironment({ DATA_DIR: await newFolder(), GUARD_PREFIX: 'unit-guard-dev' })
    expect(env).toMatchObject({
      SERVICE_TOKEN_SECRET: 'unit-guard-dev/service-token',
      CALLER_KEY_SECRET: 'unit-guard-dev/caller-key',
    })
    expect(env).not.toHaveProperty('ORIGIN_SECRET')
  })

  it('a command sends the token of its env file to no other guard', async () => {
    const directory = await newFolder()
    await writeEnvFile(directory, here, {})
    const given = { DATA_DIR: directory }
    expect(commandEnvironment(given)).toMatchObject(here)
    expect(commandEnvironment({ ...given, UNIT_GUARD_URL: here.UNIT_GUARD_URL })).toMatchObject(here)
    const elsewhere = { ...given, UNIT_GUARD_URL: 'https://guard.example' }
    expect(commandEnvironment(elsewhere)).toMatchObject(elsewhere)
    expect(commandEnvironment(elsewhere)).not.toHaveProperty('UNIT_GUARD_TOKEN')
    expect(commandEnvironment({ ...elsewhere, UNIT_GUARD_TOKEN: 'there' })).toMatchObject({ UNIT_GUARD_TOKEN: 'there' })
  })
})

describe('a command before npm start', () => {
  it('a command before npm start says to start it or to set AWS_REGION', async () => {
    const { code, out, err } = await runHere('token', ['--sub', 'a', '--scope', 'read'], {
      DATA_DIR: await newFolder(),
    })
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(
      /Region is missing\. Start Unit Guard here first \(npm start or npm run serve\), or set AWS_REGION\.\n$/,
    )
  })
})

describe('an impossible DATA_DIR', () => {
  it.each(['start', 'sandbox', 'demo:month'] as const)('%s names a DATA_DIR that cannot be made', async (script) => {
    const file = join(await newFolder(), 'file')
    await writeFile(file, '')
    const { code, err } = await runHere(script, [], { DATA_DIR: file })
    expect([code, err.trim().split('\n')]).toEqual([1, [expect.stringMatching(/cannot be made.*set DATA_DIR/)]])
  })
})

describe('settings', () => {
  it('a user’s own service excludes the sandbox, demonstration, plans and default token', () => {
    const given = { TRACKING_BASE_URL: 'https://service.example/v3', DEMO: 'on' }
    const own = { sandboxPort: null, demonstrates: false, serviceToken: null, ownPlans: null }
    expect(readSettings(given)).toMatchObject(own)
    expect(readSettings({ ...given, TRACKING_TOKEN: 'mine' })).toMatchObject({ ...own, serviceToken: 'mine' })
  })

  it('a strange sandbox gives no demonstration, and other habits than the two are refused', () => {
    expect(readSettings({ SANDBOX_HABITS: 'usual' })).toMatchObject({ sandboxHabits: 'usual', demonstrates: true })
    expect(readSettings({ SANDBOX_HABITS: 'strange' })).toMatchObject({ sandboxHabits: 'strange', demonstrates: false })
    expect(() => readSettings({ SANDBOX_HABITS: 'odd' })).toThrow('SANDBOX_HABITS: must be usual or strange')
  })

  it('without variables the settings have their documented defaults', () => {
    expect(readSettings({ PORT: '' })).toMatchObject({
      port: 8787,
      sandboxPort: 8788,
      keptIn: '.local',
      directory: '.local',
      demonstrates: true,
      serviceToken: sandboxToken,
      slack: { signingSecret: 'local-slack-signing-secret' },
      ownPlans: expect.stringMatching(/\/infra\/local\/plans\.json$/),
    })
    expect(readSettings({ PLANS: 'mine.json' })).toMatchObject({ ownPlans: null, guard: { PLANS: 'mine.json' } })
  })
})

describe('the secrets endpoint', () => {
  const read = async (id: string, keepsPrevious = false, accessKey = 'key1') => {
    const listener = await createListener({ port: 0 })
    onTestFinished(() => listener.close(Promise.resolve()))
    listener.open(
      createSecretsEndpoint({ key: { current: 'now', previous: 'before' }, lone: { current: 'alone' } }, 'key1'),
    )
    const client = createSecretsClient(listener.url, accessKey)
    const log = { info() {}, error() {}, hide() {} }
    return createSecret({ client, id, keepsPrevious, clock: systemClock, log }).read()
  }

  it('the secrets endpoint answers the AWS client', async () => {
    expect(await read('key', true)).toEqual({ current: 'now', previous: 'before' })
    expect(await read('lone', true)).toEqual({ current: 'alone', previous: null })
    await expect(read('constructor')).rejects.toMatchObject({ cause: { name: 'ResourceNotFoundException' } })
  })

  it('the secrets endpoint refuses other access keys and prefixes of its own key', async () => {
    const refused = { cause: { name: 'UnrecognizedClientException' } }
    for (const key of ['key', 'key10', 'local']) await expect(read('lone', false, key)).rejects.toMatchObject(refused)
  })

  it('the secrets endpoint refuses other hosts (DNS rebinding)', async () => {
    const app = createSecretsEndpoint({ key: { current: 'now' } }, 'key1')
    const headers = { 'x-amz-target': 'secretsmanager.GetSecretValue', host: 'rebound.example' }
    const answer = await app.request('/', { method: 'POST', headers, body: '{"SecretId": "key"}' })
    expect([answer.status, await answer.text()]).toEqual([403, ''])
  })
})

describe('the caller key', () => {
  it('the caller key is long, random and kept across starts', async () => {
    const directory = await newFolder()
    const keys = await readKeys(directory)
    expect(keys.callerKey.current).toMatch(/^[\w-]{64}$/)
    expect(await readKeys(directory)).toEqual(keys)
    const rotated = { ...keys, callerKey: { current: 'c'.repeat(64), previous: 'p'.repeat(64) } }
    await writeFile(join(directory, 'secrets.json'), JSON.stringify(rotated))
    expect(await readKeys(directory)).toEqual(rotated)
    expect((await readKeys(null)).callerKey).not.toEqual((await readKeys(null)).callerKey)
  })

  it('a damaged file with the caller key is not replaced', async () => {
    const directory = await newFolder()
    const file = join(directory, 'secrets.json')
    await writeFile(file, '{"callerKey": {"current": "short"}}')
    await expect(readKeys(directory)).rejects.toThrow('does not hold both keys')
    expect(await readFile(file, 'utf8')).toContain('short')
  })
})

describe('the doctor', () => {
  it('the doctor reads lists of projects in several forms', () => {
    const projects = [{ name: 'acme', id: 7 }, 'globex', { id: 8 }]
    const both = [
      { name: 'acme', id: '7' },
      { name: 'globex', id: undefined },
    ]
    expect(readProjects(answered({ projects })).projects).toEqual(both)
    expect(readProjects(answered({ response_code: 0, data: { projects } })).projects).toEqual(both)
    expect(readProjects(answered([]))).toEqual({
      projects: [],
      isRead: false,
      reason: 'cannot be listed (no list of projects in the body)',
    })
    expect(readProjects(answered({}, 401)).reason).toBe('cannot be listed (status 401)')
  })

  it('the doctor suggests pointers to numbers that may be units', () => {
    const body = { response_code: 0, data: { 'a/b': 5, '~': '12', text: 'x', below: -1, list: [{ n: 1.5 }, { n: 3 }] } }
    expect(pointersToUnits(answered(body))).toEqual(['/data/a~1b', '/data/~0', '/data/list/1/n'])
  })

  it('the doctor says when a token expires, without showing the token', () => {
    const now = Date.UTC(2026, 10, 20)
    const jwt = (exp: unknown) => `${encode({ alg: 'HS256' })}.${encode({ exp })}.c2lnbmF0dXJl`
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const told = (token: string, status = 200) => describeToken(token, answered({}, status), now)
    expect(told('opaque')).toEqual({
      lines: ['token: accepted by the service; does not say when it expires'],
      toDo: [],
    })
    expect(told(jwt(now / 1000 + 3600)).toDo).toEqual(["renew the service's token: it expires within two weeks"])
    expect(told(jwt(now / 1000 - 1)).toDo).toEqual(["renew the service's token: it has expired"])
    expect(told(jwt(now / 1000 + 20.5 * 24 * 3600)).lines).toEqual([
      'token: accepted by the service; expires 10 Dec 2026 12:00 UTC, 20 days left',
    ])
    expect(told(jwt(now / 1000 - 1)).lines).toEqual(['token: accepted by the service; expired 19 Nov 2026 23:59 UTC'])
    expect(told('opaque', 401)).toEqual({
      lines: ['token: refused by the service (status 401); does not say when it expires'],
      toDo: ["renew the service's token: the service refuses it"],
    })
    const unreachable = { kind: 'failed', sent: 'no', reason: 'no answer', cause: 'connection', status: null } as const
    expect(describeToken('opaque', unreachable, now)).toEqual({
      lines: ['token: unknown whether the service accepts it; does not say when it expires'],
      toDo: [],
    })
    expect(told(jwt(1e308)).lines).toEqual(['token: accepted by the service; does not say when it expires'])
  })
})

describe('the doctor without a usable service', () => {
  const toDoAt = async (baseUrl: string) => (await examineAt(baseUrl)).toDo
  async function examineAt(baseUrl: string, project?: string) {
    const secrets = await openDoor(
      createSecretsEndpoint({ 'unit-guard/service-token': { current: sandboxToken } }, 'local'),
    )
    const given = { TABLE_NAME: 't', ACCOUNT_UNITS_PER_MONTH: '1', TRACKING_BASE_URL: `${baseUrl}/v3` }
    const settings = parseSettings(guardSettings, { ...given, SECRETS_ENDPOINT: secrets })
    return examineService(settings, { project, id: undefined })
  }
  async function openDoor(app: Parameters<Awaited<ReturnType<typeof createListener>>['open']>[0]): Promise<string> {
    const listener = await createListener({ port: 0 })
    listener.open(app)
    onTestFinished(() => listener.close(Promise.resolve()))
    return listener.url
  }

  it('the doctor says that the service does not answer or refuses the token', async () => {
    expect(await toDoAt('http://127.0.0.1:9')).toEqual(['see why the service does not answer: connection refused'])
    const refusing = await openDoor({ fetch: () => new Response('{}', { status: 401 }) })
    expect(await toDoAt(refusing)).toEqual(["renew the service's token: the service refuses it"])
    const date = new Date(0).toUTCString()
    const early = await openDoor({ fetch: () => Response.json({ keyword_units: 40 }, { headers: { date } }) })
    const { toDo } = await examineAt(early, 'initech')
    expect(toDo).toEqual([
      expect.stringMatching(
        /^set the clock that is wrong: it is 2\S+ here and 1970-01-01T00:00:00.000Z at the service, .* no update runs$/,
      ),
    ])
    const empty = await openDoor({ fetch: () => Response.json({ projects: [] }) })
    expect(await toDoAt(empty)).toEqual(['name a project: npm run doctor -- --project <name> (none is listed)'])
  })
})

describe('the doctor on the ledger', () => {
  const settings = {
    ACCOUNT_UNITS_PER_MONTH: toUnits(1_000),
    ACCOUNT_UNITS_USED_AT_START: toUnits(200),
    ACCOUNT_RENEWAL_DAY: 1,
    ACCOUNT_RENEWAL_TIME: '00:00',
    ACCOUNT_TIME_ZONE: 'UTC',
  }
  const clock = createTestClock()

  it('the doctor says what the first request will create, and creates nothing', async () => {
    const items = new Map()
    expect(await examineStore(settings, createMemoryStore(items), clock)).toEqual({
      lines: [
        'it is empty; the first request makes it: 1,000 units a month, 200 of them used, the month turns on day 1 at 00:00 UTC',
      ],
      toDo: [],
    })
    expect(items.size).toBe(0)
    expect(await examineStore(settings, createMemoryStore(items), clock, { isOnAws: true })).toEqual({
      lines: ['it is empty'],
      toDo: ['the table holds no ledger yet: begin it once with npm run account -- begin'],
    })
  })

  it('the doctor names plans and projects that their budget would refuse', async () => {
    const store = createMemoryStore(new Map())
    const product = await startProduct({ store, clock, stream: false })
    const owned = (...names: string[]) => ({
      body: { limits: [{ window: 'month', units: 100 }], projects: names.map((name) => ({ name })) },
    })
    await product.call('PUT', '/budgets/acme', owned('a', 'b', 'c', 'd', 'e', 'f', 'g'))
    await product.call('PUT', '/budgets/globex', owned())
    const plan = (name: string, more: object) => ({ name, kind: 'ranking', schedule: 'rate(12 hours)', ...more })
    const plans = parsePlans(
      JSON.stringify([
        plan('night', { projects: ['free', 'a', 'b', 'c', 'd', 'e', 'f', 'g'], budget: 'account' }),
        plan('may', { projects: ['a'], budget: 'account', mayChargeAncestors: true }),
        plan('own', { projects: ['a', 'free'] }),
        plan('wrong', { projects: ['a'], budget: 'globex', mayChargeAncestors: true }),
        plan('typo', { projects: ['a'], leave: { acme: 5, acount: 5 } }),
        plan('greedy', { projects: ['a'], leave: { acme: 100 } }),
        plan('modest', { projects: ['a'], leave: { acme: 99 } }),
      ]),
    )
    const { toDo } = await examineStore({}, store, clock, { plans })
    expect(toDo).toEqual([
      'correct the plan night, which is refused for a, b, c, d, e and 2 more: plan night may not charge account for a, which belongs to acme; that needs mayChargeAncestors in the plan. Without a budget, acme pays.',
      'correct the plan wrong, which is refused for a: a belongs to acme, so it is charged there or to a parent of it, not to globex.',
      'The plan typo leaves units of the budget acount to others, and there is no such budget: correct the plans file, or create the budget.',
      'The plan greedy leaves 100 units of acme to others, but acme has 100 a month. None of the plan’s updates can pass. Lower leave in the plans file.',
    ])
  })

  it('the doctor names plans and projects that would be refused for their spelling', async () => {
    const store = createMemoryStore(new Map())
    const product = await startProduct({ store, clock, stream: false })
    const owned = { limits: [{ window: 'month', units: 100 }], projects: [{ name: 'one, listed' }] }
    await product.call('PUT', '/budgets/acme', { body: owned })
    const plan = (name: string, projects: string[]) => ({ name, kind: 'ranking', schedule: 'rate(12 hours)', projects })
    const plans = parsePlans(
      JSON.stringify([plan('night', ['fine', 'p,q', 'x/../acme', 'one, listed']), plan('day', ['p;q'])]),
    )
    expect((await examineStore({}, store, clock, { plans })).toDo).toEqual([
      'correct the plan night, which is refused for p,q and x/../acme: p,q may be read as several projects; name each of them by itself. If it is one project, list it in a budget under exactly this name. For several in one run through the gateway, set PROJECT_SEPARATOR.',
    ])
    expect((await examineStore({}, store, clock, { plans, separator: ';' })).toDo).toEqual([
      expect.stringMatching(/^correct the plan night, which is refused for p,q and x\/\.\.\/acme: /),
      'correct the plan day, which is refused for p;q: p;q names several projects; name each of them by itself.',
    ])
  })

  it('the doctor shows used budgets, counts the others, and warns of another renewal', async () => {
    const items = new Map()
    const store = createMemoryStore(items)
    const product = await startProduct({ store, clock, stream: false })
    const limits = [{ window: 'month', units: 100 }]
    for (const name of ['acme', 'globex', 'initech'])
      await product.call('PUT', `/budgets/${name}`, { body: { limits } })
    await product.update({ kind: 'ranking', project: 'a', budget: 'acme' })
    await product.call('POST', '/budgets/globex/freeze', { body: { reason: 'too dear' } })
    const before = JSON.stringify([...items])
    const found = await examineStore({ ...settings, ACCOUNT_RENEWAL_DAY: 12 }, store, clock)
    expect(found).toEqual({
      lines: [
        expect.stringMatching(/^led_\w{26}, a ledger of sandbox; the month turns on day 1 at 00:00 UTC$/),
        'month:2026-11-01 is open until 1 Dec 2026 00:00 UTC; revision 5 of the definitions',
        'account, month: 49,960 of 50,000 available, 0 held, 0 in doubt, 40 spent',
        'acme, month: 60 of 100 available, 0 held, 0 in doubt, 40 spent',
        'globex, month: 100 of 100 available, 0 held, 0 in doubt, 0 spent, FROZEN',
        'and 1 budget without any use this month',
        'ACCOUNT_UNITS_PER_MONTH is 1000, but the ledger began with 50000: unset the setting (to change the limit, PUT /budgets/account)',
        'ACCOUNT_UNITS_USED_AT_START is 200, but the ledger began with 0: unset the setting (the opening entry can be corrected)',
        'ACCOUNT_RENEWAL_DAY is 12, but the ledger began with 1: unset the setting (to change the renewal, npm run account -- renewal)',
      ],
      toDo: [
        'unfreeze globex when it may spend again (frozen by ada: too dear)',
        'repair the differences between the ledger and the settings: the guard does not start, or answers 503',
      ],
    })
    expect(JSON.stringify([...items])).toBe(before)
  })
})

describe('the doctor on names', () => {
  it('the doctor names projects that two budgets list under two spellings', async () => {
    const items = new Map()
    const store = createMemoryStore(items)
    const clock = createTestClock()
    const product = await startProduct({ store, clock, stream: false })
    const listing = (name: string) => ({ limits: [{ window: 'month', units: 100 }], projects: [{ name }] })
    await product.call('PUT', '/budgets/acme', { body: listing('Acme') })
    await product.call('PUT', '/budgets/globex', { body: listing('other') })
    for (const [name, item] of items)
      if (item.pk === 'definitions') items.set(name, JSON.parse(JSON.stringify(item).replace('"other"', '"ACME"')))
    expect((await examineStore({}, store, clock)).toDo).toContain(
      'ACME, which is the same project as Acme, has one owner, and cannot belong to acme and to globex; until a budget drops one of them, its updates are refused',
    )
  })
})

it('attention names a stop once for all its budgets, and before it an empty budget', async () => {
  const plan = { name: 'night', kind: 'ranking', projects: ['a', 'b'], schedule: 'cron(0 10 * * ? *)' }
  const product = await startProduct({ store: createMemoryStore(), plans: [plan] })
  const put = (name: string, units: number) =>
    product.call('PUT', `/budgets/${name}`, {
      body: { limits: [{ window: 'month', units }], projects: [{ name }] },
    })
  await put('a', 100)
  await put('b', 100)
  await put('c', 0)
  await product.call('POST', '/plans/night/pause', { body: { reason: 'holiday' } })
  await product.call('POST', '/budgets/b/freeze', { body: { reason: 'over' } })
  expect(await attentionOf(product.guard)).toEqual({
    urgent: ['c: Nothing of 0 units is left this month.'],
    paused: ['The plan night was paused by ada on 20 Nov 2026 10:00 UTC: holiday'],
    frozen: ['b was frozen by ada on 20 Nov 2026 10:00 UTC: over'],
  })
})

describe('the ticker', () => {
  const plan = (name: string, schedule: string, enabled = true) => ({
    name,
    kind: 'ranking',
    projects: ['acme.example'],
    schedule,
    enabled,
  })
  const at = (time: string) => Date.parse(`2026-11-20T${time}Z`)
  const plansOf = (...plans: object[]) => parsePlans(JSON.stringify(plans))
  const create = (from: string, ...plans: object[]) => {
    const ticker = createTicker(plansOf(...plans), at(from))
    return (now: number) => ticker.due(now).map(({ event }) => event)
  }

  it('the ticker sends each due event once, and no event from before its start', () => {
    const due = create('04:58:30', plan('morning', 'cron(0 5 * * ? *)'), plan('never', 'cron(0 5 * * ? *)', false))
    expect(due(at('04:59:59.999'))).toEqual([])
    expect(due(at('05:00:03'))).toEqual([{ plan: 'morning', time: '2026-11-20T05:00:00.000Z' }])
    expect(due(at('05:00:13'))).toEqual([])
    expect(due(at('04:59:00'))).toEqual([])
    expect(due(at('05:00:23'))).toEqual([])
  })

  it('the ticker counts rates from the epoch and sends the digest at six', () => {
    const rate = plan('often', 'rate(30 minutes)')
    const hourly = ['05:30', '06:00'].map((time) => ({ plan: 'often', time: `2026-11-20T${time}:00.000Z` }))
    expect(create('05:10:00', rate)(at('06:20:00'))).toEqual([...hourly, { task: 'digest' }])
    expect(create('05:20:00', rate)(at('05:59:59'))).toEqual(hourly.slice(0, 1))
    expect(create('06:00:00')(at('06:00:01'))).toEqual([])
  })

  it('the ticker sends only the latest events after a long sleep', () => {
    const times = create('00:00:00', plan('always', 'cron(* * * * ? *)'))(at('05:00:00'))
    expect(times).toHaveLength(60)
    expect(times.at(-1)).toEqual({ plan: 'always', time: '2026-11-20T05:00:00.000Z' })
  })

  it('the ticker sends the events that an earlier process missed, but none for a new or changed plan', () => {
    const plans = plansOf(
      plan('kept', 'cron(0 * * * ? *)'),
      plan('changed', 'cron(30 * * * ? *)'),
      plan('new', 'cron(0 * * * ? *)'),
    )
    const fired = { 'kept cron(0 * * * ? *)': at('02:00:00'), 'changed cron(0 * * * ? *)': at('02:00:00') }
    const ticker = createTicker(plans, at('04:10:00'), { ...fired, digest: at('06:00:00') - days(1) })
    expect(ticker.due(at('04:10:01')).map(({ event }) => event)).toEqual([
      { plan: 'kept', time: '2026-11-20T03:00:00.000Z' },
      { plan: 'kept', time: '2026-11-20T04:00:00.000Z' },
    ])
    expect(Object.fromEntries(ticker.fired)).toEqual({
      'kept cron(0 * * * ? *)': at('02:00:00'),
      digest: at('06:00:00') - days(1),
      'changed cron(30 * * * ? *)': at('04:10:00'),
      'new cron(0 * * * ? *)': at('04:10:00'),
    })
  })
})

describe('stopping', () => {
  it('a stop ends the parts one after another in reverse order, and continues after a failure', async () => {
    const shutdown = createShutdown()
    const stopped: string[] = []
    const stop = (name: string) => async () => {
      stopped.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      stopped.push(`${name} ends`)
    }
    const said: unknown[] = []
    const { error } = console
    console.error = (...words: unknown[]) => void said.push(words.join(' '))
    onTestFinished(() => {
      console.error = error
    })
    shutdown.onStop(stop('ledger'))
    shutdown.onStop(() => Promise.reject(new Error('no answer')))
    shutdown.onStop(stop('api'))
    await Promise.all([shutdown.stop(), shutdown.stop()])
    expect(stopped).toEqual(['api begins', 'api ends', 'ledger begins', 'ledger ends'])
    expect(said).toEqual(['unit-guard: while stopping: Error: no answer'])
  })
})

/** Uses a raw socket, which normalizes nothing. */
async function send(bytes: string): Promise<string> {
  const listener = await createListener({ port: 0 })
  onTestFinished(() => listener.close(Promise.resolve()))
  const socket = connect(listener.port, '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}

it.each([
  [
    'headers above 16 KiB',
    `GET / HTTP/1.1\r\nhost: guard\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    'The address and the headers have at most 16 KiB together; this request has more. Nothing was sent.',
  ],
  ['no HTTP', 'EHLO guard\r\n\r\n', 400, 'This is not an HTTP request that can be read. Nothing was sent.'],
])('the listener answers %s with a problem that says the fault', async (_name, bytes, status, detail) => {
  const [head = '', body = ''] = (await send(bytes)).split('\r\n\r\n')
  expect(head).toContain(`HTTP/1.1 ${status} `)
  expect(head).toContain('Content-Type: application/problem+json')
  expect(JSON.parse(body)).toMatchObject({ type: 'about:blank', status, detail })
})
