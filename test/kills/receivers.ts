import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export interface ReceivedMessages {
  /** The ids of the events that the other system received. */
  readonly events: ReadonlySet<string>
  /** The body of each message in Slack. */
  readonly messages: readonly string[]
}

/** Another system and Slack, which both accept everything. */
export async function startReceivers(directory: string) {
  const events = new Set<string>()
  const messages: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => null)
    if (body === null) return
    if (request.url === '/events') events.add(JSON.parse(body).id)
    else messages.push(body)
    response.end('ok')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const targets = join(directory, 'targets.json')
  const target = { name: 'warehouse', url: `${url}/events`, secret: 'unit-guard/events/warehouse', types: ['update.*'] }
  await writeFile(targets, JSON.stringify([target]))
  return {
    received: { events, messages } as ReceivedMessages,
    env: {
      EVENT_TARGETS: targets,
      EVENTS_WAREHOUSE: `whsec_${Buffer.from('canary-events-key-of-the-kills').toString('base64')}`,
      SLACK_WEBHOOK_URL: `${url}/services/T0/B0/canary-webhook`,
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
