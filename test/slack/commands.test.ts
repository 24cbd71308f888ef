import { describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { hours, minutes } from '../support/clock.ts'
import { json, startProduct } from '../support/product.ts'
import { listPeople, textsOf } from '../support/slack/slack.ts'

const month = (units: number) => [{ window: 'month', units }]

/** Ada may do everything; Bob runs for seo; Rita reads; Pia proposes for seo; Zoe runs for no budget at all. */
async function slackProduct(options: Parameters<typeof startProduct>[0] = {}) {
  const product = await startProduct({ slack: true, store: createMemoryStore(), ...options })
  expect((await product.call('PUT', '/budgets/seo', { body: { limits: month(1_000) } })).status).toBe(201)
  await listPeople(product, {
    U1ADA: { scopes: ['read', 'run', 'approve', 'admin'] },
    U2BOB: { scopes: ['read', 'run'], budgets: ['seo'] },
    U3RITA: { scopes: ['read'] },
    U4PIA: { scopes: ['read', 'propose'], budgets: ['seo'] },
    U5ZOE: { scopes: ['run'] },
  })
  await product.deliver()
  product.slack.news()

  /** What the person is told. */
  const type = async (text: string, how: { user?: string; trigger?: string } = {}) => {
    await product.slack.command(text, how)
    await product.deliver()
    return product.slack.news()
  }
  const press = async (action: string, value: string, how: { user?: string; message?: string } = {}) => {
    await product.slack.press(action, value, how)
    await product.deliver()
    return product.slack.news()
  }
  /** The id of what waits for its Confirm button. */
  const offered = async (text: string, user = 'U2BOB') => {
    await type(text, { user })
    const [confirm] = product.slack.buttons()
    expect(confirm?.action).toBe('confirm')
    return confirm?.value ?? ''
  }
  const sentences = async (text: string, how: { user?: string; trigger?: string } = {}) =>
    (await type(text, how)).map((each) => each.text)
  const updates = async () => (await product.call('GET', '/updates')).body.updates
  return { product, type, press, offered, sentences, updates }
}

const not = (scope: string, user: string) =>
  `You are listed as slack:${user}, but without the scope ${scope}, which this takes. Ask an administrator of Unit Guard to add it.`

describe('who may', () => {
  test('each command takes its scope, and to charge a budget takes that too', async () => {
    const { product, type } = await slackProduct()
    const barred: [text: string, user: string, sentence: string][] = [
      ['', 'U5ZOE', not('read', 'U5ZOE')],
      ['estimate ranking acme', 'U5ZOE', not('read', 'U5ZOE')],
      ['updates', 'U5ZOE', not('read', 'U5ZOE')],
      ['show upd_1', 'U5ZOE', not('read', 'U5ZOE')],
      ['run ranking acme', 'U3RITA', not('run or propose', 'U3RITA')],
      ['cancel upd_1', 'U3RITA', not('run or propose or admin', 'U3RITA')],
      ['freeze seo it loops', 'U2BOB', not('admin', 'U2BOB')],
      ['unfreeze seo it stopped', 'U2BOB', not('admin', 'U2BOB')],
      ['pause nightly a move', 'U2BOB', not('admin', 'U2BOB')],
      ['resume nightly done', 'U2BOB', not('admin', 'U2BOB')],
      [
        'run ranking acme',
        'U2BOB',
        'You may not charge the budget account. Ask an administrator of Unit Guard to list it for slack:U2BOB.',
      ],
      [
        'run ranking acme budget=seo',
        'U5ZOE',
        'You may not charge the budget seo. Ask an administrator of Unit Guard to list it for slack:U5ZOE.',
      ],
      ['run ranking acme budget=none', 'U2BOB', 'There is no budget none.'],
    ]
    for (const [text, user, sentence] of barred) {
      const told = await type(text, { user })
      expect([text, ...told.map((each) => [each.to, each.text, each.body.response_type])]).toEqual([
        text,
        ['asker', sentence, 'ephemeral'],
      ])
    }
    expect(product.slack.buttons()).toEqual([])
    expect(product.seen('run')).toEqual([])
  })

  test('a scope that was taken away since is not there any more: also not for a button shown before', async () => {
    const { product, offered, press, updates } = await slackProduct()
    const ask = await offered('run ranking acme budget=seo')
    await listPeople(product, { U2BOB: { scopes: ['read'], budgets: ['seo'] } })
    const [told] = await press('confirm', ask, { user: 'U2BOB' })
    expect(told?.text).toBe(
      'You are listed as slack:U2BOB, but without the scope run or propose, which this takes. Ask an administrator of Unit Guard to add it.',
    )
    expect([product.seen('run'), await updates()]).toEqual([[], []])
  })
})

describe('figures, estimates and lists', () => {
  test('/units shows what is left of every budget, and which are frozen', async () => {
    const { product, type } = await slackProduct()
    await product.call('PUT', '/budgets/blog', { body: { parent: 'seo', limits: month(200) } })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await product.deliver()
    product.slack.news()
    const [told] = await type('', { user: 'U3RITA' })
    expect(told?.text).toBe(
      'Keyword units: account has 50,000 of 50,000 units left this month; blog has 200 of 200 units left this month; seo has 1,000 of 1,000 units left this month',
    )
    const frozen = '🧊 Frozen: nothing can be spent until it is unfrozen.'
    expect(
      told &&
        textsOf(told)[1]
          ?.split('\n\n')
          .map((each) => each.split('\n').includes(frozen)),
    ).toEqual([false, true, true])
  })

  test('/units estimate: the units and the verdict; nothing is spent', async () => {
    const { product, sentences } = await slackProduct({ units: { dear: 60_000 } })
    expect(await sentences('estimate difficulty acme "my blog"', { user: 'U3RITA' })).toEqual([
      'Keyword-difficulty updates of 2 projects would cost 80 units. ✅ It would pass now.',
    ])
    expect((await sentences('estimate ranking dear'))[0]).toMatch(
      /^A ranking update of dear would cost 60,000 units\. ⛔ It would be refused now\. “account has 50,000 of 50,000 units left this month and this needs 60,000; /,
    )
    expect(product.seen('run')).toEqual([])
    expect(await product.figures()).toMatchObject({ available: 50_000 })
  })

  test('/units estimate says that the update would need approval', async () => {
    const { product, sentences } = await slackProduct()
    await product.call('PUT', '/budgets/account', { body: { limits: month(50_000), approvalAbove: 39 } })
    expect(await sentences('estimate ranking acme')).toEqual([
      'A ranking update of acme would cost 40 units. ✋ It would need approval by another person. “it needs 40 units, and account wants approval above 39”',
    ])
  })

  test('an estimate that cannot be had: a sentence, no button', async () => {
    const { product, sentences } = await slackProduct()
    product.service.script('/on-demand/acme/estimate', { status: 404 })
    for (const verb of ['estimate', 'run']) {
      expect(await sentences(`${verb} ranking acme`)).toEqual([
        'The estimate of the ranking update of acme was refused by the service with status 404, so nothing was run and nothing spent. It does not seem to know that project: check the name.',
      ])
    }
    expect(product.slack.buttons()).toEqual([])
  })

  test('/units login gives listed users a new link each time; without an address it says what to set', async () => {
    const { type } = await slackProduct({ env: { DASHBOARD_URL: 'https://units.example/' } })
    const links = [await type('login', { user: 'U5ZOE' }), await type('login', { user: 'U5ZOE' })].map(
      ([told]) => told && textsOf(told)[0],
    )
    for (const link of links) {
      expect(link).toMatch(/^<https:\/\/units\.example\/login\?code=[0-9a-z]{26}\|Open the dashboard>$/)
    }
    expect(new Set(links).size).toBe(2)
    const { sentences } = await slackProduct()
    expect(await sentences('login')).toEqual([
      'The address of the dashboard is not set. Ask an operator of Unit Guard to set DASHBOARD_URL.',
    ])
  })

  test('/units updates and show', async () => {
    const { sentences, offered, press, updates } = await slackProduct()
    expect(await sentences('updates')).toEqual([
      'There are no updates yet. /units run ranking &lt;project&gt; asks for one.',
    ])
    await press('confirm', await offered('run ranking acme budget=seo'), { user: 'U2BOB' })
    const [{ id }] = await updates()
    expect(await sentences('updates', { user: 'U3RITA' })).toEqual([
      'The latest updates: ✅ acme ranking · 40 units charged',
    ])
    expect(await sentences(`show ${id}`, { user: 'U3RITA' })).toEqual([
      '✅ The ranking update of acme is done: 40 units charged to seo.',
    ])
    expect(await sentences('show upd_unknown')).toEqual(['There is no update upd_unknown.'])
  })
})

describe('/units run', () => {
  test('shows units, budget, what remains and a Confirm button, in private; nothing is spent', async () => {
    const { product, type } = await slackProduct()
    const told = await type('run ranking acme budget=seo because the board meets', { user: 'U2BOB' })
    expect(told.map(({ to, body }) => [to, body.response_type, body.replace_original])).toEqual([
      ['asker', 'ephemeral', undefined],
    ])
    expect(told[0] && textsOf(told[0])).toEqual([
      'Please confirm',
      'A ranking update of `acme` will cost *40 units*, charged to `seo`.\nReason: the board meets',
      '• *seo* this month: 1,000 units left now, 960 afterwards\n• *account* this month: 50,000 units left now, 49,960 afterwards',
      'Nothing is spent before you press Confirm. If you do not want it, do nothing.',
    ])
    expect(product.slack.buttons()).toEqual([
      { action: 'confirm', value: expect.stringMatching(/^cmd_[0-9a-z]{20,64}$/) },
    ])
    expect([product.seen('estimate').length, product.seen('run')]).toEqual([1, []])
    expect(await product.figures('seo')).toMatchObject({ available: 1_000, held: 0 })
    expect((await product.call('GET', '/updates')).body.updates).toEqual([])
  })

  test('confirmed: accepted in place of the button, run, and told in place when it is done', async () => {
    const { product, offered, press, updates } = await slackProduct()
    const ask = await offered('run ranking acme budget=seo because the board meets')
    const told = await press('confirm', ask, { user: 'U2BOB' })
    expect(told.map(({ to, text, body }) => [to, text, body.replace_original])).toEqual([
      ['asker', '⏳ The ranking update of acme will begin in a moment. Nothing has been spent yet.', true],
      ['asker', '✅ The ranking update of acme is done: 40 units charged to seo.', true],
    ])
    expect(product.slack.buttons()[0]?.value).toBe(ask)
    expect(await updates()).toMatchObject([
      {
        kind: 'ranking',
        project: 'acme',
        budget: 'seo',
        caller: 'slack:U2BOB',
        via: 'slack',
        reason: 'the board meets',
        maxUnits: 40,
        state: 'settled',
        units: { charged: 40 },
      },
    ])
    expect(await product.audit()).toBe(true)
  })

  test('confirmed twice, one after the other and at once by two processes: one run', async () => {
    const { product, offered, press } = await slackProduct()
    const ask = await offered('run ranking acme budget=seo')
    await Promise.all([1, 2, 3].map(() => product.slack.press('confirm', ask, { user: 'U2BOB' })))
    const other = product.startProcess()
    const { rows } = await product.guard.ledger.slackEvents.open(10)
    expect(rows).toHaveLength(3)
    await Promise.all([...rows.map(({ id }) => other.slack.answer(id)), product.deliver()])
    await product.deliver()
    product.slack.news()
    const [late] = await press('confirm', ask, { user: 'U2BOB' })
    expect(late?.text).toBe('✅ The ranking update of acme is done: 40 units charged to seo.')
    expect(late?.body.replace_original).toBe(true)
    expect(product.seen('run')).toHaveLength(1)
    expect(await product.figures('seo')).toMatchObject({ available: 960, spent: 40 })
  })

  test('only the user who typed a command may confirm it, whatever others may do', async () => {
    const { product, offered, press, updates } = await slackProduct()
    const ask = await offered('run ranking acme budget=seo')
    const [told] = await press('confirm', ask, { user: 'U1ADA' })
    expect([told?.text, told?.body.replace_original]).toEqual([
      'Only the user who typed this command may confirm it. You can type it yourself.',
      undefined,
    ])
    expect(await updates()).toEqual([])
    await press('confirm', ask, { user: 'U2BOB' })
    expect(await updates()).toMatchObject([{ state: 'settled', caller: 'slack:U2BOB' }])
    expect(product.seen('run')).toHaveLength(1)
  })

  test('who may ask for no updates is not told to type the command, but whom to ask', async () => {
    const { product, offered, press, updates } = await slackProduct()
    const ask = await offered('run ranking acme budget=seo')
    const unlisted =
      'You are not allowed to do that: it needs the scope run or propose. Ask an administrator of Unit Guard to list you as the caller slack:U9NOBODY.'
    for (const [user, sentence] of [
      ['U3RITA', not('run or propose', 'U3RITA')],
      ['U9NOBODY', unlisted],
    ] as const) {
      const told = await press('confirm', ask, { user })
      expect(told.map(({ text, body }) => [text, body.replace_original])).toEqual([[sentence, undefined]])
    }
    await listPeople(product, { U1ADA: { scopes: ['run'], disabled: true } })
    const [disabled] = await press('confirm', ask, { user: 'U1ADA' })
    expect(disabled?.text).toBe('slack:U1ADA is disabled here. Ask an administrator of Unit Guard.')
    expect(await updates()).toEqual([])
  })

  test('the same command delivered twice is one command: one answer, one button, one run', async () => {
    const { product, type, press } = await slackProduct()
    const how = { user: 'U2BOB', trigger: '12.34.same' }
    await product.slack.command('run ranking acme budget=seo', how)
    expect(await type('run ranking acme budget=seo', how)).toHaveLength(1)
    expect(await type('run ranking acme budget=seo', how)).toEqual([])
    await press('confirm', product.slack.buttons()[0]?.value ?? '', { user: 'U2BOB' })
    expect(await type('run ranking acme budget=seo', how)).toEqual([])
    expect(product.seen('run')).toHaveLength(1)
  })

  test('confirmed after an hour: nothing is run, and the button is gone', async () => {
    const { product, offered, press, updates } = await slackProduct()
    const [early, late] = [await offered('run ranking acme budget=seo'), await offered('run ranking blog budget=seo')]
    product.clock.advance(hours(1))
    await press('confirm', early, { user: 'U2BOB' })
    expect(await updates()).toMatchObject([{ project: 'acme', state: 'settled' }])
    product.clock.advance(1)
    const [told] = await press('confirm', late, { user: 'U2BOB' })
    expect([told?.text, told?.body.replace_original, told?.body.blocks.length]).toEqual([
      'This was more than an hour ago, and prices may have moved. Please type the command again.',
      true,
      1,
    ])
    expect(product.seen('run')).toHaveLength(1)
    const [what] = await press('confirm', early, { user: 'U2BOB' })
    expect(what?.text).toBe('✅ The ranking update of acme is done: 40 units charged to seo.')
  })

  test('the price has moved since: not run, and the sentence says why', async () => {
    const { product, offered, press, updates } = await slackProduct()
    const ask = await offered('run ranking acme budget=seo')
    product.clock.advance(minutes(1))
    product.service.script('/on-demand/acme/estimate', json({ keyword_units: 41 }))
    const told = await press('confirm', ask, { user: 'U2BOB' })
    expect(told.at(-1)?.text).toBe(
      '⛔ The ranking update of acme was refused. Nothing was spent. “This update needs 41 units, and the request allows at most 40 (maxUnits).”',
    )
    expect(await updates()).toMatchObject([{ state: 'refused', problem: { type: '/problems/over-max-units' } }])
    expect(product.seen('run')).toEqual([])
  })

  test('an answer that Slack did not take is given again, but never a second button for another price', async () => {
    const { product, type, press } = await slackProduct()
    product.slack.answers({ status: 500 }, { status: 200, body: 'ok' })
    expect(await type('run ranking acme budget=seo', { user: 'U2BOB' })).toHaveLength(1)
    const [button] = product.slack.buttons()
    product.clock.advance(minutes(3))
    product.service.script('/on-demand/acme/estimate', json({ keyword_units: 400 }))
    await product.triggers.sweep(product.endsAt())
    expect(product.slack.news().map(({ text }) => text)).toEqual([
      'The price or the payer has moved while this was being answered. Please type the command again.',
    ])
    // Slack may have shown the first message after all: it still stands for 40 units, and no more.
    await press('confirm', button?.value ?? '', { user: 'U2BOB' })
    expect(product.seen('run')).toEqual([])
  })

  test('an answer that Slack showed and did not take: once confirmed, it is answered with what became of it', async () => {
    const { product, type, press } = await slackProduct({ units: { acme: 640 } })
    product.slack.answers({ status: 500 }, { status: 200, body: 'ok' })
    await type('run ranking acme budget=seo', { user: 'U2BOB' })
    await press('confirm', product.slack.buttons()[0]?.value ?? '', { user: 'U2BOB' })
    product.clock.advance(minutes(3))
    await product.triggers.sweep(product.endsAt())
    expect(product.slack.news().map(({ text }) => text)).toEqual([
      '✅ The ranking update of acme is done: 640 units charged to seo.',
    ])
    expect(product.seen('run')).toHaveLength(1)
  })

  test('two processes that answer at once while the price moves: no button for a price that is not remembered', async () => {
    const { product, press, updates } = await slackProduct()
    product.service.script(
      '/on-demand/acme/estimate',
      json({ keyword_units: 45 }),
      json({ keyword_units: 40 }),
      json({ keyword_units: 45 }),
    )
    await product.slack.command('run ranking acme budget=seo', { user: 'U2BOB' })
    const [event] = (await product.guard.ledger.slackEvents.open(1)).rows
    await Promise.all([1, 2].map(() => product.startProcess().slack.answer(event?.id ?? '')))
    const shown = product.slack.news().map(({ text }) => /will cost (\d+) units/.exec(text)?.[1])
    await press('confirm', event?.id ?? '', { user: 'U2BOB' })
    const [{ maxUnits }] = await updates()
    expect(shown).toEqual([String(maxUnits)])
  })

  test('several projects: each has its price, its update, and the lot one message at the end', async () => {
    const { product, type, press, updates } = await slackProduct({ units: { blog: 7, shop: 100 } })
    const [told] = await type('run ranking acme "my shop" blog shop budget=seo', { user: 'U2BOB' })
    expect(told && textsOf(told).slice(1, 4)).toEqual([
      'Ranking updates of 4 projects will cost *187 units*, charged to `seo`.',
      '• `acme`: 40 units\n• `my shop`: 40 units\n• `blog`: 7 units\n• `shop`: 100 units',
      '• *seo* this month: 1,000 units left now, 813 afterwards\n• *account* this month: 50,000 units left now, 49,813 afterwards',
    ])
    const answered = await press('confirm', product.slack.buttons()[0]?.value ?? '', { user: 'U2BOB' })
    expect(answered.map(({ text }) => text)).toEqual([
      '0 of 4 updates done, 0 units charged. ⏳ acme ranking · will begin in a moment; ⏳ my shop ranking · will begin in a moment; ⏳ blog ranking · will begin in a moment; ⏳ shop ranking · will begin in a moment',
      '4 of 4 updates done, 187 units charged. ✅ acme ranking · 40 units charged; ✅ my shop ranking · 40 units charged; ✅ blog ranking · 7 units charged; ✅ shop ranking · 100 units charged',
    ])
    expect((await updates()).map((each: { project: string; maxUnits: number }) => each.maxUnits).toSorted()).toEqual([
      100, 40, 40, 7,
    ])
    expect(product.seen('run')).toHaveLength(4)
    expect(await product.audit()).toBe(true)
  })

  test('twenty projects: one message when all have ended, not twenty', async () => {
    const { product, type, press } = await slackProduct()
    const names = Array.from({ length: 20 }, (_, position) => `p${position}`)
    await type(`run ranking ${names.join(' ')}`)
    const told = await press('confirm', product.slack.buttons()[0]?.value ?? '')
    expect(told.map(({ to, text }) => [to, text.slice(0, 25)])).toEqual([
      ['asker', '0 of 20 updates done, 0 u'],
      ['asker', '20 of 20 updates done, 80'],
    ])
    product.clock.advance(minutes(10))
    await product.triggers.sweep(product.endsAt())
    await product.deliver()
    expect(product.slack.news()).toEqual([])
  })

  test('more than is left: the numbers, and no button', async () => {
    const { product, sentences } = await slackProduct({ units: { dear: 1_001 } })
    expect(await sentences('run ranking dear budget=seo', { user: 'U2BOB' })).toEqual([
      '⛔ A ranking update of dear would be refused now, so there is nothing to confirm. Nothing was spent. “seo has 1,000 of 1,000 units left this month and this needs 1,001; resets 1 Dec 2026 00:00 UTC; ask for 1 more.”',
    ])
    expect(product.slack.buttons()).toEqual([])
  })

  test('refuses a confirmation with the numbers if others took the units before', async () => {
    const { product, offered, press } = await slackProduct({ units: { dear: 970 } })
    const ask = await offered('run ranking acme budget=seo')
    await product.update({ kind: 'ranking', project: 'dear', budget: 'seo' })
    product.slack.news()
    const told = await press('confirm', ask, { user: 'U2BOB' })
    expect(told.filter(({ to }) => to === 'asker').at(-1)?.text).toBe(
      '⛔ The ranking update of acme was refused. Nothing was spent. “seo has 30 of 1,000 units left this month and this needs 40; resets 1 Dec 2026 00:00 UTC; ask for 10 more.”',
    )
    expect(product.seen('run')).toHaveLength(1)
  })

  test('frozen before it was confirmed: refused at once', async () => {
    const { product, offered, press } = await slackProduct()
    const ask = await offered('run ranking acme budget=seo')
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await product.deliver()
    product.slack.news()
    const told = await press('confirm', ask, { user: 'U2BOB' })
    expect(told.map(({ text }) => text)).toEqual([
      '⛔ The ranking update of acme was refused. Nothing was spent. “seo was frozen by ada on 20 Nov 2026 10:00 UTC: a loop. Ask an administrator to unfreeze it.”',
    ])
  })

  test('a user who may only propose reads so before; then the update waits for approval in the channel', async () => {
    const { product, type, press, updates } = await slackProduct()
    const [told] = await type('run ranking acme budget=seo', { user: 'U4PIA' })
    expect(told && textsOf(told)).toContain(
      '✋ After that it needs approval by another person.\n> callers with only the scope propose need approval',
    )
    const answered = await press('confirm', product.slack.buttons()[0]?.value ?? '', { user: 'U4PIA' })
    expect(answered.map(({ to }) => to).toSorted()).toEqual(['asker', 'asker', 'channel'])
    expect(answered.findLast(({ to }) => to === 'asker')?.text).toMatch(
      /^✋ The ranking update of acme waits for approval by another person, open until 21 Nov 2026 10:00 UTC\. Nothing is spent before that\./,
    )
    const [{ id, state }] = await updates()
    expect(state).toBe('awaiting-approval')
    expect(product.slack.buttons()).toEqual([
      { action: 'approve', value: id },
      { action: 'reject', value: id },
    ])
    expect(product.seen('run')).toEqual([])
  })

  test('a quoted name is a name, whatever it says', async () => {
    const { product, offered, press, updates } = await slackProduct({ units: Object.create(null) })
    for (const project of ['my shop', 'a/b', 'because', 'budget=seo', 'constructor', '日本']) {
      const ask = await offered(`run ranking “${project}” budget=seo because "of this"`)
      await press('confirm', ask, { user: 'U2BOB' })
      expect((await updates())[0]).toMatchObject({ project, reason: '"of this"', state: 'settled' })
      product.clock.advance(1_000)
    }
    expect(product.seen('run')).toHaveLength(6)
  })
})

describe('freeze, unfreeze, pause, resume', () => {
  test('freeze and unfreeze: done at once, kept with the reason, told in the channel', async () => {
    const { product, type } = await slackProduct()
    const frozen = await type('freeze seo something asks in a loop')
    expect(frozen[0] && textsOf(frozen[0])).toEqual(['✅ Done: seo is frozen.'])
    expect(frozen.map(({ to, text }) => [to, text])).toEqual([
      ['asker', 'Done: seo is frozen.'],
      [
        'channel',
        '🧊 <@U1ADA> froze the budget seo. Nothing can be spent from it, or from budgets below it, until it is unfrozen. Running updates continue.',
      ],
    ])
    expect((await product.call('GET', '/budgets/seo')).body.frozen).toMatchObject({
      reason: 'something asks in a loop',
      by: 'slack:U1ADA',
    })
    expect((await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })).status).toBe(402)
    await product.deliver()
    product.slack.news()
    const thawed = await type('unfreeze seo the loop is fixed')
    expect(thawed.map(({ to, text }) => [to, text])).toEqual([
      ['asker', 'Done: seo is no longer frozen.'],
      ['channel', '▶️ <@U1ADA> unfroze the budget seo. It can spend again, within its limits.'],
    ])
    expect((await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })).status).toBe(201)
  })

  test('frozen again is frozen once: the first reason stays, and the channel is not told again', async () => {
    const { product, type } = await slackProduct()
    await type('freeze seo the first reason')
    expect((await type('freeze seo the second')).map(({ to }) => to)).toEqual(['asker'])
    expect((await product.call('GET', '/budgets/seo')).body.frozen.reason).toBe('the first reason')
  })

  test('unfreezing below a frozen budget does not announce that it may spend again', async () => {
    const { product, type } = await slackProduct()
    await product.call('PUT', '/budgets/blog', { body: { parent: 'seo', limits: month(200) } })
    await product.call('PUT', '/budgets/posts', { body: { parent: 'blog', limits: month(100) } })
    for (const name of ['seo', 'posts']) await type(`freeze ${name} a loop`)
    expect((await type('unfreeze posts it ended')).map(({ to, text }) => [to, text])).toEqual([
      [
        'asker',
        'Done: posts is no longer frozen, but seo above it is: nothing can be spent from it until that is unfrozen, too.',
      ],
      [
        'channel',
        '▶️ <@U1ADA> unfroze the budget posts. Nothing can be spent from it yet: seo above it is frozen, too.',
      ],
    ])
    expect((await type('unfreeze seo it ended')).at(-1)?.text).toContain('It can spend again')
  })

  test('announces an unfreeze as it was, even if the budget is deleted before', async () => {
    const { product } = await slackProduct()
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await product.call('POST', '/budgets/seo/unfreeze', { body: { reason: 'it ended' } })
    await product.call('DELETE', '/budgets/seo')
    await product.deliver()
    expect(product.slack.news().at(-1)?.text).toBe(
      '▶️ ada unfroze the budget seo. It can spend again, within its limits.',
    )
  })

  test('a budget or a plan that there is not', async () => {
    const { sentences } = await slackProduct()
    expect(await sentences('freeze none why not')).toEqual(['There is no budget none.'])
    expect(await sentences('pause none why not')).toEqual(['There is no plan none.'])
  })

  test('pause and resume a plan', async () => {
    const plans = [{ name: 'nightly', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 3 * * ? *)' }]
    const { product, type } = await slackProduct({ plans })
    const paused = await type('pause nightly the site moves')
    expect(paused.map(({ to, text }) => [to, text])).toEqual([
      ['asker', 'Done: the plan nightly is paused.'],
      ['channel', '⏸️ <@U1ADA> paused the plan nightly. It asks for no updates until it is resumed.'],
    ])
    expect((await product.call('GET', '/plans')).body.plans[0].paused).toMatchObject({ reason: 'the site moves' })
    const resumed = await type('resume nightly done')
    expect(resumed.map(({ to, text }) => [to, text])).toEqual([
      ['asker', 'Done: the plan nightly is no longer paused.'],
      ['channel', '▶️ <@U1ADA> resumed the plan nightly. It runs again at its next scheduled time.'],
    ])
  })

  test('resuming a plan that is not enabled does not announce that it runs again', async () => {
    const plan = { name: 'nightly', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 3 * * ? *)' }
    const { type } = await slackProduct({ plans: [{ ...plan, enabled: false }] })
    await type('pause nightly the site moves')
    const resumed = await type('resume nightly done')
    expect(resumed.map(({ to, text }) => [to, text])).toEqual([
      ['asker', 'Done: the plan nightly is no longer paused, but it does not run: the plans file does not enable it.'],
      ['channel', '▶️ <@U1ADA> resumed the plan nightly. It does not run yet: the plans file does not enable it.'],
    ])
  })
})

