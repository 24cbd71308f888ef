import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAdaptorServer } from '@hono/node-server'
import { inject, onTestFinished } from 'vitest'
import { createSandbox } from '../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../functions/sandbox/demonstration.ts'
import type { Habits } from '../../functions/sandbox/project.ts'
import { createState, type State } from '../../functions/sandbox/state.ts'
import { createDynamoClient, createDynamoStore } from '../../shared/ledger/store/dynamo-store.ts'
import type { Store } from '../../shared/ledger/store/store.ts'
import type { Clock } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { createTestClock } from './clock.ts'
import { dynamodb } from './dynamodb/endpoint.ts'
import { createSandboxTable } from './dynamodb/table.ts'
import { createFileStore } from './store/stores.ts'

const token = 'sandbox-token'
export const auth = { authorization: `Bearer ${token}` }
export const globex = '/v3/on-demand/globex'
const now = '2026-11-20T10:00:00Z'

export const input = {
  keywords: [{ name: 'red shoes' }, { name: 'blue shoes' }],
  searchengines: [{ name: 'example search' }, { name: 'example search', country: 'DE', se_type: 'mobile organic' }],
  websites: [{ name: 'shoes.example', color_r: 0, color_b: 255 }],
}

/** The sandbox without a connection, with a clock that stands still and records sleeps. */
export function sandbox({
  unitsPerMonth,
  state,
  habits,
}: {
  unitsPerMonth?: number
  state?: State
  habits?: Habits
} = {}) {
  let instant = Date.parse(now)
  const slept: number[] = []
  const lines: object[] = []
  const clock = { now: () => instant, sleep: async (ms: number) => void slept.push(ms) }
  const log = { info: (event: string, fields?: object) => void lines.push({ event, ...fields }), error() {}, hide() {} }
  const app = createSandbox({
    clock,
    token,
    log,
    ...(unitsPerMonth !== undefined && { unitsPerMonth }),
    ...(state && { state }),
    ...(habits && { habits }),
  })

  const send = async (path: string, init: RequestInit = {}) => app.request(path, { headers: auth, ...init })
  const json = async (path: string, init?: RequestInit) => {
    const response = await send(path, init)
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const put = (...faults: object[]) => json('/sandbox/faults', { method: 'PUT', body: JSON.stringify({ faults }) })
  const post = (path: string, body: unknown) => json(path, { method: 'POST', body: JSON.stringify(body) })
  const used = async () => (await json('/sandbox/account')).body.used
  const dates = async (project: string): Promise<string[]> =>
    (await json(`/v3/projects/${project}/dates`)).body.data.dates
  // biome-ignore lint/suspicious/noExplicitAny: tests look into rows as callers do, without knowing our types.
  const rows = async (path: string, init?: RequestInit): Promise<any[]> => (await json(path, init)).body
  const at = (rfc3339: string) => {
    instant = Date.parse(rfc3339)
  }
  return { app, send, json, put, post, used, dates, rows, slept, lines, at }
}

export async function createSandboxTableForTest(): Promise<string> {
  const client = createDynamoClient(await dynamodb())
  const table = `sandbox-${randomUUID()}`
  await createSandboxTable(client, table)
  return table
}

/** A new table with states over it, one for each process. */
export async function createSandboxStates() {
  const table = await createSandboxTableForTest()
  const client = createDynamoClient(await dynamodb())
  return opened(() => createDynamoStore({ client, table, clock: createTestClock(), ids: systemIds }))
}

const opened =
  (store: () => Store) =>
  (demonstratedAt = now) =>
    createState(demonstrationProjects(Date.parse(demonstratedAt)), store())

/** A new file with states over it, one after another. */
export async function createSandboxFile() {
  const store = createFileStore(join(await mkdtemp(join(tmpdir(), 'sandbox-')), 'sandbox.db'))
  return opened(() => store)
}

/** Tests run on every state that this machine has. */
export const sandboxStates: readonly (readonly [name: string, create: () => Promise<State>])[] = [
  ['memory', async () => createState(demonstrationProjects(Date.parse(now)))],
  ['a file', async () => (await createSandboxFile())()],
  ...(inject('dynamodb') === null ? [] : [['DynamoDB Local', async () => (await createSandboxStates())()] as const]),
]

/** @returns an address for `TRACKING_BASE_URL`. */
export async function serveSandbox(options: { clock: Clock; token: string; habits?: Habits }): Promise<string> {
  const server = createAdaptorServer({ fetch: createSandbox(options).fetch })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}/v3`
}
