import { BatchWriteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { bookKey } from '../../../shared/ledger/book/book-item.ts'
import { createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { definitionsKey, tableKey } from '../../../shared/ledger/store/stored.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { toUpdateItem } from '../../../shared/ledger/updates/update-keys.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { inParallel } from '../../../shared/platform/parallel.ts'
import { toUnits } from '../../../shared/platform/words.ts'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { createTestClock } from '../../support/clock.ts'
import { itemSize } from '../../support/store/item-size.ts'
import { type Database, withDatabase } from '../database.ts'
import { type Found, measuredOn } from '../document.ts'
import { type Metered, meter } from '../meter.ts'
import { type Server, startServer } from '../processes.ts'
import { startGuard } from '../product.ts'
import { spreadHead, spreadOf, table, thousands } from '../tables.ts'
import { takeTurns, timed } from '../turns.ts'
import { logIn } from '../world.ts'

const turns = 60
const warmUp = 5
const minuteMs = 60_000
const ledgerBegan = '2024-11-20T10:00:00Z'
const now = '2026-11-20T10:00:00Z'
/** Statements look three days into the month before. */
const monthsBefore = '2026-10-27T00:00:00Z'
const thisMonth = '2026-11-20T09:00:00Z'
/** Enough updates to fill a list from the current month. */
const fullPage = 60
/** More than the sweeps that summarize two years of days and the largest table. */
const sweeps = 40

interface Size {
  readonly updates: number
  readonly budgets: number
  readonly projects: number
}

const smallest: Size = { updates: 10, budgets: 1, projects: 10 }
const sizes: readonly Size[] = [
  smallest,
  { ...smallest, budgets: 10 },
  { ...smallest, budgets: 60 },
  { ...smallest, projects: 300 },
  { ...smallest, budgets: 60, projects: 300 },
  // The largest ledger comes last, because DynamoDB Local makes every later table slow.
  { ...smallest, updates: 100_000 },
]
const months = [100, 10_000]

const questions = ['guarded update', 'GET /updates', 'GET /statements', 'GET /', 'GET /dashboard/updates'] as const
type Question = (typeof questions)[number]

export const benchGrowth = (): Promise<Found> =>
  withDatabase(async (database) => {
    const service = await startServer('service', now)
    try {
      const worlds = []
      for (const size of sizes) worlds.push(await openWorld(database, service, size))
      const counts: (string | number)[][] = []
      for (const { name, count, bytes } of worlds) counts.push([name, ...(await bytes()), ...(await countAll(count))])
      const timings = worlds.map(({ name }) => [name])
      for (const question of questions) {
        const arms = Object.fromEntries(worlds.map(({ name, ask }) => [name, timed(() => ask(question))]))
        const found = await takeTurns(arms, { turns, warmUp })
        for (const [index, { name }] of worlds.entries()) timings[index]?.push(spreadOf(found[name] ?? []))
      }
      const monthly = await countMonths(database, service)
      for (const world of worlds) await world.stop()
      const countHead = ['in the table', 'definitions, bytes', 'book, bytes', ...questions]
      return {
        sections: {
          'growth-counts': [
            table(countHead, counts),
            'As the current month itself grows:',
            table(['updates in the month', ...questions], monthly),
          ].join('\n\n'),
          growth: [
            table([`ms, ${spreadHead}`, ...questions], timings),
            measuredOn([`${turns} turns`, 'DynamoDB Local']),
          ].join('\n\n'),
        },
      }
    } finally {
      service.stop()
    }
  })

type World = Awaited<ReturnType<typeof openWorld>>

async function openWorld(database: Database, service: Server, size: Size, ofThisMonth = fullPage) {
  const { patient } = database
  const client = database.connect()
  const metered = database.connect()
  const name = await database.ledgerTable()
  const clock = createTestClock(now)
  const parts = { table: name, clock, ids: systemIds }
  const store = createDynamoStore({ client, ...parts })
  await beginLedger(store, service)
  const guarded = await startGuard({ store, serviceUrl: service.url, clock })
  await guarded.call('PUT', '/budgets', { body: { budgets: budgetsOf(size) } })
  await guarded.update('first', { budget: 'team-0' })
  const { rows } = await guarded.services.guard.ledger.updates({}, 1)
  const [settled] = rows
  if (!settled) throw new Error('the first update is there')
  await seed(patient, name, settled, { count: ofThisMonth, until: thisMonth })
  await seed(patient, name, settled, { count: size.updates, until: monthsBefore })
  for (let sweep = 0; sweep < sweeps; sweep++) await (await reportsOf(guarded.services.guard)).keepSummaries()
  const cookie = await logIn(guarded)
  let asked = 0

  const ask = (question: Question, by = guarded): Promise<unknown> => {
    if (question === 'guarded update') return by.update(`asked-${asked++}`, { budget: 'team-0' })
    const path = question.slice('GET '.length)
    return by.call('GET', path, { headers: { cookie } })
  }

  const metering = meter(metered, database.endpoint, Object.values(tableKey))
  const counting = await startGuard({
    store: createDynamoStore({ client: metered, ...parts }),
    serviceUrl: service.url,
    clock,
  })
  for (const question of questions) await ask(question, counting)

  return {
    name: `${thousands(size.updates)} updates, ${counted(size.budgets, 'budget')}, ${size.projects} projects`,
    ask,
    count: (question: Question): Promise<Metered> => metering.of(() => ask(question, counting)),
    bytes: () => bytesOf(store),
    stop: async () => {
      metering.stop()
      await guarded.stop()
      await counting.stop()
    },
  }
}

/** No summary reaches back before the ledger's start. */
async function beginLedger(store: Store, service: Server): Promise<void> {
  const founder = await startGuard({ store, serviceUrl: service.url, clock: createTestClock(ledgerBegan) })
  await founder.services.guard.ledger.view()
  await founder.stop()
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

/** The budgets share the projects. */
const budgetsOf = ({ budgets, projects }: Size) =>
  Array.from({ length: budgets }, (_, index) => ({
    name: `team-${index}`,
    limits: [
      { window: 'month', units: 100_000_000 },
      { window: 'day', units: 10_000_000 },
    ],
    projects: Array.from({ length: projects / budgets }, (_, each) => ({ name: `site-${index}-${each}.example` })),
  }))

async function bytesOf(store: Store): Promise<string[]> {
  const items = await store.get([definitionsKey, bookKey('month:2026-11-01')])
  return items.map((item) => thousands(itemSize(marshall(item, { removeUndefinedValues: true }))))
}

async function countAll(count: World['count']): Promise<string[]> {
  const cells: string[] = []
  for (const question of questions) cells.push(cellOf(await count(question)))
  return cells
}

const cellOf = ({ reads, writes, readUnits, writeUnits }: Metered): string =>
  writes === 0 ? `${reads}, ${readUnits}` : `${reads}+${writes}, ${readUnits}+${writeUnits}`

async function countMonths(database: Database, service: Server): Promise<(string | number)[][]> {
  const rows: (string | number)[][] = []
  for (const count of months) {
    const world = await openWorld(database, service, smallest, count)
    rows.push([thousands(count), ...(await countAll(world.count))])
    await world.stop()
  }
  return rows
}

const atOnce = 4
const perRequest = 25

/** Copies of a settled update, one a minute up to an instant. They cost nothing, so that the books are right. */
async function seed(client: DynamoDBClient, name: string, settled: Update, span: { count: number; until: string }) {
  const until = Date.parse(span.until)
  const updates = Array.from({ length: span.count }, (_, index): Update => {
    const at = until - index * minuteMs
    const id = `upd_${span.until}-${String(index).padStart(6, '0')}`
    return {
      ...settled,
      id,
      createdAt: at,
      finishedAt: at,
      charged: toUnits(0),
      month: `month:${new Date(at).toISOString().slice(0, 7)}-01`,
    }
  })
  const batches = Array.from({ length: Math.ceil(updates.length / perRequest) }, (_, index) =>
    updates.slice(index * perRequest, (index + 1) * perRequest),
  )
  await inParallel(batches, atOnce, async (batch) => {
    const puts = batch.map((update) => ({
      PutRequest: { Item: marshall(toUpdateItem(update), { removeUndefinedValues: true }) },
    }))
    await client.send(new BatchWriteItemCommand({ RequestItems: { [name]: puts } }))
  })
}
