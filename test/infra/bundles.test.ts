import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { bundleAll } from '../../infra/bundle.ts'
import { type BundleName, bundleNames, GuardCode } from '../../infra/code.ts'
import { signCallerToken } from '../../infra/local/secrets.ts'
import { allOperations } from '../../infra/openapi/document.ts'
import { commonTexts } from '../../shared/api/schemas.ts'
import { createDynamoStore } from '../../shared/ledger/store/dynamo-store.ts'
import { updateKey } from '../../shared/ledger/updates/update-keys.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { scopes } from '../../shared/platform/words.ts'
import { agentMessage, agentResult } from '../support/agent-message.ts'
import { dynamodb } from '../support/dynamodb/endpoint.ts'
import { okta, warehouse, writeIssuers, writePlans, writeTargets } from '../support/infra/deployment.ts'
import { awslambda, callStreaming, contextFor, urlEvent } from '../support/infra/lambda.ts'
import { callerKey, json, serviceToken } from '../support/product.ts'
import { quoteKey } from '../support/quote-key.ts'
import { type ScriptedService, startScriptedService } from '../support/scripted-service.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { signedFor, slackSecretOf, startSlackChannel } from '../support/slack/slack.ts'
import { createLocalTable } from '../support/store/stores.ts'

// biome-ignore lint/suspicious/noExplicitAny: bundles are what Lambda loads, without types.
type Loaded = any

/** The minified size of each bundle, because Lambda loads all of it at a cold start. */
const kilobytes: Readonly<Record<BundleName, number>> = {
  api: 558,
  dashboard: 819,
  mcp: 845,
  slack: 321,
  scheduled: 580,
  outbox: 567,
  sandbox: 292,
}
const kilobyte = 1024

/** These are built into `@modelcontextprotocol/server`, and not installed. */
const builtIn = ['@modelcontextprotocol/core-internal', 'content-type']

