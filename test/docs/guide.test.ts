import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createListener } from '../../infra/local/listener.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { press } from '../support/browser/page-forms.ts'
import { createTestClock, days, hours, minutes } from '../support/clock.ts'
import { commandsFolder } from '../support/process/commands.ts'
import { temporaryDirectory } from '../support/process/local.ts'
import { blocksOf } from '../support/process/written-steps.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { listPeople } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { reconcile } from '../support/store/reconcile.ts'

/** Runs the situations of docs/guide.md through the public routes. */

const month = (units: number) => [{ window: 'month', units }]

async function agency(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({
    store: createMemoryStore(),
    units: { globex: 640, initech: 120, '1003': 120, '1002': 480 },
    ...options,
  })
  const clients = [
    { name: 'agency', limits: month(40_000) },
    { name: 'acme', parent: 'agency', limits: month(100), projects: [{ name: 'acme.example', id: '1001' }] },
    {
      name: 'globex',
      parent: 'agency',
      limits: [...month(2_000), { window: 'day', units: 700 }],
      projects: [{ name: 'globex', id: '1002' }],
      approvalAbove: 500,
      approvers: ['bob'],
    },
    { name: 'initech', parent: 'agency', limits: month(500), projects: [{ name: 'initech', id: '1003' }] },
    ...Array.from({ length: 57 }, (_, index) => ({ name: `client-${index}`, parent: 'agency', limits: month(600) })),
  ]
  const put = (path: string, body: object) => product.call('PUT', path, { body })
  const apply = (budgets: readonly object[]) => put('/budgets', { budgets })
  const enter = (budget: string, body: object) =>
    product.call('POST', `/budgets/${budget}/entries`, { body: { reason: 'r', ...body } })
  const as = (sub: string, scope: string) => ({
    token: product.signed({ sub, scope, budgets: ['agency'], exp: product.inDays(100) }),
  })
  expect((await apply(clients)).status).toBe(200)
  return { product, clients, put, apply, enter, as }
}

/** Runs commands of the guide in a shell that has its variables `$auth` and `$json`. */
async function terminal(product: Product) {
  const listener = await createListener({ port: 0 })
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(async () => {
    await listener.close(Promise.resolve())
    await remove()
  })
  listener.open(product.api)
  const token = await product.signed({ sub: 'ada', scope: 'read admin' })
  const before = [
    `auth="Authorization: Bearer $UNIT_GUARD_TOKEN" json="Content-Type: application/json"`,
    `npm() { command=$2; [ $2 = --silent ] && command=$3 && shift; shift 3; '${process.execPath}' '${commandsFolder()}/run.mjs' "$command" "$@"; }`,
  ]
  const own = { UNIT_GUARD_URL: listener.url, UNIT_GUARD_TOKEN: token, SECRETS_ENDPOINT: product.secrets.endpoint }
  const env = { PATH: process.env.PATH, DATA_DIR: directory, ...own }
  const run = async (commands: string) =>
    (await promisify(execFile)('bash', ['-c', [...before, commands].join('\n')], { cwd: directory, env })).stdout
  return { run }
}

