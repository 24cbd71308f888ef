import { describe, expect, test } from 'vitest'
import type { StreamRecord } from '../../infra/local/database/changes.ts'
import { filters } from '../../infra/outbox.ts'
import { readChanges } from '../../shared/ledger/stream.ts'
import { announcement } from '../../shared/ledger/updates/tasks.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { days, hours, minutes } from '../support/clock.ts'
import { isFor, passesFilter } from '../support/infra/stream-filter.ts'
import { json, startProduct } from '../support/product.ts'
import { gate } from '../support/scripted-service.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { withStream } from '../support/store/memory-stream.ts'

/** The kind of a record, without ids. */
const kindOf = ({ eventName, dynamodb: { Keys, NewImage } }: StreamRecord) =>
  [eventName, Keys.pk?.S?.split('#')[0], NewImage?.state?.S].filter(Boolean).join(' ')

/** Every record of a ledger's stream: updates at once, queued and approved, Slack, and messages. */
async function everyKindOfChange(): Promise<StreamRecord[]> {
  const records: StreamRecord[] = []
  const store = withStream(createMemoryStore(), ({ Records }) => void records.push(...Records))
  const product = await startProduct({ store, stream: false, units: { dear: 500 } })
  const { call, clock, guard } = product
  await call('PUT', '/budgets/seo', {
    body: { limits: [{ window: 'month', units: 1000 }], approvalAbove: 100 },
  })
  await product.update({ kind: 'ranking', project: 'acme' })
  await product.update({ kind: 'ranking', project: 'queued' }, { headers: { prefer: 'respond-async' } })
  const dear = await product.update({ kind: 'ranking', project: 'dear', budget: 'seo' })
  const bob = product.signed({ sub: 'bob', scope: 'read approve', budgets: '*' })
  await call('POST', `/updates/${dear.body.updates[0].id}/approve`, { token: bob, body: {} })
  const responseUrl = 'https://hooks.slack.com/commands/T0/1/x'
  const slackEvent = { id: 'cmd_1', version: 1, createdAt: clock.now(), answers: 0, user: 'U1', responseUrl } as const
  await guard.ledger.queue(slackEvents).add({ ...slackEvent, kind: 'command', text: 'help' })
  const told = announcement('one', clock.now(), { kind: 'digest', until: clock.now() })
  await guard.ledger.announcements.add(told)
  await guard.ledger.announcements.change({ ...told, doneAt: clock.now() }, told)
  await new Promise((resolve) => setTimeout(resolve, 20))
  return records
}

test('stream filters wake the readers only for records that they handle', async () => {
  const records = await everyKindOfChange()
  const passed = (reader: keyof typeof filters) => {
    const those = records.filter((record) => isFor(reader, record))
    return [...new Set(those.map(kindOf))].sort()
  }
  const all = records.map(kindOf)
  for (const kind of ['INSERT definitions', 'INSERT work', 'MODIFY update settled', 'MODIFY announcement']) {
    expect(all).toContain(kind)
  }
  expect(passed('start')).toEqual(['INSERT slack-event', 'INSERT update requested', 'MODIFY update requested'])
  expect(passed('tell')).toEqual([
    'INSERT announcement',
    'INSERT book',
    'MODIFY book',
    // Only the announced update passes, because its message may have to be edited.
    'MODIFY update requested',
    'MODIFY update running',
    'MODIFY update settled',
  ])
  expect(passed('tellEvents')).toEqual([
    'INSERT announcement',
    'INSERT book',
    'INSERT entry',
    'INSERT update awaiting-approval',
    'INSERT update requested',
    'INSERT update running',
    'MODIFY book',
    'MODIFY update requested',
    'MODIFY update running',
    'MODIFY update settled',
  ])
})

/** Whether the reader acts on the record because its update was announced. */
const changesAMessage = (record: StreamRecord): boolean =>
  readChanges({ Records: [record] }).some(
    ({ pk, isNew, wasAnnounced }) => pk.startsWith('update#') && !isNew && wasAnnounced,
  )

function decisionOf({ dynamodb: { NewImage = {} } }: StreamRecord): string {
  const { state, closedBy, corrected, approvableUntil, doubt } = NewImage
  const after = approvableUntil ? 'approval' : `doubt of the ${doubt?.M?.by?.S}`
  const by = closedBy?.S === undefined ? '' : ` by ${closedBy.S}`
  return `${after}: ${state?.S}${by}${corrected ? ', corrected' : ''}`
}

