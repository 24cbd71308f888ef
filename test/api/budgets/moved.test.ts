import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { press } from '../../support/browser/page-forms.ts'
import { minutes } from '../../support/clock.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { type Product, startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

// A project moves to another budget whole and in one revision, if the change asks for the move.

const limits = [{ window: 'month', units: 500 }]
const initech = { name: 'initech', id: '1003' }
const plan = {
  name: 'night',
  kind: 'ranking',
  projects: ['initech'],
  budget: 'clients',
  schedule: 'cron(0 5 * * ? *)',
  mayChargeAncestors: true,
}

async function start(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ store: createMemoryStore(), stream: false, ...options })
  const put = (name: string, body: object = {}, query = '') =>
    product.call('PUT', `/budgets/${name}${query}`, { body: { limits, ...body } })
  await put('clients')
  await put('acme', { parent: 'clients', projects: [initech, { name: 'hooli' }] })
  await put('press', { parent: 'clients' })
  await put('away')
  const projectsOf = async (name: string) => (await product.call('GET', `/budgets/${name}`)).body.projects
  return { ...product, put, projectsOf }
}

type Started = Awaited<ReturnType<typeof start>>

const apply = (product: Pick<Product, 'call'>, budgets: object[], query = '', headers = {}) =>
  product.call('PUT', `/budgets?${query}`, { body: { budgets }, headers })

/** The ways to list a row in the budget `press`, with their names and addresses. */
const doors = [
  ['PUT /budgets/press', '/budgets/press?'],
  ['a file', '/budgets?'],
  ['a file that prunes', '/budgets?prune=projects&'],
] as const
const listIn = (path: string, product: Started, row: object, query = '') => {
  const body = { limits, parent: 'clients', projects: [row] }
  const address = `${path}${query}`.replace(/[?&]$/, '')
  const isFile = !path.startsWith('/budgets/')
  return product.call('PUT', address, { body: isFile ? { budgets: [{ name: 'press', ...body }] } : body })
}

