import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../functions/sandbox/app.ts'
import { examineService } from '../../infra/local/commands/doctor/service.ts'
import { createListener } from '../../infra/local/listener.ts'
import { openApiDocument } from '../../infra/openapi/document.ts'
import { makeReference } from '../../infra/openapi/reference.tsx'
import { guardSettingsOf } from '../../shared/guard/options.ts'
import { parsePlans } from '../../shared/guard/plans-file.ts'
import { parseSettings } from '../../shared/platform/settings.ts'
import { type KindFacts, type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { createTestClock } from '../support/clock.ts'
import { json, serviceToken, startProduct } from '../support/product.ts'
import { startTestSecrets } from '../support/secrets.ts'
import { listPeople } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// The product with one more row in its table of kinds, which no other code knows.

const pageSpeed: KindFacts = {
  path: 'page-speed',
  short: 'speed',
  projectBy: 'id',
  leavesDates: true,
  cooldown: '3d',
  settings: {
    estimatePointer: 'ESTIMATE_POINTER_SPEED',
    runPointer: 'RUN_POINTER_SPEED',
    refused: 'RUN_REFUSED_SPEED',
    started: 'RUN_STARTED_SPEED',
    well: 'ANSWERS_WELL_SPEED',
    cooldown: 'COOLDOWN_SPEED',
  },
  standInCost: () => 3,
}
const withPageSpeed = { ...productKinds, 'page-speed': pageSpeed }
const kinds: Kinds = withPageSpeed

const start = (options: Parameters<typeof startProduct>[0] = {}) =>
  startProduct({ store: createMemoryStore(), kinds, ...options })
const update = { kind: 'page-speed', project: '1001', reason: 'launch' }
const takes = 'must be ranking, keyword-difficulty or page-speed'

describe('an additional kind of update', () => {
  test('a new kind is run by its path, charged, and not repeated within its cool-down', async () => {
    const product = await start()
    const first = await product.update(update)
    expect([first.status, first.body.updates[0]]).toMatchObject([201, { kind: 'page-speed', state: 'settled' }])
    expect(product.seen('run').map(({ url }) => url)).toEqual(['/v3/page-speed/1001/run'])
    expect(await product.figures()).toMatchObject({ spent: 40 })
    product.clock.advance(2 * 24 * 3600_000)
    const again = await product.update(update)
    expect([again.status, again.body.updates[0].id]).toEqual([200, first.body.updates[0].id])
    product.clock.advance(24 * 3600_000)
    expect((await product.update(update)).status).toBe(201)
  })

  test('a new kind leaves dates, so data of today is enough and a date can end a doubt', async () => {
    const fresh = json({ dates: ['2026-11-20'] })
    const product = await start({ service: ({ url }) => (url.endsWith('/dates') ? fresh : undefined) })
    const { body } = await product.update(update)
    expect(body).toMatchObject({
      type: '/problems/already-fresh',
      detail:
        '1001 already has page-speed data of today (2026-11-20), so an update would spend 40 units on nothing new; force it with a reason if it is needed anyway.',
    })
  })

  test('a new kind is named by the errors of the API, by budgets, and by the setting of its estimate', async () => {
    const product = await start({
      service: ({ url }) => (url.endsWith('/estimate') ? json({ cost: 'much' }) : undefined),
    })
    const errorsOf = async (method: string, path: string, body?: object) =>
      (await product.call(method, path, { body })).body.errors
    expect(await errorsOf('POST', '/updates', { kind: 'speed', project: 'a' })).toEqual([
      { path: 'kind', message: takes },
    ])
    expect(await errorsOf('GET', '/updates?kind=speed')).toEqual([{ path: 'kind', message: takes }])
    expect(await errorsOf('GET', '/estimates?kind=speed&project=a')).toEqual([{ path: 'kind', message: takes }])
    const limits = [{ window: 'month', units: 100 }]
    expect(await errorsOf('PUT', '/budgets/seo', { limits, kinds: ['speed'] })).toEqual([
      { path: 'kinds.0', message: takes },
    ])
    const made = await product.call('PUT', '/budgets/seo', { body: { limits } })
    expect(made.body.kinds).toEqual(['ranking', 'keyword-difficulty', 'page-speed'])
    const { body } = await product.update(update)
    expect(body.detail).toContain('The estimate of the page-speed update of 1001 could not be read')
    expect(body.detail).toContain('set ESTIMATE_POINTER_SPEED to where it is.')
  })

  test('a new kind is in the OpenAPI document and on its page', () => {
    const document = openApiDocument(kinds)
    const names = ['ranking', 'keyword-difficulty', 'page-speed']
    const { UpdatesRequest, BudgetRequest, Update, Estimate, Budget, Plan } = document.components.schemas
    const meaning = 'The kind of update: `ranking`, `keyword-difficulty` or `page-speed`.'
    for (const schema of [UpdatesRequest, Update, Estimate, Plan])
      expect(schema?.properties?.kind).toMatchObject({ enum: names, description: meaning })
    for (const schema of [BudgetRequest, Budget])
      expect(schema?.properties?.kinds).toMatchObject({ items: { enum: names } })
    expect(BudgetRequest?.properties?.kinds?.description).toBe('The kinds of update that are allowed; default all.')
    expect(UpdatesRequest?.properties?.project?.description).toBe(
      'The project, as the service names it in its paths. A keyword-difficulty or page-speed update takes its identifier.',
    )
    expect(document.paths['/updates']).toMatchObject({
      get: { parameters: expect.arrayContaining([expect.objectContaining({ name: 'kind', description: meaning })]) },
    })
    expect(makeReference(kinds).get('docs.html')).toContain('ranking | keyword-difficulty | page-speed')
  })

  test('a plans file accepts a new kind', () => {
    const plan = { name: 'night', kind: 'page-speed', projects: ['1001'], schedule: 'rate(1 day)' }
    expect(parsePlans(JSON.stringify([plan]), kinds)).toMatchObject([{ kind: 'page-speed' }])
    const wrong = () => parsePlans(JSON.stringify([{ ...plan, kind: 'speed' }]), kinds)
    expect(wrong).toThrow(takes)
  })

  test('Slack knows a new kind, also by its short word', async () => {
    const product = await start({ slack: true })
    await listPeople(product, { U2BOB: { scopes: ['read', 'run'], budgets: '*' } })
    const type = async (text: string) => {
      const acknowledged = await (await product.slack.command(text, { user: 'U2BOB' })).text()
      await product.deliver()
      return [acknowledged, ...product.slack.news().map((message) => message.text)].join('\n')
    }
    expect(await type('help')).toContain('/units estimate &lt;ranking|difficulty|speed&gt; &lt;project…&gt;')
    expect(await type('run pages 1001')).toContain('is not a kind of update: say ranking, difficulty or speed first.')
    for (const word of ['speed', 'page-speed'])
      expect(await type(`estimate ${word} 1001`)).toContain('page-speed update of `1001`')
  })

  test('a new kind has its own settings, which are checked and become options', async () => {
    const needed = { TABLE_NAME: 't', TRACKING_BASE_URL: 'http://127.0.0.1:9/v3' }
    const parse = (env: Record<string, string>) => parseSettings(guardSettingsOf(kinds), { ...needed, ...env })
    expect(parse({ RUN_POINTER_SPEED: '/cost' })).toMatchObject({ RUN_POINTER_SPEED: '/cost' })
    expect(() => parse({ COOLDOWN_SPEED: 'soon' })).toThrow('COOLDOWN_SPEED: must be day, 0, or a time')
    expect((await start()).services.options.cooldown).toMatchObject({ 'page-speed': '3d' })
    const product = await start({
      env: { COOLDOWN_SPEED: '0', ESTIMATE_POINTER_SPEED: '/speed/cost', RUN_POINTER_SPEED: '/speed/cost' },
      service: ({ url }) => (url.startsWith('/v3/page-speed/') ? json({ speed: { cost: 7 } }) : undefined),
    })
    await product.update(update)
    expect((await product.update(update)).status).toBe(201)
    expect(await product.figures()).toMatchObject({ spent: 14 })
  })

  test('a new kind can be chosen on the pages', async () => {
    const product = await start()
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    expect((await browser.get('/dashboard/updates')).html).toContain('<option value="page-speed">')
    const { html } = await browser.get('/dashboard/budgets/account/edit')
    expect(html).toContain('page-speed only')
    const body = { limits: [{ window: 'month', units: 1 }], kinds: ['ranking', 'page-speed'] }
    await product.call('PUT', '/budgets/seo', { body })
    const { text } = await browser.get('/dashboard/budgets/seo')
    expect(text).toContain('ranking and page-speed')
    expect(text).toContain('The id in the paths of keyword-difficulty or page-speed updates.')
  })

  test('the stand-in estimates and runs a new kind, and the doctor examines it', async () => {
    const app = createSandbox({ clock: createTestClock(), token: serviceToken, kinds })
    const headers = { authorization: `Bearer ${serviceToken}` }
    const ask = async (path: string) => JSON.parse(await (await app.request(path, { headers })).text())
    expect(await ask('/v3/page-speed/1001/estimate')).toMatchObject({ data: { keyword_units: 120 } })
    expect(await ask('/v3/page-speed/1001/run')).toMatchObject({ data: { keyword_units: 120 } })
    expect((await ask('/v3/projects/1001/dates')).data.dates).toContain('2026-11-20')
    expect(await ask('/sandbox/account')).toMatchObject({ runs: [{ kind: 'page-speed', units: 120 }] })
    const { help } = await ask('/sandbox/faults')
    expect([help.every, help['late-date']]).toEqual([
      expect.stringContaining('kind (ranking, keyword-difficulty, page-speed)'),
      expect.stringContaining('for run of ranking or page-speed only'),
    ])

    const listener = await createListener({ port: 0 })
    listener.open(app)
    onTestFinished(() => listener.close(Promise.resolve()))
    const secrets = await startTestSecrets({ 'unit-guard/service-token': serviceToken })
    onTestFinished(() => secrets.close())
    const given = { TABLE_NAME: 't', TRACKING_BASE_URL: `${listener.url}/v3`, SECRETS_ENDPOINT: secrets.endpoint }
    const settings = parseSettings(guardSettingsOf(kinds), { ...given, RUN_POINTER_SPEED: '/data/keyword_units' })
    const { lines } = await examineService(settings, { project: undefined, id: undefined }, kinds)
    expect(lines).toContain('page-speed estimate: 120 units, read by keyword_units')
    expect(lines).toContain('units of a run, page-speed: /data/keyword_units')
  })
})
