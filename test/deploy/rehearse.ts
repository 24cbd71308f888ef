import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  PutItemCommand,
  paginateScan,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import {
  DeleteSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { DeleteParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { createTable } from '../../infra/local/database/table.ts'
import { signAdminToken } from '../../infra/local/secrets.ts'
import { ledgerParameterOf } from '../../shared/platform/prefix.ts'
import { readOptions } from '../support/process/command-line.ts'
import { signingSecret } from '../support/slack/slack.ts'
import { rehearseAgents } from './agents.ts'
import { bus, createBus, deleteBus, rehearseBus } from './bus.ts'
import { adaptToEmulator, emulatedUrl } from './emulator.ts'
import { rehearseSlack } from './slack.ts'
import { say, step, until } from './steps.ts'

const usage = `Deploys the stack with the stand-in service, uses it through URLs, a rule and Slack, and deletes it (docs/deploy.md).

  AWS_ENDPOINT_URL=<address> npm run test:deploy`
readOptions(usage, {})
const endpoint = process.env.AWS_ENDPOINT_URL?.replace(/\/$/, '')
if (!endpoint) {
  fail('AWS_ENDPOINT_URL names no AWS to rehearse on, such as http://127.0.0.1:4566. See docs/deploy.md, "Rehearsal".')
}
const isEmulator = !new URL(endpoint).hostname.endsWith('amazonaws.com')
const env = {
  AWS_REGION: 'eu-central-1',
  ...(isEmulator && { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true' }),
  ...process.env,
}
const region = env.AWS_REGION
Object.assign(process.env, env)

const secrets = new SecretsManagerClient({ region })
const dynamo = new DynamoDBClient({ region })
const ssm = new SSMClient({ region })
const names = ['service-token', 'caller-key', 'quote-key', 'slack'].map((name) => `unit-guard/${name}`)
const run = promisify(execFile)
const folder = await mkdtemp(join(tmpdir(), 'unit-guard-rehearsal-'))
const assembly = join(folder, 'cdk.out')

const plans = join(folder, 'plans.json')
const account = {
  ...{ ACCOUNT_UNITS_PER_MONTH: '50000', ACCOUNT_UNITS_USED_AT_START: '0' },
  ...{ ACCOUNT_RENEWAL_DAY: '1', ACCOUNT_TIME_ZONE: 'UTC' },
}
let tableName: string | undefined
let restoredName: string | undefined
let isFine = false
try {
  const urls = await deploy()
  await rehearse(urls)
  isFine = true
} catch (error) {
  say(`failed: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
} finally {
  await takeDown()
  await rm(folder, { recursive: true })
}
process.exitCode = isFine ? 0 : 1

async function synth(...options: readonly string[]): Promise<void> {
  await step('synth', () =>
    cdk(['synth', '--quiet', '-c', 'sandbox=true', ...options, '--output', assembly], {
      ...{ ...account, PLANS: plans, EVENT_BUS: bus, TRACKING_BASE_URL: '' },
    }),
  )
  if (isEmulator) for (const change of await adaptToEmulator(assembly, endpoint ?? '')) say(`     ${change}`)
}

type Outputs = Record<'ApiUrl' | 'DashboardUrl' | 'McpUrl' | 'SlackUrl' | 'TableName', string>

async function deployAssembly(name: string): Promise<Outputs> {
  const outputs = join(folder, 'outputs.json')
  const answers = ['--require-approval', 'never', '--outputs-file', outputs]
  await step(name, () => cdk(['deploy', 'UnitGuard', '--app', assembly, ...answers]))
  return JSON.parse(await readFile(outputs, 'utf8')).UnitGuard
}

async function deploy() {
  const plan = { name: 'rehearsal', kind: 'ranking', projects: ['initech'], schedule: 'rate(1 minute)' }
  await writeFile(plans, JSON.stringify([plan]))
  await createBus(region)
  await synth('-c', 'firstLedger=true')
  await step('bootstrap', () => cdk(['bootstrap', '--app', assembly]))
  const { ApiUrl, DashboardUrl, McpUrl, SlackUrl, TableName } = await deployAssembly('deploy, for the first time')
  tableName = TableName
  const place = (url: string) => (isEmulator ? emulatedUrl(url, endpoint ?? '') : url.replace(/\/$/, ''))
  return { api: place(ApiUrl), dashboard: place(DashboardUrl), mcp: place(McpUrl), slack: place(SlackUrl) }
}

type Urls = Awaited<ReturnType<typeof deploy>>
type Rehearsal = Awaited<ReturnType<typeof openRehearsal>>

async function rehearse(urls: Urls): Promise<void> {
  const rehearsal = await openRehearsal(urls)
  await rehearseLedger(rehearsal)
  await synth()
  await deployAssembly('deploy again, with the marker of the ledger')
  await rehearseApi(rehearsal)
  await rehearseAgents(urls.mcp, rehearsal.token)
  await rehearseBus(() => operate('events', []))
  await rehearseSlack(rehearsal)
  await rehearseSchedule(rehearsal)
  await rehearseRotation(rehearsal)
  await step('the audit is ok', async () => {
    assert.equal((await rehearsal.call('GET', '/audit')).body.ok, true)
  })
  await rehearseRestore(rehearsal)
}

/** Puts the secrets in, and signs a token. */
async function openRehearsal(urls: Urls) {
  await step('secrets: the service’s token and Slack’s signing secret are put in', async () => {
    await put('unit-guard/service-token', 'rehearsal-service-token')
    await put('unit-guard/slack', JSON.stringify({ signingSecret }))
  })
  const key = await secrets.send(new GetSecretValueCommand({ SecretId: 'unit-guard/caller-key' }))
  const token = await signAdminToken(key.SecretString ?? '', Date.now())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const call = async (method: string, path: string, body?: object, more: Record<string, string> = {}) => {
    const sent = { method, headers: { ...headers, ...more }, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${urls.api}${path}`, sent)
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  const ask = (project: string, more: Record<string, string> = {}) =>
    call('POST', '/updates', { kind: 'ranking', project, reason: 'rehearsal' }, more)
  return { urls, token, call, ask }
}

async function rehearseLedger({ urls, call }: Rehearsal): Promise<void> {
  await step('function URL: a request without a token is refused', async () => {
    assert.equal((await fetch(`${urls.api}/budgets`)).status, 401)
  })
  await step('ledger: an empty table answers 503', async () => {
    const { status, body } = await call('GET', '/budgets')
    assert.equal(status, 503, JSON.stringify(body))
    assert.match(body.detail, /holds no ledger yet: begin it once with npm run account -- begin/)
  })
  await step('ledger: an operator begins it once', async () => {
    await operate('account', ['begin'])
    await assert.rejects(operate('account', ['begin']), /was begun already/)
    assert.equal((await call('GET', '/budgets')).status, 200)
  })
}

async function rehearseApi({ urls, token, call, ask }: Rehearsal): Promise<void> {
  await step('function URL: an update runs once and is settled', async () => {
    const first = await ask('globex', { 'idempotency-key': 'rehearsal' })
    assert.equal(first.status, 201, JSON.stringify(first.body))
    assert.equal(first.body.updates[0].state, 'settled')
    const again = await ask('globex', { 'idempotency-key': 'rehearsal' })
    assert.equal(again.body.updates[0].id, first.body.updates[0].id)
  })
  await step('function URL: an update without enough units is refused', async () => {
    await call('PUT', '/budgets/small', { limits: [{ window: 'month', units: 1 }] })
    const refused = await call('POST', '/updates', { kind: 'ranking', project: 'acme.example', budget: 'small' })
    assert.equal(refused.status, 402, JSON.stringify(refused.body))
    assert.equal((await call('DELETE', '/budgets/small')).status, 204)
  })
  await step('dashboard: a token logs in, and the API redirects to it', async () => {
    const form = { method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' } as const
    const [cookie = ''] = (await fetch(`${urls.dashboard}/login`, form)).headers.getSetCookie()[0]?.split(';') ?? []
    assert.match(await (await fetch(`${urls.dashboard}/`, { headers: { cookie } })).text(), /<h1>\w+: on track<\/h1>/)
    const link = await fetch(`${urls.api}/dashboard/updates?state=settled`, { redirect: 'manual' })
    assert.match(`${link.status} ${link.headers.get('location')}`, /^308 .*\/dashboard\/updates\?state=settled$/)
  })
  await step('gateway: lists the service’s projects', async () => {
    assert.equal((await call('GET', '/v3/projects')).status, 200)
  })
  await step('stream: a queued update is started', async () => {
    const { status, body } = await ask('acme.example', { prefer: 'respond-async' })
    assert.equal(status, 202, JSON.stringify(body))
    const path = `/updates/${body.updates[0].id}`
    await until(async () => (await call('GET', path)).body.state === 'settled')
  })
}

async function rehearseSchedule({ call }: Rehearsal): Promise<void> {
  await step('schedule: the plan’s rule runs its project', () =>
    until(async () => {
      const { body } = await call('GET', '/updates?via=schedule&project=initech&state=settled')
      return body.updates.length > 0
    }),
  )
}

async function rehearseRotation({ call }: Rehearsal): Promise<void> {
  await step('rotation: tokens of the old and the new caller key are accepted', async () => {
    const fresh = randomBytes(32).toString('hex')
    await put('unit-guard/caller-key', fresh)
    const authorization = `Bearer ${await signAdminToken(fresh, Date.now())}`
    // A token of the new key makes a process read that key, at most every ten seconds.
    await until(async () => (await call('GET', '/budgets', undefined, { authorization })).status === 200)
    assert.equal((await call('GET', '/budgets')).status, 200)
  })
  await step('rotation: an update survives a new service token', async () => {
    await put('unit-guard/service-token', 'rehearsal-service-token-2')
    const { status, body } = await call('POST', '/updates', { kind: 'keyword-difficulty', project: 'globex' })
    assert.deepEqual([status, body.updates?.[0].state], [201, 'settled'], JSON.stringify(body))
  })
}

async function rehearseRestore({ call, ask }: Rehearsal): Promise<void> {
  const copy = `${tableName}-restored`
  const stream = await step('restore: an operator accepts a copy of the table', async () => {
    await createTable(dynamo, copy)
    for await (const { Items = [] } of paginateScan({ client: dynamo }, { TableName: tableName ?? '' }))
      for (const Item of Items) await dynamo.send(new PutItemCommand({ TableName: copy, Item }))
    await operate('restore', ['accept', '--to', new Date().toISOString()], copy)
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: copy }))
    return Table?.LatestStreamArn ?? ''
  })
  restoredName = copy
  await step('restore: functions with the former table answer 503', async () => {
    assert.match((await call('GET', '/budgets')).body.detail, /this table was replaced by the table/)
  })
  await synth('-c', `ledgerTable=${copy}`, '-c', `ledgerStream=${stream}`)
  await deployAssembly('deploy onto the restored table')
  await step('restore: account stays frozen until it is reconciled', async () => {
    const reason = 'rehearsal'
    assert.equal((await call('POST', '/budgets/account/unfreeze', { reason })).status, 409)
    const { body } = await call('GET', '/budgets/account')
    const unitsLeft = body.windows[0].available
    assert.equal((await call('POST', '/budgets/account/reconcile', { unitsLeft, reason })).status, 200)
    assert.equal((await call('POST', '/budgets/account/unfreeze', { reason })).status, 200)
    assert.equal((await ask('hooli')).status, 409)
  })
}

/** Deletes also what a stack retains. */
async function takeDown(): Promise<void> {
  await step('destroy', () => cdk(['destroy', 'UnitGuard', '--force', '--app', assembly])).catch(() => {})
  await step('delete the retained table and secrets', async () => {
    if (tableName !== undefined) {
      await dynamo.send(new UpdateTableCommand({ TableName: tableName, DeletionProtectionEnabled: false }))
      await dynamo.send(new DeleteTableCommand({ TableName: tableName }))
    }
    if (restoredName !== undefined) await dynamo.send(new DeleteTableCommand({ TableName: restoredName }))
    await ssm.send(new DeleteParameterCommand({ Name: ledgerParameterOf('unit-guard') })).catch(() => {})
    await deleteBus(region).catch(() => {})
    for (const SecretId of names) {
      await secrets.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true })).catch(() => {})
    }
  }).catch(() => {})
}

async function cdk(args: readonly string[], more: Record<string, string> = {}): Promise<void> {
  const own = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true', ...more }
  await run('npx', ['cdk', ...args], { env: { ...process.env, ...own }, maxBuffer: 16 * 1024 * 1024 })
}

/** Runs an operator's command with the settings of docs/deploy.md. */
async function operate(script: string, args: readonly string[], table = tableName): Promise<string> {
  const settings = {
    ...{ SECRETS_ENDPOINT: '', DATA_DIR: folder, TABLE_NAME: table, LEDGER_SERVICE: 'sandbox', EVENT_BUS: bus },
    // Events need an address, which they never call; a ledger begins with the name of the stand-in.
    TRACKING_BASE_URL: script === 'events' ? 'https://sandbox.invalid/v3' : '',
    ...{ ...account, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
  }
  const { stdout } = await run('npx', ['tsx', 'infra/local/run.ts', script, ...args], {
    env: { ...process.env, ...settings },
  })
  return stdout
}

async function put(SecretId: string, SecretString: string): Promise<void> {
  await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }))
}

function fail(text: string): never {
  say(`unit-guard: ${text}`)
  process.exit(1)
}
