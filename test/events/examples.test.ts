import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventTypes } from '../../shared/events/types.ts'
import { startProduct } from '../support/product.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const document = readFileSync('docs/events.md', 'utf8')
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

test('the example in docs/events.md is an event of a real run', async () => {
  const receiver = await startReceiver()
  const targets = [targetAt(receiver.url, { types: ['update.*', 'budget.*'] })]
  const product = await startProduct({ store: createMemoryStore(), stream: true, targets })
  const limits = [{ window: 'month', units: 500 }]
  const project = { name: 'initech', id: '1003' }
  await product.call('PUT', '/budgets/seo', { body: { limits, projects: [project], reason: 'contract 12' } })
  const headers = { 'idempotency-key': 'report-47', traceparent }
  await product.update(
    { kind: 'ranking', project: 'initech', reason: 'report 47', tags: { client: 'initech' } },
    { headers },
  )
  await product.deliver()
  const sent = receiver.received.map(({ body }) => JSON.parse(body.replaceAll(/led_[0-9a-z]+/g, 'led_…')))
  const examples = [...document.matchAll(/```json\n(\{.*?)```/gs)].flatMap(([, text = '']) => {
    const example = JSON.parse(text)
    return 'specversion' in example ? [example] : []
  })
  expect(examples.map(({ type }) => type)).toEqual(['unit-guard.update.settled'])
  for (const example of examples) expect(sent).toContainEqual(example)
})

test('docs/events.md names every type of event and no other type', () => {
  const named = [...document.matchAll(/^\| `([\w.-]+)` \|/gm)].map(([, name]) => name)
  const families = named.filter((name) => name !== 'update.<state>')
  const others = eventTypes.filter((type) => !/^update\.(?!corrected|not-delivered)/.test(type))
  expect(families.toSorted()).toEqual([...others].toSorted())
})
