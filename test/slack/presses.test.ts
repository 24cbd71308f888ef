import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { days, hours, minutes } from '../support/clock.ts'
import { json, startProduct } from '../support/product.ts'
import { listPeople, textsOf } from '../support/slack/slack.ts'

const month = (units: number) => [{ window: 'month', units }]

/** Above 100 units of seo a person has to agree; `dear` costs 640. Bob asks over HTTP; Ada, Carl and Dora may approve. */
async function strictProduct(
  how: { budget?: object; store?: 'real'; service?: Parameters<typeof startProduct>[0] } = {},
) {
  const product = await startProduct({
    slack: true,
    units: { dear: 640 },
    ...(how.store !== 'real' && { store: createMemoryStore() }),
    ...how.service,
  })
  await product.call('PUT', '/budgets/seo', { body: { limits: month(5_000), approvalAbove: 100, ...how.budget } })
  await listPeople(product, {
    U1ADA: { scopes: ['read', 'run', 'approve', 'admin'] },
    U2BOB: { scopes: ['read', 'run', 'approve'], budgets: ['seo'], person: 'bob' },
    U3CARL: { scopes: ['approve'] },
    U4DORA: { scopes: ['approve'] },
    U5RITA: { scopes: ['read'] },
  })
  const exp = Math.floor(product.clock.now() / 1000) + 30 * 24 * 3600
  const bob = product.signed({ sub: 'bob', scope: 'read run approve', budgets: '*', exp })
  await product.deliver()
  product.slack.news()
  const ask = async (project = 'dear') => {
    const { body } = await product.update({ kind: 'ranking', project, budget: 'seo' }, { token: bob })
    await product.deliver()
    return { id: String(body.updates[0].id), told: product.slack.news() }
  }
  const press = async (action: string, value: string, user = 'U3CARL', message?: string) => {
    await product.slack.press(action, value, { user, ...(message !== undefined && { message }) })
    await product.deliver()
    return product.slack.news().map(({ to, text, body }) => ({ to, text, replaces: body.replace_original === true }))
  }
  const updateOf = async (id: string) => (await product.call('GET', `/updates/${id}`)).body
  return { product, ask, press, bob, updateOf }
}

const instead = (text: string) => ({ to: 'asker', text, replaces: true })
const privately = (text: string) => ({ to: 'asker', text, replaces: false })
const done = instead('✅ The ranking update of dear is done: 640 units charged to seo.')
const soon = (by: string) =>
  instead(
    `⏳ The ranking update of dear was approved by <@${by}> and will begin in a moment. Nothing has been spent yet.`,
  )

