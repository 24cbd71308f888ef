import { type Database, withDatabase } from '../database.ts'
import { type Found, measuredOn } from '../document.ts'
import { meter } from '../meter.ts'
import { plot } from '../plot.ts'
import { type Server, slowMs, startServer } from '../processes.ts'
import { type RivalName, rivalNames, rivals } from '../rivals.ts'
import { ratio, spreadHead, spreadOf, table } from '../tables.ts'
import { median, takeTurns, timed } from '../turns.ts'

const warmUp = 10
/** How far away DynamoDB is, and how quick the service. */
const grounds = [
  { name: '0ms', how: '0 ms added to each request', delayMs: 0, role: 'service', turns: 100 },
  { name: '4ms', how: '4 ms added to each request', delayMs: 4, role: 'service', turns: 100 },
  {
    name: 'slow-service',
    how: `4 ms added, ${slowMs} ms for each answer of the service`,
    delayMs: 4,
    role: 'slow-service',
    turns: 20,
  },
] as const
const plenty = 1_000_000_000
const perUpdate = 40
/** Of each kind of trouble. */
const troubled = 10

/** What the promises cost: the guard beside what people do without it, and beside what its writes alone would take. */
export const benchGuardedUpdate = (): Promise<Found> =>
  withDatabase(async (database) => {
    const service = await startServer('service')
    try {
      const rows: string[][] = []
      for (const name of rivalNames)
        rows.push([name, ...(await costOf(name, database, service)), ...(await harmOf(name, database, service))])
      const head = ['arm', 'reads', 'writes', 'read units', 'write units', 'index write units']
      const harm = ['overspent units', 'same key', 'same work', 'answer lost']
      const timings: string[] = []
      const plots: Record<string, string> = {}
      for (const ground of grounds) {
        const found = await timesOf(database, ground)
        timings.push(
          table(
            [
              `${ground.how}, ms`,
              ...spreadHead,
              'of the floor',
              'of its own transactions',
              'of the composition',
              'of no guard',
            ],
            rivalNames.map((name) => [
              name,
              ...spreadOf(found[name]),
              ratio(found[name], found['floor, transactions']),
              ratio(found[name], found['floor, own transactions']),
              ratio(found[name], found.composition),
              ratio(found[name], found['no guard']),
            ]),
          ),
        )
        plots[`guarded-update-${ground.name}`] = plot({
          title: `One update, ${ground.how}`,
          unit: 'ms',
          bars: rivalNames.map((name) => ({ name, value: median(found[name]) })),
          target: median(found['floor, transactions']) * 1.15,
        })
      }
      const images = Object.keys(plots).map((name) => `![](plots/${name}.svg)`)
      const how = measuredOn([`${grounds.map(({ turns }) => turns).join(', ')} turns`, 'DynamoDB Local'])
      return {
        sections: {
          'guarded-update-counts': table([...head, ...harm], rows),
          'guarded-update': [...timings, how, ...images].join('\n\n'),
        },
        plots,
      }
    } finally {
      service.stop()
    }
  })

async function timesOf(database: Database, ground: (typeof grounds)[number]): Promise<Record<RivalName, number[]>> {
  const service = await startServer(ground.role)
  const made = await Promise.all(
    rivalNames.map(async (name) => {
      const client = database.connect(ground.delayMs)
      const rival = await rivals[name].create({ database, client, serviceUrl: service.url, units: plenty })
      return { name, rival, arm: timed((turn) => rival.update(`timed-${turn}`, `timed-${turn}`)) }
    }),
  )
  const arms = Object.fromEntries(made.map(({ name, arm }) => [name, arm])) as Record<RivalName, () => Promise<number>>
  const found = await takeTurns(arms, { turns: ground.turns, warmUp })
  for (const { rival } of made) await rival.stop?.()
  service.stop()
  return found
}

/** Requests and units of one update, after a first one. */
async function costOf(name: RivalName, database: Database, service: Server): Promise<string[]> {
  const client = database.connect()
  const { create, key } = rivals[name]
  const metering = meter(client, database.endpoint, key)
  const rival = await create({ database, client, serviceUrl: service.url, units: plenty })
  await rival.update(`first-${name}`, 'first')
  const metered = await metering.of(() => rival.update(`counted-${name}`, 'counted'))
  await rival.stop?.()
  metering.stop()
  const { reads, writes, readUnits, writeUnits, indexUnits } = metered
  return [reads, writes, readUnits, writeUnits, indexUnits].map(String)
}

/** Units beyond the budget, and runs beyond the first: everything that may go wrong goes wrong. */
async function harmOf(name: RivalName, database: Database, service: Server): Promise<string[]> {
  const start = (units: number) =>
    rivals[name].create({ database, client: database.connect(), serviceUrl: service.url, units })
  const prefix = name.replace(/\W+/g, '-')
  const projects = (trouble: string, count = troubled) =>
    Array.from({ length: count }, (_, index) => `${trouble}-${prefix}-${index}`)
  const tooMany = async (names: readonly string[]) => {
    const runs = await runsOf(service, names)
    return String(runs.reduce((sum, count) => sum + Math.max(0, count - 1), 0))
  }

  const poor = await start(troubled * perUpdate)
  const crowd = projects('crowd', 2 * troubled)
  await Promise.allSettled(crowd.map((project) => poor.update(project, project)))
  const consumed = (await runsOf(service, crowd)).reduce((sum, count) => sum + count, 0) * perUpdate
  const overspent = String(Math.max(0, consumed - troubled * perUpdate))

  const rich = await start(plenty)
  const twice = projects('twice')
  await Promise.allSettled(twice.flatMap((project) => [rich.update(project, project), rich.update(project, project)]))
  const both = projects('both')
  await Promise.allSettled(
    both.flatMap((project) => [rich.update(project, `a-${project}`), rich.update(project, `b-${project}`)]),
  )
  const lost = projects('lost')
  for (const project of lost)
    for (let delivery = 0; delivery < 2; delivery++) await rich.update(project, project).catch(() => {})
  await Promise.all([poor.stop?.(), rich.stop?.()])
  return [overspent, await tooMany(twice), await tooMany(both), await tooMany(lost)]
}

async function runsOf({ url }: Server, projects: readonly string[]): Promise<number[]> {
  const runs = (await (await fetch(`${url}/runs`)).json()) as Record<string, number>
  return projects.map((project) => runs[project] ?? 0)
}
