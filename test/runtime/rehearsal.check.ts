import { DynamoDBClient, GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { systemClock } from '../../shared/platform/clock.ts'
import { warehouse } from '../support/infra/deployment.ts'
import { synthesize } from '../support/infra/stack.ts'
import { slackOf, startSlackChannel } from '../support/slack/slack.ts'
import { startEventSources } from './lambda/event-sources.ts'
import { accessKeyOf, ledgerSettings, type Rehearsal, startRehearsal, tokenFor } from './rehearsal.ts'
import { region } from './template.ts'

const closings: (() => Promise<unknown>)[] = []
let rehearsal: Rehearsal
let sources: Awaited<ReturnType<typeof startEventSources>>
let slack: ReturnType<typeof slackOf>

beforeAll(async () => {
  const plan = { name: 'morning', kind: 'ranking', projects: ['initech'], schedule: 'cron(0 5 * * ? *)' }
  const stack = synthesize({
    bundles: inject('bundles'),
    env: { ...ledgerSettings, TRACKING_BASE_URL: '' },
    context: { sandbox: 'true' },
    // The address has no host, so every event waits in the table.
    targets: [{ ...warehouse, url: 'https://warehouse.invalid/hook', types: ['update.*'] }],
    plans: [plan],
  })
  const channel = await startSlackChannel({})
  closings.push(channel.close)
  rehearsal = await startRehearsal(stack, { webhookUrl: channel.webhookUrl })
  closings.push(rehearsal.close)
  sources = await startEventSources(rehearsal)
  closings.push(sources.stop)
  const request = (path: string, init: RequestInit) => fetch(`${rehearsal.urlOf('SlackApp')}${path}`, init)
  slack = slackOf({ request }, channel, systemClock, null)
})

afterAll(async () => {
  for (const close of closings.toReversed()) await close()
})

const ask = (body: object, how: { sub?: string; headers?: Record<string, string> } = {}) =>
  rehearsal.call('POST', '/updates', { body, ...how })
const stateOf = async (id: string) => (await rehearsal.call('GET', `/updates/${id}`)).body.state
const becomes = (id: string, state: string) => expect.poll(() => stateOf(id)).toBe(state)

async function runUpdates(): Promise<void> {
  const first = await ask({ kind: 'ranking', project: 'globex' })
  expect([first.status, first.body.updates?.[0].state]).toEqual([201, 'settled'])
  const later = await ask({ kind: 'keyword-difficulty', project: 'globex' }, { headers: { prefer: 'respond-async' } })
  expect(later.status).toBe(202)
  await becomes(later.body.updates[0].id, 'settled')
  expect((await rehearsal.call('GET', '/v3/projects')).status).toBe(200)
}

async function approveUpdates(): Promise<void> {
  const { call } = rehearsal
  const limits = [{ window: 'month', units: 5_000 }]
  expect((await call('PUT', '/budgets/seo', { body: { limits, approvalAbove: 1 } })).status).toBe(201)
  const scopes = ['read', 'run', 'approve']
  expect((await call('PUT', '/callers/slack:U1ADA', { body: { scopes, budgets: '*' } })).status).toBe(201)
  const asked = await ask({ kind: 'ranking', project: 'acme.example', budget: 'seo' }, { sub: 'bob' })
  const { id } = asked.body.updates[0]
  expect(await stateOf(id)).toBe('awaiting-approval')
  await expect.poll(() => slack.buttons()).toEqual(['approve', 'reject'].map((action) => ({ action, value: id })))
  expect((await slack.press('approve', id, { block: slack.block() })).status).toBe(200)
  await becomes(id, 'settled')
  const next = await ask({ kind: 'keyword-difficulty', project: 'acme.example', budget: 'seo' }, { sub: 'bob' })
  const approved = next.body.updates[0].id
  expect((await call('POST', `/updates/${approved}/approve`, { body: {} })).status).toBeLessThan(300)
  await becomes(approved, 'settled')
}

async function askInSlack(): Promise<void> {
  const answers = () => slack.posted().filter(({ to }) => to === 'asker').length
  const before = answers()
  expect((await slack.command('updates')).status).toBe(200)
  await expect.poll(answers).toBeGreaterThan(before)
}

async function fireRules(): Promise<void> {
  await sources.fire('unit-guard-plan-morning')
  const { body } = await rehearsal.call('GET', '/updates?via=schedule&state=settled')
  expect(body.updates).toMatchObject([{ project: 'initech' }])
  await sources.fire('unit-guard-sweep')
  await sources.fire('unit-guard-digest')
}

async function readPages(): Promise<void> {
  const url = rehearsal.urlOf('Dashboard')
  const sent = await fetch(`${url}/login`, {
    method: 'POST',
    body: new URLSearchParams({ token: await tokenFor('ada') }),
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  const [cookie = ''] = sent.headers.getSetCookie()[0]?.split(';') ?? []
  const page = await fetch(`${url}/`, { headers: { cookie } })
  expect([sent.status, page.status]).toEqual([303, 200])
  expect(await page.text()).toContain('<h2 id="budgets">')
}

async function useTools(): Promise<void> {
  const client = new Client({ name: 'rehearsal', version: '1' })
  const token = await tokenFor('agent')
  const address = new URL(`${rehearsal.urlOf('Mcp')}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(address, { authProvider: { token: async () => token } }))
  const use = async (name: string, input: object) =>
    Object((await client.callTool({ name, arguments: { ...input } })).structuredContent)
  const { quote } = await use('estimate_update', { kind: 'keyword-difficulty', project: 'initech' })
  expect((await use('request_update', { quote, reason: 'rehearsal' })).state).toBe('settled')
  await client.close()
}

/** Waits until every process is frozen between two calls, and closes its idle connections from the other side. */
async function freeze(): Promise<void> {
  await expect.poll(sources.isIdle).toBe(true)
  const environments = (await Promise.all(rehearsal.fleets().map((fleet) => fleet.environments()))).flat()
  for (const each of environments) await expect.poll(() => each.isIdle() && each.isFrozen()).toBe(true)
  rehearsal.aws.dropIdleConnections()
}

test('the template’s functions do all their work, frozen between calls, and IAM denies none of their actions', async () => {
  const { aws, fleet, fleets, call } = rehearsal
  const denied = aws.denials().length
  for (const live of [runUpdates, approveUpdates, askInSlack, fireRules, readPages, useTools]) {
    await live()
    await freeze()
  }
  expect(aws.denials().slice(denied)).toEqual([])
  expect(aws.queued, 'dead letters').toEqual([])
  expect((await call('GET', '/audit')).body.ok).toBe(true)
  const { body } = await call('GET', '/updates?state=settled')
  expect(
    fleet('Sandbox')
      .output()
      .match(/"operation":"run"/g),
  ).toHaveLength(body.updates.length)
  const kept = aws.decisions.filter(({ keys }) => String(keys['dynamodb:LeadingKeys']).startsWith('delivery#'))
  expect(kept.length).toBeGreaterThan(body.updates.length)
  expect(new Set(aws.decisions.map(({ role }) => role))).toEqual(new Set(fleets().map(({ name }) => name)))
  process.stdout.write(`0 denials in ${aws.decisions.length} actions\n`)
})

const itemOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'rehearsal' } })

function clientsOf(role: string) {
  const { endpoint } = rehearsal.aws
  const credentials = { accessKeyId: accessKeyOf(role), secretAccessKey: 'secret' }
  const settings = { endpoint, region, credentials, maxAttempts: 1 }
  return { dynamodb: new DynamoDBClient(settings), secrets: new SecretsManagerClient(settings) }
}

test.each([
  ['SlackApp', 'book'],
  ['SlackApp', 'update#1'],
  ['OutboxTell', 'definitions'],
  ['Mcp', 'login#1'],
  ['Dashboard', 'occurrence#night#2026-11-20T10:00:00.000Z'],
  ['Dashboard', 'sweep#in-doubt'],
])('%s is denied to write %s, and nothing is written', async (role, pk) => {
  const { client, ledger, aws } = rehearsal
  const put = { TableName: ledger.name, Item: itemOf(pk) }
  const { dynamodb } = clientsOf(role)
  const denied = aws.denials().length
  await expect(dynamodb.send(new PutItemCommand(put))).rejects.toMatchObject({ name: 'AccessDeniedException' })
  const both = [{ Put: { ...put, Item: itemOf('slack-event#1') } }, { Put: put }]
  await expect(dynamodb.send(new TransactWriteItemsCommand({ TransactItems: both }))).rejects.toThrow(/not authorized/)
  expect(aws.denials().length).toBeGreaterThan(denied)
  for (const each of [pk, 'slack-event#1'])
    expect((await client.send(new GetItemCommand({ TableName: ledger.name, Key: itemOf(each) }))).Item).toBeUndefined()
})

test('a role is denied the secret of another function, and an unknown role is denied everything', async () => {
  const [slackSecret] = Object.keys(rehearsal.secrets.values).filter((id) => id.includes('/slack-'))
  const read = new GetSecretValueCommand({ SecretId: slackSecret })
  expect(await clientsOf('SlackApp').secrets.send(read)).toHaveProperty('SecretString')
  for (const role of ['Api', 'Unknown'])
    await expect(clientsOf(role).secrets.send(read)).rejects.toMatchObject({ name: 'AccessDeniedException' })
})
