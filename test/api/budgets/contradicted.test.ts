import { describe, expect, test } from 'vitest'
import { json, startProduct } from '../../support/product.ts'
import type { Answer, Recorded } from '../../support/scripted-service.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

const listed = [
  { name: 'acme.example', id: 1001 },
  { name: 'globex.example', id: 1002 },
  ...[1003, 1004].map((id) => ({ name: 'twice.example', id })),
  ...['one.example', 'two.example'].map((name) => ({ name, id: 1005 })),
  { name: 'odd.example', id: 'prj-7' },
]
const limits = [{ window: 'month', units: 100 }]

async function start(service: (request: Recorded) => Answer | undefined = () => undefined) {
  const product = await startProduct({
    store: createMemoryStore(),
    service: (request) => {
      const own = service(request)
      return own ?? (request.url === '/v3/projects' ? json({ projects: listed }) : undefined)
    },
  })
  const put = (projects: readonly object[], query = '', budget = 'acme') =>
    product.call('PUT', `/budgets/${budget}${query}`, { body: { limits, projects } })
  const apply = (projects: readonly object[], query = '') =>
    product.call('PUT', `/budgets${query}`, { body: { budgets: [{ name: 'acme', limits, projects }] } })
  const lists = () => product.service.requests.filter(({ url }) => url.endsWith('/projects')).length
  return { product, put, apply, lists }
}

const row = (name: string, id: string) => ({ name, id })
const unlistable = ({ url }: Recorded): Answer | undefined => (url.endsWith('/projects') ? { status: 503 } : undefined)

describe('an id that the service contradicts', () => {
  test.each([
    [
      'under the name of another client',
      row('acme.example', '1002'),
      'the service lists acme.example under 1001; 1002 is globex.example',
    ],
    [
      'in another spelling of the name',
      row(' ACME.Example', '1002'),
      'the service lists  ACME.Example under 1001; 1002 is globex.example',
    ],
    ['that is not listed', row('acme.example', '7'), 'the service lists acme.example under 1001, not under 7'],
    [
      'under a name that is not listed',
      row('new.example', '1002'),
      'the service lists globex.example under 1002, not new.example',
    ],
    [
      'that belongs to two others',
      row('new.example', '1005'),
      'the service lists one.example and two.example under 1005, not new.example',
    ],
  ])(
    'an id %s is 409 through both addresses, also in a dry run, and changes nothing',
    async (_what, wrong, message) => {
      const { product, put, apply } = await start()
      const advice = ' If the rows are right, add asWritten=true (in a file: apply --as-written).'
      const fine = row('globex.example', '1002')
      const rows = wrong.id === '1002' ? [{ name: 'x' }, wrong] : [fine, wrong]
      const one = await put(rows)
      expect([one.status, one.body]).toEqual([
        409,
        expect.objectContaining({
          type: '/problems/contradicted',
          detail: `${message}.${advice}`,
          errors: [{ path: 'projects.1.id', message }],
          asWritten: true,
        }),
      ])
      for (const query of ['', '?dry-run=true']) {
        const many = await apply(rows, query)
        expect([many.status, many.body.errors]).toEqual([409, [{ path: 'budgets.0.projects.1.id', message }]])
      }
      expect((await product.call('GET', '/budgets/acme')).status).toBe(404)
    },
  )

  test('with asWritten the row is taken as it is written, and the difference says what the service lists', async () => {
    const { product, put, apply } = await start()
    const wrong = row('acme.example', '1002')
    expect((await put([wrong], '?asWritten=false')).status).toBe(409)
    expect((await put([wrong], '?asWritten=true')).status).toBe(201)
    expect((await product.call('GET', '/budgets/acme')).body.projects).toEqual([wrong])
    const { status, body } = await apply([wrong, row('globex.example', '1001')], '?asWritten=true')
    expect([status, body.notes]).toEqual([200, ['the service lists globex.example under 1002; 1001 is acme.example']])
  })

  test('a row that the request neither adds nor changes is not judged, and the service is not asked', async () => {
    const { put, apply, lists } = await start()
    const old = row('acme.example', '1002')
    await put([old], '?asWritten=true')
    const before = lists()
    expect((await put([old])).status).toBe(200)
    expect((await put([{ ...old, name: 'ACME.example' }, { name: 'b' }])).status).toBe(200)
    expect((await apply([old])).status).toBe(200)
    expect((await apply([{ name: 'acme.example' }])).status).toBe(200)
    expect(lists()).toBe(before)
    expect((await put([{ ...old, id: '77' }], '?release=true')).body.detail).toContain(
      'acme.example under 1001, not under 77',
    )
  })

  test('a project that moves is judged with the id that it keeps', async () => {
    const { put } = await start()
    await put([row('acme.example', '1002')], '?asWritten=true')
    const moved = await put([{ name: 'acme.example' }], '?move=true', 'globex')
    expect(moved.body.errors).toEqual([
      { path: 'projects.0.id', message: 'the service lists acme.example under 1001; 1002 is globex.example' },
    ])
    expect((await put([{ name: 'acme.example' }], '?move=true&asWritten=true', 'globex')).status).toBe(201)
  })

  test.each([
    [
      'one of two projects of one name',
      row('twice.example', '1004'),
      ['ambiguous: the service lists twice.example under 1003 and 1004'],
    ],
    [
      'no project of two of one name',
      row('twice.example', '77'),
      ['ambiguous: the service lists twice.example under 1003 and 1004'],
    ],
    [
      'an id that the service uses twice',
      row('two.example', '1005'),
      ['ambiguous: the service lists one.example and two.example under 1005'],
    ],
    ['an id and a name that the service does not list', row('new.example', '77'), []],
    ['its own id', row('Acme.example', '1001'), []],
    ['an id that is its own name', row('1002', '1002'), []],
  ])('%s contradicts nothing', async (_what, fine, notes) => {
    const { apply } = await start()
    const { status, body } = await apply([fine])
    expect([status, body.notes]).toEqual([200, notes])
  })

  test('an id of another project is contradicted although the name is ambiguous', async () => {
    const { put } = await start()
    expect((await put([row('twice.example', '1002')])).body.errors[0].message).toBe(
      'the service lists globex.example under 1002, not twice.example',
    )
  })
})

