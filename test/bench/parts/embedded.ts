import { withDatabase } from '../database.ts'
import { type Found, measuredOn } from '../document.ts'
import { startServer } from '../processes.ts'
import { embedded, unitGuard } from '../rivals/unit-guard.ts'
import { ratio, spreadHead, spreadOf, table } from '../tables.ts'
import { takeTurns, timed } from '../turns.ts'

const turns = 200
const warmUp = 20
const units = 1_000_000_000

/** A guarded update on the file of one machine, beside one on DynamoDB Local. */
export const benchEmbedded = (): Promise<Found> =>
  withDatabase(async (database) => {
    const service = await startServer('service')
    const ground = { serviceUrl: service.url, units }
    const rivals = {
      embedded: await embedded(ground),
      'DynamoDB Local': await unitGuard({ ...ground, database, client: database.connect() }),
    }
    try {
      const found = await takeTurns(
        {
          embedded: timed((turn) => rivals.embedded.update(`timed-${turn}`, `timed-${turn}`)),
          'DynamoDB Local': timed((turn) => rivals['DynamoDB Local'].update(`timed-${turn}`, `timed-${turn}`)),
        },
        { turns, warmUp },
      )
      const rows = (['embedded', 'DynamoDB Local'] as const).map((name) => [
        name,
        spreadOf(found[name]),
        ratio(found[name], found['DynamoDB Local']),
      ])
      const head = ['guarded update, ms', spreadHead, 'of DynamoDB Local']
      return { sections: { embedded: `${table(head, rows)}\n\n${measuredOn([`${turns} turns`])}` } }
    } finally {
      await Promise.all(Object.values(rivals).map(({ stop }) => stop?.()))
      service.stop()
    }
  })
