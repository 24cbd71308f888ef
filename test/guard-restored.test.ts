import { BatchWriteItemCommand, paginateScan } from '@aws-sdk/client-dynamodb'
import { describe, expect, inject, test } from 'vitest'
import { createDynamoStore } from '../shared/ledger/dynamo-store.ts'
import { systemClock } from '../shared/platform/clock.ts'
import { systemIds } from '../shared/platform/ids.ts'
import { minutes } from './support/clock.ts'
import { json, startProduct } from './support/product.ts'
import { gate, type Recorded } from './support/scripted-service.ts'
import { createLocalTable } from './support/stores.ts'

/** A service that knows what ran, whichever ledger asked for it. */
function vendor() {
  const ran: string[] = []
  const hold = gate()
  const service = ({ url }: Recorded) => {
    const [, , , project = '', operation] = url.split('/')
    if (operation === 'run') {
      ran.push(project)
      return { ...json({ keyword_units: 40 }), ...(project === 'slow' && { once: hold.opened }) }
    }
    if (operation !== 'dates') return undefined
    return json({ dates: ['2026-11-13', ...(ran.includes(project) ? ['2026-11-20'] : [])] })
  }
  return { ran, service, letSlowAnswer: hold.open }
}

/** What a restore to this moment would give: every item as it is, in a new table. */
async function restored({ client, table }: Awaited<ReturnType<typeof createLocalTable>>) {
  const target = await createLocalTable()
  for await (const { Items = [] } of paginateScan(
    { client, pageSize: 25 },
    { TableName: table, ConsistentRead: true },
  )) {
    const RequestItems = { [target.table]: Items.map((Item) => ({ PutRequest: { Item } })) }
    if (Items.length > 0) await client.send(new BatchWriteItemCommand({ RequestItems }))
  }
  return target
}

const storeOf = (local: Awaited<ReturnType<typeof createLocalTable>>) =>
  createDynamoStore({ ...local, clock: systemClock, ids: systemIds })

// docs/deploy.md, "Restoring from a point in time", from step 4 on.
describe.skipIf(inject('dynamodb') === null)('a table restored to a point in time', () => {
  test('frozen, swept, reconciled with the dates and the vendor’s figure, unfrozen: nothing is lost or paid for twice', async () => {
    const { ran, service, letSlowAnswer } = vendor()
    const table = await createLocalTable()
    const lost = await startProduct({ store: storeOf(table), service })
    await lost.update({ kind: 'ranking', project: 'globex' })
    const running = lost.update({ kind: 'ranking', project: 'slow' })
    while (!ran.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 5))
    const copy = await restored(table)
    letSlowAnswer()
    expect((await running).body.updates[0].state).toBe('settled')
    for (const project of ['initech', 'umbrella']) await lost.update({ kind: 'ranking', project })
    expect(await lost.figures()).toMatchObject({ spent: 160, held: 0 })

    const product = await startProduct({ store: storeOf(copy), service, clock: lost.clock })
    expect(await product.figures()).toMatchObject({ spent: 40, held: 40, inDoubt: 0 })
    const freeze = { body: { reason: 'restored to 10:00' } }
    expect((await product.call('POST', '/budgets/account/freeze', freeze)).status).toBe(200)
    expect((await product.update({ kind: 'ranking', project: 'hooli' })).body.type).toBe('/problems/budget-frozen')

    // What ran at that moment is found by the date that it left; it has to be out of flight for that.
    product.clock.advance(minutes(60))
    for (const _ of ['put in doubt', 'settled by evidence']) await product.guard.sweep(product.endsAt())
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0, inDoubt: 0 })
    const shown = await product.call('GET', '/v3/projects/initech/dates')
    expect(shown.body.dates).toContain('2026-11-20')
    const vendorsFigure = { unitsLeft: 50_000 - ran.length * 40, reason: 'restored to 10:00, the screen at 11:00' }
    const booked = await product.call('POST', '/budgets/account/reconcile', { body: vendorsFigure })
    expect([booked.status, booked.body.units]).toEqual([200, 80])
    expect(await product.figures()).toMatchObject({ spent: 160, available: 49_840 })
    expect(await product.audit()).toBe(true)

    expect((await product.call('POST', '/budgets/account/unfreeze', freeze)).status).toBe(200)
    const repeated = await product.update({ kind: 'ranking', project: 'initech' })
    expect([repeated.status, repeated.body.type]).toEqual([402, '/problems/already-fresh'])
    expect((await product.update({ kind: 'ranking', project: 'hooli' })).status).toBe(201)
    expect(ran).toEqual(['globex', 'slow', 'initech', 'umbrella', 'hooli'])
    expect(await product.audit()).toBe(true)
  })
})
