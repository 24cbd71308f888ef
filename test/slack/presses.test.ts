import { describe, expect, test } from 'vitest'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { hours, minutes } from '../support/clock.ts'
import { json } from '../support/product.ts'
import { listPeople, textsOf } from '../support/slack/slack.ts'
import { month, says, startTalk } from '../support/slack/talk.ts'

/** Above 100 units an update of seo needs approval. `dear` costs 640. Bob requests over HTTP; Ada, Carl and Dora may approve. */
async function strictProduct({ budget = {}, isRealStore = false }: { budget?: object; isRealStore?: boolean } = {}) {
  const people = {
    U1ADA: { scopes: ['read', 'run', 'approve', 'admin'] },
    U2BOB: { scopes: ['read', 'run', 'approve'], budgets: ['seo'], person: 'bob' },
    U3CARL: { scopes: ['approve'] },
    U4DORA: { scopes: ['approve'] },
    U5RITA: { scopes: ['read'] },
  }
  const seo = { limits: month(5_000), approvalAbove: 100, ...budget }
  const talk = await startTalk({ budgets: { seo }, people }, { units: { dear: 640 }, isRealStore })
  const { product, news } = talk
  const bob = product.signed({ sub: 'bob', scope: 'read run approve', budgets: '*', exp: product.inDays(30) })
  const ask = async (project = 'dear') => {
    const { body } = await product.update({ kind: 'ranking', project, budget: 'seo' }, { token: bob })
    return { id: String(body.updates[0].id), told: await news() }
  }
  const press = (action: string, value: string, user = 'U3CARL', block?: string) =>
    talk.press(action, value, { user, ...(block !== undefined && { block }) })
  /** The last line of the last message. */
  const decidedBy = () => textsOf(product.slack.posted().at(-1) ?? { to: 'asker', text: '', body: {} }).at(-1)
  return { ...talk, ask, press, decidedBy }
}

const done = 'place: ✅ .*dear is done: 640 units charged to seo'
const soon = (by: string) => `place: ⏳ .*dear was approved by <@${by}>` as const

