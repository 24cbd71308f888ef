import { describe, expect, test } from 'vitest'
import { allOperations } from '../../infra/openapi/document.ts'
import type { Item } from '../../shared/ledger/store/store.ts'
import { scopes } from '../../shared/platform/words.ts'
import { modalActions } from '../../shared/slack/blocks.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { pageProbesOf } from '../api/reads/page-probes.ts'
import { slackProbesOf } from '../api/reads/slack-probes.ts'
import { openBrowser, type Shown } from '../support/browser/browser.ts'
import { listenForAgents } from '../support/mcp.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// A right that another process takes is gone at the next write of this one, which has just read the list of callers.

const names = {
  budget: 'seo',
  project: 'shop',
  caller: 'zoe',
  plan: 'morning',
  id: '5001',
  cursor: '',
  kind: 'ranking',
  update: 'upd_0000000000000000000000000a',
  entry: 'ent_0000000000000000000000000a',
}
const plans = [{ name: 'morning', kind: 'ranking', projects: ['shop'], schedule: 'cron(0 5 * * ? *)' }]
const full = { scopes, budgets: '*' }
const user = 'U2BOB'

interface Answered {
  readonly isRefused: boolean
  readonly said: string
}
/** @param take is called at the last moment before this process answers. */
type Write = readonly [what: string, send: (take: () => Promise<void>) => Promise<Answered>]

async function start(sub: string) {
  const items = new Map<string, Item>()
  const product = await startProduct({ store: createMemoryStore(items), plans, slack: true, bot: true })
  const other = product.startProcess()
  /** Answers what people do in Slack. */
  const worker = product.startProcess()
  const limits = [{ window: 'month', units: 1_000 }]
  await product.call('PUT', '/budgets/seo', { body: { limits, projects: [{ name: 'shop' }] } })
  const list = (rights: object) => product.call('PUT', `/callers/${sub}`, { body: rights, process: other })
  const look = () => Promise.all([product.guard, worker.services.guard].map(({ ledger }) => ledger.view()))
  return {
    product,
    worker,
    bob: product.signed({ sub: 'bob', scope: scopes.join(' '), budgets: '*', exp: product.inDays(30) }),
    give: async () => {
      await list(full)
      await look()
    },
    take: async (rights: object) => {
      await look()
      await list(rights)
    },
    /** What a refused write must not change. */
    written: () => [
      [...items.keys()].filter((key) => /^(update|work|occurrence)/.test(key)),
      product.service.requests.filter(({ method, url }) => method !== 'GET' || url.endsWith('/run')),
    ],
  }
}

type World = Awaited<ReturnType<typeof start>>

const parameters: Readonly<Record<string, string>> = {
  budgets: names.budget,
  plans: names.plan,
  updates: names.update,
  callers: names.caller,
}

async function overHttp({ product, bob }: World): Promise<Write[]> {
  const writes = allOperations.filter(
    (each) => each.scopes !== null && (each.method !== 'GET' || each.path.endsWith('/run')),
  )
  return writes.map(({ method, path }): Write => {
    const at = path.replace(/\{\w+\}/g, parameters[path.split('/')[1] ?? ''] ?? names.project)
    const body = path === '/updates' ? { kind: 'ranking', project: 'shop' } : { time: '2026-11-20T05:00:00Z' }
    return [
      `${method} ${path}`,
      async (take) => {
        await take()
        const { status, text } = await product.call(method, at, { token: bob, ...(method !== 'GET' && { body }) })
        return { isRefused: status === 403, said: `${status} ${text}` }
      },
    ]
  })
}

async function onPages({ product, bob }: World): Promise<Write[]> {
  const browser = openBrowser(product)
  await browser.logIn(bob)
  const session = [...browser.cookies]
  const probes = await pageProbesOf(product, browser, names)
  const forms = probes.filter(
    ({ what, route }) => route.startsWith('POST ') && route !== 'POST /logout' && !/ask ([3-9]|1\d)$/.test(what),
  )
  return forms.map(
    ({ what, send }): Write => [
      what,
      async (take) => {
        // A disabled caller loses the session.
        for (const [name, value] of session) browser.cookies.set(name, value)
        let answer: Shown | undefined
        const post: typeof browser.post = async (...form) => {
          answer = await browser.post(...form)
          return answer
        }
        await take()
        const { text } = await send({ ...browser, post }, names)
        return {
          isRefused: answer?.status === 403 || /✕ bob (needs the scope|may not charge)/.test(text),
          said: `${answer?.status} ${text}`,
        }
      },
    ],
  )
}

/** Other commands write nothing, and other buttons open a form or need a message of their own. */
const writesInSlack = /^(cancel|freeze|unfreeze|pause|resume|reconcile|run) one$|^\S+ update $| submitted$/
const needsMessage = ['confirm', 'ask', 'unopened', ...modalActions].map((action) => `${action} update `)

