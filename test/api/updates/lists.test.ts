import { describe, expect, test } from 'vitest'
import { hours } from '../../support/clock.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

/** Four settled updates and a refused update, half an hour apart. Other tests read lists over both stores. */
async function withUpdates() {
  const product = await startProduct({ units: { dear: 90_000 }, store: createMemoryStore() })
  for (const project of ['one', 'two', 'dear', 'four', '=5']) {
    await product.update({ kind: 'ranking', project, reason: `for ${project}, "please"` })
    product.clock.advance(hours(0.5))
  }
  const list = async (query = '') => (await product.call('GET', `/updates${query}`)).body
  return { product, list }
}

const projectsOf = ({ updates }: { updates: { project: string }[] }) => updates.map(({ project }) => project)

describe('GET /updates', () => {
  test('GET /updates lists updates newest first, each as GET /updates/{id} shows it, and the last page has no next', async () => {
    const { product, list } = await withUpdates()
    const listed = await list()
    expect(Object.keys(listed)).toEqual(['updates'])
    expect(projectsOf(listed)).toEqual(['=5', 'four', 'dear', 'two', 'one'])
    expect((await product.call('GET', `/updates/${listed.updates[0].id}`)).body).toEqual(listed.updates[0])
  })

  test.each<[string, string[]]>([
    ['?state=refused', ['dear']],
    ['?state=settled&project=two', ['two']],
    ['?state=running', []],
    ['?kind=keyword-difficulty', []],
    ['?budget=account&caller=ada&via=http', ['=5', 'four', 'dear', 'two', 'one']],
    ['?caller=bob', []],
    ['?via=slack', []],
    ['?plan=nightly', []],
    ['?since=2026-11-20T11:00:00Z', ['=5', 'four', 'dear']],
    ['?until=2026-11-20T11:00:00.000%2B01:00', ['one']],
    ['?since=2026-11-20T10:30:00Z&until=2026-11-20T11:00:00Z', ['dear', 'two']],
    ['?since=2026-11-20T11:00:00Z&until=2026-11-20T10:30:00Z', []],
    ['?since=2030-01-01T00:00:00Z', []],
    ['?project=%3D5', ['=5']],
  ])('GET /updates%s lists the updates that match', async (query, projects) => {
    const { list } = await withUpdates()
    expect(projectsOf(await list(query))).toEqual(projects)
  })

  test('GET /updates lists page by page', async () => {
    const { list } = await withUpdates()
    const first = await list('?limit=2')
    const second = await list(`?limit=2&cursor=${first.next}`)
    const third = await list(`?limit=2&cursor=${second.next}`)
    expect([first, second, third].map(projectsOf)).toEqual([['=5', 'four'], ['dear', 'two'], ['one']])
    expect(third).not.toHaveProperty('next')
  })

  test('GET /updates exports all rows as CSV with formulas escaped', async () => {
    const { product } = await withUpdates()
    const { status, headers, text } = await product.call('GET', '/updates', { headers: { accept: 'text/csv' } })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(headers.get('content-disposition')).toBe('attachment; filename="updates.csv"')
    const [header, ...lines] = text.trimEnd().split('\r\n')
    expect(header).toBe(
      'id,createdAt,finishedAt,state,kind,project,budget,window,caller,via,plan,estimated,held,charged,reason,problem,detail,tags,wouldHaveRefused,delivery,projectName',
    )
    expect(lines.map((line) => line.replace(/^upd_[0-9a-z]{26},/, ''))).toEqual([
      `2026-11-20T12:00:00.000Z,2026-11-20T12:00:00.000Z,settled,ranking,'=5,account,month:2026-11-01,ada,http,,40,40,40,"for =5, ""please""",,,,,,'=5`,
      '2026-11-20T11:30:00.000Z,2026-11-20T11:30:00.000Z,settled,ranking,four,account,month:2026-11-01,ada,http,,40,40,40,"for four, ""please""",,,,,,four',
      '2026-11-20T11:00:00.000Z,2026-11-20T11:00:00.000Z,refused,ranking,dear,account,month:2026-11-01,ada,http,,90000,0,0,"for dear, ""please""",over-budget,"account has 49,920 of 50,000 units left this month and this needs 90,000; resets 1 Dec 2026 00:00 UTC; ask for 40,080 more.",,,,dear',
      '2026-11-20T10:30:00.000Z,2026-11-20T10:30:00.000Z,settled,ranking,two,account,month:2026-11-01,ada,http,,40,40,40,"for two, ""please""",,,,,,two',
      '2026-11-20T10:00:00.000Z,2026-11-20T10:00:00.000Z,settled,ranking,one,account,month:2026-11-01,ada,http,,40,40,40,"for one, ""please""",,,,,,one',
    ])
  })

  test('a cursor of another list or an invented one is answered with 400', async () => {
    const { product, list } = await withUpdates()
    const { next } = await list('?limit=2')
    const entries = Buffer.from('{"partition":"entries#month:2026-11-01"}').toString('base64url')
    for (const query of [`state=running&cursor=${next}`, `cursor=${entries}`, 'cursor=nonsense', 'cursor=e30']) {
      const { status, body } = await product.call('GET', `/updates?${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({
        type: '/problems/invalid-request',
        errors: [{ path: 'cursor', message: 'not a cursor of this list' }],
      })
    }
  })

  test('an update query may use a name that is a member of every object', async () => {
    const product = await startProduct()
    const { status, body } = await product.update({
      kind: 'ranking',
      project: 'six',
      query: { constructor: 'x', tostring: 'y' },
    })
    expect(status).toBe(201)
    expect((await product.call('GET', `/updates/${body.updates[0].id}`)).body.query).toEqual({
      constructor: 'x',
      tostring: 'y',
    })
  })
})
