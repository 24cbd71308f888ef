import { expect, test } from 'vitest'
import { withStream } from '../../infra/local/database/memory-stream.ts'
import type { StreamRecord } from '../../infra/local/database/stream.ts'
import { filters } from '../../infra/outbox.ts'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { announcement } from '../../shared/ledger/updates/tasks.ts'
import { passesFilter } from '../support/infra/stream-filter.ts'
import { startProduct } from '../support/product.ts'

/** What a record is about, without ids. */
const kindOf = ({ eventName, dynamodb: { Keys, NewImage } }: StreamRecord) =>
  [eventName, Keys.pk?.S?.split('#')[0], NewImage?.state?.S].filter(Boolean).join(' ')

/** Everything that a ledger's stream tells: an update at once, one that is queued, one approved, Slack, people told. */
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
  await guard.ledger.slackEvents.add({ ...slackEvent, kind: 'command', text: 'help' })
  const told = announcement('one', clock.now(), { kind: 'digest', until: clock.now() })
  await guard.ledger.announcements.add(told)
  await guard.ledger.announcements.change({ ...told, doneAt: clock.now() }, told)
  await new Promise((resolve) => setTimeout(resolve, 20))
  return records
}

test('stream filters wake the readers only for records that they handle', async () => {
  const records = await everyKindOfChange()
  const passed = (reader: keyof typeof filters) => {
    const those = records.filter((record) => filters[reader].some((pattern) => passesFilter(pattern, record)))
    return [...new Set(those.map(kindOf))].sort()
  }
  const all = records.map(kindOf)
  for (const kind of ['INSERT definitions', 'INSERT work', 'MODIFY update settled', 'MODIFY announcement']) {
    expect(all).toContain(kind)
  }
  expect(passed('start')).toEqual(['INSERT slack-event', 'INSERT update requested', 'MODIFY update requested'])
  expect(passed('tell')).toEqual([
    ...['INSERT announcement', 'INSERT book', 'MODIFY book'],
    // Only of the update that was announced: its message may have to be edited.
    ...['MODIFY update requested', 'MODIFY update running', 'MODIFY update settled'],
  ])
  expect(passed('tellEvents')).toEqual([
    ...['INSERT announcement', 'INSERT book', 'INSERT entry'],
    ...['INSERT update awaiting-approval', 'INSERT update requested', 'INSERT update running'],
    ...['MODIFY book', 'MODIFY update requested', 'MODIFY update running', 'MODIFY update settled'],
  ])
})
