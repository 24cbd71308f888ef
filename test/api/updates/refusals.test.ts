import { describe, expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// A body says each sentence once, because people and models read it in a terminal.

type Body = {
  readonly kind?: string
  readonly project?: string
  readonly projects?: readonly string[]
  readonly whenShort?: string
}

async function start() {
  const product = await startProduct({
    store: createMemoryStore(),
    units: { a: 100, b: 200, lost: 5 },
    service: ({ url }) => (url.includes('/lost/run') ? { status: 404, body: '{"no":"such project"}' } : undefined),
  })
  const limits = [
    { window: 'month', units: 50 },
    { window: 'day', units: 20 },
  ]
  await product.call('PUT', '/budgets/acme', { body: { limits, perUpdate: 150 } })
  await product.call('PUT', '/budgets/cold', { body: { limits } })
  await product.call('POST', '/budgets/cold/freeze', { body: { reason: 'the client has left' } })
  const ask = (budget: string, body: Body) => product.update({ kind: 'ranking', budget, ...body })
  return { product, ask }
}

const sentencesIn = (text: string): readonly string[] =>
  [...text.matchAll(/"(?:detail|note)":"([^"]*)"/g)].map(([, sentence = '']) => sentence)

describe('a refused POST /updates says each sentence once', () => {
  test.each<[what: string, budget: string, body: Body, status: number, own: readonly (string | undefined)[]]>([
    ['over its budget', 'acme', { project: 'a' }, 402, [undefined]],
    ['frozen', 'cold', { project: 'a' }, 402, [undefined]],
    ['several, together over their budget', 'acme', { projects: ['a', 'lost'] }, 402, [undefined, undefined]],
    [
      'several, for two reasons',
      'acme',
      { projects: ['a', 'b'], whenShort: 'fit' },
      402,
      [undefined, '/problems/over-update-limit'],
    ],
    ['refused by the service', 'acme', { project: 'lost' }, 502, ['/problems/service-refused']],
  ])('a refused POST /updates says each sentence of its own once: %s', async (_what, budget, body, status, own) => {
    const { product, ask } = await start()
    const refused = await ask(budget, body)
    expect(refused.status).toBe(status)
    expect(refused.body.updates.map(({ problem }: { problem?: { type: string } }) => problem?.type)).toEqual(own)
    const said = sentencesIn(refused.text)
    expect(said.filter((each) => each === refused.body.detail)).toHaveLength(status === 402 ? 1 : 2)
    // The record has everything that the answer left out.
    for (const { id, problem = null, history, ...rest } of refused.body.updates) {
      const { body: record } = await product.call('GET', `/updates/${id}`)
      const { type, title, status: _status, detail, requestId: _id, updates: _updates, ...members } = refused.body
      expect(record).toMatchObject(rest)
      expect(record.problem).toEqual(problem ?? { type, title, status: 402, detail, ...members })
      expect(record.history.map(({ state }: { state: string }) => state)).toEqual(
        history.map(({ state }: { state: string }) => state),
      )
      if (status === 402) expect(record.history.at(-1).note).toBe(record.problem.detail)
    }
  })

  test('the answer to one refusal has the figures once', async () => {
    const { ask } = await start()
    const { text } = await ask('acme', { project: 'a' })
    expect(text.match(/"wouldPass"/g)).toHaveLength(1)
    expect(text.length).toBeLessThan(1_400)
  })

  test('the replay of a refused request says each sentence once', async () => {
    const { product } = await start()
    const headers = { 'idempotency-key': 'one' }
    const body = { kind: 'ranking', project: 'a', budget: 'acme' }
    const [first, again] = [
      await product.call('POST', '/updates', { body, headers }),
      await product.call('POST', '/updates', { body, headers }),
    ]
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const { requestId: _first, ...expected } = first.body
    expect(again.body).toEqual({ ...expected, requestId: again.body.requestId })
  })
})