describe('approve and reject', () => {
  test('the channel is asked, with the reason and the two buttons', async () => {
    const { product, ask } = await strictProduct()
    const { id, told } = await ask()
    expect(told.map(({ to, text }) => [to, text])).toEqual([
      [
        'channel',
        'bob asks for a ranking update of dear. It would spend 640 units of seo. It needs approval by 21 Nov 2026 10:00 UTC.',
      ],
    ])
    expect(product.slack.buttons()).toEqual([
      { action: 'approve', value: id },
      { action: 'reject', value: id },
    ])
  })

  test('approved: the message is edited at once, and again to the outcome; it says who decided', async () => {
    const { product, ask, press, updateOf } = await strictProduct()
    const { id } = await ask()
    expect(await press('approve', id)).toEqual([soon('U3CARL'), done])
    const [accepted, ended] = product.slack.posted().slice(-2)
    for (const message of [accepted, ended]) {
      expect(message && textsOf(message).at(-1)).toMatch(/^Decided by <@U3CARL> · <!date\^1795168800\^/)
      expect(message?.body.response_type).toBeUndefined()
      expect(message?.body.blocks.map(({ type }: { type: string }) => type)).not.toContain('actions')
    }
    expect(await updateOf(id)).toMatchObject({ state: 'settled', approvedBy: 'slack:U3CARL', caller: 'bob' })
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.audit()).toBe(true)
  })

  test('rejected: edited, for good, nothing spent', async () => {
    const { product, ask, press, updateOf } = await strictProduct()
    const { id } = await ask()
    expect(await press('reject', id)).toEqual([
      instead('⛔ The ranking update of dear was rejected by <@U3CARL>. Nothing was spent.'),
    ])
    expect((await updateOf(id)).state).toBe('rejected')
    expect(product.seen('run')).toEqual([])
  })

  test('refuses an approval by the caller, under any of their names, over HTTP or in Slack', async () => {
    const { product, ask, press, bob, updateOf } = await strictProduct()
    await listPeople(product, { U9OTHER: { scopes: ['approve'], person: 'bob' } })
    const { id } = await ask()
    for (const user of ['U2BOB', 'U9OTHER']) {
      expect(await press('approve', id, user)).toEqual([
        privately('You asked for the ranking update of dear as bob, so someone else has to approve it.'),
      ])
      expect(await press('reject', id, user)).toEqual([
        privately('You asked for the ranking update of dear as bob; cancel it instead.'),
      ])
    }
    expect((await product.call('POST', `/updates/${id}/approve`, { token: bob })).status).toBe(403)
    expect((await updateOf(id)).state).toBe('awaiting-approval')
    expect(await press('approve', id, 'U3CARL')).toEqual([soon('U3CARL'), done])
  })

  test('what Bob asked for in Slack, he cannot approve with his token either', async () => {
    const { product, bob, press, updateOf } = await strictProduct()
    await product.slack.command('run ranking dear budget=seo', { user: 'U2BOB' })
    await product.deliver()
    await press('confirm', product.slack.buttons()[0]?.value ?? '', 'U2BOB')
    const [{ id }] = (await product.call('GET', '/updates')).body.updates
    expect((await updateOf(id)).state).toBe('awaiting-approval')
    expect((await product.call('POST', `/updates/${id}/approve`, { token: bob })).body).toMatchObject({
      status: 403,
      detail: 'You asked for the ranking update of dear as slack:U2BOB, so someone else has to approve it.',
    })
    expect(await press('approve', id, 'U2BOB')).toEqual([
      privately('You asked for the ranking update of dear, so someone else has to approve it.'),
    ])
    // Both who approved and who asked are told, each where they pressed.
    expect(await press('approve', id)).toEqual([soon('U3CARL'), done, done])
    expect(product.seen('run')).toHaveLength(1)
  })

  test('only by those whom the budget names; the buttons stay for them', async () => {
    const { ask, press } = await strictProduct({ budget: { approvers: ['slack:U4DORA'] } })
    const { id } = await ask()
    expect(await press('approve', id)).toEqual([privately('You are not among the approvers of seo.')])
    expect(await press('approve', id, 'U5RITA')).toEqual([
      privately(
        'You are listed as slack:U5RITA, but without the scope approve, which this takes. Ask an administrator of Unit Guard to add it.',
      ),
    ])
    expect(await press('approve', id, 'U4DORA')).toEqual([soon('U4DORA'), done])
  })

  test('a user listed meanwhile may press the same button again', async () => {
    const { product, ask, press } = await strictProduct()
    const { id } = await ask()
    expect((await press('approve', id, 'U8NEW', '1.1'))[0]?.replaces).toBe(false)
    await listPeople(product, { U8NEW: { scopes: ['approve'] } })
    expect(await press('approve', id, 'U8NEW', '1.1')).toEqual([soon('U8NEW'), done])
  })

  test('delivered twice, also after it was answered: one item, one answer', async () => {
    const { product, ask } = await strictProduct()
    const { id } = await ask()
    // Rita may not approve: each press of hers is answered with why.
    const deliver = () => product.slack.press('approve', id, { user: 'U5RITA', trigger: '12.34.same' })
    await deliver()
    await deliver()
    expect((await product.guard.ledger.slackEvents.open(10)).rows).toHaveLength(1)
    await product.deliver()
    await deliver()
    await product.deliver()
    product.clock.advance(minutes(3))
    await product.triggers.sweep(product.endsAt())
    expect(product.slack.news().filter(({ to }) => to === 'asker')).toHaveLength(1)
  })

  test('twice, and by two people at once in two processes: one decision, one run', async () => {
    const { product, ask, updateOf } = await strictProduct({ store: 'real' })
    const { id } = await ask()
    for (const user of ['U3CARL', 'U3CARL', 'U4DORA', 'U1ADA']) await product.slack.press('approve', id, { user })
    const other = product.startProcess()
    const { rows } = await product.guard.ledger.slackEvents.open(10)
    expect(rows).toHaveLength(4)
    await Promise.all([...rows.map((event) => other.slack.answer(event.id)), product.deliver()])
    // The real store's stream takes its time.
    const isOver = async () =>
      (await updateOf(id)).state === 'settled' && (await product.guard.ledger.announcements.open(1)).rows.length === 0
    while (!(await isOver())) await product.deliver()
    expect(product.seen('run')).toHaveLength(1)
    const { state, approvedBy, history } = await updateOf(id)
    expect(state).toBe('settled')
    expect(history.filter((line: { by: string }) => line.by.startsWith('slack:'))).toHaveLength(1)
    const told = product.slack.news().filter(({ to }) => to === 'asker')
    // Every user who pressed, first or too late, is left without a button, and with the one name.
    for (const { body } of told) expect(JSON.stringify(body)).toContain(`<@${approvedBy.replace('slack:', '')}>`)
    for (const { body } of told)
      expect([body.replace_original, JSON.stringify(body)]).toEqual([true, expect.not.stringContaining('"button"')])
    expect(await product.figures('seo')).toMatchObject({ available: 4_360, spent: 640, held: 0 })
    expect(await product.audit()).toBe(true)
  })

  test('approval: process dies between the decision and its answer: answered by the next, and told when it ends', async () => {
    const { product, ask, updateOf } = await strictProduct()
    const { id } = await ask()
    await product.slack.press('approve', id, { user: 'U3CARL' })
    const [event] = (await product.guard.ledger.slackEvents.open(1)).rows
    await product.guard.approve(id, 'slack:U3CARL', { replyTo: event?.id ?? '' })
    await product.deliver()
    const told = product.slack.news().map(({ to, text, body }) => ({ to, text, replaces: body.replace_original }))
    expect(told).toEqual([soon('U3CARL'), done])
    expect((await updateOf(id)).state).toBe('settled')
    expect(product.seen('run')).toHaveLength(1)
  })

  test('a button pressed too late shows what happened, who decided, and is gone', async () => {
    const { product, ask, press } = await strictProduct({ budget: { approvers: [] } })
    const { id } = await ask()
    await press('approve', id)
    for (const action of ['approve', 'reject']) {
      expect(await press(action, id, 'U4DORA')).toEqual([done])
      const [last] = product.slack.posted().slice(-1)
      expect(last && textsOf(last).at(-1)).toMatch(/^Decided by <@U3CARL> · /)
    }
    const { id: other } = await ask('dear')
    // The work was done today, so the second was refused without anybody being asked.
    expect(await press('approve', other)).toMatchObject([
      { replaces: true, text: /^☑️ The ranking update of dear was done/ },
    ])
    expect(product.seen('run')).toHaveLength(1)
  })

  test.each<[string, string]>([
    ['rejected over HTTP', 'reject'],
    ['cancelled by whoever asked', 'cancel'],
  ])('of what was %s: the sentence, no button', async (_what, verb) => {
    const { product, ask, press, bob } = await strictProduct()
    const { id } = await ask()
    await product.call('POST', `/updates/${id}/${verb}`, {
      body: { reason: 'no' },
      ...(verb === 'cancel' && { token: bob }),
    })
    const by = verb === 'cancel' ? 'bob' : 'ada'
    expect(await press('approve', id)).toEqual([
      instead(
        `⛔ The ranking update of dear was ${verb === 'cancel' ? 'cancelled' : 'rejected'} by ${by}. Nothing was spent. “no”`,
      ),
    ])
    expect(product.seen('run')).toEqual([])
  })

  test('after its day is over, before and after the sweep has been: the sentence, no button', async () => {
    const { product, ask, press } = await strictProduct()
    const { id } = await ask()
    product.clock.advance(hours(24))
    const [before] = await press('approve', id)
    expect(before).toEqual(
      instead('The ranking update of dear could be approved until 21 Nov 2026 10:00 UTC; ask for it again.'),
    )
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
    product.slack.news()
    expect(await press('approve', id)).toEqual([
      instead('⌛ The ranking update of dear expired before it began. Nothing was spent. “not approved in time”'),
    ])
    const [last] = product.slack.posted().slice(-1)
    expect(last && textsOf(last).at(-1)).toMatch(/^Decided by Unit Guard · /)
    expect(product.seen('run')).toEqual([])
  })

  test('of what has grown since: asked again with the new figure, and the old message is left without buttons', async () => {
    const { product, ask, press, updateOf } = await strictProduct()
    const { id } = await ask()
    product.clock.advance(minutes(1))
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: 705 }))
    const told = await press('approve', id)
    expect(told.filter(({ to }) => to === 'asker')).toEqual([
      soon('U3CARL'),
      instead(
        '✋ The ranking update of dear waits for approval by another person, open until 21 Nov 2026 10:01 UTC. Nothing is spent before that. “approved up to 640, it now needs 705”',
      ),
    ])
    expect(told.filter(({ to }) => to === 'channel').map(({ text }) => text)).toEqual([
      'bob asks for a ranking update of dear. It would spend 705 units of seo. It needs approval by 21 Nov 2026 10:01 UTC.',
    ])
    expect(product.seen('run')).toEqual([])
    await product.slack.press('approve', id, { user: 'U4DORA', block: product.slack.block() })
    await product.deliver()
    expect(await updateOf(id)).toMatchObject({ state: 'settled', units: { charged: 705 }, approvedBy: 'slack:U4DORA' })
    // Also where the first press is told what became of it.
    const ended = product.slack.news().filter(({ text }) => text.startsWith('✅'))
    expect(ended.map((message) => textsOf(message).at(-1)?.split(' · ')[0])).toEqual(
      Array.from({ length: 2 }, () => 'Decided by <@U4DORA>'),
    )
    expect(product.seen('run')).toHaveLength(1)
  })

  /** Asked about at 640 units, approved, and then it needed 4,000: the first message may be pressed again. */
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
  const outgrown = () =>
    instead(
      'The ranking update of dear needs 4,000 units now, and you were shown 640, so it was not approved. Nothing was spent; look at it again.',
    )

  test.each([
    ['its button', 'shown:640'],
    ['a button of before buttons said what they showed', 'b'],
  ])('of what has grown since: %s agrees to the old figure only, whoever presses it again', async (_what, block) => {
    const { product, press, updateOf, id } = await grown()
    await product.slack.press('approve', id, { user: 'U3CARL', block })
    await product.deliver()
    expect(await updateOf(id)).toMatchObject({ state: 'awaiting-approval', units: { estimated: 4_000 } })
    const current = product.slack.block()
    expect(current).toBe(`shown:4000:${id}`)
    product.slack.news()
    await product.slack.press('approve', id, { user: 'U4DORA', block })
    await product.deliver()
    expect(product.slack.news().map(({ to, text, body }) => ({ to, text, replaces: body.replace_original }))).toEqual([
      outgrown(),
    ])
    expect([(await updateOf(id)).state, product.seen('run')]).toEqual(['awaiting-approval', []])
    expect((await press('reject', id, 'U4DORA'))[0]?.replaces).toBe(true)
    expect((await updateOf(id)).state).toBe('rejected')
  })

  test('a late press on an update approved, grown and then rejected names the user who rejected it', async () => {
    const { product, press, id, block } = await grown()
    await product.slack.press('approve', id, { user: 'U3CARL', block })
    await product.deliver()
    await press('reject', id, 'U4DORA')
    expect((await press('approve', id, 'U1ADA'))[0]?.text).toContain('was rejected by <@U4DORA>')
    const [last] = product.slack.posted().slice(-1)
    expect(last && textsOf(last).at(-1)).toMatch(/^Decided by <@U4DORA> · /)
  })

  test('of what has grown since: the same press, done again by the sweep, agrees to no more than it showed', async () => {
    const { product, updateOf, id, block } = await grown()
    const taken = { status: 200, body: 'ok' }
    product.slack.answers({ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 }, taken)
    await product.slack.press('approve', id, { user: 'U3CARL', block })
    await product.deliver()
    expect((await updateOf(id)).state).toBe('awaiting-approval')
    product.clock.advance(minutes(5))
    product.slack.news()
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
    expect(
      product.slack.news().map(({ to, text, body }) => ({ to, text, replaces: body.replace_original })),
    ).toContainEqual(outgrown())
    expect([(await updateOf(id)).state, product.seen('run')]).toEqual(['awaiting-approval', []])
  })

  test('of a budget that was deleted: a sentence, and it can still be rejected', async () => {
    const { product, ask, press } = await strictProduct()
    const { id } = await ask()
    await product.call('DELETE', '/budgets/seo')
    expect(await press('approve', id)).toEqual([
      privately(
        'The ranking update of dear cannot be approved: its budget seo was deleted; create seo again, or reject the update.',
      ),
    ])
    expect((await press('reject', id))[0]?.replaces).toBe(true)
  })
})