describe('the month of an agency', () => {
  test('sixty clients of an agency are applied from a file', async () => {
    const { product, clients, apply } = await agency()
    expect((await apply(clients)).body.differences).toEqual([])
    const raised = await apply([{ name: 'acme', limits: month(120) }])
    expect(raised.body.differences).toEqual([
      { budget: 'acme', isNew: false, members: [{ member: 'limits', from: month(100), to: month(120) }] },
    ])
    const { body } = await product.call('GET', '/budgets/agency')
    expect(body.windows[0]).toMatchObject({ limit: 40_000, childrenLimit: 120 + 2_000 + 500 + 57 * 600 })
  })

  test('a client that needs more units gets a grant or a transfer', async () => {
    const { product, enter } = await agency()
    const grant = await enter('acme', { type: 'grant', units: 500 })
    expect(grant.body.binds).toEqual({ budget: 'acme', window: 'month', available: 600 })
    const transfer = await enter('initech', { type: 'transfer', to: 'acme', units: 100 })
    expect(transfer.body.binds).toEqual({ budget: 'acme', window: 'month', available: 700 })
    await enter('acme', { type: 'grant', units: 1_000, wholeChain: true })
    const available = async (name: string) => (await product.figures(name)).available
    expect([await available('acme'), await available('initech'), await available('agency')]).toEqual([
      1_700, 400, 41_000,
    ])
    expect(await available('account')).toBe(51_000)
    expect(await product.audit()).toBe(true)
  })

  test('a new client gets a budget', async () => {
    const project = 'café & co/paris'
    const { product } = await agency({
      service: ({ url }) => (url === '/v3/projects' ? json({ projects: [{ name: project, id: '1004' }] }) : undefined),
    })
    const { run } = await terminal(product)
    const ask = (scope: string) =>
      product.update({ kind: 'ranking', project }, { token: product.signed({ sub: 'eve', scope, budgets: '*' }) })
    const waiting = (await ask('propose')).body.updates[0]
    expect(waiting).toMatchObject({ state: 'awaiting-approval', budget: 'account' })
    const [block = ''] = await blocksOf('docs/guide.md', 'A client comes')
    const [file = '', preview = '', apply = '', estimate = ''] = block.split('\n')
    await run(file)
    expect(await run(preview)).toContain('+ cafe  new: below agency, 300 a month, 1 project')
    expect(await run(apply)).toContain('café & co/paris has the id 1004 at the service')
    const { units, budgets } = JSON.parse(await run(estimate))
    expect([units, budgets[0].budget]).toEqual([40, 'cafe'])
    expect((await product.call('POST', `/updates/${waiting.id}/approve`)).body.detail).toContain(
      'Ask for the update again.',
    )
    expect((await ask('run')).body.updates[0]).toMatchObject({ state: 'settled', budget: 'cafe' })
  })

  test('a new colleague gets permissions', async () => {
    // `npm run token` uses the clock of this machine.
    const { product, as } = await agency({ clock: createTestClock(new Date().toISOString()) })
    const { run } = await terminal(product)
    const [list = '', inSlack = '', leave = '', ...more] = await blocksOf('docs/guide.md', 'A new colleague')
    expect(more).toEqual([])
    const token = (await run(list)).split('}').at(-1)?.trim() ?? ''
    const ask = (project: string) => product.update({ kind: 'ranking', project }, { token })
    expect((await ask('initech')).body.updates[0]).toMatchObject({ state: 'settled', caller: 'dora' })
    const waiting = (await ask('globex')).body.updates[0]
    expect(JSON.parse(await run(inSlack))).toMatchObject({ sub: 'slack:U02DORA', person: 'dora' })
    await run(leave)
    expect((await product.call('GET', '/callers')).body.callers).toMatchObject([
      { sub: 'dora', disabled: true },
      { sub: 'slack:U02DORA', person: 'dora', disabled: true },
    ])
    expect((await ask('initech')).status).toBe(403)
    expect((await product.call('POST', `/updates/${waiting.id}/approve`, as('bob', 'approve'))).body.state).toBe(
      'refused',
    )
  })

  // Runs the commands of the guide, and checks what its text says about them.
  describe('a client leaves', async () => {
    const [freeze = '', move = '', release = '', ...more] = await blocksOf('docs/guide.md', 'A client leaves')
    const ask = { kind: 'ranking', project: 'acme.example' }

    async function leaving() {
      const { product } = await agency({ slack: true })
      const { run } = await terminal(product)
      expect(JSON.parse(await run(freeze))).toMatchObject({ name: 'acme', frozen: { reason: 'the client has left' } })
      expect((await product.update(ask)).body.type).toBe('/problems/budget-frozen')
      const refused = JSON.parse(await run(release.replace('?release=true', '')))
      expect(refused).toMatchObject({ status: 409, projects: ['acme.example'] })
      expect(refused.detail).toContain(
        'This takes acme.example out of acme, and no budget would list it: from then on account pays for it.',
      )
      const page = openBrowser(product)
      await page.logIn(product.signed({ sub: 'eve', scope: 'read admin', budgets: '*' }))
      const news = async () => {
        await product.deliver()
        return product.slack.news().map(({ text }) => text)
      }
      return { product, run, page, news }
    }

    test('a file moves the projects of a client that leaves', async () => {
      const { product, run, news } = await leaving()
      const [file = '', preview = '', apply = '', remove = '', end] = move.split('\n')
      expect([more, end]).toEqual([[], ''])
      await run(file)
      const difference = [
        '~ globex  1 → 2 projects (acme.example moves from acme to globex)',
        '~ acme  1 → 0 projects (acme.example moves from acme to globex)',
        '! acme.example moves from acme to globex. It leaves behind the freeze of acme.',
      ]
      const shown = await run(preview)
      for (const line of [...difference, 'Not applied (--dry-run); revision 3.']) expect(shown).toContain(line)
      const applied = await run(apply)
      for (const line of [...difference, 'Applied: revision 4.']) expect(applied).toContain(line)
      expect(await run(remove)).toBe('')
      expect((await product.update(ask)).body.updates[0].budget).toBe('globex')
      expect((await news()).filter((text) => text.includes('out of the budget'))).toEqual([])
      expect(await product.audit()).toBe(true)
    })

    test.each([
      ['of their budget', 'acme', 'Move chosen projects', { project: ['acme.example'], to: 'globex' }],
      ['of the new budget', 'globex', 'Add project', { name: 'acme.example', id: '1001' }],
    ])('the page %s moves the projects of a client that leaves', async (_page, shown, button, fields) => {
      const { product, run, page } = await leaving()
      const budget = await page.get(`/dashboard/budgets/${shown}`)
      const asked = await press(page, budget, button, fields)
      expect(asked.text).toContain('acme.example moves from acme to globex. It leaves behind the freeze of acme.')
      expect((await press(page, asked, 'Move acme.example')).text).toContain('✓ acme.example belongs to globex.')
      expect(await run(move.split('\n').at(-2) ?? '')).toBe('')
      expect((await product.update(ask)).body.updates[0].budget).toBe('globex')
    })

    test('account pays for the projects of a client that leaves', async () => {
      const { product, run, page, news } = await leaving()
      expect((await page.get('/dashboard/budgets/acme/delete')).text).toContain(
        'No budget will list acme.example, and from then on account pays for it.',
      )
      expect(await run(release)).toBe('')
      expect(await news()).toContain(
        'ada took acme.example out of the budget acme. No budget lists it, and from now on account pays for it.',
      )
      expect((await product.update(ask)).body.updates[0].budget).toBe('account')
    })
  })

  test('the agency books updates that ran in the vendor’s screen', async () => {
    const { product, enter } = await agency()
    const { body: spent } = await enter('acme', { type: 'external-spend', units: 52 })
    await enter('acme', { type: 'correction', corrects: spent.id, units: 25 })
    expect(await product.figures('acme')).toMatchObject({ spent: 25, available: 75 })
    product.clock.advance(minutes(5))
    const reconciled = await reconcile(product, { unitsLeft: 49_860, reason: 'the screen, this morning' })
    expect(reconciled.body).toMatchObject({ units: 115, binds: { available: 49_860 } })
    expect(await product.audit()).toBe(true)
  })

  test('the agency corrects what an update was charged, also after the month', async () => {
    const { product, enter, as } = await agency()
    const { body } = await product.update(
      { kind: 'ranking', project: 'acme.example', budget: 'acme' },
      as('dora', 'run'),
    )
    product.clock.set('2026-12-03T09:00:00Z')
    const correction = { type: 'correction', corrects: body.updates[0].id, units: 55 }
    expect((await enter('acme', correction)).status).toBe(201)
    expect((await product.call('GET', '/statements?window=month:2026-11-01')).body).toMatchObject({
      status: 'final',
      correctedAt: '2026-12-03T09:00:00.000Z',
      total: { charged: 55 },
    })
  })

  test('a price move is announced, and the next update needs approval', async () => {
    const prices = { initech: 120 }
    const plan = { name: 'weekly', kind: 'ranking', projects: ['initech'], schedule: 'cron(0 5 ? * MON *)' }
    const { product, apply, as } = await agency({ units: prices, plans: [plan], slack: true })
    await apply([{ name: 'agency', approvalIfGrown: 25 }])
    const ask = () => product.update({ kind: 'ranking', project: 'initech' }, as('dora', 'run'))
    const night = () => product.triggers.handle({ task: 'digest' }, product.endsAt())
    expect((await ask()).status).toBe(201)
    await night()
    product.clock.advance(days(1))
    prices.initech = 180
    const dearer = await ask()
    expect([dearer.status, dearer.body.updates[0].history[0].note]).toEqual([
      202,
      'it needs 180 units, the last run cost 120, and agency wants approval if the price grew by more than 25 %',
    ])
    await night()
    await product.deliver()
    expect(JSON.stringify(product.slack.posted())).toContain('`initech` ranking: 120 → 180 units (+50 %)')
  })

  test('an approver on holiday is replaced in the list', async () => {
    const { product, put, apply, as } = await agency({ slack: true })
    const { body } = await product.update({ kind: 'ranking', project: 'globex' }, as('dora', 'run'))
    const { id } = body.updates[0]
    expect(body.updates[0].state).toBe('awaiting-approval')
    await product.deliver()
    product.clock.advance(hours(12))
    await product.triggers.handle({ task: 'sweep' }, product.endsAt())
    await product.deliver()
    expect(product.slack.posted()).toHaveLength(2)
    const approve = (sub: string) => product.call('POST', `/updates/${id}/approve`, as(sub, 'approve'))
    expect((await approve('carl')).body.detail).toBe('You are not among the approvers of globex.')
    await apply([{ name: 'globex', approvers: ['bob', 'carl', 'dora'] }])
    // No one approves their own request under another name.
    await put('/callers/dora-phone', { person: 'dora' })
    expect([(await approve('dora')).status, (await approve('dora-phone')).status]).toEqual([403, 403])
    expect((await approve('carl')).body).toMatchObject({ state: 'settled', approvedBy: 'carl' })
  })

  test('the limits in the list of callers apply to an agent with a token', async () => {
    const { product, put, as } = await agency()
    const scopes = ['read', 'propose']
    await put('/callers/agent', { scopes, limits: [{ window: 'day', units: 200 }], perUpdate: 150, ratePerMinute: 5 })
    const agent = as('agent', 'read run propose write')
    const ask = (body: object) => product.update(body, agent)
    const proposed = await ask({ kind: 'ranking', project: 'initech' })
    expect(proposed.body.updates[0]).toMatchObject({ state: 'awaiting-approval', caller: 'agent' })
    expect((await ask({ kind: 'keyword-difficulty', project: '1002' })).body.detail).toBe(
      'This update needs 480 units, and agent allows at most 150 for one update.',
    )
    const { id } = proposed.body.updates[0]
    expect((await product.call('POST', `/updates/${id}/approve`)).body.state).toBe('settled')
    expect((await ask({ kind: 'keyword-difficulty', project: '1003' })).body.detail).toBe(
      'agent has 80 of 200 units left today and this needs 120; resets 21 Nov 2026 00:00 UTC; ask for 40 more.',
    )
    for (let index = 0; index < 3; index++) await product.call('GET', '/budgets', agent)
    const slowed = await product.call('GET', '/budgets', agent)
    expect([slowed.status, slowed.headers.get('retry-after')]).toEqual([429, '60'])
    await put('/callers/agent', { disabled: true })
    product.clock.advance(hours(1))
    expect((await product.call('GET', '/budgets', agent)).status).toBe(403)
  })

  test('the manager of a client sees and approves only updates of this client', async () => {
    const { product, put, as } = await agency()
    const body = { scopes: ['read', 'approve'], budgets: ['acme'], readsBudgets: ['acme'], person: 'mia' }
    expect((await put('/callers/mia', body)).status).toBe(201)
    const { budgets } = (await product.call('GET', '/budgets', as('mia', 'read approve admin'))).body
    expect(budgets.map(({ name }: { name: string }) => name)).toEqual(['acme'])
    expect((await product.call('GET', '/budgets/globex', as('mia', 'read'))).status).toBe(404)
  })

  test('a new month starts on the 12th if the account renews on day 12', async () => {
    const { product, enter, as } = await agency({ env: { ACCOUNT_RENEWAL_DAY: '12' } })
    const ask = () => product.update({ kind: 'ranking', project: 'initech' }, as('dora', 'run'))
    await ask()
    await enter('initech', { type: 'grant', units: 50, window: 'next-month' })
    product.clock.set('2026-12-11T23:59:59Z')
    expect(await product.figures('initech')).toMatchObject({ available: 380, spent: 120 })
    product.clock.set('2026-12-12T00:00:00Z')
    expect(await product.figures('initech')).toMatchObject({ available: 550, spent: 0 })
    expect((await ask()).body.updates[0].window).toBe('month:2026-12-12')
    expect(await product.audit()).toBe(true)
  })

  test('the statement for finance adds up to the book', async () => {
    const { product, enter } = await agency({ slack: true })
    await listPeople(product, { U1DORA: { scopes: ['read'] } })
    await product.update({ kind: 'ranking', project: 'initech', reason: 'report' })
    await product.update({ kind: 'keyword-difficulty', project: '1003', reason: 'report' })
    await enter('acme', { type: 'external-spend', units: 25 })
    product.clock.set('2026-12-02T09:00:00Z')
    const query = 'window=month:2026-11-01&price=0.012'
    const statement = await product.call('GET', `/statements?${query}&by=project`)
    expect(statement.body).toMatchObject({
      status: 'final',
      rows: [
        { project: 'initech', updates: 2, charged: 240, amount: 2.88 },
        { project: null, external: 25, amount: 0.3 },
      ],
      total: { amount: 3.18 },
      book: { spent: 265, addsUp: true },
    })
    const csv = await product.call('GET', `/statements?${query}`, { headers: { accept: 'text/csv' } })
    expect(csv.text.split('\r\n').slice(1, 3)).toEqual([
      'month:2026-11-01,final,acme,0,0,25,0,0,0,0,0.3,0,0,0',
      'month:2026-11-01,final,initech,2,240,0,0,0,0,0,2.88,0,0,0',
    ])
  })
})
