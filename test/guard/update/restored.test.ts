import { describe, expect, inject, test } from 'vitest'
import { replacement, usualAccount } from '../../../shared/ledger/identity.ts'
import { createLedger } from '../../../shared/ledger/ledger.ts'
import { minutes } from '../../support/clock.ts'
import { json, startProduct } from '../../support/product.ts'
import { gate, type Recorded } from '../../support/scripted-service.ts'
import { accept, copyOf, storeOf } from '../../support/store/copy.ts'
import { reconcile } from '../../support/store/reconcile.ts'
import { createLocalTable } from '../../support/store/stores.ts'

/** A service that knows every run of every ledger. */
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

// docs/deploy.md, "Restoring from a point in time", from step 4 on.
describe.skipIf(inject('dynamodb') === null)('a table restored to a point in time', () => {
  test('a restored ledger is frozen, swept, reconciled and unfrozen; it loses nothing and pays nothing twice', async () => {
    const { ran, service, letSlowAnswer } = vendor()
    const table = await createLocalTable()
    const lost = await startProduct({ store: storeOf(table), service })
    await lost.update({ kind: 'ranking', project: 'globex' })
    const running = lost.update({ kind: 'ranking', project: 'slow' })
    while (!ran.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 5))
    // A figure from before the restore does not include later runs.
    expect((await reconcile(lost, { unitsLeft: 50_000, reason: 'this morning' })).status).toBe(200)
    const copy = await copyOf(table)
    letSlowAnswer()
    expect((await running).body.updates[0].state).toBe('settled')
    for (const project of ['initech', 'umbrella']) await lost.update({ kind: 'ranking', project })
    expect(await lost.figures()).toMatchObject({ spent: 160, held: 0 })

    const early = await startProduct({ store: storeOf(copy), service, clock: lost.clock })
    expect((await early.update({ kind: 'ranking', project: 'hooli' })).body).toMatchObject({
      status: 503,
      detail: expect.stringContaining('this table is a copy of the ledger led_'),
    })
    await accept(storeOf(copy), lost.clock)

    const product = await startProduct({ store: storeOf(copy), service, clock: lost.clock })
    expect(await product.figures()).toMatchObject({ spent: 40, held: 40, inDoubt: 0 })
    const freeze = { body: { reason: 'restored to 10:00' } }
    expect((await product.update({ kind: 'ranking', project: 'hooli' })).status).toBe(409)
    expect((await product.call('POST', '/budgets/account/unfreeze', freeze)).body).toMatchObject({
      type: '/problems/wrong-state',
      detail:
        "account was frozen by a restore, and its book lacks updates that ran since. First reconcile it with the vendor's figure of 20 Nov 2026 10:05 UTC or later (POST /budgets/account/reconcile).",
    })

    // In the first five minutes, a figure may lack a run from before the restore.
    const isUnfrozenBy = async (figure: object) => {
      expect((await reconcile(product, { reason: 'the screen', ...figure })).status).toBe(200)
      return (await product.call('POST', '/budgets/account/unfreeze', freeze)).status === 200
    }
    product.clock.advance(minutes(4))
    expect(await isUnfrozenBy({ unitsLeft: 50_000 })).toBe(false)

    // The date of the run that was sent at that moment proves this run as soon as it is out of flight.
    product.clock.advance(minutes(56))
    expect(await isUnfrozenBy({ unitsLeft: 50_000, asOf: '2026-11-20T10:04:59Z' })).toBe(false)
    for (const _ of ['put in doubt', 'settled by evidence']) await (await product.guard.jobs()).sweep(product.endsAt())
    expect(await product.figures()).toMatchObject({ spent: 80, held: 0, inDoubt: 0 })
    const shown = await product.call('GET', '/v3/projects/initech/dates')
    expect(shown.body.dates).toContain('2026-11-20')
    product.clock.advance(minutes(5))
    const vendorsFigure = { unitsLeft: 50_000 - ran.length * 40, reason: 'restored to 10:00, the screen at 11:00' }
    const booked = await reconcile(product, vendorsFigure)
    expect([booked.status, booked.body.units]).toEqual([200, 80])
    expect(await product.figures()).toMatchObject({ spent: 160, available: 49_840 })
    expect(await product.audit()).toBe(true)

    expect((await product.call('POST', '/budgets/account/unfreeze', freeze)).status).toBe(200)
    const ask = (project: string, more: object = {}, key?: string) =>
      product.call('POST', '/updates', {
        body: { kind: 'ranking', project, ...more },
        ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      })
    const unknown = await ask('initech')
    expect([unknown.status, unknown.body.detail]).toEqual([
      409,
      'The ledger was restored: if initech was updated between 20 Nov 2026 09:55 UTC and 20 Nov 2026 10:00 UTC, the record of that update is lost, and only an entry “recovered upd_…” may count it. Until 21 Nov 2026 00:00 UTC, look there and at the service, and force it with a reason (an Idempotency-Key must then begin with restored-1-).',
    ])
    const forced = { force: true, reason: 'the screen shows no run' }
    expect((await ask('hooli', forced, 'of-before')).body.detail).toContain(
      'use an Idempotency-Key that begins with restored-1-, since an older key may have been answered before',
    )
    expect((await ask('hooli', forced, 'restored-1-of-today')).status).toBe(201)
    expect((await ask('hooli', forced, 'restored-1-of-today')).headers.get('idempotency-replayed')).toBe('true')
    // The runs after the restore are known, and answer within their cool-down.
    expect((await ask('hooli')).status).toBe(200)
    product.clock.set('2026-11-21T00:00:00Z')
    expect((await ask('initech')).status).toBe(201)
    expect((await product.update({ kind: 'keyword-difficulty', project: 'initech' })).status).toBe(409)
    product.clock.set('2026-11-27T10:00:00Z')
    expect((await product.update({ kind: 'keyword-difficulty', project: 'initech' })).status).toBe(201)
    expect(ran).toEqual(['globex', 'slow', 'initech', 'umbrella', 'hooli', 'initech', 'initech'])
    expect(await product.audit()).toBe(true)
  })

  test('a restore stops all earlier processes, on the restored table and on the old table', async () => {
    const { service } = vendor()
    const table = await createLocalTable()
    const before = await startProduct({ store: storeOf(table), service })
    await before.update({ kind: 'ranking', project: 'globex' })
    const detailOf = async (product: typeof before, project: string) =>
      (await product.update({ kind: 'ranking', project })).body.detail
    const copy = await copyOf(table)
    await accept(storeOf(copy), before.clock)
    const after = await startProduct({ store: storeOf(copy), service, clock: before.clock })
    expect((await after.call('GET', '/budgets')).status).toBe(200)
    await accept(storeOf(copy), before.clock, 2)
    expect(await detailOf(after, 'initech')).toBe(
      'This ledger is not the one that is set here: this table was accepted as restored (epoch 2) after this process began (epoch 1): deploy again.',
    )
    const ledger = createLedger({ store: storeOf(table), clock: before.clock, account: usualAccount })
    await ledger.change('setup', replacement(copy.table))
    expect(await detailOf(before, 'initech')).toBe(
      `This ledger is not the one that is set here: this table was replaced by the table ${copy.table}: deploy with that one.`,
    )
  })

  test('an empty table, or one with another epoch than the marker, is refused', async () => {
    const { service } = vendor()
    const table = await createLocalTable()
    const first = await startProduct({ store: storeOf(table), service })
    await first.update({ kind: 'ranking', project: 'globex' })
    const { identity } = (await first.guard.ledger.view()).definitions
    const marked = (epoch: number) => ({
      LEDGER_MARKER: `${identity?.ledger} ${epoch} ${identity?.table} ${table.table}`,
    })
    const detailOf = async (of: typeof table, epoch: number) => {
      const product = await startProduct({ store: storeOf(of), service, env: marked(epoch) })
      return (await product.call('GET', '/budgets')).body.detail
    }
    expect(await detailOf(table, 0)).toBeUndefined()
    expect(await detailOf(table, 1)).toContain(`this table has epoch 0, but the marker expects epoch 1`)
    const empty = await createLocalTable()
    expect(await detailOf(empty, 0)).toBe(
      `This ledger is not the one that is set here: the table is empty, and the ledger ${identity?.ledger} is in the table ${table.table}: name that one (on AWS -c ledgerTable=… -c ledgerStream=…).`,
    )
    expect(await storeOf(empty).get([{ pk: 'definitions', sk: 'definitions' }])).toEqual([undefined])
  })
})
