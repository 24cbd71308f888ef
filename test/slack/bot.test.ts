import { describe, expect, test } from 'vitest'
import { digest } from '../../shared/platform/ids.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { chanceOf } from '../simulation/workloads/chance.ts'
import { hours, minutes } from '../support/clock.ts'
import { json, startProduct } from '../support/product.ts'
import { announced, channel, listPeople, slackSecretOf } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const month = (units: number) => [{ window: 'month', units }]

/** Above 100 units an update of seo needs approval. `dear` costs 640; `doubtful` ends in doubt. */
async function botProduct(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({
    bot: true,
    slack: true,
    store: createMemoryStore(),
    units: { dear: 640, dearer: 700 },
    ...options,
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: month(5_000), approvalAbove: 100 } })
  await listPeople(product, {
    U1ADA: { scopes: ['read', 'run', 'approve', 'admin'], budgets: '*' },
    U2BOB: { scopes: ['read', 'approve'] },
  })
  product.service.script('/on-demand/doubtful/run', { status: 500 })
  await product.deliver()
  const { recorder } = product.slack
  if (!recorder) throw new Error('there is no recorder')
  const ask = async (...projects: string[]): Promise<string[]> => {
    const { body } = await product.update({ kind: 'ranking', projects, budget: 'seo', whenShort: 'fit' })
    await product.deliver()
    return body.updates.map(({ id }: { id: string }) => id)
  }
  const carl = product.signed({ sub: 'carl', scope: 'read approve', budgets: '*' })
  const decide = async (id: string, verb: string, body: object = {}) => {
    await product.call('POST', `/updates/${id}/${verb}`, { token: carl, body })
    await product.deliver()
  }
  const sweep = async (afterMs: number) => {
    product.clock.advance(afterMs)
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
  }
  /** Each message in its present form, with its number of edits and its buttons. */
  const shown = () =>
    recorder.messages.map(({ text, edits, blocks, channel }) => ({
      text,
      edits,
      channel,
      buttons: blocks.flatMap((block) =>
        block.type === 'actions'
          ? block.elements.flatMap((each) => ('value' in each ? `${each.action_id} ${each.value}` : []))
          : [],
      ),
    }))
  return { product, recorder, ask, decide, sweep, shown }
}