describe('a row of a project that another budget lists', () => {
  test.each(doors)(
    'a row of another budget is 400 without move by %s, and the answer names the owner and the option',
    async (_door, path) => {
      const product = await start()
      const { status, body } = await listIn(path, product, initech)
      expect(status).toBe(400)
      expect(body.detail).toContain(
        'initech belongs to acme. To move it to press, add move=true (in a file: apply --move)',
      )
      expect(await product.projectsOf('press')).toEqual([])
    },
  )

  test.each(doors)(
    'a row of another budget moves whole and in one revision with move=true by %s',
    async (_door, path) => {
      for (const row of [initech, { name: 'initech' }, { name: 'Initech ', id: '1003' }]) {
        const product = await start()
        const { revision } = (await product.guard.ledger.view()).definitions
        expect((await listIn(path, product, row, 'move=true')).status).toBe(200)
        expect(await product.projectsOf('acme')).toEqual([{ name: 'hooli' }])
        expect(await product.projectsOf('press')).toEqual([{ id: '1003', ...row }])
        expect((await product.guard.ledger.view()).definitions.revision).toBe(revision + 1)
        const { body } = await product.update({ kind: 'ranking', project: '1003' })
        expect(body.updates[0].budget).toBe('press')
      }
    },
  )

  test.each([
    ['another id', { name: 'initech', id: '1004' }],
    ['another name with its id', { name: 'initrode', id: '1003' }],
    ['its id as a name', { name: '1003' }],
  ])('a move of a row with %s is 400, because a project moves whole', async (_what, row) => {
    const product = await start()
    for (const [, path] of doors) {
      const { status, body } = await listIn(path, product, row, 'move=true')
      expect(status).toBe(400)
      expect(body.detail).toContain(
        'is initech (id 1003) in acme: a project has one owner, and moves with its name and its id',
      )
    }
    expect(await product.projectsOf('acme')).toHaveLength(2)
  })

  test('a file must ask for the move of a row even if it also removes the row from the old budget', async () => {
    const product = await start()
    const rows = (row: object) => [
      { name: 'acme', projects: [{ name: 'hooli' }] },
      { name: 'press', projects: [row] },
    ]
    for (const [row, query, detail] of [
      [initech, 'prune=projects', 'initech belongs to acme. To move it to press, add move=true'],
      [{ name: 'initech', id: '1004' }, 'prune=projects&move=true', 'is initech (id 1003) in acme'],
    ] as const) {
      const { status, body } = await apply(product, rows(row), query)
      expect([status, body.detail]).toEqual([400, expect.stringContaining(detail)])
    }
    expect((await apply(product, rows(initech), 'prune=projects&move=true')).status).toBe(200)
    expect(await product.projectsOf('press')).toEqual([initech])
    expect(await product.projectsOf('acme')).toEqual([{ name: 'hooli' }])
  })

  test.each([
    ['by its name, once where it is', [initech], [initech], 'initech stands'],
    [
      'by its name, and by its id',
      [{ name: '1003' }],
      [initech],
      '1003 and initech (id 1003) are one project, which stands',
    ],
    [
      'by its new name, and by its earlier name',
      [{ name: 'initrode', id: '1003' }],
      [{ name: 'initech' }],
      'initrode (id 1003) and initech are one project, which stands',
    ],
    [
      'by its id as a name, and by its name',
      [{ name: '1003' }],
      [{ name: 'initech' }],
      '1003 and initech are one project, which stands',
    ],
  ])('a file that names a row in two budgets, %s, is 400 and names both rows', async (_how, one, other, who) => {
    for (const [first, query] of [
      ['acme', 'move=true'],
      ['acme', 'move=true&prune=projects&release=true'],
      ['away', 'move=true'],
    ]) {
      const product = await start()
      const { revision } = (await product.guard.ledger.view()).definitions
      const rows = [
        { name: first, projects: [{ name: 'hooli' }, ...one] },
        { name: 'press', projects: other },
      ]
      const { status, body } = await apply(product, rows, query)
      const message = `${who} in two budgets of this change, ${first} and press; name it in one`
      const paths = ['budgets.0.projects.1', 'budgets.1.projects.0']
      expect([status, body.detail, body.errors]).toEqual([400, `${message}.`, paths.map((path) => ({ path, message }))])
      expect((await product.guard.ledger.view()).definitions.revision).toBe(revision)
    }
  })

  test.each(doors)('a row moves by %s, with or without its id, and a repeat changes nothing', async (_door, path) => {
    for (const row of [initech, { name: 'initech' }]) {
      const product = await start()
      for (const _ of ['first', 'repeat', 'third']) {
        expect((await listIn(path, product, row, 'move=true')).status).toBe(200)
        expect(await product.projectsOf('press')).toEqual([initech])
        expect(await product.projectsOf('acme')).toEqual([{ name: 'hooli' }])
      }
      // Without move=true a row without its id is refused.
      expect((await product.put('press', { parent: 'clients', projects: [{ name: 'initech' }] })).status).toBe(409)
    }
  })

  test('a row moves only if its owner is still the one that the preview showed', async () => {
    const product = await start()
    const rows = [{ name: 'press', projects: [initech] }]
    const preview = await apply(product, rows, 'move=true&dry-run=true')
    expect(preview.body.notes).toEqual(['initech moves from acme to press.'])
    await product.put('away', { projects: [initech] }, '?move=true')
    const headers = { 'if-match': preview.headers.get('etag') ?? '' }
    expect((await apply(product, rows, 'move=true', headers)).status).toBe(412)
    expect(await product.projectsOf('away')).toEqual([initech])
  })
})

test('the difference names the freeze that a project leaves behind, and each plan that may no longer pay', async () => {
  const product = await start({ plans: [plan] })
  await product.call('POST', '/budgets/clients/freeze', { body: { reason: 'not paid' } })
  const within = await apply(product, [{ name: 'press', projects: [initech] }], 'move=true&dry-run=true')
  expect(within.body.notes).toEqual(['initech moves from acme to press.'])
  const { body } = await apply(product, [{ name: 'away', projects: [initech] }], 'move=true&dry-run=true')
  expect(body.notes).toEqual([
    'initech moves from acme to away. It leaves behind the freeze of clients. The plan night charges clients, which may no longer pay for it.',
  ])
  expect(body.differences).toEqual([
    { budget: 'away', isNew: false, members: [{ member: 'projects', from: [], to: [initech] }] },
    {
      budget: 'acme',
      isNew: false,
      members: [{ member: 'projects', from: [initech, { name: 'hooli' }], to: [{ name: 'hooli' }] }],
    },
  ])
})

const differenceFor = async (plans: object[], to: string) => {
  const product = await start({ plans: plans.map((each) => ({ ...plan, ...each })) })
  const { body } = await apply(product, [{ name: to, projects: [{ name: 'initech' }] }], 'move=true&dry-run=true')
  return body.notes
}