describe('in doubt', () => {
  async function doubtful() {
    const strict = await strictProduct()
    strict.product.service.script('/on-demand/cheap/run', { status: 500 })
    const { id, told } = await strict.ask('cheap')
    return { ...strict, id, told }
  }

  test('the channel is asked whether it ran', async () => {
    const { product, id, told } = await doubtful()
    expect(told.map(({ to, text }) => [to, text])).toEqual([
      [
        'channel',
        'It is not known whether the ranking update of cheap ran. 40 units stay counted until a person or the service’s data show whether it did.'.replace(
          '’',
          "'",
        ),
      ],
    ])
    expect(product.slack.buttons()).toEqual([
      { action: 'resolve-ran', value: id },
      { action: 'resolve-did-not-run', value: id },
    ])
    expect(await product.figures('seo')).toMatchObject({ inDoubt: 40, spent: 0 })
  })

  test('“it ran” at once: charged, edited', async () => {
    const { product, press, id } = await doubtful()
    expect(await press('resolve-ran', id)).toEqual([
      instead(
        '✅ The ranking update of cheap is done: 40 units charged to seo. It had been in doubt; <@U3CARL> said so. “as pressed in Slack”',
      ),
    ])
    expect(await product.figures('seo')).toMatchObject({ inDoubt: 0, spent: 40 })
    expect(product.seen('run')).toHaveLength(1)
  })

  test('“it did not run” too early: from when it can be said; the same button again after that: released', async () => {
    const { product, press, id } = await doubtful()
    const early = [
      privately(
        'The ranking update of cheap may still take effect until 20 Nov 2026 10:05 UTC. Until then you can only say that it ran.',
      ),
    ]
    expect(await press('resolve-did-not-run', id)).toEqual(early)
    product.clock.advance(minutes(5) - 1)
    expect(await press('resolve-did-not-run', id)).toEqual(early)
    expect(await product.figures('seo')).toMatchObject({ inDoubt: 40 })
    product.clock.advance(1)
    expect(await press('resolve-did-not-run', id)).toEqual([
      instead(
        '↩️ The ranking update of cheap did not run, and nothing was spent. It had been in doubt; <@U3CARL> said so. “as pressed in Slack”',
      ),
    ])
    expect(await product.figures('seo')).toMatchObject({ available: 5_000, inDoubt: 0, spent: 0 })
  })

  test('two who disagree at once: one word counts, and both see which', async () => {
    const { product, id, updateOf } = await doubtful()
    product.clock.advance(hours(1))
    await product.slack.press('resolve-ran', id, { user: 'U3CARL' })
    await product.slack.press('resolve-did-not-run', id, { user: 'U4DORA' })
    await product.deliver()
    const { state } = await updateOf(id)
    const told = product.slack.news()
    expect(told.map(({ body }) => body.replace_original)).toEqual([true, true])
    const sign = state === 'settled' ? '✅' : '↩️'
    expect(told.map(({ text }) => text.startsWith(sign))).toEqual([true, true])
    expect(await product.audit()).toBe(true)
  })

  test('a late press on a resolved update names the user who resolved it, not the approver', async () => {
    const { product, ask, press } = await strictProduct()
    product.service.script('/on-demand/dear/run', { status: 500 })
    const decidedBy = () => textsOf(product.slack.posted().at(-1) ?? { to: 'asker', text: '', body: {} }).at(-1)
    const { id } = await ask()
    await press('approve', id, 'U3CARL')
    product.clock.advance(hours(1))
    await press('resolve-ran', id, 'U4DORA')
    await press('resolve-did-not-run', id, 'U1ADA')
    expect(decidedBy()).toMatch(/^Decided by <@U4DORA> · <!date\^1795172400\^/)
    product.clock.advance(days(1))
    const { id: other } = await ask()
    await press('approve', other, 'U3CARL')
    product.clock.advance(days(7))
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
    await press('resolve-ran', other, 'U1ADA')
    expect(decidedBy()).toMatch(/^Decided by Unit Guard · /)
  })

  test('approved and cleared up by the same person: the message says when it was cleared up', async () => {
    const { product, ask, press } = await strictProduct()
    product.service.script('/on-demand/dear/run', { status: 500 })
    const { id } = await ask()
    await press('approve', id, 'U3CARL')
    product.clock.advance(hours(1))
    await press('resolve-ran', id, 'U3CARL')
    const [last] = product.slack.posted().slice(-1)
    expect(last && textsOf(last).at(-1)).toMatch(/^Decided by <@U3CARL> · <!date\^1795172400\^/)
  })

  test('cleared by time before anybody pressed: what happened, no button', async () => {
    const { product, press, id } = await doubtful()
    product.clock.advance(days(7))
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
    product.slack.news()
    expect(await press('resolve-did-not-run', id)).toEqual([
      instead(
        '✅ The ranking update of cheap is done: 40 units charged to seo. It had been in doubt for seven days, and nothing showed whether it ran, so it counts as run.',
      ),
    ])
  })

  test('not without the scope', async () => {
    const { press, id, updateOf } = await doubtful()
    expect((await press('resolve-ran', id, 'U5RITA'))[0]?.replaces).toBe(false)
    expect((await updateOf(id)).state).toBe('in-doubt')
  })
})