describe('the edit of a message after a decision', () => {
  test.each([
    ['approved with the API', 'approve', /is done: 640 units charged to seo/],
    ['rejected with the API', 'reject', /was rejected by carl/],
  ])('a message is edited when its update is %s', async (_, verb, outcome) => {
    const { ask, decide, shown } = await botProduct()
    const [id = ''] = await ask('dear')
    expect(shown()).toMatchObject([
      { channel, edits: 0, buttons: [`approve ${id}`, `approve-up-to ${id}`, `reject-because ${id}`] },
    ])
    await decide(id, verb)
    const [message, ...others] = shown()
    expect([others, message?.buttons]).toEqual([[], []])
    expect(message?.text).toMatch(outcome)
  })

  test('a message is edited when its doubt is resolved with the API, and when its approval expires', async () => {
    const { product, ask, decide, sweep, shown } = await botProduct()
    const [doubt = ''] = await ask('doubtful')
    expect(shown()[0]?.buttons).toEqual([`resolve-ran ${doubt}`, `resolve-did-not-run ${doubt}`])
    await decide(doubt, 'resolve', { outcome: 'ran', reason: 'seen on the screen' })
    expect(shown()[0]).toMatchObject({ buttons: [], edits: 1 })
    await ask('dear')
    product.clock.advance(hours(23))
    await sweep(hours(2))
    expect(shown().map(({ buttons }) => buttons)).toEqual([[], []])
    expect(shown()[1]?.text).toContain('expired')
  })

  test('a message changes once for all readers when its button is pressed in Slack', async () => {
    const { product, ask, recorder, shown } = await botProduct()
    const [id = ''] = await ask('dear')
    const [{ ts = '' } = {}] = recorder.messages
    await product.slack.press('approve', id, { ts, block: `shown:640:${id}`, user: 'U2BOB' })
    await product.deliver()
    expect(product.slack.posted()).toEqual([])
    expect(shown()).toMatchObject([{ buttons: [], text: expect.stringContaining('is done: 640 units') }])
  })

  test('several projects of one request are one message, which decides each project separately', async () => {
    const { ask, decide, shown } = await botProduct()
    const [dear = '', dearer = ''] = await ask('dear', 'dearer')
    expect(shown()).toMatchObject([{ text: expect.stringContaining('2 of 2 need approval') }])
    expect(shown()[0]?.buttons).toHaveLength(6)
    await decide(dear, 'reject')
    expect(shown()[0]?.buttons).toEqual([`approve ${dearer}`, `approve-up-to ${dearer}`, `reject-because ${dearer}`])
    await decide(dearer, 'approve')
    expect(shown()).toMatchObject([{ buttons: [], text: expect.stringContaining('All are decided.') }])
  })

  /** The projects of each message, as its updates name them. */
  const projectsIn = async ({ product, shown }: Awaited<ReturnType<typeof botProduct>>) => {
    const ids = shown().map(({ buttons }) => [...new Set(buttons.map((each) => each.split(' ')[1] ?? ''))])
    const asking = ids.filter(({ length }) => length > 0)
    const found = await Promise.all(asking.map((each) => product.guard.ledger.updatesNamed(each)))
    return found.map((updates) => updates.map((update) => update?.project))
  }
  const over100 = { limits: month(50_000), approvalAbove: 100 }

  test('updates of two requests of one caller at one time are two messages', async () => {
    const units = { a: 200, b: 200, c: 200, d: 200 }
    const bot = await botProduct({ units })
    await bot.ask('a', 'b')
    await bot.ask('c', 'd')
    expect(await projectsIn(bot)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  test('a request that is repeated after a rejection is a message of its own', async () => {
    const bot = await botProduct({ units: { a: 200, b: 200 } })
    const [, second = ''] = await bot.ask('a', 'b')
    await bot.decide(second, 'reject')
    bot.product.clock.advance(1)
    await bot.ask('a', 'b')
    expect(await projectsIn(bot)).toEqual([['a'], ['b']])
  })

  test('updates of one request for budgets with channels of their own go to each channel', async () => {
    const bot = await botProduct({ units: { a: 200, b: 200, c: 200 } })
    const { call } = bot.product
    await call('PUT', '/budgets/seo', { body: { ...over100, slackChannel: 'C0SEO', projects: [{ name: 'b' }] } })
    await call('PUT', '/budgets/ads', { body: { ...over100, projects: [{ name: 'a' }, { name: 'c' }] } })
    await bot.product.update({ kind: 'ranking', projects: ['a', 'b', 'c'], whenShort: 'fit' })
    await bot.product.deliver()
    expect(await projectsIn(bot)).toEqual([['a', 'c'], ['b']])
    expect(bot.shown().map((each) => each.channel)).toEqual([channel, 'C0SEO'])
  })

  test('two plans of one minute, and two times of one plan, are messages of their own', async () => {
    const units = { a: 200, b: 200, c: 200, d: 200 }
    const plan = { kind: 'ranking', budget: 'seo', schedule: 'cron(0 10 * * ? *)', whenShort: 'ask' }
    const down = new Set<string>()
    const bot = await botProduct({
      units,
      plans: [
        { ...plan, name: 'night', projects: ['a', 'b'] },
        { ...plan, name: 'other', projects: ['c', 'd'] },
      ],
      service: ({ url }) => (down.has(url.split('/')[3] ?? '') ? { status: 404 } : undefined),
    })
    const { triggers, endsAt, deliver, clock } = bot.product
    const fire = async (name: string) => {
      await triggers.handle({ plan: name, time: new Date(clock.now()).toISOString() }, endsAt())
      await deliver()
    }
    await fire('night')
    await fire('other')
    expect(await projectsIn(bot)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    clock.advance(hours(12))
    // The waiting update of c stays, because its next request has no price.
    down.add('c')
    await fire('other')
    expect(await projectsIn(bot)).toEqual([['a', 'b'], ['c'], ['d']])
  })

  test('updates of two commands of one person are two messages', async () => {
    const units = { a: 200, b: 200, c: 200, d: 200 }
    const bot = await botProduct({ units })
    const { slack, deliver } = bot.product
    for (const projects of ['a b', 'c d']) {
      await slack.command(`run ranking ${projects} budget=seo`, { user: 'U1ADA' })
      await deliver()
      await slack.press('confirm', slack.buttons()[0]?.value ?? '', { user: 'U1ADA' })
      await deliver()
    }
    expect(await projectsIn(bot)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
  })

  test.each([1, 2, 3])('a message has at most seven updates of a plan, each with its text: order %i', async (seed) => {
    const names = Array.from({ length: 32 }, (_, number) => `p${number}`)
    const plan = { name: 'night', kind: 'ranking', budget: 'seo', schedule: 'cron(0 10 * * ? *)', projects: names }
    const bot = await botProduct({ units: Object.fromEntries(names.map((name) => [name, 200])), plans: [plan] })
    const { call, triggers, endsAt, deliver, clock, guard, startProcess } = bot.product
    await call('PUT', '/budgets/seo', { body: over100 })
    await triggers.handle({ plan: 'night', time: new Date(clock.now()).toISOString() }, endsAt())
    const { slack } = startProcess()
    const [chance, waiting] = [chanceOf(seed), [...(await guard.ledger.announcements.open(50)).rows]]
    while (waiting.length > 0) {
      const [news] = waiting.splice(chance(waiting.length), 1)
      await slack.tell([announced(news?.id ?? '')])
    }
    await deliver()
    const told = await projectsIn(bot)
    expect(Math.max(...told.map(({ length }) => length))).toBe(7)
    expect(told.flat().toSorted()).toEqual(names.toSorted())
    for (const { blocks } of bot.recorder.messages) expect(JSON.stringify(blocks)).not.toContain('This message was cut')
  })

  test('updates of a plan that still runs join its last message until it has seven', async () => {
    const names = Array.from({ length: 16 }, (_, number) => `p${number}`)
    const plan = { name: 'night', kind: 'ranking', budget: 'seo', schedule: 'cron(0 10 * * ? *)', projects: names }
    let tell = async () => {}
    const bot = await botProduct({
      plans: [plan],
      service: ({ url }) => (url.endsWith('/estimate') ? { ...json({ keyword_units: 200 }), once: tell() } : undefined),
    })
    const { triggers, endsAt, deliver, clock } = bot.product
    tell = async () => {
      await deliver()
      clock.advance(1_000)
    }
    await triggers.handle({ plan: 'night', time: new Date(clock.now()).toISOString() }, endsAt())
    await deliver()
    expect(await projectsIn(bot)).toEqual([names.slice(0, 7), names.slice(7, 14), names.slice(14)])
  })

  test('a budget may name its own channel, and an unknown channel loses no message', async () => {
    const { product, ask, shown } = await botProduct()
    await product.call('PUT', '/budgets/seo', {
      body: { limits: month(5_000), approvalAbove: 100, slackChannel: 'C0SEO' },
    })
    await ask('dear')
    await product.call('PUT', '/budgets/seo', {
      body: { limits: month(5_000), approvalAbove: 100, slackChannel: 'C0GONE' },
    })
    await ask('dearer')
    expect(shown().map((each) => each.channel)).toEqual(['C0SEO', channel])
  })
})

describe('a Web API that fails', () => {
  test('notify: answer lost: the message may be sent twice, and the last known one is edited', async () => {
    const { recorder, ask, decide, sweep, shown } = await botProduct()
    recorder.fail({ method: 'chat.postMessage', isAnswerLost: true })
    const [id = ''] = await ask('dear')
    await sweep(minutes(3))
    expect(shown().map(({ edits }) => edits)).toEqual([0, 0])
    await decide(id, 'reject')
    expect(shown().map(({ buttons }) => buttons.length)).toEqual([3, 0])
  })

  test.each([
    [{ error: 'ratelimited', retryAfterSeconds: 30 }],
    [{ error: 'internal_error' }],
    [{ isAnswerLost: true }],
  ] as const)('the sweep repeats a failed edit (%o)', async (fault) => {
    const { product, recorder, ask, decide, sweep, shown } = await botProduct()
    const [id = ''] = await ask('dear')
    recorder.fail({ method: 'chat.update', ...fault })
    await decide(id, 'reject')
    await sweep(minutes(3))
    expect(shown()).toMatchObject([{ buttons: [] }])
    expect((await product.guard.ledger.announcements.open(10)).rows).toEqual([])
  })

  test('a message that a person deleted is left alone', async () => {
    const { product, recorder, ask, decide } = await botProduct()
    const [id = ''] = await ask('dear')
    recorder.messages.length = 0
    await decide(id, 'reject')
    expect((await product.guard.ledger.announcements.open(10)).rows).toEqual([])
    expect(recorder.messages).toEqual([])
  })

  test('a rotated token is read again, and if Slack refuses a token, the message goes to the webhook', async () => {
    const { product, ask, shown } = await botProduct()
    const secret = product.secrets.values['unit-guard/slack'] ?? ''
    const { webhookUrl } = JSON.parse(secret)
    product.secrets.values['unit-guard/slack'] = slackSecretOf(webhookUrl, 'xoxb-canary-slack-old-token')
    product.clock.advance(minutes(6))
    await ask('dear')
    expect([shown(), product.slack.posted().length]).toEqual([[], 1])
    product.secrets.values['unit-guard/slack'] = secret
    product.clock.advance(minutes(1))
    await ask('dearer')
    expect(shown()).toHaveLength(1)
  })

  test('without the token, all messages go to the webhook with their usual buttons', async () => {
    const { product, ask } = await botProduct()
    const { webhookUrl } = JSON.parse(product.secrets.values['unit-guard/slack'] ?? '{}')
    product.secrets.values['unit-guard/slack'] = slackSecretOf(webhookUrl)
    product.clock.advance(minutes(6))
    const [id = ''] = await ask('dear')
    expect(product.slack.buttons()).toEqual([
      { action: 'approve', value: id },
      { action: 'reject', value: id },
    ])
    expect(product.slack.recorder?.calls).toEqual([])
  })
})

describe('forms', () => {
  test('Approve up to… and Reject… open a form, and its submission acts like the press', async () => {
    const { product, recorder, ask, shown } = await botProduct()
    const [dear = '', dearer = ''] = await ask('dear', 'dearer')
    const [{ ts = '' } = {}] = recorder.messages
    const press = (action: string, id: string, units: number) =>
      product.slack.press(action, id, { user: 'U2BOB', ts, block: `shown:${units}:${id}` })
    await press('approve-up-to', dear, 640)
    const refused = await product.slack.submit({ units: '600' }, { user: 'U2BOB' })
    expect(await refused.json()).toEqual({
      response_action: 'errors',
      errors: { units: 'must be at least the estimate shown, 640' },
    })
    for (let times = 0; times < 2; times++) await product.slack.submit({ units: '800' }, { user: 'U2BOB' })
    await press('reject-because', dearer, 700)
    await product.slack.submit({ reason: 'too dear' }, { user: 'U2BOB' })
    await product.deliver()
    const [approved, rejected] = await product.guard.ledger.updatesNamed([dear, dearer])
    expect([approved?.state, approved?.approval?.units]).toEqual(['settled', 800])
    expect([rejected?.state, rejected?.history.at(-1)?.note]).toEqual(['rejected', 'too dear'])
    expect([shown()[0]?.buttons, product.slack.posted()]).toEqual([[], []])
  })

  test('a press is acknowledged and says to try again if Slack does not open its form within 1.5 seconds', async () => {
    const { product, recorder, ask } = await botProduct()
    const [id = ''] = await ask('dear')
    recorder.fail({ method: 'views.open', delayMs: 2_000 })
    const from = performance.now()
    expect((await product.slack.press('reject-because', id)).status).toBe(200)
    expect(performance.now() - from).toBeLessThan(3_000)
    await product.deliver()
    expect(product.slack.posted().map(({ to, text }) => [to, text])).toEqual([
      ['asker', 'Slack did not open the form in time, so nothing was done. Please press the button again.'],
    ])
    expect((await product.guard.ledger.update(id))?.state).toBe('awaiting-approval')
  })
})

describe('remedies', () => {
  test('Unfreeze ends only the freeze of its own message', async () => {
    const { product, shown } = await botProduct()
    const freeze = async () => {
      await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
      await product.deliver()
      const [action = '', value = ''] = shown().at(-1)?.buttons[0]?.split(' ') ?? []
      return { action, value }
    }
    const isFrozen = async () => (await product.call('GET', '/budgets/seo')).body.frozen !== false
    const press = async ({ action, value }: { action: string; value: string }, user: string) => {
      await product.slack.press(action, value, { user })
      await product.deliver()
    }
    const first = await freeze()
    await press(first, 'U2BOB')
    expect(await isFrozen()).toBe(true)
    await press(first, 'U1ADA')
    expect(await isFrozen()).toBe(false)
    product.clock.advance(minutes(1))
    const second = await freeze()
    await press(first, 'U1ADA')
    expect(await isFrozen()).toBe(true)
    await press(second, 'U1ADA')
    expect(await isFrozen()).toBe(false)
  })

  const grantButton = ({ shown }: Awaited<ReturnType<typeof botProduct>>) =>
    shown()
      .flatMap(({ buttons }) => buttons)
      .flatMap((each) => each.match(/^grant-units (.*)$/)?.[1] ?? [])
      .at(-1) ?? ''

  test('Grant units… books a grant once', async () => {
    const bot = await botProduct()
    const { product } = bot
    await product.call('PUT', '/budgets/seo', { body: { limits: month(45) } })
    await bot.ask('acme')
    expect(grantButton(bot)).toMatch(/^month:\d+:seo$/)
    await product.slack.press('grant-units', grantButton(bot))
    const refused = await product.slack.submit({ units: '0', reason: '' })
    expect(await refused.json()).toMatchObject({ errors: { units: expect.any(String), reason: expect.any(String) } })
    for (let times = 0; times < 2; times++) await product.slack.submit({ units: '100', reason: 'a new client' })
    await product.deliver()
    expect(await product.figures('seo')).toMatchObject({ granted: 100 })
  })

  test('Grant units… of a day’s alert grants units of the day, and nothing after that day', async () => {
    const bot = await botProduct()
    const { product, recorder } = bot
    await product.call('PUT', '/budgets/seo', { body: { limits: [...month(5_000), { window: 'day', units: 45 }] } })
    await bot.ask('acme')
    const granted = async (units: string) => {
      await product.slack.submit({ units, reason: 'a new client' })
      await product.deliver()
      const { windows } = (await product.call('GET', '/budgets/seo')).body
      return windows.map((each: { window: string; granted: number }) => `${each.window} ${each.granted}`)
    }
    await product.slack.press('grant-units', grantButton(bot))
    expect(JSON.stringify(recorder.modals.at(-1))).toContain('seo gets these units once, today.')
    expect(await granted('7')).toEqual(['month 0', 'day 7'])
    await product.slack.press('grant-units', grantButton(bot))
    product.clock.advance(hours(24))
    expect(await granted('8')).toEqual(['month 0', 'day 0'])
    expect(product.slack.news().at(-1)?.text).toContain('That day is over, so nothing was granted.')
  })

  test('a grant that a process booked before it died is not denied after its day', async () => {
    const bot = await botProduct()
    const { product } = bot
    await product.call('PUT', '/budgets/seo', { body: { limits: [...month(5_000), { window: 'day', units: 45 }] } })
    await bot.ask('acme')
    product.clock.advance(hours(14) - 30_000)
    await product.slack.press('grant-units', grantButton(bot))
    await product.slack.submit({ units: '7', reason: 'a new client' })
    const [{ id } = { id: '' }] = (await product.guard.ledger.queue(slackEvents).open(9)).rows
    await product.guard.ledger.enter({
      id: `ent_${digest('slack', id)}`,
      content: id,
      type: 'grant',
      window: 'day',
      wholeChain: false,
      budget: 'seo',
      units: 7,
      reason: 'a new client',
      by: 'slack:U1ADA',
    })
    product.clock.advance(minutes(1))
    await product.deliver()
    expect(product.slack.news().at(-1)?.text).toContain('seo has 7 units more')
  })

  test('Grant units… of an older message, which names no window, grants units of this month', async () => {
    const { product } = await botProduct()
    await product.slack.press('grant-units', 'seo')
    await product.slack.submit({ units: '100', reason: 'a new client' })
    await product.deliver()
    expect(await product.figures('seo')).toMatchObject({ granted: 100 })
  })
})

describe('App Home', () => {
  const opened = { type: 'app_home_opened', user: 'U2BOB', tab: 'home' }
  const homeOf = ({ recorder }: Awaited<ReturnType<typeof botProduct>>, user = 'U2BOB') =>
    JSON.stringify(recorder.homes.get(user))

  test('App Home answers Slack’s challenge, refuses a wrong signature, and handles an event once', async () => {
    const { product, recorder } = await botProduct()
    const challenge = await product.slack.sendBody(
      '/slack/events',
      JSON.stringify({ type: 'url_verification', challenge: 'abc' }),
    )
    expect(await challenge.json()).toEqual({ challenge: 'abc' })
    const forged = await product.slack.sendBody('/slack/events', '{}', { 'x-slack-signature': 'v0=' })
    expect(forged.status).toBe(401)
    for (let times = 0; times < 2; times++) await product.slack.event(opened, 'Ev1')
    await product.slack.event({ type: 'reaction_added', user: 'U2BOB' })
    await product.deliver()
    expect(recorder.calls.map(({ method }) => method)).toEqual(['views.publish'])
  })

  test('App Home shows what is left at the reset as the overview does', async () => {
    const bot = await botProduct()
    const { product } = bot
    const body = { type: 'external-spend', units: 60_000, reason: 'elsewhere' }
    await product.call('POST', '/budgets/account/entries', { body })
    await product.slack.event(opened)
    await product.deliver()
    expect(homeOf(bot)).toContain('*−10,000 units* with plans only')
  })

  test('App Home shows waiting decisions, decides them, and explains a refusal', async () => {
    const bot = await botProduct()
    const { product, ask } = bot
    const [id = ''] = await ask('dear')
    await product.slack.event(opened)
    await product.deliver()
    expect(homeOf(bot)).toContain(`"value":"${id}"`)
    await product.slack.press('approve', id, { user: 'U2BOB', isHome: true, block: `shown:600:${id}` })
    await product.deliver()
    expect(homeOf(bot)).toContain('needs 640 units now')
    await product.slack.press('approve', id, { user: 'U2BOB', isHome: true, block: `shown:640:${id}` })
    await product.deliver()
    expect(homeOf(bot)).toContain('No update needs a decision.')
    expect(homeOf(bot)).not.toContain('was approved by')
  })

  test('App Home tells an unlisted user whom to ask, and shows no figures', async () => {
    const bot = await botProduct()
    await bot.ask('dear')
    await bot.product.slack.event({ ...opened, user: 'U9NEW' })
    await bot.product.deliver()
    expect(homeOf(bot, 'U9NEW')).toContain('slack:U9NEW')
    expect(homeOf(bot, 'U9NEW')).not.toContain('dear')
  })
})
