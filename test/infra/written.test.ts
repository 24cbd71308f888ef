import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from 'vitest'
import { keyOf, type Store, type Write } from '../../shared/ledger/store/store.ts'
import { agentMessage, agentResult } from '../support/agent-message.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { press } from '../support/browser/page-forms.ts'
import { createTestClock, minutes } from '../support/clock.ts'
import { plain, synthesize } from '../support/infra/stack.ts'
import { json, startProduct } from '../support/product.ts'
import { startProvider } from '../support/provider.ts'
import { startReceiver, targetAt } from '../support/receiver.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import { withStream } from '../support/store/memory-stream.ts'

const actions = {
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
  check: 'dynamodb:ConditionCheckItem',
} as const

const night = { name: 'night', kind: 'ranking', projects: ['nightly'], schedule: 'cron(0 23 * * ? *)' }

/** The product, with the writes of each function by action and key prefix. */
async function watched(options: Pick<NonNullable<Parameters<typeof startProduct>[0]>, 'targets'> = {}) {
  const who = new AsyncLocalStorage<string>()
  const written = new Map<string, Set<string>>()
  const events: unknown[] = []
  const inner = createMemoryStore()
  const note = (write: Write) => {
    const name = who.getStore() ?? 'api'
    const prefix = `${keyOf(write).pk.split('#')[0]}${keyOf(write).pk.includes('#') ? '#' : ''}`
    written.set(name, (written.get(name) ?? new Set()).add(`${actions[write.kind]} ${prefix}`))
  }
  const noted: Store = {
    ...inner,
    transact: (writes, ...rest) => {
      for (const write of writes) note(write)
      return inner.transact(writes, ...rest)
    },
  }
  const store = withStream(noted, (event) => events.push(event))
  const clock = createTestClock()
  const provider = await startProvider({ clock })
  const issuers = [provider.entry()]
  const product = await startProduct({
    store,
    clock,
    issuers,
    slack: true,
    stream: false,
    units: { dear: 640 },
    plans: [night],
    ...options,
  })
  const process = product.startProcess()
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
  /** Delivers until the stream has nothing new. */
  const deliver = async () => {
    for (let quiet = 0; quiet < 5; quiet++) {
      await nextTurn()
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        quiet = 0
        await who.run('tell', () => process.tell(event, product.endsAt()))
        await who.run('start', () => process.start(event, product.endsAt()))
      }
    }
  }
  return { product, provider, who, deliver, of: (name: string) => [...(written.get(name) ?? [])].toSorted() }
}

/** The writes that a role allows: each action with each prefix of a condition, or with any prefix. */
function mayWrite(functionName: string, stack = guard): string[] {
  const role = stack.ofType('AWS::IAM::Policy').filter(({ id }) => id.startsWith(`${functionName}Role`))
  return role
    .flatMap(({ Properties }) => plain(Properties.PolicyDocument.Statement))
    .flatMap(({ Action, Condition }) => {
      const { 'ForAllValues:StringLike': like, 'ForAllValues:StringNotLike': unlike } = Condition ?? {}
      const but: string[] = unlike?.['dynamodb:LeadingKeys'].map((key: string) => `any but ${key}`) ?? ['*']
      const keys: string[] = like?.['dynamodb:LeadingKeys'] ?? but
      const writes = [Action].flat().filter((name: string) => Object.values<string>(actions).includes(name))
      return writes.flatMap((name: string) => keys.map((key) => `${name} ${key.replace(/\*$/, '')}`))
    })
    .toSorted()
}

const guard = synthesize()

