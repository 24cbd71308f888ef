import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BatchGetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { createDynamoStore } from '../../../shared/ledger/store/dynamo-store.ts'
import { createSqliteFile, openSqlite } from '../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import type { Store } from '../../../shared/ledger/store/store.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { systemIds } from '../../../shared/platform/ids.ts'
import { startGuard } from '../product.ts'
import { connect, type Ground, type Rival } from './rival.ts'

/** Ten budgets; an update is charged to one of them and to the account. */
export async function unitGuard({ database, client, ...rest }: Ground): Promise<Rival> {
  const table = await database.ledgerTable()
  return guardOn(createDynamoStore({ client, table, clock: systemClock, ids: systemIds }), rest)
}

/** The ledger in a file, on the disk of temporary files. */
export async function embedded(ground: Pick<Ground, 'serviceUrl' | 'units'>): Promise<Rival> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'))
  const db = openSqlite(join(folder, 'ledger.db'))
  const file = createSqliteFile({ db, clock: systemClock, ids: systemIds })
  const { update, stop } = await guardOn(createSqliteStore(file, { clock: systemClock }), ground)
  return {
    update,
    stop: async () => {
      await stop?.()
      db.close()
      await rm(folder, { recursive: true })
    },
  }
}

async function guardOn(store: Store, { serviceUrl, units }: Pick<Ground, 'serviceUrl' | 'units'>): Promise<Rival> {
  const guarded = await startGuard({ store, serviceUrl, unitsPerMonth: units })
  const limits = [{ window: 'month', units }]
  const names = Array.from({ length: 9 }, (_, index) => ({ name: `team-${index}`, limits }))
  await guarded.call('PUT', '/budgets', { body: { budgets: names } })
  return { update: (project, key) => guarded.update(project, { budget: 'team-3', key }), stop: guarded.stop }
}

/**
 * Sends the guard's own requests to DynamoDB without decisions. It records one update, then sends its read and its two transactions again
 * under other names, on the same table and book.
 */
export async function ownRequests(ground: Ground): Promise<Rival> {
  const { database, client, serviceUrl } = ground
  const service = connect(serviceUrl)
  const sent: { command: string; input: string }[] = []
  const observed = database.connect()
  observed.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        sent.push({ command: commandName, input: JSON.stringify(args.input) })
        return next(args)
      },
    { step: 'initialize', name: 'observe' },
  )
  const guard = await unitGuard({ ...ground, client: observed })
  // A day's first update makes the book.
  await guard.update('first', 'first')
  sent.length = 0
  await guard.update('pattern', 'pattern')
  const commands = sent.map(({ command }) => command).join()
  if (commands !== 'BatchGetItemCommand,TransactWriteItemsCommand,TransactWriteItemsCommand')
    throw new Error(`an update of the guard sends ${commands}`)
  const [read = '', hold = '', settle = ''] = sent.map(({ input }) => input)
  const { id, work } = namesIn(hold)
  const again = (input: string, project: string) =>
    JSON.parse(input.replaceAll(id, `upd_${project}`).replaceAll(work, `work#${project}`))
  const write = (transaction: string, project: string) =>
    client.send(
      new TransactWriteItemsCommand({ ...again(transaction, project), ClientRequestToken: systemIds.random() }),
    )
  return {
    update: async (project) => {
      await client.send(new BatchGetItemCommand(again(read, project)))
      await service.estimate(project)
      await write(hold, project)
      await service.run(project)
      await write(settle, project)
    },
    ...(guard.stop && { stop: guard.stop }),
  }
}

function namesIn(hold: string): { id: string; work: string } {
  const [id] = /upd_[a-z0-9]+/.exec(hold) ?? []
  const [work] = /work#[^"]+/.exec(hold) ?? []
  if (id === undefined || work === undefined) throw new Error('a hold names its update and its work')
  return { id, work }
}