describe('a plan that may no longer pay', () => {
  const told = (name: string, budget: string) => `The plan ${name} charges ${budget}, which may no longer pay for it.`

  test.each([[['1003']], [['1003', 'initech']]])('the difference names a plan by id, once: %s', async (projects) => {
    expect(await differenceFor([{ projects }], 'away')).toEqual([
      `initech moves from acme to away. ${told('night', 'clients')}`,
    ])
  })

  test('the difference names a plan whose budget becomes an ancestor that it may not charge', async () => {
    const plans = [
      { name: 'without', mayChargeAncestors: false },
      { name: 'with', mayChargeAncestors: true },
    ]
    const product = await start({ plans: plans.map((each) => ({ ...plan, ...each })) })
    await product.put('clients', { projects: [initech] }, '?move=true')
    const { body } = await apply(product, [{ name: 'press', projects: [initech] }], 'move=true&dry-run=true')
    expect(body.notes).toEqual([`initech moves from clients to press. ${told('without', 'clients')}`])
  })

  test.each([
    ['is disabled', { enabled: false }, 'away'],
    ['could not pay before', { mayChargeAncestors: false }, 'away'],
    ['names another project', { projects: ['hooli'] }, 'away'],
    ['names no budget', { budget: undefined }, 'away'],
    ['may pay in both places', {}, 'press'],
  ])('the difference names no plan that %s', async (_what, changes, to) => {
    expect(await differenceFor([changes], to)).toEqual([`initech moves from acme to ${to}.`])
  })
})

test('Activity and its CSV show a move with both budgets', async () => {
  const product = await start()
  await product.put('press', { parent: 'clients', projects: [initech, { name: 'new' }] }, '?move=true')
  const told = [
    'budget acme: 2 → 1 project (initech moves from acme to press)',
    'budget press: 0 → 2 projects (initech moves from acme to press, + new)',
  ]
  const csv = await product.call('GET', '/budgets/press/entries', { headers: { accept: 'text/csv' } })
  expect(csv.text).toContain(told.join('; '))
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'eve', scope: 'read' }))
  const { text } = await browser.get('/dashboard/activity')
  for (const sentence of told) expect(text).toContain(sentence)
  expect(text).not.toContain('− initech')
})

test('a reader of the old budget still reads its bookings after a project has moved away', async () => {
  const product = await start()
  await product.call('PUT', '/callers/mia', { body: { readsBudgets: ['acme', 'press'] } })
  await product.put('away', { projects: [initech] }, '?move=true')
  await product.put('press', { parent: 'clients', projects: [{ name: 'hooli' }] }, '?move=true')
  const token = product.signed({ sub: 'mia', scope: 'read' })
  const csv = await product.call('GET', '/budgets/acme/entries', { token, headers: { accept: 'text/csv' } })
  expect([csv.status, csv.text.match(/,budget acme[^\r;]*/g)]).toEqual([
    200,
    [',budget acme: 1 → 0 projects (hooli moves from acme to press)'],
  ])
  expect(csv.text).not.toMatch(/initech|away/)
  const browser = openBrowser(product)
  await browser.logIn(token)
  for (const page of ['/dashboard/activity', '/dashboard/activity?budget=acme', '/dashboard/activity?by=ada']) {
    const { status, text } = await browser.get(page)
    expect([page, status, /initech|away/.test(text)]).toEqual([page, 200, false])
  }
})

test('units that are charged, held or in doubt stay on their budget when a project moves', async () => {
  const product = await start({ service: ({ url }) => (/hooli\/run/.test(url) ? { status: 500 } : undefined) })
  await product.update({ kind: 'ranking', project: 'initech' })
  await product.update({ kind: 'ranking', project: 'hooli' })
  await product.put('away', { projects: [initech, { name: 'hooli' }] }, '?move=true')
  expect(await product.figures('acme')).toMatchObject({ spent: 40, inDoubt: 40 })
  expect(await product.figures('away')).toMatchObject({ spent: 0, inDoubt: 0, held: 0 })
})