describe('approve and reject', () => {
  test('an approved message is edited at once with the decision, and again with the outcome', async () => {
    const { product, ask, press, updateOf } = await strictProduct()
    const { id } = await ask()
    expect(await press('approve', id)).toEqual(says(soon('U3CARL'), done))
    for (const message of product.slack.posted().slice(-2)) {
      expect(textsOf(message).at(-1)).toMatch(/^Decided by <@U3CARL> · <!date\^1795168800\^/)
      expect(message.body.response_type).toBeUndefined()
      expect(message.body.blocks.map(({ type }: { type: string }) => type)).not.toContain('actions')
    }
    expect(await updateOf(id)).toMatchObject({ state: 'settled', approvedBy: 'slack:U3CARL', caller: 'bob' })
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test('a user who is listed meanwhile may press the same button again', async () => {
    const { product, ask, press } = await strictProduct()
    const { id } = await ask()
    expect(await press('approve', id, 'U8NEW')).toEqual(says('private: list you as the caller slack:U8NEW'))
    await listPeople(product, { U8NEW: { scopes: ['approve'] } })
    expect(await press('approve', id, 'U8NEW')).toEqual(says(soon('U8NEW'), done))
  })

  test('a press that is delivered twice, even after its answer, is one item with one answer', async () => {
    const { product, ask, sweep } = await strictProduct()
    const { id } = await ask()
    // Rita may not approve: the answer to each of her presses has the reason.
    const deliver = () => product.slack.press('approve', id, { user: 'U5RITA', trigger: '12.34.same' })
    await deliver()
    await deliver()
    expect((await product.guard.ledger.queue(slackEvents).open(10)).rows).toHaveLength(1)
    await product.deliver()
    await deliver()
    await product.deliver()
    expect((await sweep(minutes(3))).filter((line) => line.startsWith('private'))).toHaveLength(1)
  })

  test('several presses by several people in two processes make one decision and one run', async () => {
    const { product, ask, updateOf } = await strictProduct({ isRealStore: true })
    const { id } = await ask()
    for (const user of ['U3CARL', 'U3CARL', 'U4DORA', 'U1ADA']) await product.slack.press('approve', id, { user })
    const other = product.startProcess()
    const { rows } = await product.guard.ledger.queue(slackEvents).open(10)
    expect(rows).toHaveLength(4)
    await Promise.all([...rows.map((event) => other.slack.answer(event.id)), product.deliver()])
    // The real store's stream needs time.
    const isOver = async () =>
      (await updateOf(id)).state === 'settled' && (await product.guard.ledger.announcements.open(1)).rows.length === 0
    while (!(await isOver())) await product.deliver()
    expect(product.seen('run')).toHaveLength(1)
    const { state, approvedBy, history } = await updateOf(id)
    expect(state).toBe('settled')
    expect(history.filter((line: { by: string }) => line.by.startsWith('slack:'))).toHaveLength(1)
    const told = product.slack.news().filter(({ to }) => to === 'asker')
    // Every user who pressed, first or too late, sees no button and the same name.
    for (const { body } of told) expect(JSON.stringify(body)).toContain(`<@${approvedBy.replace('slack:', '')}>`)
    for (const { body } of told)
      expect([body.replace_original, JSON.stringify(body)]).toEqual([true, expect.not.stringContaining('"button"')])
    expect(await product.figures('seo')).toMatchObject({ available: 4_360, spent: 640, held: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('approval: process dies between the decision and its answer: the next process answers, also with the outcome', async () => {
    const { product, ask, news, updateOf } = await strictProduct()
    const { id } = await ask()
    await product.slack.press('approve', id, { user: 'U3CARL' })
    const [event] = (await product.guard.ledger.queue(slackEvents).open(1)).rows
    await product.guard.decide('approve', id, { caller: 'slack:U3CARL' }, { replyTo: event?.id ?? '' })
    expect(await news()).toEqual(says(soon('U3CARL'), done))
    expect((await updateOf(id)).state).toBe('settled')
    expect(product.seen('run')).toHaveLength(1)
  })

  test('a button that is pressed too late shows the decision with its author, and disappears', async () => {
    const { product, ask, press, decidedBy } = await strictProduct({ budget: { approvers: [] } })
    const { id } = await ask()
    await press('approve', id)
    for (const action of ['approve', 'reject']) {
      expect(await press(action, id, 'U4DORA')).toEqual(says(done))
      expect(decidedBy()).toMatch(/^Decided by <@U3CARL> · /)
    }
    // The work was done today, so a second request is answered with the same update and needs no approval.
    expect(await ask()).toEqual({ id, told: [] })
    expect(product.seen('run')).toHaveLength(1)
  })

  /** An update that was announced at 640 units and approved, and then needed 4,000. The first message may be pressed again. */
  async function grown() {
    const strict = await strictProduct()
    const { product, ask } = strict
    const { id } = await ask()
    const block = product.slack.block()
    expect(block).toBe(`shown:640:${id}`)
    product.clock.advance(minutes(1))
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: 4_000 }))
    return { ...strict, id, block }
  }
  const outgrown = says('place: needs 4,000 units now, and you were shown 640, so it was not approved')

  test('an old button approves only the old figure, and a new one the new figure', async () => {
    const { product, press, updateOf, id, block } = await grown()
    await press('approve', id, 'U3CARL', block)
    expect(await updateOf(id)).toMatchObject({ state: 'awaiting-approval', units: { estimated: 4_000 } })
    expect(product.slack.block()).toBe(`shown:4000:${id}`)
    expect(await press('approve', id, 'U4DORA', block)).toEqual(outgrown)
    expect([(await updateOf(id)).state, product.seen('run')]).toEqual(['awaiting-approval', []])
    await product.slack.press('approve', id, { user: 'U4DORA', block: product.slack.block() })
    await product.deliver()
    const ended = product.slack.news().filter(({ text }) => text.startsWith('✅'))
    const by = 'Decided by <@U4DORA>'
    expect(ended.map((message) => textsOf(message).at(-1)?.split(' · ')[0])).toEqual([by, by])
  })

  test('a press that the sweep repeats approves no more than it showed', async () => {
    const { product, press, sweep, updateOf, id, block } = await grown()
    const fails = { status: 500 }
    product.slack.answers(fails, fails, fails, fails, { status: 200, body: 'ok' })
    await press('approve', id, 'U3CARL', block)
    expect((await updateOf(id)).state).toBe('awaiting-approval')
    expect(await sweep(minutes(5))).toContainEqual(outgrown[0])
    expect([(await updateOf(id)).state, product.seen('run')]).toEqual(['awaiting-approval', []])
  })
})

describe('in doubt', () => {
  test('two people who disagree at the same moment give one valid resolution, which both see', async () => {
    const { product, ask, news, updateOf } = await strictProduct()
    product.service.script('/on-demand/cheap/run', { status: 500 })
    const { id } = await ask('cheap')
    product.clock.advance(hours(1))
    await product.slack.press('resolve-ran', id, { user: 'U3CARL' })
    await product.slack.press('resolve-did-not-run', id, { user: 'U4DORA' })
    const told = await news()
    const sign = (await updateOf(id)).state === 'settled' ? '✅' : '↩️'
    expect(told).toEqual(says(`place: ${sign}`, `place: ${sign}`))
    expect(await product.audit()).toBe(true)
  })
})

describe('uses of a response_url', () => {
  test('an outcome after thirty minutes is sent to the channel', async () => {
    const { product, ask, press, offered, updates } = await strictProduct()
    await press('confirm', await offered('run ranking dear budget=seo'), 'U2BOB')
    const [{ id }] = await updates()
    product.clock.advance(minutes(30))
    const told = await press('approve', id)
    expect(told).toHaveLength(3)
    for (const row of says(done, 'channel: ✅ .*640 units charged to seo')) expect(told).toContainEqual(row)
    expect((await ask('other')).id).not.toBe(id)
  })

  test('a response_url takes five messages, and the sixth goes to the channel', async () => {
    const { product, press, ask, news } = await strictProduct()
    const { id } = await ask()
    await press('approve', id)
    const events = product.guard.ledger.queue(slackEvents)
    expect((await events.open(10)).rows).toEqual([])
    const event = { id: 'prs_used', version: 1, createdAt: product.clock.now(), user: 'U3CARL', answers: 5 }
    const pressed = { kind: 'press', action: 'approve', value: id, responseUrl: 'http://127.0.0.1:9/never' } as const
    await events.add({ ...event, ...pressed })
    expect(await news()).toEqual(says('channel: ✅ .*640 units charged to seo'))
  })

  test('an answer goes to the channel if its response_url is used up or Slack answers 404', async () => {
    const { product, ask, press } = await strictProduct()
    const { id } = await ask()
    product.slack.answers({ status: 404, body: 'used_url' }, { status: 200, body: 'ok' })
    expect((await press('approve', id)).map((line) => line.split(':')[0])).toEqual(['place', 'channel', 'place'])
    expect(product.seen('run')).toHaveLength(1)
  })
})
