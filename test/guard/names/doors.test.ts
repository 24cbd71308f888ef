import { describe, expect, test } from 'vitest'
import { openBrowser } from '../../support/browser/browser.ts'
import { formWith, send } from '../../support/browser/page-forms.ts'
import { listenForAgents } from '../../support/mcp.ts'
import { startProduct } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'
import { listed, readLeniently, spellings } from './spellings.ts'

const names = spellings.map(([spelling]) => spelling)
const month = (units: number) => [{ window: 'month', units }]
/** Files have no control characters. */
const planned = names.filter((name) => !/\p{Cc}/u.test(name))
const night = { name: 'night', kind: 'ranking', projects: [...planned, 'other-plan'], schedule: 'cron(0 9 * * ? *)' }

/** Each of these rules alone keeps the client's projects from running. */
const rules = {
  'is frozen': { limits: month(50_000) },
  'has nothing left': { limits: month(0) },
  'allows no kind of update': { limits: month(50_000), kinds: [] },
  'allows few units for one update': { limits: month(50_000), perUpdate: 1 },
  'wants approval': { limits: month(50_000), approvalAbove: 0 },
} as const

type Started = Awaited<ReturnType<typeof start>>

/** The service counts its runs by project. `account` pays for names that no budget lists. */
async function start() {
  const runs = new Map<string, number>()
  const product = await startProduct({
    store: createMemoryStore(),
    slack: true,
    plans: [night],
    service: ({ url }) => {
      const [, , , segment = '', operation] = new URL(url, 'http://x').pathname.split('/')
      const name = decodeURIComponent(segment)
      for (const project of operation === 'run' ? [...readLeniently(name), name] : [])
        runs.set(project, (runs.get(project) ?? 0) + 1)
      return undefined
    },
  })
  const { call } = product
  await call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read', 'run'], budgets: '*' } })
  // The rate limit of agents is raised for the test.
  await call('PUT', '/callers/agent', { body: { ratePerMinute: 100_000 } })
  const setRule = async (rule: keyof typeof rules) => {
    await call('PUT', '/budgets/client', { body: { ...rules[rule], projects: listed } })
    const action = rule === 'is frozen' ? 'freeze' : 'unfreeze'
    await call('POST', `/budgets/client/${action}`, { body: { reason: 'has left' } })
  }
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'ben', scope: 'read run', budgets: '*' }))
  const agent = await (await listenForAgents(product)).connect()
  const askPage = await browser.get('/dashboard/ask?kind=ranking&project=other-form')
  return { ...product, runs, setRule, browser, agent, askPage }
}

