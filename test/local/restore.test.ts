import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { minutes } from '../support/clock.ts'
import { runHere } from '../support/process/here.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { gate, type Recorded } from '../support/scripted-service.ts'
import { accept, copyOf, storeOf } from '../support/store/copy.ts'
import { createLocalTable } from '../support/store/stores.ts'

const budgets = ['account', 'stark', 'wayne'] as const

/** The outcome of a run, by project. */
function vendor() {
  const hold = gate()
  const service = ({ url }: Recorded) => {
    const [, , , project = '', operation] = url.split('/')
    if (operation === 'dates') return json({ dates: ['2026-10-16'] })
    if (operation !== 'run') return json({ keyword_units: 40 })
    if (project.startsWith('broken')) return { status: 500, body: 'x' }
    if (project === 'dear') return json({ keyword_units: 55 })
    return { ...json({ keyword_units: 40 }), ...(project === 'slow' && { once: hold.opened }) }
  }
  return { service, letSlowAnswer: hold.open }
}

async function serve({ api }: Product): Promise<string> {
  const server = createServer(getRequestListener(api.fetch)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

/** The available units of each budget. */
const leftIn = async (product: Product) =>
  Object.fromEntries(
    await Promise.all(budgets.map(async (budget) => [budget, (await product.figures(budget)).available] as const)),
  )

async function ask(product: Product, project: string, budget?: string, more: object = {}): Promise<string> {
  const { body } = await product.update({ kind: 'ranking', project, ...(budget && { budget }), ...more })
  return body.updates?.[0]?.id ?? body.update ?? ''
}

async function decide(product: Product, id: string, what: string, body: object): Promise<void> {
  const { status } = await product.call('POST', `/updates/${id}/${what}`, { body: { reason: 'test', ...body } })
  expect(status).toBe(200)
}

describe.skipIf(inject('dynamodb') === null)('a ledger restored to a point in time', () => {
  test('a ledger restored to a point in time is complete after npm run recover, and counts nothing twice', async () => {
    const { service, letSlowAnswer } = vendor()
    const table = await createLocalTable()
    const plans = [{ name: 'morning', kind: 'ranking', projects: ['pym'], schedule: 'cron(0 10 * * ? *)' }]
    const lost = await startProduct({ store: storeOf(table), service, plans })
    for (const name of ['stark', 'wayne'])
      await lost.call('PUT', `/budgets/${name}`, { body: { limits: [{ window: 'month', units: 1000 }] } })
    const proposer = { token: await lost.signed({ sub: 'pepper', scope: 'read propose', budgets: '*' }) }
    const propose = async (project: string) =>
      (await lost.update({ kind: 'ranking', project, budget: 'stark', reason: 'test' }, proposer)).body.updates[0].id

    // These ran before the restored moment.
    await ask(lost, 'settled', 'stark')
    const doubted = await ask(lost, 'broken-before', 'wayne')
    const waiting = await propose('approved')
    const dropped = await propose('cancelled')
    const running = ask(lost, 'slow', 'stark')
    while (lost.seen('run').length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
    const copy = await copyOf(table)
    const linesBefore = lost.logged.length

    // These ran after the restored moment.
    letSlowAnswer()
    await running
    await decide(lost, doubted, 'resolve', { outcome: 'ran', units: 10 })
    await decide(lost, waiting, 'approve', {})
    await decide(lost, dropped, 'cancel', {})
    await ask(lost, 'later', 'wayne')
    await ask(lost, 'dear', 'stark')
    await ask(lost, 'broken-after', 'wayne')
    await ask(lost, 'too-much', 'wayne', { maxUnits: 10 })
    const died = await ask(lost, 'died', 'stark')
    await lost.triggers.handle({ plan: 'morning', time: '2026-11-20T10:00:00Z' }, lost.endsAt())
    await lost.deliver()
    const whole = await leftIn(lost)
    expect(lost.seen('run')).toHaveLength(9)

    // A process that died after the request for `run` has logged only the hold.
    const lines = lost.logged.filter((line) => !(line.includes(died) && JSON.parse(line).event === 'run'))
    const folder = await mkdtemp(join(tmpdir(), 'unit-guard-restore-'))
    const log = join(folder, 'ran.json')
    // The log repeats lines, out of order, and has earlier lines.
    const messages = [...lines, ...lines.slice(linesBefore)].toReversed().map((message) => ({ message }))
    await writeFile(log, JSON.stringify({ events: messages }))

    const early = await startProduct({ store: storeOf(copy), service, clock: lost.clock })
    expect((await early.call('GET', '/budgets')).body.detail).toContain('this table is a copy of the ledger')
    await accept(storeOf(copy), lost.clock)

    const product = await startProduct({ store: storeOf(copy), service, clock: lost.clock })
    product.clock.advance(minutes(10))
    await (await product.guard.jobs()).sweep(product.endsAt())
    const UNIT_GUARD_URL = await serve(product)
    const recover = async (sub: string, ...more: string[]) =>
      runHere('recover', ['--log', log, ...more], {
        DATA_DIR: folder,
        UNIT_GUARD_URL,
        UNIT_GUARD_TOKEN: await product.signed({ sub, scope: 'read approve admin', budgets: '*' }),
      })
    const before = await leftIn(product)
    const dry = await recover('ada', '--dry-run')
    expect([dry.code, dry.err]).toEqual([0, ''])
    expect(await leftIn(product)).toEqual(before)

    const done = await recover('ada')
    expect([done.code, done.err]).toEqual([0, ''])
    expect(done.out).toContain('9 updates since 2026-11-20T09:55:00.000Z, 255 units booked.')
    expect(done.out).toContain('ranking of died by ada, held 2026-11-20T10:00:00.000Z, may have run')
    expect(await leftIn(product)).toEqual(whole)
    const again = await recover('eve')
    expect(again.out).toContain(', 0 units booked.')
    expect(await leftIn(product)).toEqual(whole)
    expect(await product.audit()).toBe(true)
    expect(product.seen('run')).toEqual([])
  })
})
