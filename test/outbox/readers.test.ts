import { describe, expect, test } from 'vitest'
import type { Store, Write } from '../../shared/ledger/store/store.ts'
import { announcement } from '../../shared/ledger/updates/tasks.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { listPeople } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]

type ProductOptions = NonNullable<Parameters<typeof startProduct>[0]>

/** Delivers nothing by itself: each test passes its events to the readers. */
async function readersProduct({ store, ...options }: Omit<ProductOptions, 'store'> & { store?: Store | 'real' } = {}) {
  const inner = store === 'real' ? {} : { store: store ?? createMemoryStore() }
  const product = await startProduct({ slack: true, stream: false, ...inner, ...options })
  await listPeople(product, { U1ADA: { scopes: ['read', 'run', 'approve', 'admin'] } })
  const { start, tell } = product.startProcess()
  const queue = async (project: string) => {
    const body = { kind: 'ranking', project }
    const { body: answer } = await product.update(body, { headers: { prefer: 'respond-async' } })
    return String(answer.updates[0].id)
  }
  const begin = (...records: object[]) => start({ Records: records }, product.endsAt())
  const announce = (...records: object[]) => tell({ Records: records }, product.endsAt())
  const stateOf = async (id: string) => (await product.call('GET', `/updates/${id}`)).body.state
  return { product, queue, begin, announce, stateOf }
}

let sequence = 0

/** A record as Lambda hands it over. https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html */
function record(eventName: 'INSERT' | 'MODIFY' | 'REMOVE', pk: string, sk: string, image?: Record<string, object>) {
  const Keys = { pk: { S: pk }, sk: { S: sk } }
  return {
    eventID: 'c4ca4238a0b923820dcc509a6f75849b',
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-central-1',
    dynamodb: {
      ApproximateCreationDateTime: 1_795_168_800,
      Keys,
      ...(image && { NewImage: { ...Keys, version: { N: '1' }, ...image } }),
      SequenceNumber: String(++sequence).padStart(21, '0'),
      SizeBytes: 512,
      StreamViewType: 'NEW_IMAGE',
    },
    eventSourceARN: 'arn:aws:dynamodb:eu-central-1:123456789012:table/unit-guard/stream/2026-11-20T10:00:00.000',
  }
}

const openUpdate = (name: 'INSERT' | 'MODIFY', id: string, state = 'requested') =>
  record(name, `update#${id}`, 'update', { state: { S: state }, openAs: { S: state }, queued: { BOOL: true } })
const openTask = (kind: 'announcement' | 'slack-event', name: 'INSERT' | 'MODIFY', id: string) =>
  record(name, `${kind}#${id}`, kind, { openAs: { S: kind }, openSince: { S: '2026-11-20T10:00:00.000Z#x' } })
const doneTask = (kind: 'announcement' | 'slack-event', id: string) =>
  record('MODIFY', `${kind}#${id}`, kind, { doneAt: { N: '1795168800000' } })
/** The delete by the table's time to live, which has no image. */
const ended = (pk: string, sk: string) => ({
  ...record('REMOVE', pk, sk),
  userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
})

const none = { batchItemFailures: [] }

const freeze = { kind: 'stopped', what: 'budget', name: 'seo', by: 'ada', reason: 'a loop', isStopped: true } as const
const told =
  '🧊 ada froze the budget seo. Nothing can be spent from it, or from budgets below it, until it is unfrozen. Running updates continue.'

const add = (product: Product, id: string, about: Parameters<typeof announcement>[2] = freeze) =>
  product.guard.ledger.announcements.add(announcement(id, product.clock.now(), about))

