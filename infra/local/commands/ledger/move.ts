import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { DescribeTableCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { count, countOf, list } from '../../../../shared/guard/sentences.ts'
import type { Identity } from '../../../../shared/ledger/definitions/definitions.ts'
import { fromDefinitionsItem } from '../../../../shared/ledger/definitions/definitions-item.ts'
import { identityFaults, movedTo, WrongLedger } from '../../../../shared/ledger/identity.ts'
import { itemSize } from '../../../../shared/ledger/store/item-size.ts'
import { parse, sealed, unseal } from '../../../../shared/ledger/store/sealed.ts'
import { firstValue, type SqliteFile } from '../../../../shared/ledger/store/sqlite-file.ts'
import { createSqliteStore } from '../../../../shared/ledger/store/sqlite-store.ts'
import type { Item, Store, Value } from '../../../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../../../shared/ledger/store/stored.ts'
import type { AuditedCounter } from '../../../../shared/ledger/views/audit.ts'
import { minuteMs, systemClock } from '../../../../shared/platform/clock.ts'
import { digest } from '../../../../shared/platform/ids.ts'
import type { Marker } from '../../../../shared/platform/settings.ts'
import { damageIn } from '../../database/damage.ts'
import { openFile } from '../../database/file.ts'
import { fileMarker, type MarkerStore, moving } from '../../database/marker-store.ts'
import { whileNotServed } from '../../database/server-lock.ts'
import { CannotContinue, reasonOf } from '../../failures.ts'
import { directoryOf, ledgerFile } from '../../settings.ts'
import { commandEnvironment } from '../../where.ts'
import { changesNothing, ledgerFor, openTable } from '../open.ts'

/** Moves the ledger of this machine into a table. */
export async function moveInto(table: string, isDry: boolean): Promise<boolean> {
  const env = commandEnvironment()
  const directory = directoryOf(env)
  if (!existsSync(join(directory, ledgerFile)))
    throw new CannotContinue(`There is no ledger in ${directory}: set DATA_DIR to its folder.`)
  return whileNotServed(directory, 'npm run restore', async (killed) => {
    const marker = fileMarker(directory)
    const known = await marker.read()
    const place = known === null || known.tableName === ledgerFile ? table : known.tableName
    if (place !== table) throw new CannotContinue(`The ledger of ${directory} belongs in the table ${place}.`)
    if (known?.tableName === table && known.table !== moving) {
      console.log(`The ledger of ${directory} has moved into the table ${table} already. ${next}`)
      return true
    }
    const { file, id } = await openFile(directory, ledgerFile, { mustCheck: killed !== null })
    const source = createSqliteStore(file, { clock: systemClock, tableId: id })
    return move({ file, id, source, known, marker, target: openTable(env, table), ledgerOf: ledgerFor(env), isDry })
  })
}

const next =
  'Deploy again, without -c firstLedger=true: that turns on schedules, Slack and events (docs/deploy.md, "From one machine").'

type Target = ReturnType<typeof openTable>

interface Move {
  readonly file: SqliteFile
  /** The id of the file. */
  readonly id: string
  readonly source: Store
  /** The marker beside the file. */
  readonly marker: MarkerStore
  readonly known: Marker | null
  readonly target: Target
  readonly ledgerOf: ReturnType<typeof ledgerFor>
  readonly isDry: boolean
}

/** Each step can be repeated, so that the same command completes an interrupted move. */
export async function move(parts: Move): Promise<boolean> {
  const { file, source, marker, target, isDry } = parts
  const identity = await identityIn(source)
  if (!identity) throw new CannotContinue('This ledger knows no service: npm run account -- adopt')
  const [damage] = await damageIn(file)
  if (damage !== undefined) throw new CannotContinue(`A part of this ledger is damaged (${damage}): npm run doctor`)
  const hasBegun = identity.replacedBy === target.name
  if (!hasBegun) await mustBeReady(parts)
  const { tableId, isThere } = await lookAt(target, identity, hasBegun)
  const moved = movedTo(tableId, identity)
  const items = Number(firstValue(file.db, 'SELECT count(*) FROM items'))
  const { ledger, epoch = 0 } = moved
  console.log(`The ledger ${ledger} moves into ${target.where} (epoch ${epoch}): ${count(items)} items.`)
  if (isDry) return changesNothing()
  if (!hasBegun) await leave(parts, identity)
  await marker.write({ ledger, epoch: epoch - 1, table: moving, tableName: target.name })
  if (!isThere) await fill(parts, moved, items)
  const there = { ledger, epoch, table: tableId, tableName: target.name }
  await target.marker?.write(there)
  await marker.write(there)
  console.log(`Moved. ${next}`)
  return true
}

/** @throws CannotContinue or WrongLedger if a move would lose or duplicate something. */
async function mustBeReady({ file, id, source, known, ledgerOf }: Move): Promise<void> {
  const { definitions } = await ledgerOf(source).view()
  const faults = identityFaults(definitions, { marker: known }, { table: id, place: source.place })
  if (faults.length > 0) throw new WrongLedger(faults)
  mustBeAtRest(file)
  if ((await ledgerOf(source).audit()).some(({ ok }) => !ok))
    throw new CannotContinue(
      'The audit of this ledger fails: repair it first (docs/runbook.md, "The audit is not ok").',
    )
}

const restless = { requested: 'requested', running: 'running', 'in-doubt': 'in doubt' } as const

function mustBeAtRest({ db }: SqliteFile): void {
  const open = db.prepare<[string]>('SELECT count(*) FROM items WHERE open_as = ?').raw()
  const found = Object.entries(restless).flatMap(([as, words]) => {
    const [number = 0] = open.get(as) as [number]
    return number === 0 ? [] : [`${countOf(number, 'update is', 'updates are')} ${words}`]
  })
  const unread = Number(firstValue(db, 'SELECT count(*) FROM changes'))
  if (unread > 0) found.push(`${countOf(unread, 'change is', 'changes are')} unread`)
  if (found.length === 0) return
  throw new CannotContinue(
    `The ledger cannot move now: ${list(found)}. Let Unit Guard finish them, resolve what is in doubt, stop it, and repeat this command.`,
  )
}

/** Ends all writes to the file: it checks and marks the ledger in one transaction, and later transactions check the mark. */
async function leave({ file, source, target }: Move, { ledger, epoch = 0 }: Identity): Promise<void> {
  file.checkFirst(() => mustBeAtRest(file))
  const set = [[['identity', 'replacedBy'], target.name]] as const
  const writes = [{ kind: 'update', key: definitionsKey, set, add: [], when: [{ kind: 'present-item' }] }] as const
  await source.transact(writes, digest('leave', ledger, String(epoch), target.name))
}

async function fill({ file, source, target, ledgerOf }: Move, moved: Identity, items: number): Promise<void> {
  const { store } = target
  await copyItems(file, store, (copied) => console.log(`  ${count(copied)} of ${count(items)} items …`))
  const [audited, before] = await Promise.all(
    [store, source].map(async (each) => inOrder(await ledgerOf(each).audit())),
  )
  if (!audited || !isDeepStrictEqual(audited, before))
    throw new CannotContinue(
      'The audit of the table differs from that of the file, perhaps because an index is late: repeat this command.',
    )
  const match = `${count(audited.length)} counters match`
  console.log(`  all items are there, and the audits of table and file are equal: ${match}`)
  const copied = await identityIn(store)
  const set = [[['identity'], plain(moved)]] as const
  const when = [{ kind: 'equal', path: ['identity'], value: plain(copied) }] as const
  const writes = [{ kind: 'update', key: definitionsKey, set, add: [], when }] as const
  const { applied } = await store.transact(writes, digest('moved', JSON.stringify(writes)))
  if (!applied) throw new CannotContinue('The definitions of the table have changed meanwhile: use another table.')
}

/** DynamoDB returns the members of a book in any order. */
const inOrder = (rows: readonly AuditedCounter[]) =>
  rows.toSorted((a, b) => (`${a.window} ${a.budget}` < `${b.window} ${b.budget}` ? -1 : 1))

const plain = (identity: Identity | undefined) => JSON.parse(JSON.stringify(identity)) as Value

async function identityIn(store: Store): Promise<Identity | undefined> {
  const [item] = await store.get([definitionsKey])
  return item && fromDefinitionsItem(item).identity
}

/** `isThere`: the table has the whole ledger, and only markers may be missing. @throws CannotContinue for a table that must not take this ledger. */
async function lookAt({ name, where, client, store, marker }: Target, identity: Identity, hasBegun: boolean) {
  const { hasStream, tableId, first } = await describe(client, store, name).catch((error) => {
    if (error instanceof Error && error.name === 'ResourceNotFoundException')
      throw new CannotContinue(
        `There is no ${where.replace(/^the /, '')}: use the output TableName, and check AWS_REGION.`,
      )
    throw new CannotContinue(`${where} cannot be read (${reasonOf(error)}): check AWS_PROFILE and AWS_REGION.`)
  })
  const known = (await marker?.read()) ?? null
  if (known && (known.ledger !== identity.ledger || known.tableName !== name))
    throw new CannotContinue(
      `This deployment keeps the ledger ${known.ledger} in the table ${known.tableName} already.`,
    )
  const there = await identityIn(store)
  if (there && there.ledger !== identity.ledger)
    throw new CannotContinue(`${where} holds the ledger ${there.ledger}: use an empty table.`)
  if (there?.table === tableId) return { tableId, isThere: true }
  if (first !== undefined && !hasBegun)
    throw new CannotContinue(`${where} is not empty (it has ${first}): use an empty table.`)
  if (hasStream)
    throw new CannotContinue(
      `${where} has a stream, whose readers would send every event again: use the table of a stack whose only deployment had -c firstLedger=true.`,
    )
  return { tableId, isThere: false }
}

async function describe(client: DynamoDBClient, store: Store, name: string) {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
  const { Items = [] } = await client.send(new ScanCommand({ TableName: name, Limit: 1, ConsistentRead: true }))
  return {
    hasStream: Table?.StreamSpecification?.StreamEnabled === true,
    tableId: (await store.tableId?.()) ?? name,
    first: Items[0]?.pk?.S,
  }
}

const pageSize = 500
/** A table takes at least 500 write units a second. A transaction of 100 KB costs 200, and more for indexes. */
const maxBatch = { items: 25, bytes: 100_000 }
/** How long a write to a throttled table is retried. */
const patienceMs = 2 * minuteMs
const itemsPerLine = 5_000

/**
 * Puts every item that the table lacks, in the order of their keys, so that the copy can be repeated.
 *
 * @throws CannotContinue if the table has a different item with the same key.
 */
async function copyItems(file: SqliteFile, to: Store, onProgress: (copied: number) => void): Promise<void> {
  let copied = 0
  let batch: Item[] = []
  let bytes = 0
  const put = async () => {
    if (batch.length > 0) await putAbsent(to, batch)
    const told = Math.floor(copied / itemsPerLine)
    copied += batch.length
    if (Math.floor(copied / itemsPerLine) > told) onProgress(copied)
    batch = []
    bytes = 0
  }
  for await (const item of itemsOf(file)) {
    const size = itemSize(item)
    if (batch.length === maxBatch.items || bytes + size > maxBatch.bytes) await put()
    batch.push(item)
    bytes += size
  }
  await put()
}

async function* itemsOf({ db, read }: SqliteFile): AsyncGenerator<Item> {
  const page = db
    .prepare<[string, string]>(
      `SELECT ${sealed('item')} FROM items WHERE (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT ${pageSize}`,
    )
    .raw()
  let last = { pk: '', sk: '' }
  for (;;) {
    const rows = (await read(() => page.all(last.pk, last.sk))) as unknown[][]
    for (const [type, bytes] of rows) {
      const item = parse(unseal(type, bytes)) as Item
      yield item
      last = item
    }
    if (rows.length < pageSize) return
  }
}

async function putAbsent(to: Store, items: readonly Item[]): Promise<void> {
  const writes = items.map((item) => ({ kind: 'put', item, when: [{ kind: 'absent-item' }] }) as const)
  const outcome = await to.transact(writes, digest('move', JSON.stringify(writes)), patienceMs)
  if (outcome.applied) return
  const { found } = outcome
  const other = items.find((item, place) => found[place] && !isDeepStrictEqual(found[place], item))
  if (other)
    throw new CannotContinue(
      `The table has another item ${other.pk} (${other.sk}): another program writes there, so use another table.`,
    )
  const absent = items.filter((_, place) => !found[place])
  if (absent.length > 0) await putAbsent(to, absent)
}
