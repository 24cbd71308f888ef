import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { hasJava, spawnLocal, temporaryDirectory } from '../support/process/local.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

/** The database of the tests, whose reads fail as long as `isBroken` says so. */
async function openProxy(isBroken: () => boolean): Promise<string> {
  const to = new URL(inject('dynamodb') ?? '')
  const server = createServer((incoming, answer) => {
    const { method = 'POST', url, headers } = incoming
    if (isBroken() && String(headers['x-amz-target']).endsWith('BatchGetItem')) return answer.writeHead(500).end('{}')
    const forward = request({ host: to.hostname, port: to.port, method, path: url, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(answer)
    })
    forward.on('error', () => answer.destroy())
    return incoming.pipe(forward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

describe.skipIf(!hasJava())('npm start', () => {
  it('npm start starts without an answer of the ledger, answers 503, and creates the ledger later', async () => {
    let isBroken = true
    const DYNAMODB_ENDPOINT = await openProxy(() => isBroken)
    const env = {
      DATA_DIR: join(directory, 'flaky'),
      DYNAMODB_ENDPOINT,
      TABLE_NAME: `test-${randomUUID()}`,
      DEMO: 'off',
    }
    const local = spawnLocal('start', { env })
    onTestFinished(() => local.signalGroup('SIGKILL'))
    const url = await local.ready()
    const headers = { authorization: `Bearer ${readEnvFile(env.DATA_DIR).UNIT_GUARD_TOKEN}` }
    expect((await fetch(`${url}/budgets`, { headers })).status).toBe(503)
    isBroken = false
    expect((await fetch(`${url}/budgets`, { headers })).status).toBe(200)
  })
})