/** The writes that agents cause: the first hold of a month, an overrun that freezes, a change of an issuer's keys. */
async function workOfAgents({ product, provider, who }: Awaited<ReturnType<typeof watched>>): Promise<void> {
  const { mcp, call, clock, service } = product
  const frail = { limits: [{ window: 'month', units: 500 }], freezeOnOverrun: true, approvalAbove: 600 }
  await call('PUT', '/budgets/frail', { body: frail })
  service.script('/on-demand/overrun/run', json({ data: { keyword_units: 400 } }))
  const use = (token: string, name: string, input: object) =>
    who.run('mcp', async () => {
      const message = { method: 'POST', ...agentMessage(token, 'tools/call', { name, arguments: input }) }
      return agentResult(await (await mcp.request('/mcp', message)).text()).structuredContent
    })
  const token = await product.signed({ sub: 'agent', scope: 'read run', budgets: '*' })
  const quoted = { kind: 'ranking', project: 'overrun', budget: 'frail' }
  const { quote } = await use(token, 'estimate_update', quoted)
  expect(await use(token, 'request_update', { quote, reason: 'report' })).toMatchObject({ units: { charged: 400 } })
  const proposer = await product.signed({ sub: 'proposer', scope: 'read propose', budgets: '*' })
  const proposed = await use(proposer, 'estimate_update', { kind: 'ranking', project: 'acme' })
  const { id } = await use(proposer, 'request_update', { quote: proposed.quote, reason: 'report' })
  expect(await use(proposer, 'cancel_update', { id })).toMatchObject({ state: 'cancelled' })
  await use(await provider.sign({ groups: ['seo'] }), 'list_budgets', {})
  clock.advance(minutes(1))
  await provider.rotate()
  await use(await provider.sign({ groups: ['seo'] }), 'forecast', {})
}

/** A person approves with a button, and gets the answer when the update has run. Slack refuses a later message. */
async function approveInSlack({ product, who, deliver }: Awaited<ReturnType<typeof watched>>): Promise<void> {
  const scopes = ['read', 'run', 'approve', 'admin']
  await product.call('PUT', '/callers/slack:U1ADA', { body: { scopes, budgets: '*' } })
  const limits = [{ window: 'month', units: 50 }]
  await product.call('PUT', '/budgets/pressed', { body: { limits, approvalAbove: 30 } })
  const { body } = await product.update({ kind: 'ranking', project: 'pressed', budget: 'pressed' })
  await deliver()
  await who.run('slack', () => product.slack.press('approve', body.updates[0].id, { block: product.slack.block() }))
  await deliver()
  expect(product.slack.posted().map(({ to }) => to)).toContain('asker')
  product.slack.answers({ status: 404, body: 'no_service' })
  await product.call('POST', '/budgets/pressed/freeze', { body: { reason: 'a loop' } })
  await deliver()
  product.slack.answers({ status: 200, body: 'ok' })
}

/** A person runs on the dashboard what a paused plan did not send. */
async function runAgain({ product, provider, who }: Awaited<ReturnType<typeof watched>>): Promise<void> {
  const stop = (action: string) => product.call('POST', `/plans/night/${action}`, { body: { reason: 'holidays' } })
  await stop('pause')
  const due = { plan: 'night', time: '2026-11-20T10:00:00Z' }
  await who.run('scheduled', () => product.triggers.handle(due, product.endsAt()))
  await stop('resume')
  await who.run('dashboard', async () => {
    const browser = openBrowser(product)
    await browser.logIn(provider.sign({ groups: ['leads'] }))
    const page = await browser.get('/dashboard/plans/night')
    await press(browser, page, 'Run what was not sent', { confirm: 'yes' })
  })
  await who.run('scheduled', () => product.triggers.sweep(product.endsAt()))
  expect(product.seen('run').map(({ url }) => url)).toContainEqual(expect.stringContaining('/nightly/'))
}

