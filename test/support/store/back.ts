import { type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { openFile } from '../../../infra/local/database/file.ts'
import { ledgerFile } from '../../../infra/local/settings.ts'
import { fromDefinitionsItem, toDefinitionsItem } from '../../../shared/ledger/definitions/definitions-item.ts'
import { movedTo } from '../../../shared/ledger/identity.ts'
import { createSqliteStore } from '../../../shared/ledger/store/sqlite-store.ts'
import type { Item } from '../../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../../shared/ledger/store/stored.ts'
import { systemClock } from '../../../shared/platform/clock.ts'

export async function itemsIn({ client, table }: { client: DynamoDBClient; table: string }): Promise<Item[]> {
  const items: Item[] = []
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true }))
    items.push(...Items.map((item) => unmarshall(item) as Item))
  return items
}

/** Moves a ledger from a table back into a file. The product has no command for it. */
export async function moveBack(from: { client: DynamoDBClient; table: string }, directory: string) {
  const { file, id } = await openFile(directory, ledgerFile)
  const store = createSqliteStore(file, { clock: systemClock, tableId: id })
  for (const [place, found] of (await itemsIn(from)).entries()) {
    const isDefinitions = found.pk === definitionsKey.pk
    const item = isDefinitions ? belongingTo(id, found) : found
    await store.transact([{ kind: 'put', item, when: [{ kind: 'absent-item' }] }], `back-${place}`)
  }
  return { file, store }
}

function belongingTo(table: string, item: Item): Item {
  const { identity, ...definitions } = fromDefinitionsItem(item)
  return toDefinitionsItem({ ...definitions, ...(identity && { identity: movedTo(table, identity) }) })
}