/** Updates with every way to decide an approval and a doubt. */
async function everyDecision(): Promise<StreamRecord[]> {
  const records: StreamRecord[] = []
  const late = gate()
  let hasRun = false
  const product = await startProduct({
    store: withStream(createMemoryStore(), ({ Records }) => void records.push(...Records)),
    stream: false,
    service: ({ url }) => {
      const [, , , project = '', operation = ''] = url.split('/')
      if (operation === 'dates')
        return json({ dates: ['2026-11-13', ...(hasRun && project.includes('seen') ? ['2026-11-20'] : [])] })
      if (operation !== 'run') return undefined
      if (project === 'slow') return { ...json({ keyword_units: 40 }), once: late.opened }
      return project.startsWith('lost') ? { status: 500 } : project === 'gone' ? { status: 404 } : undefined
    },
  })
  const { call, clock, guard, endsAt, signed } = product
  await call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 9_000 }], approvalAbove: 10 } })
  const ask = async (project: string, budget = 'account') =>
    String((await product.update({ kind: 'ranking', project, budget })).body.updates[0].id)
  const bob = signed({ sub: 'bob', scope: 'read approve', budgets: '*', exp: product.inDays(300) })
  const decide = (id: string, verb: string, body: object = {}) =>
    call('POST', `/updates/${id}/${verb}`, { token: bob, body })
  const sweep = async (afterMs: number) => {
    clock.advance(afterMs)
    await (await guard.jobs()).sweep(endsAt())
  }
  await decide(await ask('good', 'seo'), 'approve')
  await decide(await ask('gone', 'seo'), 'approve')
  await decide(await ask('lost-after-approval', 'seo'), 'approve')
  await decide(await ask('bad', 'seo'), 'reject')
  await call('POST', `/updates/${await ask('not-wanted', 'seo')}/cancel`)
  const stopped = await ask('stopped', 'seo')
  await guard.decide('approve', stopped, { caller: 'carl' })
  await call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
  await guard.start(stopped, endsAt())
  await call('POST', '/budgets/seo/unfreeze', { body: { reason: 'over' } })
  await guard.decide('approve', await ask('never-begun', 'seo'), { caller: 'carl' })
  clock.advance(hours(1))
  await ask('never-approved', 'seo')
  const [ran, didNot, corrected] = [await ask('lost-a'), await ask('lost-b'), await ask('lost-c-seen')]
  for (const project of ['lost-d-seen', 'lost-e']) await ask(project)
  const slow = ask('slow')
  while (product.seen('run').every(({ url }) => !url.includes('slow'))) await new Promise((go) => setTimeout(go, 2))
  await sweep(minutes(30))
  await decide(ran, 'resolve', { outcome: 'ran', reason: 'seen' })
  for (const id of [didNot, corrected]) await decide(id, 'resolve', { outcome: 'did-not-run', reason: 'not seen' })
  late.open()
  await slow
  hasRun = true
  await sweep(hours(2))
  await sweep(days(8))
  await new Promise((resolve) => setTimeout(resolve, 20))
  return records
}

test('each change of an update that was announced passes the filter of the reader that edits messages', async () => {
  const acted = (await everyDecision()).filter(changesAMessage)
  expect([...new Set(acted.map(decisionOf))].toSorted()).toEqual([
    'approval: cancelled',
    'approval: expired',
    'approval: in-doubt',
    'approval: refused',
    'approval: rejected',
    'approval: released by sender',
    'approval: requested',
    'approval: running',
    'approval: settled by sender',
    'approval: settled by time',
    'doubt of the sender: in-doubt',
    'doubt of the sender: released by person',
    'doubt of the sender: released by person, corrected',
    'doubt of the sender: settled by evidence',
    'doubt of the sender: settled by person',
    'doubt of the sender: settled by time',
    'doubt of the sweep: in-doubt',
    'doubt of the sweep: settled by sender',
  ])
  expect(acted.filter((record) => !isFor('tell', record)).map(decisionOf)).toEqual([])
})

describe('a filter of a stream matches as Lambda does', () => {
  const record = { name: 'MODIFY', image: { id: { S: 'update#1' }, at: { N: '1' }, map: { M: { at: { N: '2' } } } } }
  test.each<[string, object, boolean]>([
    ['a value', { name: ['MODIFY'] }, true],
    ['one of several values', { name: ['INSERT', 'MODIFY'] }, true],
    ['no other value', { name: ['INSERT'] }, false],
    ['a prefix', { image: { id: { S: [{ prefix: 'update#' }] } } }, true],
    ['no other prefix', { image: { id: { S: [{ prefix: 'pdate#' }] } } }, false],
    ['every member', { name: ['MODIFY'], image: { at: { N: [{ exists: true }] } } }, true],
    ['not some members', { name: ['INSERT'], image: { at: { N: [{ exists: true }] } } }, false],
    ['a leaf that exists, however deep', { image: { map: { M: { at: { N: [{ exists: true }] } } } } }, true],
    ['no map that exists', { image: { map: [{ exists: true }] } }, false],
    ['no leaf of another type', { image: { at: { S: [{ exists: true }] } } }, false],
    ['a leaf that is missing', { image: { none: { N: [{ exists: false }] } } }, true],
    ['no leaf that is there', { image: { at: { N: [{ exists: false }] } } }, false],
  ])('a filter of a stream matches as Lambda does: %s', (_what, pattern, passes) => {
    expect(passesFilter(pattern, record)).toBe(passes)
  })
})

test('stream filters look at no old image, which the stream does not carry', () => {
  const members = Object.values(filters)
    .flat()
    .flatMap(({ dynamodb }) => Object.keys(dynamodb))
  expect(new Set(members)).toEqual(new Set(['Keys', 'NewImage']))
})