/** Each function tries to run a project of this name in all ways that its interface has. */
const doors: Readonly<Record<string, (by: Started, name: string) => Promise<unknown>>> = {
  'POST /updates': ({ update }, project) => update({ kind: 'ranking', project }),
  'POST /updates, for account': ({ update }, project) => update({ kind: 'ranking', project, budget: 'account' }),
  'POST /updates, later': async ({ update, deliver }, project) => {
    await update({ kind: 'ranking', project }, { headers: { prefer: 'respond-async' } })
    await deliver()
  },
  'POST /updates, forced': ({ update }, project) =>
    update({ kind: 'ranking', projects: [project], force: true, reason: 'x', whenShort: 'fit' }),
  'the gateway, ranking': ({ call }, name) => call('GET', `/v3/on-demand/${encodeURIComponent(name)}/run`),
  'the gateway, difficulty': ({ call }, name) => call('GET', `/v3/keyword-difficulty/${encodeURIComponent(name)}/run`),
  'the page': async ({ browser, askPage, deliver }, project) => {
    const page = await browser.get(`/dashboard/ask?${new URLSearchParams({ kind: 'ranking', project })}`)
    const hasForm = page.html.includes('Ask for the update</button>')
    if (hasForm) await send(browser, page, 'Ask for the update')
    // The form of another project, in which the name is typed.
    else {
      const key = `page-${names.indexOf(project).toString(36).padStart(26, '0')}`
      const { action, fields } = formWith(askPage.html, 'Ask for the update')
      await browser.post(action, { ...fields, project, key })
    }
    await deliver()
  },
  Slack: async ({ slack, deliver }, name) => {
    const typed = /["\s]/.test(name) ? `“${name}”` : name
    for (const command of ['estimate', 'run']) await slack.command(`${command} ranking ${typed}`, { user: 'U2BOB' })
    await deliver()
    const offered = slack.news().some(({ body }) => JSON.stringify(body).includes('"confirm"'))
    const [button] = offered ? slack.buttons() : []
    if (button) await slack.press('confirm', button.value, { user: 'U2BOB' })
    await deliver()
  },
  'the agent': async ({ agent }, project) => {
    const { data } = await agent.call('estimate_update', { kind: 'ranking', project })
    if (data.quote) await agent.request(data.quote)
  },
}

test.each(spellings)('the test’s service would run the client’s project for the spelling %j', (spelling, reading) => {
  const project = listed.find(({ name, id }) => [name, id].includes(reading))
  expect(readLeniently(spelling)).toContain(project?.name)
})

describe('a client whose budget allows no update', () => {
  test('no interface runs a project of a stopped client, under any spelling or rule', async () => {
    const started = await start()
    const { runs, setRule, call } = started
    const ways = Object.entries(doors)
    for (const [at, rule] of (Object.keys(rules) as (keyof typeof rules)[]).entries()) {
      await setRule(rule)
      for (const [door, [, attempt]] of ways.entries())
        for (const [place, name] of names.entries()) if ((door + place) % 5 === at) await attempt(started, name)
    }
    expect(Object.fromEntries(runs)).toEqual({})
    const { updates } = (await call('GET', '/updates?limit=200')).body
    expect(updates).toEqual([])
    for (const [door, attempt] of ways) await attempt(started, `other-${ways.findIndex(([name]) => name === door)}`)
    expect(Object.fromEntries(runs)).toEqual(Object.fromEntries(ways.map((_, at) => [`other-${at}`, 1])))
  })

  test('no plan runs a project of a stopped client', async () => {
    const { guard, setRule, runs, clock, endsAt } = await start()
    for (const [day, rule] of (Object.keys(rules) as (keyof typeof rules)[]).entries()) {
      await setRule(rule)
      clock.set(`2026-11-${21 + day}T09:00:10Z`)
      const fired = await (await guard.jobs()).fire('night', Date.parse(`2026-11-${21 + day}T09:00:00Z`), endsAt())
      if (fired.kind === 'problem') throw new Error(fired.problem.detail)
      const { refusals } = await guard.report(fired.occurrence)
      expect(refusals.map(({ project }) => project)).toEqual(planned)
      expect(new Set(refusals.map(({ problem }) => problem.slug))).toEqual(new Set(['wrong-state']))
    }
    expect(Object.fromEntries(runs)).toEqual({ 'other-plan': 5 })
  })

  test('no project runs if a budget lists its name after it was requested, quoted or shown', async () => {
    const { agent, slack, deliver, setRule, runs, update, call, browser, signed } = await start()
    const letters = spellings.filter(([, reading]) => reading !== '8203').map(([spelling]) => spelling)
    const quotes = new Map<string, string>()
    await call('PUT', '/budgets/account', { body: { limits: month(50_000), approvalAbove: 100 } })
    for (const name of letters) quotes.set(name, await agent.quote(name))
    const [shown = '', page = '', queued = '', waiting = ''] = letters
    await slack.command(`run ranking ${shown}`, { user: 'U2BOB' })
    await deliver()
    const [button] = slack.buttons()
    const form = await browser.get(`/dashboard/ask?${new URLSearchParams({ kind: 'ranking', project: page })}`)
    const later = { headers: { prefer: 'respond-async' } }
    await update({ kind: 'ranking', project: queued }, later)
    await call('PUT', '/budgets/account', { body: { limits: month(50_000), approvalAbove: 0 } })
    const [asked] = (await update({ kind: 'ranking', project: waiting })).body.updates
    expect(asked.state).toBe('awaiting-approval')
    await call('PUT', '/budgets/account', { body: { limits: month(50_000) } })
    await setRule('is frozen')

    await slack.press('confirm', button?.value ?? '', { user: 'U2BOB' })
    expect((await send(browser, form, 'Ask for the update')).status).toBe(303)
    await deliver()
    const token = signed({ sub: 'eve', scope: 'approve' })
    expect((await call('POST', `/updates/${asked.id}/approve`, { token })).status).toBe(409)
    for (const [name, quote] of quotes) {
      const { isError, data } = await agent.request(quote)
      expect([name, isError, data.type]).toEqual([name, true, '/problems/wrong-state'])
    }
    await deliver()
    expect(Object.fromEntries(runs)).toEqual({})
  })
})

describe('a caller who reads other budgets', () => {
  test('a name near a hidden name gets the answer of the hidden name, word for word', async () => {
    const { call, signed, setRule, runs } = await start()
    await setRule('is frozen')
    await call('PUT', '/budgets/globex', { body: { limits: month(50_000) } })
    await call('PUT', '/callers/mia', { body: { readsBudgets: ['globex'] } })
    const token = signed({ sub: 'mia', scope: 'read run', budgets: ['globex'] })
    const answersTo = async (name: string) => {
      const project = encodeURIComponent(name)
      const headers = { 'unit-guard-budget': 'globex' }
      const answers = [
        await call('POST', '/updates', { token, body: { kind: 'ranking', project: name, budget: 'globex' } }),
        await call('POST', '/updates', { token, body: { kind: 'ranking', project: name } }),
        await call('GET', `/estimates?kind=ranking&project=${project}&budget=globex`, { token }),
        await call('GET', `/v3/on-demand/${project}/run`, { token, headers }),
        await call('GET', `/v3/on-demand/${project}/estimate`, { token, headers }),
      ]
      return answers.map(({ status, body: { requestId: _id, ...body } }) =>
        JSON.stringify([status, body]).replaceAll(JSON.stringify(name).slice(1, -1), '…'),
      )
    }
    const hidden = await answersTo('sp-z1')
    expect(hidden).toEqual(hidden.map(() => expect.stringContaining('[404,')))
    for (const name of planned) expect([name, await answersTo(name)]).toEqual([name, hidden])
    expect(Object.fromEntries(runs)).toEqual({})
  })

  test('the answer about a name near a hidden and a visible name does not show the visible name', async () => {
    const { call, signed, setRule } = await start()
    await setRule('is frozen')
    await call('PUT', '/budgets/globex', { body: { limits: month(50_000), projects: [{ name: 'cafe.example' }] } })
    await call('PUT', '/callers/mia', { body: { readsBudgets: ['globex'] } })
    const token = signed({ sub: 'mia', scope: 'read run', budgets: ['globex'] })
    const body = { kind: 'ranking', project: 'cafè.example', budget: 'globex' }
    const { status, text } = await call('POST', '/updates', { token, body })
    expect([status, text.includes('café'), text.includes('client')]).toEqual([404, false, false])
  })

  test('a caller who reads all budgets gets the service’s free estimates unchanged', async () => {
    const { call, setRule, service } = await start()
    await setRule('is frozen')
    const { status, body } = await call('GET', '/v3/on-demand/08203/estimate')
    expect([status, body.data]).toEqual([200, { keyword_units: 40 }])
    expect(service.requests.at(-1)?.url).toBe('/v3/on-demand/08203/estimate')
  })
})
