import { expect, test } from 'vitest'
import { openApiDocument } from '../../infra/openapi/document.ts'
import { startProduct } from '../support/product.ts'

// inputs.golden.txt shows that each route refuses a control character in its reason.
test.each(['one\ntwo', 'a\u0000b', 'a\u001b[31mb', 'a\u0085b', 'a\u202eb', 'a\u200bb', 'a\u2028b', 'a\u2066b'])(
  'refuses the reason %j',
  async (reason) => {
    const product = await startProduct()
    const answer = await product.call('POST', '/budgets/account/freeze', { body: { reason } })
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      [
        {
          path: 'reason',
          message: 'must not contain line breaks, invisible characters, or characters that turn text round',
        },
      ],
    ])
  },
)

test('a reason may contain joiners, which Persian and emoji need', async () => {
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