async function inSlack({ product, worker, give }: World): Promise<Write[]> {
  await give()
  const { slack, guard } = product
  const answerTo = async (sent: Response | Promise<Response>, take = async () => {}): Promise<Answered> => {
    const answer = await (await sent).text()
    await take()
    const { rows } = await guard.ledger.queue(slackEvents).open(1)
    for (const { id } of rows) await worker.slack.answer(id)
    const said = JSON.stringify([answer, slack.news().filter(({ to }) => to === 'asker')])
    return { isRefused: /is disabled here|needs the scope|may not charge/.test(said), said }
  }
  const offered = async (text: string) => {
    await answerTo(slack.command(text, { user }))
    return slack.buttons().find(({ action }) => action === 'confirm')?.value ?? ''
  }
  const [run, reconcile] = [await offered('run ranking shop'), await offered('reconcile 49000 the screen')]
  const probes = slackProbesOf(product, user, names).filter(
    ([what]) => writesInSlack.test(what) && !needsMessage.includes(what),
  )
  return [
    ['confirm an update', (take) => answerTo(slack.press('confirm', run, { user }), take)],
    ['confirm a reconciliation', (take) => answerTo(slack.press('confirm', reconcile, { user }), take)],
    ...probes.map(([what, send]): Write => [what, (take) => answerTo(send(names), take)]),
  ]
}

async function byAgents({ product, bob }: World): Promise<Write[]> {
  const { connect } = await listenForAgents(product)
  const agent = await connect({ token: await bob })
  const inputs: Readonly<Record<string, object>> = {
    request_update: { quote: await agent.quote('shop'), reason: 'report' },
    cancel_update: { id: names.update },
  }
  const { tools } = await agent.client.listTools()
  const writes = tools.filter(({ annotations }) => !annotations?.readOnlyHint)
  return writes.map(
    ({ name }): Write => [
      name,
      async (take) => {
        await take()
        const { data, sentence } = await agent.call(name, inputs[name])
        return { isRefused: data?.type === '/problems/forbidden', said: sentence }
      },
    ],
  )
}

const charges = /^POST \/(updates|plans\/\{name\}\/run)$|\/run$|ask \d$|unsent|refused|confirm an update|request_update/

describe.each([
  ['HTTP and the gateway', 'bob', overHttp],
  ['the pages', 'bob', onPages],
  ['Slack', `slack:${user}`, inSlack],
  ['agents', 'bob', byAgents],
])('at %s, a right that another process takes is gone at the next write:', (_face, sub, writesOf) => {
  test.each([
    ['the caller is disabled', { ...full, disabled: true }, /./],
    ['every scope', { ...full, scopes: [] }, /./],
    ['every budget', { ...full, budgets: [] }, charges],
  ])('%s', async (_right, rights, concerned) => {
    const world = await start(sub)
    await world.give()
    const wrong: object[] = []
    for (const [what, send] of await writesOf(world)) {
      if (!concerned.test(what)) continue
      await world.give()
      const before = world.written()
      const refused = await send(() => world.take(rights))
      expect(world.written()).toEqual(before)
      await world.give()
      const allowed = await send(async () => {})
      if (!refused.isRefused || allowed.isRefused) wrong.push({ what, refused, allowed })
    }
    expect(wrong).toEqual([])
  })
})

interface Granted {
  readonly right: string
  /** Puts the definitions in another process: with the right, then without it. */
  readonly put: (isGiven: boolean) => readonly [path: string, body: object]
  readonly path: (waiting: string) => string
  readonly body: object
}

const limits = [{ window: 'month', units: 1_000 }]
const asker = { scopes: ['read', 'run', 'approve'], budgets: '*' }
const shop = { projects: [{ name: 'shop' }, { name: 'spare' }] }

describe('over HTTP, what a member of a definition grants is gone at the next write:', () => {
  test.each<Granted>([
    {
      right: 'mayForce of a caller',
      put: (isGiven) => ['/callers/bob', { ...asker, mayForce: isGiven }],
      path: () => '/updates',
      body: { kind: 'ranking', project: 'shop', force: true, reason: 'again' },
    },
    {
      right: 'mayChargeAncestors of a caller',
      put: (isGiven) => ['/callers/bob', { ...asker, mayChargeAncestors: isGiven }],
      path: () => '/updates',
      body: { kind: 'ranking', project: 'spare', budget: 'account' },
    },
    {
      right: 'being an approver of a budget',
      put: (isGiven) => ['/budgets/seo', { limits, ...shop, approvalAbove: 1, approvers: [isGiven ? 'bob' : 'eve'] }],
      path: (waiting) => `/updates/${waiting}/approve`,
      body: {},
    },
  ])('$right', async ({ right, put, path, body }) => {
    const said = async (isGiven: boolean) => {
      const product = await startProduct({ store: createMemoryStore() })
      const other = product.startProcess()
      const change = (given: boolean) => {
        const [at, body] = put(given)
        return product.call('PUT', at, { body, process: other })
      }
      const waits = right.includes('approver')
      await product.call('PUT', '/budgets/seo', { body: { limits, ...shop, ...(waits && { approvalAbove: 1 }) } })
      await product.call('PUT', '/callers/bob', { body: asker })
      const { body: asked } = await product.update({ kind: 'ranking', project: 'shop' })
      await change(true)
      await product.guard.ledger.view()
      await change(isGiven)
      const token = product.signed({ sub: 'bob', scope: 'read run approve', budgets: '*', exp: product.inDays(30) })
      return (await product.call('POST', path(asked.updates[0].id), { token, body })).status
    }
    expect([await said(true), await said(false)]).toEqual([right.includes('approver') ? 200 : 201, 403])
  })
})