describe('the owner that a record was requested for', () => {
  test.each([
    ['the owner pays', {}],
    ['an ancestor of both owners pays', { budget: 'clients' }],
  ])('an update is refused after its project moved to another owner: %s', async (_who, named) => {
    const product = await start()
    await product.put('acme', { parent: 'clients', projects: [initech], approvalAbove: 0 }, '?release=true')
    const { body } = await product.update({ kind: 'ranking', project: 'initech', ...named })
    const [{ id, state }] = body.updates
    expect(state).toBe('awaiting-approval')
    await product.put('press', { parent: 'clients', projects: [initech] }, '?move=true')
    const token = product.signed({ sub: 'bob', scope: 'approve' })
    const decided = await product.call('POST', `/updates/${id}/approve`, { token })
    expect(decided.body.detail ?? decided.body.problem?.detail).toMatch(/belongs to press now/)
    const after = (await product.call('GET', `/updates/${id}`)).body
    expect([after.state, after.units.charged]).toEqual(['awaiting-approval', null])
    expect(product.seen('run')).toEqual([])
  })

  test.each([
    ['the owner pays', {}],
    ['an ancestor of both owners pays', { budget: 'clients' }],
  ])('an update that starts from the table is refused after its project moved: %s', async (_who, named) => {
    const product = await start()
    const body = { kind: 'ranking', project: 'initech', ...named }
    const asked = await product.call('POST', '/updates', { body, headers: { prefer: 'respond-async' } })
    const [{ id }] = asked.body.updates
    await product.put('press', { parent: 'clients', projects: [initech] }, '?move=true')
    product.clock.advance(minutes(3))
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    const { state, problem } = (await product.call('GET', `/updates/${id}`)).body
    expect([state, problem?.type]).toEqual(['refused', '/problems/wrong-state'])
    expect(problem.detail).toContain('press now')
    expect(product.seen('run')).toEqual([])
  })

  test('a quote for the old owner is refused', async () => {
    const product = await start()
    const agent = await (await listenForAgents(product)).connect()
    const quote = await agent.quote('initech')
    await product.put('press', { parent: 'clients', projects: [initech] }, '?move=true')
    const refusal = await agent.request(quote)
    expect(refusal).toMatchObject({ isError: true, data: { type: '/problems/wrong-state' } })
    expect(product.seen('run')).toEqual([])
  })
})

describe('the page of a budget', () => {
  async function open() {
    const product = await start({ plans: [plan] })
    await product.call('POST', '/budgets/acme/freeze', { body: { reason: 'left' } })
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    const page = await browser.get('/dashboard/budgets/away')
    return { product, browser, preview: await press(browser, page, 'Add project', { name: 'initech' }) }
  }

  test('the page of a budget previews a move, and moves the project after a confirmation', async () => {
    const { product, browser, preview } = await open()
    expect(preview.text).toContain(
      'Move initech to away? Confirm initech moves from acme to away. It leaves behind the freeze of acme. The plan night charges clients, which may no longer pay for it.',
    )
    expect(await product.projectsOf('away')).toEqual([])
    const moved = await press(browser, preview, 'Move initech', {})
    expect(moved.text).toContain('✓ initech belongs to away.')
    expect(await product.projectsOf('away')).toEqual([initech])
    expect(await product.projectsOf('acme')).toEqual([{ name: 'hooli' }])
  })

  test('the old budget’s page moves several projects to the chosen budget after a confirmation', async () => {
    const { product, browser } = await open()
    const page = await browser.get('/dashboard/budgets/acme')
    const chosen = { project: ['initech', 'hooli'], to: 'away' }
    const preview = await press(browser, page, 'Move chosen projects', chosen)
    expect(preview.text).toContain(
      'Move 2 projects to away? Confirm initech moves from acme to away. It leaves behind the freeze of acme. The plan night charges clients, which may no longer pay for it. hooli moves from acme to away. It leaves behind the freeze of acme.',
    )
    expect(await product.projectsOf('away')).toEqual([])
    const back = await press(browser, preview, 'Back to the form', {})
    expect([back.status, back.text]).toEqual([200, expect.stringContaining('Move chosen projects')])
    for (const _press of ['once', 'again']) {
      const moved = await press(browser, preview, 'Move 2 projects', {})
      expect(moved.text).toContain('✓ initech and hooli belong to away.')
      expect(await product.projectsOf('away')).toEqual([initech, { name: 'hooli' }])
      expect(await product.projectsOf('acme')).toEqual([])
    }
  })

  test('the old budget’s page moves no project if another user moved one after the preview', async () => {
    const { product, browser } = await open()
    const page = await browser.get('/dashboard/budgets/acme')
    const chosen = { project: ['initech', 'hooli'], to: 'away' }
    const preview = await press(browser, page, 'Move chosen projects', chosen)
    for (const change of [
      () => product.put('press', { projects: [{ name: 'hooli' }] }, '?move=true'),
      () => product.put('press', {}, '?release=true'),
    ]) {
      await change()
      const told = await press(browser, preview, 'Move 2 projects', {})
      expect(told.text).toContain('✕ Not all of these projects belong to acme any more, so nothing was moved')
      expect(await product.projectsOf('acme')).toEqual([initech])
    }
    expect((await press(browser, page, 'Move chosen projects', { to: 'away' })).text).toContain('choose some first')
  })

  test('the page of a budget moves nothing if another user moved a project after the preview', async () => {
    const { product, browser, preview } = await open()
    await product.put('press', { projects: [initech] }, '?move=true')
    const told = await press(browser, preview, 'Move initech', {})
    expect(told.text).toContain('✕ The project does not belong to acme any more, so nothing was moved')
    expect(await product.projectsOf('press')).toEqual([initech])
  })
})
