import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { patienceMs } from '../support/patience.ts'
import { spawnLocal, temporaryDirectory } from '../support/process/local.ts'
import { type Answer, startScriptedService } from '../support/scripted-service.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

async function startWith(name: string, baseUrl: string) {
  const env = { DATA_DIR: join(directory, name) }
  const account = { TRACKING_BASE_URL: baseUrl, TRACKING_TOKEN: 'canary-of-the-service' }
  const local = spawnLocal('start', { env: { ...env, ...account } })
  onTestFinished(() => local.signalGroup('SIGKILL'))
  await local.ready()
  return local
}

async function serviceThat(answer: Answer) {
  const service = await startScriptedService({ fallback: () => answer })
  onTestFinished(() => service.close())
  return service
}

describe('npm start with the user’s own service', () => {
  it('npm start says that the service refuses its token, and what to do', async () => {
    const service = await serviceThat({ status: 401, body: '{}' })
    const local = await startWith('refused', service.baseUrl)
    const told =
      "token: refused by the service (status 401); does not say when it expires\n  renew the service's token: the service refuses it; stop with Ctrl-C, set TRACKING_TOKEN, and start again\n"
    await vi.waitFor(() => expect(local.said.out).toContain(told), patienceMs)
    expect(service.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v3/projects'])
  })

  it('npm start is ready before the service answers, and does not mention an accepted token', async () => {
    const service = await serviceThat({ kind: 'hang' })
    const local = await startWith('hanging', service.baseUrl)
    await vi.waitFor(() => expect(service.requests).toHaveLength(1), patienceMs)
    expect(local.said.out).not.toContain('refused by the service')
    local.signal('SIGTERM')
    expect(await local.ended).toMatchObject({ code: 0, out: expect.not.stringContaining('token:') })
  })

  it('npm start starts without an answer of the service', async () => {
    const service = await startScriptedService({ fallback: () => ({ status: 200, body: '{}' }) })
    await service.close()
    const local = await startWith('unreachable', service.baseUrl)
    local.signal('SIGTERM')
    expect(await local.ended).toMatchObject({ code: 0, out: expect.not.stringContaining('token:') })
  })
})
