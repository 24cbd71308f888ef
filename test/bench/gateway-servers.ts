import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { SignJWT } from 'jose'
import { createApi } from '../../functions/api/app.ts'
import { createServices } from '../../shared/guard/services.ts'
import { createMemoryStore } from '../../shared/ledger/memory-store.ts'
import { createLog } from '../../shared/platform/log.ts'
import { guardSettings, parseSettings } from '../../shared/platform/settings.ts'
import { startTestSecrets } from '../support/secrets.ts'

const [role, serviceUrl = ''] = process.argv.slice(2)

const body = JSON.stringify({
  projects: Array.from({ length: 20 }, (_, index) => ({ id: String(index), name: `project-${index}` })),
})

async function listen(server: http.Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function service() {
  const port = await listen(
    http.createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    }),
  )
  return { url: `http://127.0.0.1:${port}/v3` }
}

async function guard() {
  const key = 'a-key-for-this-benchmark-alone-0123456789'
  const secrets = await startTestSecrets({
    'unit-guard/service-token': 'benchmark-token',
    'unit-guard/caller-key': key,
  })
  const settings = parseSettings(guardSettings, {
    TABLE_NAME: 'none',
    TRACKING_BASE_URL: serviceUrl,
    SECRETS_ENDPOINT: secrets.endpoint,
    ACCOUNT_UNITS_PER_MONTH: '1',
  })
  const log = createLog({ write: () => {}, now: Date.now })
  const { fetch } = createApi(createServices(settings, { store: createMemoryStore(), log }))
  const port = await listen(createAdaptorServer({ fetch }) as http.Server)
  const token = await new SignJWT({ sub: 'bench', aud: 'unit-guard', scope: 'read' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(key))
  return { url: `http://127.0.0.1:${port}/v3`, token }
}

process.send?.(await (role === 'service' ? service() : guard()))
