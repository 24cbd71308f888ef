import { createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import { tableKey } from '../../../shared/ledger/store/stored.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { createTestClock } from '../../support/clock.ts'
import { databaseAt, withDatabase } from '../database.ts'
import type { Found } from '../document.ts'
import { jobsOf } from '../jobs.ts'
import { costOf, type Metered, meter } from '../meter.ts'
import { type Guarded, startGuard } from '../product.ts'
import { plans, type Route, routesOf } from '../routes.ts'
import { startService } from '../service.ts'
import { table } from '../tables.ts'

export interface Counted {
  readonly route: string
  readonly metered: Metered
}

/** Counts the requests of each route and job to DynamoDB, in a small world at a fixed time, so that every machine has the same result. */
export const countRequests = async (endpoint: string): Promise<Counted[]> => [
  ...(await countIn(endpoint, routesOf)),
  ...(await countIn(endpoint, jobsOf)),
]

async function countIn(endpoint: string, toCount: (guarded: Guarded) => Promise<readonly Route[]>): Promise<Counted[]> {
  const database = databaseAt(endpoint)
  const client = database.connect()
  const metering = meter(client, endpoint, Object.values(tableKey))
  const clock = createTestClock()
  const service = await startService({ now: clock.now })
  const store = createDynamoStore({ client, table: await database.ledgerTable(), clock, ids: systemIds })
  const guarded = await startGuard({ store, serviceUrl: service.url, clock, plans })
  try {
    const counted: Counted[] = []
    for (const [route, ready] of await toCount(guarded)) {
      const ask = await ready()
      counted.push({ route, metered: await metering.of(ask) })
    }
    return counted
  } finally {
    await guarded.stop()
    service.stop()
    metering.stop()
  }
}

export function requestsTable(counted: readonly Counted[]): string {
  const named = counted.map(({ route, metered }) => ({ ...metered, name: `\`${route}\`` }))
  const isIdle = ({ reads, writes }: Metered) => reads + writes === 0
  const rows = named.filter((each) => !isIdle(each)).map((each) => [each.name, ...costOf(each)])
  const idle = named.filter(isIdle).map(({ name }) => name)
  return `${table(['route or job', 'requests', 'units'], rows)}\n\nNothing is asked by ${idle.join(', ')}.`
}

export const benchRequests = (): Promise<Found> =>
  withDatabase(async ({ endpoint }) => ({ sections: { requests: requestsTable(await countRequests(endpoint)) } }))
