import { type Database, withDatabase } from '../database.ts'
import { type Found, measuredOn } from '../document.ts'
import { costOf, meter } from '../meter.ts'
import { type Server, slowMs, startServer } from '../processes.ts'
import { type RivalName, rivalNames, rivals } from '../rivals.ts'
import { ratio, spreadHead, spreadOf, table } from '../tables.ts'
import { takeTurns, timed } from '../turns.ts'

const warmUp = 10
const grounds = [
  { how: '0 ms added', delayMs: 0, role: 'service', turns: 100, beside: 'own requests' },
  { how: '4 ms added', delayMs: 4, role: 'service', turns: 100, beside: 'own requests' },
  {
    how: `4 ms added, the service takes ${slowMs} ms`,
    delayMs: 4,
    role: 'slow-service',
    turns: 20,
    beside: 'floor',
  },
] as const
const plenty = 1_000_000_000
const perUpdate = 40
const troubled = 10

type Rows = Partial<Record<RivalName, number[]>>

/** Compares the guard with common ways without it, and with its own requests without decisions. */
export const benchGuardedUpdate = (): Promise<Found> =>
  withDatabase(async (database) => {
    const service = await startServer('service')
    try {
      const counts: string[][] = []
      for (const name of rivalNames) {
        const world = { name, database, service }
        counts.push([name, ...(await meteredOf(world)), ...(await harmOf(world))])
      }
      const head = ['arm', 'requests', 'units', 'overspent units', 'same key', 'same work', 'answer lost']
      const times: Rows[] = []
      for (const ground of grounds) times.push(await timesOf(database, ground))
      const how = measuredOn([`${grounds.map(({ turns }) => turns).join(', ')} turns`, 'DynamoDB Local'])
      return {
        sections: {
          'guarded-update-counts': table(head, counts),
          'guarded-update': [timesTable(times), how].join('\n\n'),
        },
      }
    } finally {
      service.stop()
    }
  })

const timesTable = (times: readonly Rows[]): string =>
  table(
    ['arm', ...grounds.flatMap(({ how, beside }) => [`${how}: ms, ${spreadHead}`, `of ${beside}`])],
    rivalNames.map((name) => [
      name,
      ...grounds.flatMap(({ beside }, index) => {
        const of = (arm: RivalName) => times[index]?.[arm] ?? []
        return [spreadOf(of(name)), ratio(of(name), of(beside))]
      }),
    ]),
  )

async function timesOf(database: Database, ground: (typeof grounds)[number]): Promise<Rows> {
  const service = await startServer(ground.role)
  const made = await Promise.all(
    rivalNames.map(async (name) => {
      const client = database.connect(ground.delayMs)
      const rival = await rivals[name].create({ database, client, serviceUrl: service.url, units: plenty })
      return { name, rival, arm: timed((turn) => rival.update(`timed-${turn}`, `timed-${turn}`)) }
    }),
  )
  const arms = Object.fromEntries(made.map(({ name, arm }) => [name, arm]))
  const found = await takeTurns(arms, { turns: ground.turns, warmUp })
  for (const { rival } of made) await rival.stop?.()
  service.stop()
  return found
}

interface RivalWorld {
  readonly name: RivalName
  readonly database: Database
  readonly service: Server
}

const startRival = ({ name, database, service }: RivalWorld, units: number, client = database.connect()) =>
  rivals[name].create({ database, client, serviceUrl: service.url, units })

async function meteredOf(world: RivalWorld): Promise<string[]> {
  const client = world.database.connect()
  const metering = meter(client, world.database.endpoint, rivals[world.name].key)
  const rival = await startRival(world, plenty, client)
  const prefix = prefixOf(world)
  await rival.update(`first-${prefix}`, 'first')
  const metered = await metering.of(() => rival.update(`counted-${prefix}`, 'counted'))
  await rival.stop?.()
  metering.stop()
  return costOf(metered)
}

const prefixOf = ({ name }: RivalWorld) => name.toLowerCase().replace(/\W+/g, '-')

/** Units beyond the budget and runs beyond the first, when everything fails. */
async function harmOf(world: RivalWorld): Promise<string[]> {
  const { service } = world
  const prefix = prefixOf(world)
  const projects = (trouble: string, count = troubled) =>
    Array.from({ length: count }, (_, index) => `${trouble}-${prefix}-${index}`)
  const tooMany = async (names: readonly string[]) => {
    const runs = await runsOf(service, names)
    return String(runs.reduce((sum, count) => sum + Math.max(0, count - 1), 0))
  }

  const poor = await startRival(world, troubled * perUpdate)
  const crowd = projects('crowd', 2 * troubled)
  await Promise.allSettled(crowd.map((project) => poor.update(project, project)))
  const consumed = (await runsOf(service, crowd)).reduce((sum, count) => sum + count, 0) * perUpdate
  const overspent = String(Math.max(0, consumed - troubled * perUpdate))

  const rich = await startRival(world, plenty)
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