describe('what a response_url is good for', () => {
  test('tells an outcome after thirty minutes in the channel', async () => {
    const { product, ask, press } = await strictProduct()
    await product.slack.command('run ranking dear budget=seo', { user: 'U2BOB' })
    await product.deliver()
    await press('confirm', product.slack.buttons()[0]?.value ?? '', 'U2BOB')
    const [{ id }] = (await product.call('GET', '/updates')).body.updates
    product.clock.advance(minutes(30))
    const told = await press('approve', id)
    expect(told).toContainEqual(done)
    expect(told).toContainEqual({ to: 'channel', text: done.text, replaces: false })
    expect(told).toHaveLength(3)
    expect((await ask('other')).id).not.toBe(id)
  })

  test('five messages: the sixth goes to the channel', async () => {
    const { product, press, ask } = await strictProduct()
    const { id } = await ask()
    await press('approve', id)
    const { rows } = await product.guard.ledger.slackEvents.open(10)
    expect(rows).toEqual([])
    const { ledger } = product.guard
    const event = { id: 'prs_used', version: 1, createdAt: product.clock.now(), user: 'U3CARL', answers: 5 }
    const pressed = { kind: 'press', action: 'approve', value: id, responseUrl: 'http://127.0.0.1:9/never' } as const
    await ledger.slackEvents.add({ ...event, ...pressed })
    await product.deliver()
    expect(product.slack.news().map(({ to, text }) => [to, text])).toEqual([['channel', done.text]])
  })

  test('used up or gone, as Slack says it: 404 is answered in the channel', async () => {
    const { product, ask } = await strictProduct()
    const { id } = await ask()
    product.slack.answers({ status: 404, body: 'used_url' }, { status: 200, body: 'ok' })
    await product.slack.press('approve', id, { user: 'U3CARL' })
    await product.deliver()
    expect(product.slack.news().map(({ to }) => to)).toEqual(['asker', 'channel', 'asker'])
    expect(product.seen('run')).toHaveLength(1)
  })
})
