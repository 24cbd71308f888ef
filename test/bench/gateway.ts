import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { median, table } from './tables.ts'

const connections = 20
const requestsPerRound = 3_000
const rounds = 5

interface Started {
  readonly url: string
  readonly token?: string
}

/** One server in a process of its own, as on real machines. */
async function start(role: string, ...args: string[]): Promise<Started & { stop(): void }> {
  const child = fork(fileURLToPath(new URL('./gateway-servers.ts', import.meta.url)), [role, ...args], {
    execArgv: ['--import', 'tsx'],
  })
  const [started] = (await once(child, 'message')) as [Started]
  return { ...started, stop: () => child.kill() }
}

/** Requests a second over kept connections. */
async function throughput({ url, token }: Started): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const one = () =>
    new Promise<void>((resolve, reject) => {
      http
        .get(`${url}/projects`, { agent, headers }, (response) => {
          if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
          response.resume().on('end', resolve)
        })
        .on('error', reject)
    })
  let left = requestsPerRound
  const lane = async () => {
    while (left-- > 0) await one()
  }
  const from = performance.now()
  await Promise.all(Array.from({ length: connections }, lane))
  agent.destroy()
  return requestsPerRound / ((performance.now() - from) / 1000)
}

/** The gateway against hitting the service directly: small answers, 20 connections, arms taken in turn. */
export async function benchGateway(): Promise<string> {
  const service = await start('service')
  const guard = await start('guard', service.url)
  const arms = { direct: service, 'Unit Guard': guard }
  const found: Record<string, number[]> = { direct: [], 'Unit Guard': [] }
  try {
    for (const arm of Object.values(arms)) await throughput(arm)
    for (let round = 0; round < rounds; round++) {
      for (const [name, arm] of Object.entries(arms)) found[name]?.push(await throughput(arm))
    }
  } finally {
    service.stop()
    guard.stop()
  }
  const direct = median(found.direct ?? [])
  return table(
    `gateway: small answers over ${connections} connections, ${rounds} rounds of ${requestsPerRound} requests, each server in its own process`,
    ['arm', 'requests/s (median)', 'lowest', 'highest', 'of direct'],
    Object.entries(found).map(([name, rates]) => [
      name,
      Math.round(median(rates)),
      Math.round(Math.min(...rates)),
      Math.round(Math.max(...rates)),
      (median(rates) / direct).toFixed(2),
    ]),
  )
}
