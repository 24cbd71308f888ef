import http from 'node:http'
import { type Found, measuredOn } from '../document.ts'
import { type Server, startServer } from '../processes.ts'
import { exportBytes } from '../service.ts'
import { ratio, spreadHead, spreadOf, table, thousands } from '../tables.ts'
import { takeTurns } from '../turns.ts'

const connections = 20
const requestsPerTurn = 3_000
const turns = 5
const exportTurns = 3
const megabyte = 1024 * 1024

/** Compares the gateway with direct requests and with a plain proxy. */
export async function benchGateway(): Promise<Found> {
  const service = await startServer('service')
  const guard = await startServer('guard', service.url)
  const proxy = await startServer('hono-proxy', service.url)
  try {
    const small = await takeTurns(
      {
        direct: () => requestsPerSecond(service),
        'Unit Guard': () => requestsPerSecond(guard),
        'hono/proxy': () => requestsPerSecond(proxy),
      },
      { turns, warmUp: 1 },
    )
    const large = await takeTurns(
      {
        direct: () => megabytesPerSecond(service),
        'Unit Guard': () => megabytesPerSecond(guard),
        'hono/proxy': () => megabytesPerSecond(proxy),
      },
      { turns: exportTurns, warmUp: 1 },
    )
    const growth = {
      direct: await growthOf(service),
      'Unit Guard': await growthOf(guard),
      'hono/proxy': await growthOf(proxy),
    }
    const arms = ['direct', 'Unit Guard', 'hono/proxy'] as const
    const smallTable = table(
      ['small answers', `requests a second, ${spreadHead}`, 'of direct'],
      arms.map((arm) => [arm, spreadOf(small[arm], 0), ratio(small[arm], small.direct)]),
    )
    const largeTable = table(
      ['200 MB export', `MB a second, ${spreadHead}`, 'of direct', 'memory grew by'],
      arms.map((arm) => [arm, spreadOf(large[arm], 0), ratio(large[arm], large.direct), `${growth[arm]} MB`]),
    )
    const how = measuredOn([`${turns} turns of ${thousands(requestsPerTurn)} requests`, `${exportTurns} exports each`])
    return { sections: { gateway: [smallTable, largeTable, how].join('\n\n') } }
  } finally {
    for (const server of [service, guard, proxy]) server.stop()
  }
}

async function requestsPerSecond({ url, token }: Server): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  let left = requestsPerTurn
  const lane = async () => {
    while (left-- > 0) await get(`${url}/projects`, token, agent)
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: connections }, lane))
  const seconds = (performance.now() - from) / 1000
  agent.destroy()
  return requestsPerTurn / seconds
}

async function megabytesPerSecond({ url, token }: Server): Promise<number> {
  const from = performance.now()
  const bytes = await get(`${url}/projects/big/export-rankings`, token)
  if (bytes < exportBytes) throw new Error(`the export was cut at ${bytes} bytes`)
  return bytes / megabyte / ((performance.now() - from) / 1000)
}

/** The growth of the server's memory in MB while an export passes. */
async function growthOf(server: Server): Promise<number> {
  const before = await server.memory()
  let most = before
  let isOver = false
  const watch = async () => {
    while (!isOver) most = Math.max(most, await server.memory())
  }
  const watching = watch()
  await megabytesPerSecond(server)
  isOver = true
  await watching
  return Math.round((most - before) / megabyte)
}

/** @returns the bytes of the body. */
function get(url: string, token: string | undefined, agent?: http.Agent): Promise<number> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, ...(agent && { agent }) }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('end', () => resolve(bytes))
      response.on('error', reject)
    })
    request.on('error', reject)
  })
}
