import {
  type AttributeValue,
  BatchGetItemCommand,
  type DynamoDBClient,
  type ServiceInputTypes,
  type ServiceOutputTypes,
  type TransactWriteItem,
} from '@aws-sdk/client-dynamodb'
import { createDynamoClient } from '../../shared/ledger/store/dynamo-store.ts'
import { indexes } from '../../shared/ledger/store/stored.ts'
import { itemSize } from '../support/store/item-size.ts'

/** Requests to DynamoDB, and the units that AWS charges for them. */
export interface Metered {
  readonly reads: number
  readonly writes: number
  readonly readUnits: number
  readonly writeUnits: number
  /** AWS charges index rows in addition to their items. */
  readonly indexUnits: number
}

/** The costs as text: `1+2` requests and `4+10+3` units, or one figure each if there are only reads. */
export const costOf = ({ reads, writes, readUnits, writeUnits, indexUnits }: Metered): [string, string] =>
  writes === 0 ? [String(reads), String(readUnits)] : [`${reads}+${writes}`, `${readUnits}+${writeUnits}+${indexUnits}`]

type Attributes = Record<string, AttributeValue>
type Keys = Readonly<{ table: string; keys: readonly Attributes[] }>

const nothing: Metered = { reads: 0, writes: 0, readUnits: 0, writeUnits: 0, indexUnits: 0 }

/**
 * Counts the requests of a client, and computes their units from the items before and after, because DynamoDB Local
 * misreports transactions. It reads with a client of its own, so do not time what is metered.
 *
 * @param keyNames the table's key.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export function meter(client: DynamoDBClient, endpoint: string, keyNames: readonly string[]) {
  const looking = createDynamoClient(endpoint)
  let metered = nothing
  const open = watchOpen(client)

  const add = (more: Partial<Metered>) => {
    metered = {
      reads: metered.reads + (more.reads ?? 0),
      writes: metered.writes + (more.writes ?? 0),
      readUnits: metered.readUnits + (more.readUnits ?? 0),
      writeUnits: metered.writeUnits + (more.writeUnits ?? 0),
      indexUnits: metered.indexUnits + (more.indexUnits ?? 0),
    }
  }

  const keyOf = (item: Attributes): Attributes =>
    Object.fromEntries(keyNames.flatMap((name) => (item[name] ? [[name, item[name]]] : [])))

  async function look({ table, keys }: Keys): Promise<(Attributes | undefined)[]> {
    const RequestItems = { [table]: { Keys: [...keys], ConsistentRead: true } }
    const { Responses } = await looking.send(new BatchGetItemCommand({ RequestItems }))
    const named = new Map((Responses?.[table] ?? []).map((item) => [JSON.stringify(keyOf(item)), item]))
    return keys.map((key) => named.get(JSON.stringify(keyOf(key))))
  }

  /** A refused write is charged for the item that it found, too. */
  async function metering<Answer>(written: Keys, times: number, send: () => Promise<Answer>): Promise<Answer> {
    const before = await look(written)
    try {
      return await send()
    } finally {
      const after = await look(written)
      const pairs = written.keys.map((_, index) => [before[index], after[index]] as const)
      const units = pairs.map((pair) => times * kilobytes(Math.max(...pair.map((item) => sizeOf(item))), 1))
      add({ writes: 1, writeUnits: sum(units), indexUnits: sum(pairs.map((pair) => indexUnitsOf(...pair))) })
    }
  }

  client.middlewareStack.add(
    (next, context) => async (args) => {
      const { input } = args
      if (String(context.commandName).startsWith('DescribeTable')) return next(args)
      if ('TransactItems' in input) {
        const items = (input.TransactItems ?? []) as TransactWriteItem[]
        return metering(keysOf(items, keyOf), 2, () => next(args))
      }
      if ('TableName' in input && !isRead(String(context.commandName))) {
        const item = ('Item' in input ? input.Item : 'Key' in input ? input.Key : undefined) as Attributes
        return metering({ table: input.TableName ?? '', keys: [keyOf(item)] }, 1, () => next(args))
      }
      const answer = await next(args)
      add({ reads: 1, readUnits: readUnitsOf(input, answer.output) })
      return answer
    },
    { step: 'initialize', name: 'meter' },
  )
  return {
    /** The requests of `act`, even if it failed, including those still open when it answered. */
    async of(act: () => Promise<unknown>): Promise<Metered> {
      metered = nothing
      await act()
      while (open.size > 0) await Promise.allSettled(open)
      return metered
    },
    stop: () => looking.destroy(),
  }
}

/** The requests that wait for an answer. */
function watchOpen(client: DynamoDBClient): ReadonlySet<Promise<unknown>> {
  const open = new Set<Promise<unknown>>()
  client.middlewareStack.add(
    (next) => (args) => {
      const answer = next(args)
      open.add(answer)
      void answer.catch(() => undefined).then(() => open.delete(answer))
      return answer
    },
    { step: 'initialize', priority: 'high', name: 'open' },
  )
  return open
}

const isRead = (command: string) => /^(Query|GetItem)/.test(command)
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
const sizeOf = (item: Attributes | undefined) => (item ? itemSize(item) : 0)
/** At least one unit, even for nothing. */
const kilobytes = (bytes: number, block: number) => Math.max(1, Math.ceil(bytes / (block * 1024)))

function keysOf(items: readonly TransactWriteItem[], keyOf: (item: Attributes) => Attributes): Keys {
  const written = items.map(({ Put, Update, Delete, ConditionCheck }) => {
    const of = Put ?? Update ?? Delete ?? ConditionCheck
    return { table: of?.TableName ?? '', key: keyOf(Put?.Item ?? (Update ?? Delete ?? ConditionCheck)?.Key ?? {}) }
  })
  return { table: written[0]?.table ?? '', keys: written.map(({ key }) => key) }
}

/** A consistent read costs a unit for each 4 KB, and a read of an index half a unit. */
function readUnitsOf(input: ServiceInputTypes, output: ServiceOutputTypes): number {
  if ('Responses' in output && 'RequestItems' in input) {
    const [table, asked] = Object.entries(input.RequestItems ?? {})[0] ?? ['', { Keys: [] }]
    const found = (output.Responses as Record<string, Attributes[]> | undefined)?.[table] ?? []
    const keys = 'Keys' in asked ? (asked.Keys ?? []) : []
    return sum(found.map((item) => kilobytes(itemSize(item), 4))) + (keys.length - found.length)
  }
  if ('Items' in output) return kilobytes(sum((output.Items ?? []).map(itemSize)), 4) / 2
  return kilobytes('Item' in output ? sizeOf(output.Item) : 0, 4)
}

/** A row is written when it appears or disappears, and twice when its key changes. Rows have only keys. */
function indexUnitsOf(before: Attributes | undefined, after: Attributes | undefined): number {
  return sum(
    Object.values(indexes).map(({ partition, sort }) => {
      const rowOf = (item: Attributes | undefined) =>
        item?.[partition]?.S !== undefined && item[sort]?.S !== undefined
          ? `${item[partition].S} ${item[sort].S}`
          : undefined
      const rows = [rowOf(before), rowOf(after)]
      return rows[0] === rows[1] ? 0 : rows.filter((row) => row !== undefined).length
    }),
  )
}