describe('a command that is done again, until Slack takes the answer', () => {
  const nightly = { name: 'nightly', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 3 * * ? *)' }
  const stopped = async ({ call }: Awaited<ReturnType<typeof slackProduct>>['product']) => ({
    seo: (await call('GET', '/budgets/seo')).body.frozen,
    nightly: (await call('GET', '/plans')).body.plans[0].paused,
  })

  test.each([
    ['unfreeze seo repaired', '/budgets/seo/freeze', 'seo'],
    ['resume nightly repaired', '/plans/nightly/pause', 'nightly'],
  ] as const)(
    '%s: lifts what was stopped before it was typed, and nothing that was stopped since',
    async (text, stop, what) => {
      const { product } = await slackProduct({ plans: [nightly] })
      await product.call('POST', stop, { body: { reason: 'a loop' } })
      const taken = { status: 200, body: 'ok' }
      product.slack.answers({ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 }, taken)
      await product.slack.command(text)
      await product.deliver()
      expect((await stopped(product))[what]).toBe(false)
      product.clock.advance(minutes(1))
      await product.call('POST', stop, { body: { reason: 'it loops again' } })
      product.clock.advance(minutes(4))
      product.slack.news()
      await product.triggers.sweep(product.endsAt())
      expect((await stopped(product))[what]).toMatchObject({ reason: 'it loops again' })
      const [told] = product.slack.news().filter(({ to }) => to === 'asker')
      const was = { seo: 'The budget seo was frozen', nightly: 'The plan nightly was paused' }[what]
      expect(told?.text).toBe(
        `${was} by ada on 20 Nov 2026 10:01 UTC, after this was asked for, and stays so: it loops again.`,
      )
    },
  )

  test('unfreeze: what is no longer frozen is left as it is, and the channel is not told again', async () => {
    const { product, type } = await slackProduct()
    const revision = async () => (await product.call('GET', '/budgets/seo')).headers.get('etag')
    const before = await revision()
    const told = await type('unfreeze seo repaired')
    expect(told.map(({ to, text }) => [to, text])).toEqual([['asker', 'Done: seo is no longer frozen.']])
    expect(await revision()).toBe(before)
  })

  test('what the stream has missed is done in the order in which it was typed', async () => {
    const { product } = await slackProduct({ plans: [nightly] })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await product.deliver()
    product.slack.news()
    await product.slack.command('unfreeze seo repaired')
    product.clock.advance(minutes(1))
    await product.slack.command('freeze seo it loops again')
    product.clock.advance(minutes(4))
    await product.triggers.sweep(product.endsAt())
    expect((await stopped(product)).seo).toMatchObject({ reason: 'it loops again' })
    expect(product.slack.news().flatMap(({ to, text }) => (to === 'asker' ? [text] : []))).toEqual([
      'Done: seo is no longer frozen.',
      'Done: seo is frozen.',
    ])
  })
})

