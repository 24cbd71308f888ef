import type http from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { proxy } from 'hono/proxy'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { type Role, type Server, slowMs } from './processes.ts'
import { startGuard } from './product.ts'
import { listen, startService } from './service.ts'

// One server, in the process that `startServer` starts.

const [role, given = ''] = process.argv.slice(2)

type Started = Pick<Server, 'url' | 'token'>

const told = given === '' ? {} : { now: () => Date.parse(given) }
const service = async (): Promise<Started> => ({ url: (await startService(told)).url })

const slowService = async (): Promise<Started> => ({ url: (await startService({ afterMs: slowMs })).url })

async function guard(): Promise<Started> {
  const { api, tokens } = await startGuard({ store: createMemoryStore(), serviceUrl: given })
  return { url: await listen(createAdaptorServer({ fetch: api.fetch }) as http.Server), token: tokens.ada }
}

async function honoProxy(): Promise<Started> {
  const app = new Hono()
  app.all('*', (c) => proxy(`${new URL(given).origin}${new URL(c.req.url).pathname}`, c.req))
  return { url: await listen(createAdaptorServer({ fetch: app.fetch }) as http.Server) }
}

const roles: Readonly<Record<Role, () => Promise<Started>>> = {
  service,
  'slow-service': slowService,
  guard,
  'hono-proxy': honoProxy,
}

process.on('message', () => process.send?.(process.memoryUsage().rss))
process.send?.(await roles[role as Role]())