describe('the start reader', () => {
  test.each(['INSERT', 'MODIFY'] as const)('the start reader starts a requested update at its %s', async (name) => {
    const { product, queue, begin, stateOf } = await readersProduct()
    const id = await queue('acme')
    expect(await begin(openUpdate(name, id))).toEqual(none)
    expect(await stateOf(id)).toBe('settled')
    expect(product.seen('run')).toHaveLength(1)
  })

  test('the start reader answers the INSERT of an event from Slack', async () => {
    const { product, begin } = await readersProduct()
    await product.slack.command('updates')
    const [event] = (await product.guard.ledger.queue(slackEvents).open(1)).rows
    expect(await begin(openTask('slack-event', 'INSERT', event?.id ?? ''))).toEqual(none)
    expect(product.slack.posted()).toHaveLength(1)
    expect((await product.guard.ledger.queue(slackEvents).open(1)).rows).toEqual([])
  })

  test('the start reader starts nothing else: it reads no service and sends no message', async () => {
    const { product, queue, begin, stateOf } = await readersProduct()
    const id = await queue('acme')
    await product.slack.command('updates')
    await add(product, 'a1')
    const [event] = (await product.guard.ledger.queue(slackEvents).open(1)).rows
    expect(
      await begin(
        ...['running', 'in-doubt', 'awaiting-approval', 'settled'].map((state) => openUpdate('MODIFY', id, state)),
        ended(`update#${id}`, 'update'),
        ended(`slack-event#${event?.id}`, 'slack-event'),
        // A failed attempt changes the item, and an immediate retry would never end.
        openTask('slack-event', 'MODIFY', event?.id ?? ''),
        doneTask('slack-event', event?.id ?? ''),
        openTask('announcement', 'INSERT', 'a1'),
        record('MODIFY', 'book', 'month:2026-11-01', { revision: { N: '1' } }),
        record('MODIFY', 'definitions', 'definitions', { state: { S: 'requested' } }),
        record('INSERT', 'work#ranking#acme', 'work', { update: { S: id } }),
        record('INSERT', 'occurrence#nightly', 'occurrence', { openAs: { S: 'occurrence' }, state: { S: 'running' } }),
        record('INSERT', 'updates', 'update', { state: { S: 'requested' } }),
      ),
    ).toEqual(none)
    expect([product.service.requests, product.slack.posted()]).toEqual([[], []])
    expect(await stateOf(id)).toBe('requested')
  })

  test('a missing, deleted or ended update is no failure', async () => {
    const { product, queue, begin } = await readersProduct()
    const id = await queue('acme')
    await product.call('POST', `/updates/${id}/cancel`)
    expect(await begin(openUpdate('INSERT', id), openUpdate('INSERT', 'upd_none'), openUpdate('INSERT', ''))).toEqual(
      none,
    )
    expect(product.service.requests).toEqual([])
  })

  test('run: delivered twice: the same event three times in parallel and in two processes makes one run', async () => {
    const { product, queue, begin } = await readersProduct({ store: 'real' })
    const id = await queue('acme')
    const other = product.startProcess()
    const event = { Records: [openUpdate('INSERT', id)] }
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => begin(...event.Records)),
      ...[1, 2, 3].map(() => other.start(event, product.endsAt())),
      begin(...event.Records, ...event.Records, ...event.Records),
    ])
    expect(answers).toEqual(Array.from({ length: 7 }, () => none))
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures()).toMatchObject({ available: 49_960, spent: 40, held: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('a poison record does not block the records after it, and is never requested again', async () => {
    const { product, queue, begin, stateOf } = await readersProduct()
    const id = await queue('acme')
    const event = { id: 'cmd_poison', version: 1, createdAt: product.clock.now(), user: 'U1ADA', answers: 0 }
    await product.guard.ledger
      .queue(slackEvents)
      .add({ ...event, kind: 'command', text: null, responseUrl: '' } as never)
    expect(await begin(openTask('slack-event', 'INSERT', 'cmd_poison'), openUpdate('INSERT', id))).toEqual(none)
    expect(await stateOf(id)).toBe('settled')
    expect(product.logged.filter((line) => line.includes('not-begun') && line.includes('cmd_poison'))).toHaveLength(1)
  })

  test('an update without an estimate of the service stays requested for the sweep', async () => {
    const { product, queue, begin, stateOf } = await readersProduct()
    const id = await queue('acme')
    product.service.script('/on-demand/acme/estimate', { status: 503 }, { status: 503 }, json({ keyword_units: 40 }))
    expect(await begin(openUpdate('INSERT', id))).toEqual(none)
    expect(await stateOf(id)).toBe('requested')
    product.clock.advance(2 * 60_000)
    await product.triggers.sweep(product.endsAt())
    expect(await stateOf(id)).toBe('settled')
  })

  test('only its occurrence starts a plan’s update, until a person has approved it', async () => {
    const plans = [{ name: 'nightly', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 10 * * ? *)' }]
    const { product, begin, stateOf } = await readersProduct({ plans })
    product.service.script('/on-demand/acme/estimate', { status: 503 }, { status: 503 }, json({ keyword_units: 40 }))
    await product.triggers.fire('nightly', product.clock.now(), product.endsAt())
    const [{ id, state, via }] = (await product.call('GET', '/updates')).body.updates
    expect([state, via]).toEqual(['requested', 'schedule'])
    await begin(openUpdate('INSERT', id))
    expect([await stateOf(id), product.seen('run')]).toEqual(['requested', []])
    await product.call('PUT', '/budgets/account', { body: { limits: month(50_000), approvalAbove: 10 } })
    product.clock.advance(5 * 60_000)
    await product.triggers.sweep(product.endsAt())
    expect(await stateOf(id)).toBe('awaiting-approval')
    const { update } = (await product.guard.decide('approve', id, { caller: 'carl' })) as { update: { state: string } }
    expect(update.state).toBe('requested')
    await begin(openUpdate('MODIFY', id))
    expect([await stateOf(id), product.seen('run').length]).toEqual(['settled', 1])
  })
})

describe('the tell reader', () => {
  test('notify: delivered twice: a repeated INSERT of an announcement sends it once', async () => {
    const { product, announce } = await readersProduct()
    await add(product, 'a1')
    for (let times = 0; times < 2; times++)
      expect(await announce(openTask('announcement', 'INSERT', 'a1'))).toEqual(none)
    expect(product.slack.posted().map(({ text }) => text)).toEqual([told])
  })

  test('a change of a book makes the reader check the thresholds, and no other change does', async () => {
    const { product, announce } = await readersProduct()
    await product.call('POST', '/budgets/account/entries', {
      body: { type: 'external-spend', units: 40_000, reason: 'by hand' },
    })
    const waiting = async () => (await product.guard.ledger.announcements.open(10)).rows.map(({ id }) => id)
    await announce(record('INSERT', 'entry#ent_1', 'entry', { type: { S: 'external-spend' } }))
    expect(await waiting()).toEqual([])
    await announce(record('MODIFY', 'book', 'month:2026-11-01', { revision: { N: '1' } }))
    expect(await waiting()).toEqual(['threshold#account#month:2026-11-01#80'])
  })

  test('the tell reader starts, answers and announces nothing at other changes', async () => {
    const { product, queue, announce, stateOf } = await readersProduct()
    const id = await queue('acme')
    await add(product, 'a1')
    expect(
      await announce(
        openTask('announcement', 'MODIFY', 'a1'),
        doneTask('announcement', 'a1'),
        ended('announcement#a1', 'announcement'),
        openTask('announcement', 'INSERT', 'none'),
        openUpdate('INSERT', id),
        record('INSERT', 'occurrence#nightly', 'occurrence', { openAs: { S: 'occurrence' } }),
      ),
    ).toEqual(none)
    expect([product.slack.posted(), product.service.requests]).toEqual([[], []])
    expect(await stateOf(id)).toBe('requested')
  })

  test.each<[string, 'INSERT' | 'MODIFY', Record<string, object>, boolean]>([
    ['that changed after it was announced for approval', 'MODIFY', { approvableUntil: { N: '1795255200000' } }, true],
    ['that changed after a doubt', 'MODIFY', { doubt: { M: { at: { N: '1795168800000' } } } }, true],
    ['that changed and needed no decision', 'MODIFY', {}, false],
    ['that is new and awaits approval', 'INSERT', { approvableUntil: { N: '1795255200000' } }, false],
  ])('the tell reader looks for the messages of an update %s, or does not', async (_which, name, image, looks) => {
    const inner = createMemoryStore()
    let reads = 0
    const store: Store = {
      ...inner,
      get: (keys) => {
        reads += keys.length
        return inner.get(keys)
      },
      list: (query) => {
        reads++
        return inner.list(query)
      },
    }
    const { queue, announce } = await readersProduct({ store, bot: true })
    const id = await queue('acme')
    reads = 0
    const state = { state: { S: 'settled' } }
    expect(await announce(record(name, `update#${id}`, 'update', { ...state, ...image }))).toEqual(none)
    expect(reads > 0).toBe(looks)
  })

  test('the stream repeats an update if its messages cannot be read', async () => {
    const inner = createMemoryStore()
    let isDown = false
    const store: Store = {
      ...inner,
      get: (keys) => (isDown ? Promise.reject(new Error('down')) : inner.get(keys)),
    }
    const { product, queue, announce } = await readersProduct({ store, bot: true })
    const image = { state: { S: 'settled' }, approvableUntil: { N: '1795255200000' } }
    const changed = record('MODIFY', `update#${await queue('acme')}`, 'update', image)
    isDown = true
    const failed = { batchItemFailures: [{ itemIdentifier: changed.dynamodb.SequenceNumber }] }
    expect(await announce(changed)).toEqual(failed)
    expect(product.logged.filter((line) => line.includes('not-refreshed'))).toHaveLength(1)
    isDown = false
    expect(await announce(changed)).toEqual(none)
  })

  test('the stream repeats only failed records, and a poison record does not block the records after it', async () => {
    const { product, announce } = await readersProduct()
    for (const id of ['a1', 'a2', 'a3']) await add(product, id)
    const key = { pk: 'announcement#a2', sk: 'announcement' }
    const kind: Write = { kind: 'update', key, set: [[['about', 'kind'], 'never heard of']], add: [], when: [] }
    await product.store.transact([kind], 'a kind of a later version')
    const records = ['a1', 'a2', 'a3'].map((id) => openTask('announcement', 'INSERT', id))
    const failed = { batchItemFailures: [{ itemIdentifier: records[1]?.dynamodb.SequenceNumber }] }
    expect(await announce(...records)).toEqual(failed)
    expect(product.slack.posted().map(({ text }) => text)).toEqual([told, told])
    // The record comes again with all records after it, and only that record is handled.
    expect(await announce(...records.slice(1))).toEqual(failed)
    expect(product.slack.posted()).toHaveLength(2)
    expect(product.logged.filter((line) => line.includes('not-told'))).toHaveLength(2)
  })

  test('the stream does not repeat a message that Slack rejects now', async () => {
    const { product, announce } = await readersProduct()
    await add(product, 'a1')
    product.slack.answers({ status: 500 })
    expect(await announce(openTask('announcement', 'INSERT', 'a1'))).toEqual(none)
    expect((await product.guard.ledger.announcements.get('a1'))?.tries).toBe(1)
  })

  test('the tell reader reports no failure if it cannot check thresholds, because the sweep checks them, too', async () => {
    const inner = createMemoryStore()
    let isDown = false
    const store = {
      ...inner,
      get: (keys: Parameters<typeof inner.get>[0]) =>
        isDown && keys.some(({ pk }) => pk === 'book') ? Promise.reject(new Error('down')) : inner.get(keys),
    }
    const { product, announce } = await readersProduct({ store })
    isDown = true
    expect(await announce(record('MODIFY', 'book', 'month:2026-11-01', {}))).toEqual(none)
    expect(product.logged.join('\n')).toContain('thresholds-not-watched')
  })
})

describe('an event that is not one of a table’s stream', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty object', {}],
    [
      'an HTTP request',
      { version: '2.0', rawPath: '/updates', headers: {}, requestContext: {}, isBase64Encoded: false },
    ],
    ['a schedule', { plan: 'nightly', time: '2026-11-20T10:00:00Z' }],
    ['a queue’s', { Records: [{ eventSource: 'aws:sqs', body: '{}', messageId: '1' }] }],
    ['records without keys', { Records: [{ ...record('INSERT', 'a', 'b'), dynamodb: {} }] }],
  ])('both readers refuse an event that is not of a table’s stream: %s', async (_what, event) => {
    const { product } = await readersProduct()
    const { start, tell } = product.startProcess()
    await expect(start(event, product.endsAt())).rejects.toThrow('not an event of a DynamoDB stream')
    await expect(tell(event, product.endsAt())).rejects.toThrow('not an event of a DynamoDB stream')
  })

  test('a batch without records is done', async () => {
    const { begin, announce } = await readersProduct()
    expect([await begin(), await announce()]).toEqual([none, none])
  })
})