describe('an id that is not digits', () => {
  test.each(['1.001E+03', '1,001', '1.001', '1 001', '01001', '+1001', '1001.0', '１００１', '-1', 'PRJ-7', 'x'])(
    'the id %j is refused, also as written, because the service does not list it',
    async (id) => {
      const { product, put, apply } = await start()
      const message = `${id} of new.example is not an id that the service lists, and other ids are digits without leading zeros`
      for (const query of ['', '?asWritten=true']) {
        const { status, body } = await put([row('new.example', id)], query)
        expect([status, body.type, body.asWritten]).toEqual([409, '/problems/contradicted', false])
        expect(body.errors[0].message).toContain(message)
        expect((await apply([row('new.example', id)], query)).status).toBe(409)
      }
      expect((await product.call('GET', '/budgets/acme')).status).toBe(404)
    },
  )

  test('an id that is not digits is taken if the service lists exactly this id', async () => {
    const { put } = await start()
    expect((await put([row('odd.example', 'prj-7'), row('globex.example', '1002')])).status).toBe(201)
  })
})

describe('a service that cannot list its projects now', () => {
  test.each([
    ['it fails', unlistable],
    [
      'the list with ids fails',
      ({ url }: Recorded) => (url === '/v3/projects' ? json({ projects: ['acme.example'] }) : undefined),
    ],
    [
      'its body is no list',
      ({ url }: Recorded) => (url.endsWith('/projects') ? json({ message: 'later' }) : undefined),
    ],
    [
      'its empty list has a sign of failure',
      ({ url }: Recorded) => (url.endsWith('/projects') ? json({ error: 'busy', projects: [] }) : undefined),
    ],
  ])('a new id is refused without asWritten if %s', async (_what, service) => {
    const { put, apply } = await start(service)
    const refused = await put([row('acme.example', '1001')])
    expect([refused.status, refused.body.errors, refused.body.asWritten]).toEqual([
      409,
      [
        {
          path: 'projects.0.id',
          message: 'the service does not list its projects now, so the id 1001 of acme.example cannot be checked',
        },
      ],
      true,
    ])
    const { status, body } = await apply([row('acme.example', '1001')], '?asWritten=true')
    expect([status, body.notes]).toEqual([
      200,
      ['the service does not list its projects now, so these ids are not checked: 1001 of acme.example'],
    ])
    expect((await put([{ name: 'no-id' }], '?release=true')).status).toBe(200)
  })

  test('a known id moves with a remark', async () => {
    let isDown = false
    const { product, put } = await start((request) => (isDown ? unlistable(request) : undefined))
    await put([row('acme.example', '1001')])
    isDown = true
    const { status, body } = await product.call('PUT', '/budgets?move=true', {
      body: { budgets: [{ name: 'globex', limits, projects: [row('acme.example', '1001')] }] },
    })
    expect([status, body.notes]).toEqual([
      200,
      [
        'acme.example moves from acme to globex.',
        'the service does not list its projects now, so these ids are not checked: 1001 of acme.example',
      ],
    ])
    expect((await put([row('acme.example', '1009')], '?move=true', 'globex')).status).toBe(409)
  })

  test('ids come from the second list if the first one has names alone', async () => {
    const { put } = await start(({ url }) => {
      if (url === '/v3/projects') return json({ projects: ['acme.example', 'globex.example'] })
      return url === '/v3/marketshare/projects' ? json({ projects: listed }) : undefined
    })
    expect((await put([row('acme.example', '1002')])).body.errors[0].message).toBe(
      'the service lists acme.example under 1001; 1002 is globex.example',
    )
  })

  test('a service without any ids contradicts none', async () => {
    const { put } = await start(({ url }) =>
      url.endsWith('/projects') ? json({ projects: ['acme.example'] }) : undefined,
    )
    expect((await put([row('acme.example', '1002')])).status).toBe(201)
  })
})