describe('the writes that a function’s role allows', () => {
  test('the function for agents may write only what updates write', async () => {
    const world = await watched()
    await workOfAgents(world)
    const may = mayWrite('Mcp')
    const written = world.of('mcp')
    expect(written.filter((each) => !may.includes(each))).toEqual([])
    expect(may.filter((each) => !written.includes(each))).toEqual([
      // This follows an answer of the service that begins or ends a trouble.
      'dynamodb:PutItem trouble#',
      // These follow a late answer after a person closed the update, or after its day was summarized.
      'dynamodb:UpdateItem summary#',
      'dynamodb:UpdateItem work#',
    ])
  })

  test('tell may also write deliveries and the state of targets if there are targets', async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end())
    const targets = [targetAt(receiver.url)]
    const world = await watched({ targets })
    const { product, deliver, of } = world
    await product.update({ kind: 'ranking', project: 'acme' })
    await product.call('PUT', '/budgets/seo', { body: { limits: [{ window: 'month', units: 50 }], approvalAbove: 30 } })
    await product.update({ kind: 'ranking', project: 'globex', budget: 'seo' })
    await deliver()
    await approveInSlack(world)
    const withTargets = synthesize({ targets: [targetAt('https://hooks.example/')] })
    expect(of('tell')).toEqual(mayWrite('OutboxTell', withTargets))
  })

  test('the Slack functions may write only under their prefixes, and the others also the book', async () => {
    const world = await watched()
    const { product, provider, who, deliver, of } = world
    await approveInSlack(world)
    const put = (name: string, body: object) => product.call('PUT', `/budgets/${name}`, { body })
    await put('seo', { limits: [{ window: 'month', units: 50 }], approvalAbove: 30 })
    await put('small', { limits: [{ window: 'month', units: 45 }] })
    for (const text of ['', 'updates', 'estimate ranking shop', 'run ranking shop because x', 'freeze seo too dear'])
      await who.run('slack', () => product.slack.command(text))
    await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })
    // The first update passes a threshold, and the second costs too much for the budget.
    await product.update({ kind: 'ranking', project: 'globex', budget: 'small' })
    await product.update({ kind: 'ranking', project: 'dear', budget: 'small' })
    await product.call('POST', '/updates', {
      body: { kind: 'ranking', project: 'queued' },
      headers: { prefer: 'respond-async' },
    })
    await product.call('GET', '/budgets', { token: provider.sign({ groups: ['seo'] }) })
    await deliver()
    // The API still has the earlier keys.
    product.clock.advance(minutes(1))
    await provider.rotate()
    await who.run('dashboard', async () => {
      const browser = openBrowser(product)
      await browser.logIn(provider.sign({ groups: ['leads'] }))
      const { rows } = await product.guard.ledger.open('awaiting-approval', 10)
      await browser.decide({ do: 'approve', id: rows.map(({ id }) => id) })
    })
    await runAgain(world)
    // The stream leaves this update out, so the sweep starts it. It costs more than estimated, which freezes its budget.
    await put('frail', { limits: [{ window: 'month', units: 500 }], freezeOnOverrun: true })
    product.service.script('/on-demand/overrun/run', json({ data: { keyword_units: 100 } }))
    const overrun = { kind: 'ranking', project: 'overrun', budget: 'frail' }
    await product.call('POST', '/updates', { body: overrun, headers: { prefer: 'respond-async' } })
    product.clock.advance(minutes(3))
    await who.run('scheduled', () => product.triggers.sweep(product.endsAt()))
    await deliver()

    expect(of('slack')).toEqual(mayWrite('SlackApp'))
    expect(of('tell')).toEqual(mayWrite('OutboxTell'))
    // Each of these holds, settles and changes the definitions: a person, a command of Slack, an overrun.
    expect(of('dashboard')).toEqual(['issuer-keys#', 'rerun#', 'update#'].map((key) => `dynamodb:PutItem ${key}`))
    expect(of('api')).toContain('dynamodb:PutItem issuer-keys#')
    expect(mayWrite('Dashboard')).toEqual(
      mayWrite('Api').flatMap((each) => ['occurrence#', 'sweep#'].map((key) => `${each}any but ${key}`)),
    )
    for (const [name, role] of [
      ['api', 'Api'],
      ['start', 'OutboxStart'],
      ['scheduled', 'Scheduled'],
    ] as const) {
      expect(of(name), name).toEqual(
        expect.arrayContaining([
          ...['announcement#', 'definitions', 'entry#', 'update#', 'work#'].map((key) => `dynamodb:PutItem ${key}`),
          'dynamodb:UpdateItem book',
        ]),
      )
      expect(mayWrite(role), role).toEqual(
        Object.values(actions)
          .map((action) => `${action} `)
          .toSorted(),
      )
    }
  })
})
