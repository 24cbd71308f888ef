import { describe, expect, onTestFinished, test } from 'vitest'
import { sandboxToken } from '../../infra/local/settings.ts'
import { spawnLocal, temporaryDirectory } from '../support/process/local.ts'

describe('npm run sandbox', () => {
  test('npm run sandbox starts only the stand-in, and remembers its state after a restart', async () => {
    const { directory, remove } = await temporaryDirectory()
    onTestFinished(remove)
    const env = { DATA_DIR: directory, SANDBOX_UNITS_PER_MONTH: '2000', TRACKING_BASE_URL: 'https://else.example/v3' }
    const start = async (more: { TRACKING_TOKEN?: string } = {}) => {
      const server = spawnLocal('sandbox', { env: { ...env, ...more } })
      onTestFinished(() => server.signalGroup('SIGKILL'))
      const url = await server.ready()
      const ask = async (path: string) => {
        const headers = { authorization: `Bearer ${more.TRACKING_TOKEN ?? sandboxToken}`, connection: 'close' }
        const answer = await fetch(`${url}${path}`, { headers })
        // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as callers do, without knowing our types.
        return (await answer.json()) as any
      }
      return { server, ask }
    }

    const first = await start()
    expect((await first.ask('/v3/on-demand/globex/run')).data.keyword_units).toBe(640)
    expect(first.server.said.out).toContain(`export SANDBOX_TOKEN=${sandboxToken}`)
    first.server.signal('SIGTERM')
    expect((await first.server.ended).code).toBe(0)

    const second = await start({ TRACKING_TOKEN: 'a-token-of-their-own' })
    expect(await second.ask('/sandbox/account')).toMatchObject({ unitsPerMonth: 2000, used: 640, runs: [{}] })
    expect(second.server.said.out).toContain('export SANDBOX_TOKEN=… ')
    expect(second.server.said.out).not.toContain('a-token-of-their-own')
    second.server.signal('SIGINT')
    expect((await second.server.ended).code).toBe(0)
  })
})
