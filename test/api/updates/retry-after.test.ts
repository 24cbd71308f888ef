import { describe, expect, test } from 'vitest'
import { startProduct } from '../../support/product.ts'
import type { Answer } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const body = { kind: 'ranking', project: 'acme' }

type Operation = 'estimate' | 'run'

const start = (operation: Operation, answer: Answer) =>
  startProduct({
    store: createMemoryStore(),
    service: ({ url }) => (url.endsWith(`/${operation}`) ? answer : undefined),
  })

const tooMany = (retryAfter?: string): Answer => ({
  status: 429,
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
})

/** Each address that sends an estimate and a run. */
const doors = {
  'POST /updates': ({ update }: Awaited<ReturnType<typeof start>>, headers = {}) => update(body, { headers }),
  'the gateway': ({ call }: Awaited<ReturnType<typeof start>>, headers = {}) =>
    call('GET', '/v3/on-demand/acme/run', { headers }),
}

// The service’s clock says Fri, 20 Nov 2026 10:00:00 GMT.
const waits: readonly [header: string | undefined, seconds: number | null][] = [
  ['7', 7],
  ['3599', 3599],
  ['1000000000', 3600],
  ['Fri, 20 Nov 2026 10:02:00 GMT', 120],
  ['Sat, 21 Nov 2026 10:02:00 GMT', 3600],
  ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
  [undefined, null],
  ['', null],
  ['soon', null],
  ['in 5 minutes', null],
  ['1.5', null],
  ['-5', null],
  ['2026-11-20', null],
]

describe.each(Object.entries(doors))('a 429 of the service through %s', (_door, ask) => {
  for (const operation of ['estimate', 'run'] as const) {
    test.each(waits)(`Retry-After %j of a 429 for ${operation} reaches the caller as %j`, async (header, seconds) => {
      const product = await start(operation, tooMany(header))
      const answer = await ask(product)
      expect([answer.status, answer.body.type, answer.body.serviceStatus]).toEqual([
        502,
        '/problems/service-refused',
        429,
      ])
      expect([answer.headers.get('retry-after'), answer.body.retryAfter]).toEqual(
        seconds === null ? [null, undefined] : [String(seconds), seconds],
      )
      const sentence = seconds === null ? 'asks to wait' : `The service asks to wait ${seconds.toLocaleString('en')} s`
      expect(answer.body.detail.includes(sentence)).toBe(seconds !== null)
      expect(product.seen('run')).toHaveLength(operation === 'run' ? 1 : 0)
      expect(await product.figures()).toMatchObject({ held: 0, inDoubt: 0, spent: 0 })
    })
  }

  test('a replay of a 429 says how long the wait still lasts, and nothing after it', async () => {
    const product = await start('run', tooMany('7'))
    const key = { 'idempotency-key': 'report-47' }
    const waits: [seconds: number, header: string | null][] = [
      [0, '7'],
      [2, '5'],
      [4, '1'],
      [1, null],
      [60, null],
    ]
    for (const [passed, header] of waits) {
      product.clock.advance(passed * 1000)
      const answer = await ask(product, key)
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([502, header])
      const seconds = header === null ? undefined : Number(header)
      expect([answer.body.retryAfter, answer.body.updates[0].problem.retryAfter]).toEqual([seconds, seconds])
      const wait = header === null ? '' : ` The service asks to wait ${header} second${header === '1' ? '' : 's'}.`
      expect(answer.body.detail.endsWith(`The units were given back.${wait}`)).toBe(true)
    }
    expect(product.seen('run')).toHaveLength(1)
  })

  test('only a 429 of the service passes its Retry-After on', async () => {
    const headers = { 'retry-after': '9' }
    for (const operation of ['estimate', 'run'] as const) {
      const answer = await ask(await start(operation, { status: 404, headers }))
      expect([answer.status, answer.headers.get('retry-after'), answer.body.retryAfter]).toEqual([502, null, undefined])
    }
  })
})