/** The deployed functions with a real ledger, a scripted service and a scripted Slack. */
describe.skipIf(inject('dynamodb') === null)('the bundles', () => {
  let folder: string
  let bundles: Awaited<ReturnType<typeof bundleAll>>
  let code: GuardCode
  let service: ScriptedService
  let slack: Awaited<ReturnType<typeof startSlackChannel>>
  let secrets: Awaited<ReturnType<typeof startTestSecrets>>
  let local: Awaited<ReturnType<typeof createLocalTable>>
  let loaded: Record<Exclude<BundleName, 'sandbox'>, Loaded>
  let token: string
  const logged: string[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
    const plan = { name: 'morning', kind: 'ranking', projects: ['globex'], schedule: 'cron(0 5 * * ? *)' }
    bundles = await bundleAll({ into: folder })
    const files = {
      PLANS: writePlans([plan]),
      TRUSTED_ISSUERS: writeIssuers([okta]),
      EVENT_TARGETS: writeTargets([warehouse]),
    }
    code = new GuardCode({ bundles: folder, files })
    service = await startScriptedService({ fallback: answerOf })
    slack = await startSlackChannel({})
    secrets = await startTestSecrets({
      'unit-guard/service-token': serviceToken,
      'unit-guard/caller-key': callerKey,
      'unit-guard/quote-key': quoteKey,
      'unit-guard/slack': slackSecretOf(slack.webhookUrl),
    })
    local = await createLocalTable()
    const environment = {
      TABLE_NAME: local.table,
      DYNAMODB_ENDPOINT: await dynamodb(),
      SECRETS_ENDPOINT: secrets.endpoint,
      ACCOUNT_UNITS_PER_MONTH: '50000',
      TRACKING_BASE_URL: service.baseUrl,
      DASHBOARD_URL: 'https://dashboard.example',
      PLANS: join(code.folderOf('api'), 'plans.json'),
    }
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    vi.stubGlobal('awslambda', awslambda)
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => Boolean(logged.push(String(line))))
    const load = (name: BundleName) => import(pathToFileURL(join(bundles.folders[name], 'index.mjs')).href)
    loaded = {
      api: await load('api'),
      dashboard: await load('dashboard'),
      mcp: await load('mcp'),
      slack: await load('slack'),
      scheduled: await load('scheduled'),
      outbox: await load('outbox'),
    }
    const claims = { key: callerKey, sub: 'ada', scopes, budgets: '*' as const, now: Date.now(), lastsMs: 3_600_000 }
    token = await signCallerToken(claims)
  })

  afterAll(async () => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
    vi.unstubAllEnvs()
    code.clear()
    await Promise.all([service.close(), slack.close(), secrets.close(), rm(folder, { recursive: true })])
  })

  async function call(method: string, target: string, how: Parameters<typeof urlEvent>[2] = {}) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...how.headers }
    const answer = await callStreaming(loaded.api.handler, urlEvent(method, target, { ...how, headers }))
    const isJson = answer.text !== '' && /json/.test(answer.headers?.['content-type'] ?? '')
    return { ...answer, body: isJson ? JSON.parse(answer.text) : null }
  }
  const ask = async (project: string, headers: Record<string, string> = {}) =>
    call('POST', '/updates', { headers, body: JSON.stringify({ kind: 'ranking', project }) })
  const stateOf = async (id: string) => (await call('GET', `/updates/${id}`)).body.state
  const linesOf = (event: string) =>
    logged
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter((line) => line.event === event)

  describe('api', () => {
    test('api runs an update from a base64 body, within the time of the context', async () => {
      const { statusCode, body } = await ask('café & co')
      expect([statusCode, body.updates[0].state]).toEqual([201, 'settled'])
      const late = urlEvent('POST', '/updates', {
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'ranking', project: 'too-late' }),
      })
      const answer = await callStreaming(loaded.api.handler, late, 20_000)
      expect([answer.statusCode, JSON.parse(answer.text).updates[0].state]).toEqual([202, 'requested'])
    })

    test('api answers 204 and 304 with headers and no body', async () => {
      const body = JSON.stringify({ limits: [{ window: 'month', units: 100 }] })
      expect((await call('PUT', '/budgets/seo', { body })).statusCode).toBe(201)
      expect(await call('DELETE', '/budgets/seo')).toMatchObject({ statusCode: 204, text: '' })
      service.script('/projects', { status: 304, headers: { etag: '"x"' } })
      expect(await call('GET', '/v3/projects')).toMatchObject({ statusCode: 304, text: '', headers: { etag: '"x"' } })
    })

    test('api passes on the headers of a service answer without a body', async () => {
      service.script('/projects/gone/details', { status: 404, headers: { 'x-of': 'service' }, body: '' })
      expect(await call('GET', '/v3/projects/gone/details')).toMatchObject({
        statusCode: 404,
        text: '',
        headers: { 'x-of': 'service' },
      })
      service.script('/projects/acme/details', { status: 200, headers: { 'transfer-encoding': 'chunked' }, body: '' })
      expect(await call('GET', '/v3/projects/acme/details')).toMatchObject({ statusCode: 200, text: '' })
    })

    test('api streams a long export completely', async () => {
      const rows = `[${'{"position":1},'.repeat(200_000)}{}]`
      service.script('/projects/acme/export-rankings', {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: rows,
      })
      const { statusCode, text } = await call('GET', '/v3/projects/acme/export-rankings')
      expect([statusCode, text.length, text === rows]).toEqual([200, rows.length, true])
    })

    test('api loads the audit at its first request', async () => {
      expect(await call('GET', '/audit')).toMatchObject({ statusCode: 200, body: { ok: true } })
    })

    test('api ignores the body of a GET and answers 400 to TRACE', async () => {
      expect(await call('GET', '/plans', { body: '{}' })).toMatchObject({ statusCode: 200, body: { plans: [{}] } })
      expect(await call('TRACE', '/budgets')).toMatchObject({ statusCode: 400 })
    })

    test('api sets no cookies and accepts none for JSON routes', async () => {
      const event = urlEvent('GET', '/budgets', { cookies: ['session=abc', 'other=1'] })
      expect(await callStreaming(loaded.api.handler, event)).toMatchObject({ statusCode: 401, cookies: [] })
    })

    test('api serves health, the OpenAPI document and dashboard redirects without a token', async () => {
      const health = await callStreaming(loaded.api.handler, urlEvent('GET', '/health'))
      expect([health.statusCode, health.text]).toEqual([200, '{"status":"ok"}'])
      const document = await callStreaming(loaded.api.handler, urlEvent('GET', '/openapi.json'))
      expect([document.statusCode, JSON.parse(document.text).openapi]).toEqual([200, '3.1.1'])
      const page = await callStreaming(loaded.api.handler, urlEvent('GET', '/problems/over-budget?x=%2F'))
      const to = 'https://dashboard.example/problems/over-budget?x=%2F'
      expect([page.statusCode, page.headers?.location]).toEqual([308, to])
    })
  })

  describe('dashboard', () => {
    test('dashboard serves pages with https and refuses forms of other sites', async () => {
      const page = await callStreaming(loaded.dashboard.handler, urlEvent('GET', '/login'), 20_000)
      expect([page.statusCode, page.headers?.['content-type']]).toEqual([200, 'text/html; charset=UTF-8'])
      expect(page.headers?.['strict-transport-security']).toBe('max-age=31536000')
      expect(page.text).toContain('<h1>Log in</h1>')
      const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://evil.example' }
      const sent = await callStreaming(
        loaded.dashboard.handler,
        urlEvent('POST', '/login', { headers, body: 'code=x' }),
        20_000,
      )
      expect(sent.statusCode).toBe(403)
    })

    test('dashboard accepts the session cookie that it set', async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
      const form = new URLSearchParams({ token }).toString()
      const sent = await callStreaming(
        loaded.dashboard.handler,
        urlEvent('POST', '/login', { headers, body: form }),
        20_000,
      )
      expect([sent.statusCode, sent.cookies?.length]).toEqual([303, 1])
      expect(sent.cookies?.[0]).toMatch(/^__Host-unit-guard=[^;]+; .*HttpOnly; Secure; SameSite=Strict$/)
      const [cookie = ''] = sent.cookies?.[0]?.split(';') ?? []
      const page = await callStreaming(loaded.dashboard.handler, urlEvent('GET', '/', { cookies: [cookie] }), 20_000)
      expect([page.statusCode, page.text.includes('<h2 id="budgets">')]).toEqual([200, true])
    })

    test('dashboard serves the documentation and problem pages without a session', async () => {
      const page = await callStreaming(loaded.dashboard.handler, urlEvent('GET', '/problems/over-budget'))
      expect([page.statusCode, page.headers?.['content-type']]).toEqual([200, expect.stringMatching('text/html')])
      const docs = await callStreaming(loaded.dashboard.handler, urlEvent('GET', '/docs'))
      expect([docs.statusCode, docs.text.slice(0, 15)]).toEqual([200, '<!doctype html>'])
      const document = await callStreaming(loaded.dashboard.handler, urlEvent('GET', '/openapi.json'))
      expect([document.statusCode, JSON.parse(document.text).openapi]).toEqual([200, '3.1.1'])
    })
  })

  describe('mcp', () => {
    const send = async (method: string, params?: object) =>
      callStreaming(loaded.mcp.handler, urlEvent('POST', '/mcp', agentMessage(token, method, params)))
    const callTool = async (name: string, input: object) => {
      const { text } = await send('tools/call', { name, arguments: input })
      return agentResult(text)
    }

    test('mcp gives no quote without the key of quotes, and logs why', async () => {
      secrets.values['unit-guard/quote-key'] = undefined
      const answer = await callTool('estimate_update', { kind: 'ranking', project: 'hooli' })
      expect([answer.isError, answer.content[0].text]).toEqual([
        true,
        expect.stringContaining('A secret that this needs could not be read, so nothing was sent'),
      ])
      expect(linesOf('secret-unavailable').at(-1)).toMatchObject({ level: 'error', secret: 'unit-guard/quote-key' })
      secrets.values['unit-guard/quote-key'] = quoteKey
    })

    test('mcp lists the tools, gives a quote and runs its update once', async () => {
      const { statusCode, text } = await send('tools/list')
      expect([statusCode, agentResult(text).tools.length]).toEqual([200, 8])
      const { quote } = (await callTool('estimate_update', { kind: 'ranking', project: 'hooli' })).structuredContent
      const first = await callTool('request_update', { quote, reason: 'report' })
      const again = await callTool('request_update', { quote, reason: 'report' })
      expect([first.structuredContent.state, again.structuredContent.id]).toEqual([
        'settled',
        first.structuredContent.id,
      ])
      expect(service.requests.filter(({ url }) => url.endsWith('/on-demand/hooli/run'))).toHaveLength(1)
    })

    test('mcp names its function URL as the resource, and accepts pages of no other address', async () => {
      const metadata = '/.well-known/oauth-protected-resource/mcp'
      const own = 'https://abc.lambda-url.eu-central-1.on.aws'
      const { text } = await callStreaming(loaded.mcp.handler, urlEvent('GET', metadata))
      expect(JSON.parse(text).resource).toBe(`${own}/mcp`)
      const { headers, body } = agentMessage(token, 'tools/list')
      const from = (origin: string) => urlEvent('POST', '/mcp', { headers: { ...headers, origin }, body })
      expect((await callStreaming(loaded.mcp.handler, from('https://evil.example'))).statusCode).toBe(403)
      expect((await callStreaming(loaded.mcp.handler, from(own))).statusCode).toBe(200)
      const refused = await callStreaming(loaded.mcp.handler, urlEvent('POST', '/mcp', { body }))
      expect([refused.statusCode, refused.headers?.['www-authenticate']]).toEqual([
        401,
        `Bearer resource_metadata="${own}${metadata}"`,
      ])
    })
  })

  describe('outbox', () => {
    test('outbox start runs an update that the API queued', async () => {
      const { statusCode, body } = await ask('queued', { prefer: 'respond-async' })
      expect(statusCode).toBe(202)
      const id = body.updates[0].id
      const answer = await loaded.outbox.start(await streamEvent(id), contextFor(300_000))
      expect([answer, await stateOf(id)]).toEqual([{ batchItemFailures: [] }, 'settled'])
    })

    test('outbox tell posts to Slack without the service’s token', async () => {
      const body = JSON.stringify({ reason: 'rehearsal' })
      await call('POST', '/budgets/account/freeze', { body })
      const [announcement] = await openAnnouncements()
      const asked = secrets.asked.length
      const event = { Records: [recordOf('INSERT', announcement ?? {})] }
      expect(await loaded.outbox.tell(event, contextFor(120_000))).toEqual({ batchItemFailures: [] })
      expect(slack.posted().map(({ text }) => text)).toEqual([expect.stringContaining('froze the budget account')])
      expect(secrets.asked.slice(asked)).toEqual(['unit-guard/slack AWSCURRENT'])
      await call('POST', '/budgets/account/unfreeze', { body })
    })
  })

  describe('slack', () => {
    const send = (text: string, timestamp = Math.floor(Date.now() / 1000)) => {
      const form = new URLSearchParams({
        command: '/units',
        text,
        user_id: 'U1ADA',
        trigger_id: '13345224609.738474920.8088930838d88f008e0',
        team_id: 'T0001',
        channel_id: 'C2147483705',
        api_app_id: 'A123456',
        response_url: slack.responseUrl,
      }).toString()
      const type = 'application/x-www-form-urlencoded'
      const headers = { 'content-type': type, ...signedFor(form, timestamp) }
      return loaded.slack.handler(urlEvent('POST', '/slack/commands', { headers, body: form }), contextFor(10_000))
    }

    test('slack answers a command and records its work', async () => {
      const help = await send('help')
      expect([help.statusCode, JSON.parse(help.body).text]).toEqual([200, expect.stringContaining('The commands')])
      const who = await send('updates')
      expect([who.statusCode, JSON.parse(who.body).text]).toEqual([200, expect.stringContaining('not listed')])
    })

    test('slack refuses an old signature and reads only its own secret', async () => {
      const asked = secrets.asked.length
      expect((await send('help', Math.floor(Date.now() / 1000) - 600)).statusCode).toBe(401)
      expect(secrets.asked.slice(asked).filter((each) => !each.startsWith('unit-guard/slack'))).toEqual([])
    })
  })

  describe('scheduled', () => {
    const fire = (event: object) => loaded.scheduled.handler(event, contextFor(900_000))

    test('scheduled runs a plan once for each time of its rule', async () => {
      const time = `${new Date().toISOString().slice(0, 17)}00Z`
      await fire({ plan: 'morning', time })
      await fire({ plan: 'morning', time })
      expect(linesOf('occurrence').at(-1)).toMatchObject({ plan: 'morning', state: 'done', refused: 0, unsent: 0 })
      expect(service.requests.filter(({ url }) => url.endsWith('/on-demand/globex/run'))).toHaveLength(1)
    })

    test('scheduled sweeps and writes metrics', async () => {
      expect((await ask('measured')).statusCode).toBe(201)
      const { windows } = (await call('GET', '/budgets/account')).body
      await fire({ task: 'sweep' })
      const line = linesOf('vitals').at(-1)
      expect(line).toMatchObject({
        level: 'info',
        OldestDoubtMinutes: 0,
        // The percentage of 50,000, with one decimal.
        AccountUsedPercent: Math.round(windows[0].spent / 50) / 10,
        _aws: {
          Timestamp: expect.any(Number),
          CloudWatchMetrics: [{ Namespace: 'UnitGuard', Dimensions: [[]], Metrics: expect.any(Array) }],
        },
      })
      for (const { Name } of line._aws.CloudWatchMetrics[0].Metrics) expect(line[Name]).toEqual(expect.any(Number))
    })

    test('scheduled sends the digest and audits the books', async () => {
      await fire({ task: 'digest' })
      expect(linesOf('vitals').at(-1)).toMatchObject({ AuditNotOk: 0 })
      expect(linesOf('audit-not-ok')).toEqual([])
    })

    test('scheduled fails an unknown event', async () => {
      await expect(fire(urlEvent('GET', '/health'))).rejects.toThrow('must be {"plan": "<name>"')
    })
  })

  test('every line names its function, request and invocation, and each process’s first line says coldStart', () => {
    const lines = logged.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    const ids = { requestId: expect.any(String), lambdaRequestId: contextFor(0).awsRequestId }
    for (const line of lines) expect(line).toMatchObject({ function: expect.any(String), ...ids })
    const cold = new Map(lines.filter((line) => line.coldStart).map((line) => [line.requestId, line.function]))
    // Both readers of the stream are one module here.
    expect([...cold.values()]).toEqual(['api', 'dashboard', 'mcp', 'start', 'slack', 'scheduled'])
    const writers = new Set(lines.map((line) => line.function))
    expect([...writers].sort()).toEqual(['api', 'dashboard', 'mcp', 'scheduled', 'slack', 'start', 'tell'])
  })

  test('no bundle grows or shrinks unnoticed', () => {
    for (const [name, expected] of Object.entries(kilobytes)) {
      const size = bundles.bytes[name as BundleName] / kilobyte
      expect(size, name).toBeLessThan(expected * 1.05)
      expect(size, name).toBeGreaterThan(expected * 0.8)
    }
  })

  test('no function contains the store of one machine', async () => {
    const found: string[] = []
    for (const folder of Object.values(bundles.folders)) {
      const names = (await readdir(folder)).filter((name) => /\.(mjs|txt)$/.test(name))
      for (const name of names) if (/libsql|sqlite/i.test(await readFile(join(folder, name), 'utf8'))) found.push(name)
    }
    expect(found).toEqual([])
  })

  test('no function loads undici at its start', async () => {
    const files = Object.values(bundles.folders).map((at) => pathToFileURL(join(at, 'index.mjs')).href)
    const script = `
      globalThis.awslambda = { streamifyResponse: (handler) => handler }
      for (const file of ${JSON.stringify(files)}) {
        await import(file)
        if (process.moduleLoadList.some((name) => name.includes('undici'))) console.log(file)
      }`
    const env = { ...process.env, AWS_REGION: 'eu-central-1', SANDBOX_TABLE: 'unit-guard-sandbox' }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { env })
    expect(stdout).toBe('')
  })

  test('each settings file lies beside the code of the functions that read it', async () => {
    const having: Record<string, string[]> = { 'plans.json': [], 'issuers.json': [], 'event-targets.json': [] }
    for (const name of bundleNames) for (const file of await readdir(code.folderOf(name))) having[file]?.push(name)
    expect(having).toEqual({
      'plans.json': ['api', 'dashboard', 'mcp', 'scheduled', 'outbox'],
      'issuers.json': ['api', 'dashboard', 'mcp', 'scheduled', 'outbox'],
      'event-targets.json': ['dashboard', 'scheduled', 'outbox'],
    })
  })

  test('each function starts from one file, and has a second file if it loads parts later', async () => {
    const counts: Record<string, number> = {}
    for (const [name, folder] of Object.entries(bundles.folders)) counts[name] = (await startOf(folder)).size
    expect(counts).toEqual({ api: 2, dashboard: 2, mcp: 2, slack: 1, scheduled: 2, outbox: 2, sandbox: 2 })
  })

  test.each<[string, string, readonly string[]]>([
    ['the client of EventBridge', 'AWSEvents', []],
    ['the reader of schedules', 'CronPattern', ['dashboard']],
    ['the messages of announcements', 'The ledger does not add up', ['scheduled', 'outbox']],
    ['the events of announcements', 'budget.will-run-out', []],
  ])('%s is loaded at the start of only the functions that need it', async (_what, word, by) => {
    const loading: string[] = []
    for (const [name, folder] of Object.entries(bundles.folders))
      if ([...(await startOf(folder)).values()].join().includes(word)) loading.push(name)
    expect(loading).toEqual(by)
  })

  test('the API loads audits and the service’s operations later', async () => {
    const words = ['marketshare-projects', 'sk:"latest"']
    const start = [...(await startOf(bundles.folders.api)).values()].join()
    expect(words.filter((word) => start.includes(word))).toEqual([])
    const late = (await readdir(bundles.folders.api)).filter((file) => file.endsWith('.mjs'))
    const all = (await Promise.all(late.map((file) => readFile(join(bundles.folders.api, file), 'utf8')))).join()
    expect(words.filter((word) => !all.includes(word))).toEqual([])
  })

  test('Slack’s function contains no code that moves units', async () => {
    const codeOf = async (name: BundleName) => [...(await startOf(bundles.folders[name])).values()].join()
    const words = ['the book keeps changing', 'the definitions keep changing', '"close",JSON.stringify(']
    const [api, slack] = [await codeOf('api'), await codeOf('slack')]
    expect(words.map((word) => [word, api.includes(word), slack.includes(word)])).toEqual(
      words.map((word) => [word, true, false]),
    )
  })

  test('no function loads the verification of issuers’ tokens at its start', async () => {
    for (const [name, folder] of Object.entries(bundles.folders)) {
      const start = await startOf(folder)
      for (const [file, code] of start)
        expect(code.includes('/.well-known/openid-configuration'), `${name}/${file}`).toBe(false)
      const names = (await readdir(folder)).filter((file) => file.endsWith('.mjs'))
      const all = await Promise.all(names.map((file) => readFile(join(folder, file), 'utf8')))
      const isThere = all.some((code) => code.includes('/.well-known/openid-configuration'))
      expect(isThere, name).toBe(!['slack', 'sandbox'].includes(name))
      if (isThere) expect(start.size, name).toBeGreaterThan(1)
    }
  })

  test('the API ships no descriptions of the OpenAPI document', async () => {
    const names = (await readdir(bundles.folders.api)).filter((name) => name.endsWith('.mjs'))
    const code = (await Promise.all(names.map((name) => readFile(join(bundles.folders.api, name), 'utf8')))).join()
    const own = allOperations.filter(({ path }) => !path.startsWith('/v3/'))
    const texts = [commonTexts, ...own.flatMap(({ body, query }) => [body?.input.texts, query?.texts])]
    const words = [...own.map(({ summary }) => summary), ...texts.flatMap((each) => Object.values(each ?? {}))]
    expect(words.filter((each) => typeof each === 'string' && each.length > 20 && code.includes(each))).toEqual([])
  })

  test('no function contains libsql, the ledger of one machine', async () => {
    expect(bundles.packages.map(({ name }) => name).filter((name) => /libsql|neon-rs/.test(name))).toEqual([])
    for (const folder of Object.values(bundles.folders)) {
      const files = (await readdir(folder)).filter((file) => file.endsWith('.mjs'))
      for (const file of files) expect(await readFile(join(folder, file), 'utf8'), file).not.toContain('libsql')
    }
  })

  test('a bundle has the licence of each package in its code, also in parts that load later', async () => {
    for (const [name, folder] of Object.entries(bundles.folders)) {
      const maps = (await readdir(folder)).filter((file) => file.endsWith('.mjs.map'))
      const sources = (await Promise.all(maps.map((file) => readFile(join(folder, file), 'utf8')))).flatMap(
        (map): string[] => JSON.parse(map).sources,
      )
      const inside = sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [])
      const packages = [...new Set(inside)]
      expect(packages, name).toEqual(expect.arrayContaining(['@aws-sdk/client-dynamodb', 'zod']))
      const notices = await readFile(join(folder, 'NOTICES.txt'), 'utf8')
      for (const each of packages.filter((each) => !builtIn.includes(each))) {
        const { version } = JSON.parse(await readFile(join('node_modules', each, 'package.json'), 'utf8'))
        expect(notices, name).toContain(`${each} ${version}\n`)
        const [file = ''] = (await readdir(join('node_modules', each))).filter((file) => /^licen[cs]e/i.test(file))
        const licence = await readFile(join('node_modules', each, file), 'utf8')
        expect(notices, `${name}: ${each}`).toContain(licence.trim())
      }
    }
    // The library of the protocol contains other packages; their licence is in its comment.
    const code = await readdir(bundles.folders.mcp)
    const texts = code.filter((file) => file.endsWith('.mjs')).map((file) => join(bundles.folders.mcp, file))
    const all = (await Promise.all(texts.map((file) => readFile(file, 'utf8')))).join()
    expect(all).toMatch(/content-type\s+\* Copyright\(c\) 2015 Douglas Christopher Wilson\s+\* MIT Licensed/)
  })

  /** The code of each file that a start loads. */
  async function startOf(folder: string): Promise<Map<string, string>> {
    const files = new Map([['index.mjs', '']])
    for (const file of files.keys()) {
      const code = await readFile(join(folder, file), 'utf8')
      files.set(file, code)
      const found = [...code.matchAll(/(?:^|[;}\n])(?:import|export)[^;"'()]*?["']\.\/([\w.-]+\.mjs)["']/g)]
      for (const [, next = ''] of found) if (!files.has(next)) files.set(next, '')
    }
    return files
  }

  /** The event of the table's stream for the present item. */
  async function streamEvent(id: string) {
    const store = createDynamoStore({ client: local.client, table: local.table, clock: systemClock, ids: systemIds })
    const [item] = await store.get([updateKey(id)])
    return { Records: [recordOf('INSERT', item ?? {})] }
  }

  async function openAnnouncements() {
    const store = createDynamoStore({ client: local.client, table: local.table, clock: systemClock, ids: systemIds })
    const { positions } = await store.list({ index: 'open', partition: 'announcement', newestFirst: true, limit: 10 })
    return (await store.get(positions)).filter((item) => JSON.stringify(item).includes('stopped'))
  }
})

/** @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html */
function recordOf(eventName: string, item: Record<string, unknown>) {
  const image = marshall(item, { removeUndefinedValues: true })
  const { pk, sk } = image
  return {
    eventID: 'c4ca4238a0b923820dcc509a6f75849b',
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-central-1',
    dynamodb: {
      ApproximateCreationDateTime: 1_795_168_800,
      Keys: { pk, sk },
      NewImage: image,
      SequenceNumber: '4421584500000000017450439091',
      SizeBytes: 512,
      StreamViewType: 'NEW_IMAGE',
    },
    eventSourceARN: 'arn:aws:dynamodb:eu-central-1:123456789012:table/unit-guard/stream/2026-11-20T10:00:00.000',
  }
}

/** A normal service: it knows every project, and each costs 40. */
function answerOf({ url }: { url: string }) {
  const operation = new URL(url, 'http://x').pathname.split('/').at(-1)
  if (operation === 'dates') return json({ response_code: 0, dates: ['2026-10-16', '2026-11-13'] })
  return json({ response_code: 0, data: { keyword_units: 40 } })
}
