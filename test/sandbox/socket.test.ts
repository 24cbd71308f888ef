import { EventEmitter } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { expect, it, onTestFinished } from 'vitest'
import { createSandbox } from '../../functions/sandbox/app.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { patienceMs } from '../support/patience.ts'
import { input } from '../support/sandbox.ts'

const token = 'sandbox-token'
const headers = { authorization: `Bearer ${token}` }
const runPath = '/v3/on-demand/globex/run'

/** The sandbox behind a real connection, because these faults break the connection. */
async function serve(...faults: object[]) {
  const seen = new EventEmitter()
  const failures: string[] = []
  const log = { info: () => seen.emit('request'), error: (event: string) => void failures.push(event), hide() {} }
  const app = createSandbox({ clock: systemClock, token, log })
  await app.request('/sandbox/faults', { method: 'PUT', headers, body: JSON.stringify({ faults }) })
  const server = createAdaptorServer({ fetch: app.fetch })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo

  const get = (path: string, signal = AbortSignal.timeout(patienceMs)) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request({ port, host: '127.0.0.1', path, headers, agent: false, signal }, resolve).on('error', reject).end()
    })
  /** Sends the first half of an upload and leaves. Resolves after the sandbox has handled this half. */
  const cutUpload = async (path: string, body: string) => {
    const done = new Promise((resolve) => server.once('request', (_, response) => response.once('close', resolve)))
    const upload = request({ port, host: '127.0.0.1', path, agent: false, method: 'POST' })
    upload.setHeader('authorization', headers.authorization).setHeader('content-length', body.length + 100)
    seen.once('request', () => upload.destroy())
    upload.on('error', () => {}).write(body)
    await done
  }
  /** The caller leaves after the service got the request and had a moment to answer. */
  const giveUp = async (path: string) => {
    const caller = new AbortController()
    seen.once('request', () => setTimeout(() => caller.abort(), 20))
    await expect(get(path, caller.signal)).rejects.toMatchObject({ name: 'AbortError' })
  }
  const used = async (): Promise<number> => JSON.parse(await textOf(await get('/sandbox/account'))).used
  return { get, giveUp, cutUpload, used, failures }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return text
}

it('without faults a run answers over a connection, with its path unchanged', async () => {
  const { get, used } = await serve()
  expect(JSON.parse(await textOf(await get('/v3/on-demand/caf%C3%A9%20%26%20co%2Fparis/run')))).toEqual({
    response_code: 0,
    data: { project: 'café & co/paris', keyword_units: 12, status: 'done' },
  })
  expect(await used()).toBe(12)
})

it('an upload that breaks off creates nothing, though its first half is JSON, and is no failure of the sandbox', async () => {
  const { cutUpload, get, failures } = await serve()
  await cutUpload('/v3/projects/shoes/create', JSON.stringify(input))
  expect((await get('/v3/projects/shoes/details')).statusCode).toBe(404)
  expect(failures).toEqual([])
})

it('delay: the answer comes late', async () => {
  const { get, used } = await serve({ operation: 'run', fault: 'delay', ms: 40 })
  const started = performance.now()
  expect((await get(runPath)).statusCode).toBe(200)
  expect(performance.now() - started).toBeGreaterThan(35)
  expect(await used()).toBe(640)
})

it('delay: takes the units even if the caller has left', async () => {
  const { giveUp, used } = await serve({ operation: 'run', fault: 'delay', ms: 3_000 })
  await giveUp(runPath)
  expect(await used()).toBe(640)
})

it.each([
  [{}, 640],
  [{ consumes: false }, 0],
])('hang %j: sends no answer and takes %i units', async (how, units) => {
  const { get, giveUp, used } = await serve({ operation: 'run', times: 1, fault: 'hang', ...how })
  await giveUp(runPath)
  expect(await used()).toBe(units)
  expect((await get(runPath)).statusCode).toBe(200)
})

it('hang: takes the units later, long after the caller has left', async () => {
  const { giveUp, used } = await serve({ operation: 'run', fault: 'hang', afterMs: 400 })
  await giveUp(runPath)
  expect(await used()).toBe(0)
  await expect.poll(used, { timeout: 3_000 }).toBe(640)
})

it.each([
  [{}, 640],
  [{ consumes: false }, 0],
])('reset %j: sends no answer and takes %i units', async (how, units) => {
  const { get, used } = await serve({ operation: 'run', times: 1, fault: 'reset', ...how })
  await expect(get(runPath)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(await used()).toBe(units)
  expect((await get(runPath)).statusCode).toBe(200)
})

it('reset-mid-body: sends a good status and half a body, and takes the units', async () => {
  const { get, used } = await serve({ operation: 'run', fault: 'reset-mid-body' })
  const response = await get(runPath)
  expect([response.statusCode, response.headers['content-length']]).toEqual([200, '83'])
  let text = ''
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const broken = await new Promise((resolve) => response.on('error', resolve))
  expect(broken).toMatchObject({ code: 'ECONNRESET' })
  expect(text).toBe('{"response_code":0,"data":{"project":"glo')
  expect(await used()).toBe(640)
})

it('reset-mid-body: takes no units if the fault says so', async () => {
  const { get, used } = await serve({ operation: 'run', fault: 'reset-mid-body', consumes: false })
  await expect(get(runPath).then(textOf)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(await used()).toBe(0)
})
