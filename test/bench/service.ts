import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The largest export that a function URL streams. */
export const exportBytes = 200 * 1024 * 1024

const projects = JSON.stringify({
  projects: Array.from({ length: 20 }, (_, index) => ({ id: String(index), name: `project-${index}` })),
})
const units = JSON.stringify({ response_code: 0, data: { keyword_units: 40 } })
const dates = JSON.stringify({ response_code: 0, dates: ['2026-10-16', '2026-11-13'] })
const bodies: Readonly<Record<string, string>> = { estimate: units, run: units, dates }

/**
 * A service that answers at once. An update costs 40 units. It counts the runs of each project, and never answers a run
 * of `lost-…`.
 *
 * @param how.afterMs how long it thinks about each answer.
 * @param how.now the time that its answers say.
 */
export async function startService({ afterMs = 0, now = Date.now }: { afterMs?: number; now?: () => number } = {}) {
  const runs: Record<string, number> = {}
  const server = http.createServer(async (request, response) => {
    if (afterMs > 0) await sleep(afterMs)
    response.setHeader('date', new Date(now()).toUTCString())
    const [, , , project = '', operation = ''] = (request.url ?? '').split('/')
    if (operation === 'run') runs[project] = (runs[project] ?? 0) + 1
    if (operation === 'run' && project.startsWith('lost-')) return request.socket.resetAndDestroy()
    if (operation === 'export-rankings') return streamExport(response)
    const body = request.url === '/v3/runs' ? JSON.stringify(runs) : (bodies[operation] ?? projects)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    return response.end(body)
  })
  return {
    url: await listen(server),
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** @returns its address, up to `/v3`. */
export async function listen(server: http.Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`
}

function streamExport(response: http.ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, '{"position": 1},\n')
  let left = exportBytes
  response.writeHead(200, { 'content-type': 'application/json' })
  const write = () => {
    while (left > 0) {
      left -= chunk.length
      if (!response.write(chunk)) return
    }
    response.end()
  }
  response.on('drain', write)
  write()
}
