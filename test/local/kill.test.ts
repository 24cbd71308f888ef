import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { runLocal, spawnLocal, temporaryDirectory } from '../support/process/local.ts'
import { json } from '../support/product.ts'
import { startScriptedService } from '../support/scripted-service.ts'

describe('kill -9 of the server', () => {
  test('an update interrupted by kill -9 becomes in doubt, stays counted and is never sent again', async () => {
    const { directory, remove } = await temporaryDirectory()
    onTestFinished(remove)
    const service = await startScriptedService({
      fallback: ({ url }) => (url.endsWith('/run') ? { kind: 'hang' } : json({ keyword_units: 40, dates: [] })),
    })
    onTestFinished(() => service.close())
    const env = {
      DATA_DIR: directory,
      TRACKING_BASE_URL: service.baseUrl,
      TRACKING_TOKEN: 'canary-service-token',
      SERVICE_TIMEOUT_MS: '10000',
    }
    const start = async () => {
      const server = spawnLocal('start', { env })
      onTestFinished(() => server.signalGroup('SIGKILL'))
      const url = await server.ready()
      const headers = {
        authorization: `Bearer ${readEnvFile(directory).UNIT_GUARD_TOKEN}`,
        'content-type': 'application/json',
        'idempotency-key': 'monday',
      }
      const call = async (path: string, body?: object) => {
        const how = body ? { method: 'POST', body: JSON.stringify(body) } : {}
        const answer = await fetch(`${url}${path}`, { headers, ...how })
        // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as callers do, without knowing our types.
        return { status: answer.status, body: (await answer.json()) as any }
      }
      return { server, call }
    }
    const runs = () => service.requests.filter(({ url }) => url.endsWith('/run')).length
    const month = async (call: Awaited<ReturnType<typeof start>>['call']) =>
      (await call('/budgets/account')).body.windows[0]
    const ask = { kind: 'ranking', project: 'acme.example' }

    const first = await start()
    const lost = first.call('/updates', ask).catch((error: Error) => error)
    while (runs() === 0) await sleep(5)
    first.server.signalGroup('SIGKILL')
    expect(await lost).toBeInstanceOf(Error)

    const second = await start()
    expect(await month(second.call)).toMatchObject({ available: 49960, held: 40, inDoubt: 0, spent: 0 })
    expect((await second.call('/updates', ask)).body).toMatchObject({ type: '/problems/in-progress', status: 409 })

    const sweep = await runLocal('sweep', ['--at', '+1m'], env)
    expect(sweep.code).toBe(0)
    expect(await month(second.call)).toMatchObject({ available: 49960, held: 0, inDoubt: 40, spent: 0 })
    const replay = await second.call('/updates', ask)
    expect(replay.status).toBe(202)
    expect(replay.body.updates).toMatchObject([{ state: 'in-doubt', units: { held: 40, charged: null } }])
    expect(sweep.out).toContain(replay.body.updates[0].id)
    expect((await second.call('/audit')).body.ok).toBe(true)
    expect(runs()).toBe(1)

    second.server.signal('SIGTERM')
    expect((await second.server.ended).code).toBe(0)
  })
})