describe('/units cancel', () => {
  async function proposed() {
    const slack = await slackProduct()
    await slack.press('confirm', await slack.offered('run ranking acme budget=seo', 'U4PIA'), { user: 'U4PIA' })
    const [{ id }] = await slack.updates()
    slack.product.slack.news()
    return { ...slack, id }
  }

  test('of one’s own', async () => {
    const { sentences, updates, id } = await proposed()
    expect((await sentences(`cancel ${id}`, { user: 'U4PIA' }))[0]).toBe(
      '⛔ The ranking update of acme was cancelled by <@U4PIA>. Nothing was spent.',
    )
    expect(await updates()).toMatchObject([{ state: 'cancelled' }])
    expect(await sentences(`cancel ${id}`, { user: 'U4PIA' })).toEqual([
      `The ranking update of acme cannot be cancelled: it has been cancelled since 20 Nov 2026 10:00 UTC (slack:U4PIA).`,
    ])
  })

  test('of others: not, but for administrators', async () => {
    const { sentences, updates, id } = await proposed()
    expect(await sentences(`cancel ${id}`, { user: 'U2BOB' })).toEqual([
      `slack:U4PIA asked for the ranking update of acme; only they or an administrator may cancel it.`,
    ])
    expect(await updates()).toMatchObject([{ state: 'awaiting-approval' }])
    await sentences(`cancel ${id}`, { user: 'U1ADA' })
    expect(await updates()).toMatchObject([{ state: 'cancelled' }])
    expect(await sentences('cancel upd_unknown')).toEqual(['There is no update upd_unknown.'])
  })

  test('the user who asked reads the outcome where the confirmation was', async () => {
    const { product, type, id } = await proposed()
    const told = await type(`cancel ${id}`, { user: 'U1ADA' })
    expect(told.map(({ to, body }) => [to, body.replace_original === true])).toEqual([
      ['asker', false],
      ['asker', true],
    ])
    expect(product.seen('run')).toEqual([])
  })
})
