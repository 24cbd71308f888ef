import { expect, test } from 'vitest'
import { openApiDocument } from '../../infra/openapi/document.ts'
import { startProduct } from '../support/product.ts'

const ran = { outcome: 'ran' }
const limits = [{ window: 'month', units: 10 }]

/** Every request that takes a reason, right but for that. */
const doors: readonly [method: string, path: string, body: object][] = [
  ['POST', '/updates', { kind: 'ranking', project: 'acme' }],
  ['POST', '/updates/upd_x/approve', {}],
  ['POST', '/updates/upd_x/reject', {}],
  ['POST', '/updates/upd_x/cancel', {}],
  ['POST', '/updates/upd_x/resolve', ran],
  ['POST', '/updates/resolve', { ...ran, ids: ['upd_x'] }],
  ['POST', '/updates/cancel', { ids: ['upd_x'] }],
  ['PUT', '/budgets', { budgets: [{ name: 'seo', limits }] }],
  ['PUT', '/budgets/seo', { limits }],
  ['POST', '/budgets/account/freeze', {}],
  ['POST', '/budgets/account/unfreeze', {}],
  ['POST', '/budgets/account/entries', { type: 'grant', units: 1 }],
  ['POST', '/budgets/account/entries', { type: 'transfer', units: 1, to: 'seo' }],
  ['POST', '/budgets/account/entries', { type: 'external-spend', units: 1 }],
  ['POST', '/budgets/account/entries', { type: 'correction', units: 1, corrects: 'ent_x' }],
  ['POST', '/budgets/account/reconcile', { unitsLeft: 1 }],
  ['PUT', '/callers/bob', { scopes: ['read'] }],
  ['POST', '/plans/morning/pause', {}],
  ['POST', '/plans/morning/resume', {}],
]

test.each(doors)('%s %s refuses a reason with control characters', async (method, path, body) => {
  const product = await startProduct()
  for (const reason of [
    'one\ntwo',
    'a\u0000b',
    'a\u001b[31mb',
    'a\u0085b',
    'a\u202eb',
    'a\u200bb',
    'a\u2028b',
    'a\u2066b',
  ]) {
    const answer = await product.call(method, path, { body: { ...body, reason } })
    expect(answer.status).toBe(400)
    expect(answer.body.errors).toEqual([
      {
        path: 'reason',
        message: 'must not contain line breaks, invisible characters, or characters that turn text round',
      },
    ])
  }
})

test('takes joiners in a reason, which Persian and emoji need', async () => {
  const product = await startProduct()
  const reason = 'می\u200cخواهم 👩\u200d💻'
  expect((await product.call('POST', '/budgets/account/freeze', { body: { reason } })).status).toBe(200)
})

test('the OpenAPI document forbids control characters in every reason', () => {
  // biome-ignore lint/suspicious/noExplicitAny: the document is read as a stranger reads it.
  const { paths, components }: any = openApiDocument()
  const patterns: unknown[] = []
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [name, value] of Object.entries(node)) {
      if (name === 'reason' && value?.type === 'string') patterns.push(value.pattern)
      if (name === '$ref') collect(components.schemas[String(value).split('/').at(-1) ?? ''])
      else collect(value)
    }
  }
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  for (const operation of Object.values<any>(paths).flatMap((path) => Object.values<any>(path))) {
    collect(operation.requestBody)
  }
  expect(patterns.length).toBeGreaterThan(14)
  expect([...new Set(patterns)]).toEqual([
    '^[^\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]*$',
  ])
})
