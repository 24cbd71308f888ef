import { describe, expect, test } from 'vitest'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { hours, minutes } from '../support/clock.ts'
import { json } from '../support/product.ts'
import { listPeople, textsOf } from '../support/slack/slack.ts'
import { asLines, month, says, startTalk } from '../support/slack/talk.ts'

/** Ada may do everything. Bob runs for seo, Rita reads, Pia proposes for seo, and Zoe may run but charge no budget. */
async function slackProduct(options: Parameters<typeof startTalk>[1] = {}) {
  const people = {
    U1ADA: { scopes: ['read', 'run', 'approve', 'admin'] },
    U2BOB: { scopes: ['read', 'run'], budgets: ['seo'] },
    U3RITA: { scopes: ['read'] },
    U4PIA: { scopes: ['read', 'propose'], budgets: ['seo'] },
    U5ZOE: { scopes: ['run'] },
  }
  const talk = await startTalk({ budgets: { seo: { limits: month(1_000) } }, people }, options)
  const { product, press } = talk
  const confirm = (id: string, user = 'U2BOB') => press('confirm', id, { user })
  const latest = () => product.slack.posted().at(-1) ?? { to: 'asker' as const, text: '', body: {} }
  const button = () => product.slack.buttons()[0]?.value ?? ''
  return { ...talk, confirm, latest, button }
}

const nightly = { name: 'nightly', kind: 'ranking', projects: ['acme'], schedule: 'cron(0 3 * * ? *)' }
const acme = 'run ranking acme budget=seo'

describe('permissions of a command', () => {
  test('each command needs its scope, and a charge needs the right to its budget', async () => {
    const { product, type } = await slackProduct()
    const rows: [text: string, user: string, key: string][] = [
      ['', 'U5ZOE', 'scope read[.]'],
      ['estimate ranking acme', 'U5ZOE', 'scope read[.]'],
      ['updates', 'U5ZOE', 'scope read[.]'],
      ['show upd_1', 'U5ZOE', 'scope read[.]'],
      ['run ranking acme', 'U3RITA', 'scope run or propose[.]'],
      ['cancel upd_1', 'U3RITA', 'scope run or propose or admin[.]'],
      ['freeze seo it loops', 'U2BOB', 'scope admin[.]'],
      ['unfreeze seo it stopped', 'U2BOB', 'scope admin[.]'],
      ['pause nightly a move', 'U2BOB', 'scope admin[.]'],
      ['resume nightly done', 'U2BOB', 'scope admin[.]'],
      ['reconcile 31200 as of 10:40', 'U2BOB', 'scope admin[.]'],
      ['run ranking acme', 'U2BOB', 'not charge the budget account'],
      [acme, 'U5ZOE', 'not charge the budget seo'],
      ['run ranking acme budget=none', 'U2BOB', 'no budget none'],
    ]
    for (const [text, user, key] of rows)
      expect([text, ...(await type(text, { user }))]).toEqual([text, ...says(`private: ${key}`)])
    expect([product.slack.buttons(), product.seen('run')]).toEqual([[], []])
  })
})

describe('figures, estimates and lists', () => {
  test('/units shows the units left of every budget, and the frozen ones', async () => {
    const { product, news, type, latest } = await slackProduct()
    await product.call('PUT', '/budgets/blog', { body: { parent: 'seo', limits: month(200) } })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await news()
    const left = 'blog has 200 of 200 .*; seo has 1,000 of 1,000 .*; account has 50,000 of 50,000 '
    expect(await type('', { user: 'U3RITA' })).toEqual(says(`private: ${left}`))
    const paragraphs = textsOf(latest())[1]?.split('\n\n')
    expect(paragraphs?.map((each) => each.includes('\n🧊'))).toEqual([true, true, false])
    expect(paragraphs?.map((each) => /^_(.*)_/.exec(each)?.[1])).toEqual(['At risk', undefined, 'Other budgets'])
  })

  test('/units shows first the budgets that the user may charge', async () => {
    const { product, type, latest } = await slackProduct()
    await product.call('PUT', '/budgets/blog', { body: { limits: month(200) } })
    const left = 'seo has 1,000 of 1,000 .*; account has 50,000 of 50,000 .*; blog has 200 of 200 '
    expect(await type('', { user: 'U2BOB' })).toEqual(says(`private: ${left}`))
    expect(textsOf(latest())[1]).toMatch(/^_You may charge_\n\*seo\*/)
    await listPeople(product, { U2BOB: { scopes: ['read'], budgets: ['seo'] } })
    await type('', { user: 'U2BOB' })
    expect(textsOf(latest())[1]).not.toContain('You may charge')
    await listPeople(product, { U2BOB: { scopes: ['read', 'propose'], budgets: ['seo'] } })
    await type('', { user: 'U2BOB' })
    expect(textsOf(latest())[1]).toMatch(/^_You may charge_\n\*seo\*/)
  })

  test('/units with the name of a budget or a project shows that budget and those above it', async () => {
    const { product, type, latest } = await slackProduct()
    const projects = [{ name: 'Tea Shop' }]
    await product.call('PUT', '/budgets/blog', { body: { parent: 'seo', limits: month(200), projects } })
    const chain = 'blog has 200 of 200 .*; seo has 1,000 of 1,000 .*; account has 50,000 of 50,000 '
    for (const text of ['blog', 'BLOG', '"tea shop"']) expect(await type(text)).toEqual(says(`private: ${chain}`))
    const stops = "Next stop: blog's month, 200 units away."
    expect(textsOf(latest())[1]).toBe('`Tea Shop` is a project of `blog`.')
    expect(textsOf(latest())).toContain(stops)
    await type('blog')
    expect(textsOf(latest())[1]).toBe(stops)
    expect(textsOf(latest()).join()).not.toContain('is a project')
    for (const [typed, meant] of [
      ['blgo', 'blog'],
      ['accuont', 'account'],
    ]) {
      await type(typed ?? '')
      expect(textsOf(latest())[0]).toContain(
        `There is no budget, project or person “${typed}”; did you mean /units ${meant}?`,
      )
    }
    expect(await type('photosynthesis')).toEqual(says('private: There is no command “photosynthesis”'))
    await type('hepl')
    expect(textsOf(latest())[0]).toContain('did you mean /units help?')
  })

  test('/units with any name of a person shows their spending, requests and rights to administrators', async () => {
    const { product, type, latest } = await slackProduct()
    await product.call('PUT', '/callers/ada-laptop', { body: { person: 'ada.l', scopes: ['run'] } })
    await product.update(
      { kind: 'ranking', project: 'acme', budget: 'seo' },
      { token: product.signed({ sub: 'ada-laptop', scope: 'run', budgets: '*' }) },
    )
    const spent = '40 units spent this month'
    for (const text of ['ada-laptop', 'ada.l']) expect(await type(text)).toEqual(says(`private: ada.l: ${spent}`))
    expect(textsOf(latest()).join('\n')).toMatch(
      /100 % of all this month\).*`ada-laptop` may: run\. Nothing in ada\.l's own entry stops them.*Asked lately.*`acme` ranking/s,
    )
    expect(await type('ada-laptop', { user: 'U3RITA' })).toEqual(says(`private: ada.l: ${spent}`))
    expect(textsOf(latest()).join()).not.toContain('may:')
    await type('acme')
    expect(textsOf(latest())[1]).toBe('No budget lists `acme`.')
    expect(textsOf(latest())[2]).toMatch(/40 units.* spent this month.*\n• Last ranking run: \*40 units\*/)
  })

  test('/units updates shows a loop of refusals as one line', async () => {
    const { product, type, latest } = await slackProduct()
    for (let times = 0; times < 12; times++) {
      await product.update({ kind: 'ranking', project: 'acme' })
      product.clock.advance(1000)
    }
    await type('updates')
    const lines = textsOf(latest()).filter((text) => text.includes('`acme`'))
    expect(lines.length).toBe(2)
    expect(lines[0]).toContain('· 11 times')
  })

  test('/units login gives a listed user a new link each time, or names the missing setting', async () => {
    const { type, latest } = await slackProduct({ env: { DASHBOARD_URL: 'https://units.example/' } })
    const links = new Set<string | undefined>()
    for (let times = 0; times < 2; times++) {
      await type('login', { user: 'U5ZOE' })
      const [link] = textsOf(latest())
      expect(link).toMatch(/^<https:\/\/units\.example\/login\?code=[0-9a-z]{26}\|Open the dashboard>$/)
      links.add(link)
    }
    expect(links.size).toBe(2)
    expect(await (await slackProduct()).type('login')).toEqual(says('private: set DASHBOARD_URL'))
  })

  test('/units updates and show link to the dashboard if its address is known', async () => {
    const env = { DASHBOARD_URL: 'https://units.example/' }
    const { type, offered, confirm, updates, latest } = await slackProduct({ env })
    expect(await type('updates')).toEqual(says('private: no updates yet'))
    await confirm(await offered(acme))
    const [{ id }] = await updates()
    const rows = [
      ['updates', '✅ acme ranking · 40 units'],
      [`show ${id}`, '✅ .*40 units charged to seo'],
    ] as const
    for (const [text, key] of rows) {
      expect(await type(text, { user: 'U3RITA' })).toEqual(says(`private: ${key}`))
      const shown = textsOf(latest()).join('\n')
      expect(shown).toContain(`<https://units.example/dashboard/updates/${id}|Open in dashboard>`)
      expect(shown).not.toContain(`\`${id}\``)
    }
    expect(await type('show upd_unknown')).toEqual(says('private: no update upd_unknown'))
  })
})

describe('/units run', () => {
  test('a confirmed run replaces its button with a confirmation, and later with the outcome', async () => {
    const { product, offered, confirm, updates, button } = await slackProduct()
    const ask = await offered(`${acme} tag:client=acme because the board meets`)
    expect(await confirm(ask)).toEqual(says('place: ⏳', 'place: ✅ .*40 units charged to seo'))
    expect(button()).toBe(ask)
    const who = { project: 'acme', budget: 'seo', caller: 'slack:U2BOB', via: 'slack', reason: 'the board meets' }
    expect(await updates()).toMatchObject([
      { ...who, kind: 'ranking', tags: { client: 'acme' }, maxUnits: 40, state: 'settled', units: { charged: 40 } },
    ])
    expect(await product.audit()).toBe(true)
  })

  test('a run that is confirmed twice, in sequence and by two processes at once, runs once', async () => {
    const { product, news, offered, confirm, updates } = await slackProduct()
    const ask = await offered(acme)
    await Promise.all([1, 2, 3].map(() => product.slack.press('confirm', ask, { user: 'U2BOB' })))
    const other = product.startProcess()
    const { rows } = await product.guard.ledger.queue(slackEvents).open(10)
    expect(rows).toHaveLength(3)
    await Promise.all([...rows.map(({ id }) => other.slack.answer(id)), product.deliver()])
    await news()
    expect((await confirm(ask))[0]).toEqual(says('place: ✅ .*40 units')[0])
    expect([product.seen('run').length, (await updates()).length]).toEqual([1, 1])
    expect(await product.figures('seo')).toMatchObject({ available: 960, spent: 40 })
  })

  test('two commands of one user for the same project are two requests', async () => {
    const { product, offered, confirm, updates } = await slackProduct()
    await confirm(await offered(acme))
    product.clock.advance(hours(24))
    await confirm(await offered(acme))
    expect([product.seen('run').length, (await updates()).length]).toEqual([2, 2])
  })

  test('the answer to a user who may not request updates says whom to ask, not to type the command', async () => {
    const { product, offered, confirm, updates } = await slackProduct()
    const ask = await offered(acme)
    await listPeople(product, { U1ADA: { scopes: ['run'], disabled: true } })
    const rows = [
      ['U3RITA', 'listed as slack:U3RITA, but this needs the scope run or propose'],
      ['U9NOBODY', 'list you as the caller slack:U9NOBODY'],
      ['U1ADA', 'slack:U1ADA is disabled'],
    ] as const
    for (const [user, key] of rows) expect(await confirm(ask, user)).toEqual(says(`private: ${key}`))
    expect(await updates()).toEqual([])
  })

  test('a run that is confirmed after an hour does not run, and its button disappears', async () => {
    const { product, offered, confirm, updates } = await slackProduct()
    const [early, late] = [await offered(acme), await offered('run ranking blog budget=seo')]
    product.clock.advance(hours(1))
    await confirm(early)
    expect(await updates()).toMatchObject([{ project: 'acme', state: 'settled' }])
    product.clock.advance(1)
    expect(await confirm(late)).toEqual(says('place: more than an hour ago'))
    expect(product.slack.posted().at(-1)?.body.blocks).toHaveLength(1)
    expect(product.seen('run')).toHaveLength(1)
    expect(await confirm(early)).toEqual(says('place: ✅'))
  })

  test('an answer that Slack rejected is repeated, but never with a second button for another price', async () => {
    const { product, type, confirm, sweep, button } = await slackProduct()
    product.slack.answers({ status: 500 }, { status: 200, body: 'ok' })
    expect(await type(acme, { user: 'U2BOB' })).toHaveLength(1)
    const ask = button()
    product.service.script('/on-demand/acme/estimate', json({ keyword_units: 400 }))
    expect(await sweep(minutes(3))).toEqual(says('private: The price or the payer has moved'))
    // Slack may have shown the first message, whose button is still limited to 40 units.
    await confirm(ask)
    expect(product.seen('run')).toEqual([])
  })

  test('an answer that Slack rejected is repeated, but never with a second button for another payer', async () => {
    const { product, type, press, sweep, button } = await slackProduct()
    product.slack.answers({ status: 500 }, { status: 200, body: 'ok' })
    await type('run ranking acme')
    await product.call('PUT', '/budgets/seo', { body: { limits: month(1_000), projects: [{ name: 'acme' }] } })
    expect(await sweep(minutes(3))).toEqual(says('private: The price or the payer has moved'))
    expect(await press('confirm', button())).toEqual(says('private: The payer or owner of acme has changed'))
    expect(product.seen('run')).toEqual([])
  })

  test('an answer that an older version began without payers is repeated with its button', async () => {
    const { product, type, press, sweep, button } = await slackProduct()
    product.slack.answers({ status: 500 }, { status: 200, body: 'ok' })
    await type('run ranking acme')
    const events = product.guard.ledger.queue(slackEvents)
    const [event] = (await events.open(1)).rows
    if (event?.kind !== 'command') throw new Error('no command is open')
    const { payers: _payers, ...older } = event
    await events.change(older, event)
    expect(await sweep(minutes(3))).toEqual(says('private: .*will cost 40 units'))
    expect(await press('confirm', button())).toEqual(says('place: ⏳', 'place: ✅ .*40 units charged to account'))
  })

  test('an answer that Slack showed but rejected gets the outcome after it is confirmed', async () => {
    const { product, type, confirm, sweep, button } = await slackProduct({ units: { acme: 640 } })
    product.slack.answers({ status: 500 }, { status: 200, body: 'ok' })
    await type(acme, { user: 'U2BOB' })
    await confirm(button())
    expect(await sweep(minutes(3))).toEqual(says('private: ✅ .*640 units charged to seo'))
    expect(product.seen('run')).toHaveLength(1)
  })

  test('two processes that answer while the price moves show only a button for the stored price', async () => {
    const { product, confirm, updates } = await slackProduct()
    const prices = [45, 40, 45].map((units) => json({ keyword_units: units })) as [ReturnType<typeof json>]
    product.service.script('/on-demand/acme/estimate', ...prices)
    await product.slack.command(acme, { user: 'U2BOB' })
    const [event] = (await product.guard.ledger.queue(slackEvents).open(1)).rows
    await Promise.all([1, 2].map(() => product.startProcess().slack.answer(event?.id ?? '')))
    const shown = product.slack.news().map(({ text }) => /will cost (\d+) units/.exec(text)?.[1])
    await confirm(event?.id ?? '')
    const [{ maxUnits }] = await updates()
    expect(shown).toEqual([String(maxUnits)])
  })

  test('a run of projects that several budgets pay needs the right to charge each of them', async () => {
    const { product, type, confirm, updates, button } = await slackProduct()
    const { call } = product
    const ofProject = (name: string) => ({ body: { limits: month(1_000), projects: [{ name }] } })
    for (const [budget, project] of Object.entries({ seo: 'acme', press: 'blog' }))
      await call('PUT', `/budgets/${budget}`, ofProject(project))
    const refused = 'private: may not charge the budget press'
    expect(await type('run ranking acme blog', { user: 'U2BOB' })).toEqual(says(refused))
    expect(await type('run ranking blog acme', { user: 'U2BOB' })).toEqual(says(refused))
    await listPeople(product, { U2BOB: { scopes: ['run'], budgets: ['seo', 'press'] } })
    await type('run ranking acme blog', { user: 'U2BOB' })
    await confirm(button())
    const paid = (await updates()).map(({ project, budget }: Record<string, string>) => [project, budget])
    expect(paid.toSorted()).toEqual([
      ['acme', 'seo'],
      ['blog', 'press'],
    ])
  })

  test('a run of which two projects are refused says why the first of them was, beside what runs', async () => {
    const { product, type, press, button, latest } = await slackProduct()
    const list = (budget: string, name: string) =>
      product.call('PUT', `/budgets/${budget}`, { body: { limits: month(1_000), projects: [{ name }] } })
    await type('run ranking shop acme blog')
    const [some, all] = [button(), (await type('run ranking acme blog')) && button()]
    await list('seo', 'acme')
    await list('press', 'blog')
    expect(await press('confirm', all)).toEqual(says('private: The payer or owner of acme has changed'))
    expect(await press('confirm', some)).toEqual(says('place: ⏳', 'place: ✅ .*40 units charged to account'))
    const [, shown] = product.slack.posted().toReversed()
    expect(shown && textsOf(shown).filter((text) => text.includes('has changed'))).toEqual([
      '⚠️ The payer or owner of acme has changed since it was shown. Ask again.',
    ])
    expect(latest().text).not.toContain('blog')
  })

  test('a run of several projects shows each price, and reports all in one message at the end', async () => {
    const { product, type, confirm, updates, latest, button } = await slackProduct({ units: { blog: 7, shop: 100 } })
    const told = await type('run ranking acme "my shop" blog shop budget=seo', { user: 'U2BOB' })
    expect(told).toEqual(says('private: 4 projects will cost 187 units, charged to seo'))
    const prices = textsOf(latest())[2]?.split('\n')
    expect(prices).toEqual(['• `acme`: 40 units', '• `my shop`: 40 units', '• `blog`: 7 units', '• `shop`: 100 units'])
    expect(textsOf(latest())[3]).toMatch(/1,000 units left now, 813 .*\n.*50,000 units left now, 49,813 /)
    expect(await confirm(button())).toEqual(
      says('place: 0 of 4 updates done, 0 units', 'place: 4 of 4 updates done, 187 units charged.'),
    )
    const limits = (await updates()).map(({ maxUnits }: { maxUnits: number }) => maxUnits)
    expect(limits.toSorted()).toEqual([100, 40, 40, 7])
    expect(product.seen('run')).toHaveLength(4)
    expect(await product.audit()).toBe(true)
  })

  test('a run above the available units shows the figures, and asks an approver once for the missing ones', async () => {
    const { product, type, press, button, updates } = await slackProduct({ units: { dear: 1_001 } })
    const told = await type('run ranking dear budget=seo', { user: 'U2BOB' })
    expect(told).toEqual(says('private: ⛔ .*1,000 of 1,000 units left .*needs 1,001;'))
    expect(product.slack.buttons()).toEqual([{ action: 'ask', value: expect.stringMatching(/^cmd_/) }])
    const ask = button()
    expect(await press('ask', ask, { user: 'U1ADA' })).toEqual(says('private: Only the user who typed this command'))
    for (let times = 0; times < 2; times++) await press('ask', ask, { user: 'U2BOB' })
    const [update, ...others] = await updates()
    expect([update.state, update.units.charged, others]).toEqual(['awaiting-approval', null, []])
    expect(update.history.at(-1).note).toContain('approving it may put seo up to ')
    expect(product.seen('run')).toEqual([])
  })

  test('a run on an empty budget can be sent to an approver with its price', async () => {
    const { product, type, press, button, updates } = await slackProduct({ units: { dear: 1_000 } })
    await product.update({ kind: 'ranking', project: 'dear', budget: 'seo' })
    await type('run ranking acme budget=seo', { user: 'U2BOB' })
    await press('ask', button(), { user: 'U2BOB' })
    const asked: { project: string }[] = await updates()
    expect(asked.toSorted((one, other) => one.project.localeCompare(other.project))).toMatchObject([
      { project: 'acme', state: 'awaiting-approval', units: { estimated: 40 }, maxUnits: 40 },
      { project: 'dear', state: 'settled', units: { estimated: 1_000 } },
    ])
  })

  test('a refusal has no button to ask for units if no grant would help, or if it concerns several projects', async () => {
    const { product, type } = await slackProduct({ units: { dear: 50_001, blog: 600, shop: 600, big: 1_001 } })
    await type('run ranking dear', { user: 'U1ADA' })
    await type('run ranking big blog budget=seo', { user: 'U1ADA' })
    await type('run ranking blog shop budget=seo', { user: 'U1ADA' })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await type('run ranking acme budget=seo', { user: 'U1ADA' })
    expect(product.slack.buttons().filter(({ action }) => action === 'ask')).toEqual([])
  })

  test('a user who may only propose reads that the update needs approval before it waits in the channel', async () => {
    const { product, type, confirm, updates, latest, button } = await slackProduct()
    await type(acme, { user: 'U4PIA' })
    expect(textsOf(latest()).join('\n')).toContain(
      '✋ After that it needs approval by another person.\n> callers with only',
    )
    const told = await confirm(button(), 'U4PIA')
    expect(told.toSorted()).toEqual(
      says('channel: needs approval by', 'place: ⏳', 'place: ✋ .*until 21 Nov 2026 10:00'),
    )
    const [{ id, state }] = await updates()
    expect(state).toBe('awaiting-approval')
    expect(product.slack.buttons()).toEqual(['approve', 'reject'].map((action) => ({ action, value: id })))
    expect(product.seen('run')).toEqual([])
  })

  test('a quoted text is a name, even if it looks like a command', async () => {
    const { product, offered, confirm, updates } = await slackProduct({ units: Object.create(null) })
    for (const project of ['my shop', 'a/b', 'because', 'budget=seo', 'constructor', '日本']) {
      await confirm(await offered(`run ranking “${project}” budget=seo because "of this"`))
      expect((await updates())[0]).toMatchObject({ project, reason: '"of this"', state: 'settled' })
      product.clock.advance(1_000)
    }
    expect(product.seen('run')).toHaveLength(6)
  })
})

describe('freeze, unfreeze, pause, resume', () => {
  test('freeze and unfreeze act at once, are recorded with their reason, and are announced in the channel', async () => {
    const { product, type } = await slackProduct()
    const submitted = async () => (await product.update({ kind: 'ranking', project: 'acme', budget: 'seo' })).status
    const frozenOf = async () => (await product.call('GET', '/budgets/seo')).body.frozen
    const told = await type('freeze seo something asks in a loop')
    expect(told).toEqual(says('private: seo is frozen', 'channel: 🧊 <@U1ADA> froze the budget seo'))
    const first = { reason: 'something asks in a loop', by: 'slack:U1ADA' }
    expect([await frozenOf(), await submitted()]).toEqual([expect.objectContaining(first), 402])
    await product.deliver()
    product.slack.news()
    // A second freeze keeps the first reason, and the channel is not informed again.
    expect(await type('freeze seo the second')).toEqual(says('private: seo is frozen'))
    expect(await frozenOf()).toMatchObject(first)
    expect(await type('unfreeze seo the loop is fixed')).toEqual(
      says('private: seo is no longer frozen', 'channel: ▶️ <@U1ADA> unfroze the budget seo. It can spend'),
    )
    expect(await submitted()).toBe(201)
  })

  test('the announcement of an unfreeze stays the same if the budget is deleted before', async () => {
    const { product, news } = await slackProduct()
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await product.call('POST', '/budgets/seo/unfreeze', { body: { reason: 'it ended' } })
    await product.call('DELETE', '/budgets/seo')
    expect((await news()).at(-1)).toEqual(says('channel: ▶️ ada unfroze the budget seo')[0])
  })

  test('resuming a plan that is not enabled does not announce that it runs again', async () => {
    const { type } = await slackProduct({ plans: [{ ...nightly, enabled: false }] })
    await type('pause nightly the site moves')
    expect(await type('resume nightly done')).toEqual(
      says('private: no longer paused, but it does not run', 'channel: ▶️ .*does not run yet'),
    )
  })
})

describe('a command that is repeated until Slack accepts the answer', () => {
  const stopped = async ({ call }: Awaited<ReturnType<typeof slackProduct>>['product']) => ({
    seo: (await call('GET', '/budgets/seo')).body.frozen,
    nightly: (await call('GET', '/plans')).body.plans[0].paused,
  })

  test.each([
    ['unfreeze seo repaired', '/budgets/seo/freeze', 'seo', 'The budget seo was frozen'],
    ['resume nightly repaired', '/plans/nightly/pause', 'nightly', 'The plan nightly was paused'],
  ] as const)('a repeated %s lifts only stops from before it was typed', async (text, stop, what, was) => {
    const { product, type, sweep } = await slackProduct({ plans: [nightly] })
    await product.call('POST', stop, { body: { reason: 'a loop' } })
    const fails = { status: 500 }
    product.slack.answers(fails, fails, fails, fails, { status: 200, body: 'ok' })
    await type(text)
    expect((await stopped(product))[what]).toBe(false)
    product.clock.advance(minutes(1))
    await product.call('POST', stop, { body: { reason: 'it loops again' } })
    const told = await sweep(minutes(4))
    expect((await stopped(product))[what]).toMatchObject({ reason: 'it loops again' })
    expect(told).toContainEqual(says(`private: ${was} by ada .*after this was asked for, .*it loops again`)[0])
  })

  test('/units unfreeze on a budget that is not frozen changes and announces nothing', async () => {
    const { product, type } = await slackProduct()
    const revision = async () => (await product.call('GET', '/budgets/seo')).headers.get('etag')
    // Keeps the workspace of the user.
    await type('')
    const before = await revision()
    expect(await type('unfreeze seo repaired')).toEqual(says('private: seo is no longer frozen'))
    expect(await revision()).toBe(before)
  })

  test('commands that the stream missed are executed in the order of typing', async () => {
    const { product, news } = await slackProduct({ plans: [nightly] })
    await product.call('POST', '/budgets/seo/freeze', { body: { reason: 'a loop' } })
    await news()
    await product.slack.command('unfreeze seo repaired')
    product.clock.advance(minutes(1))
    await product.slack.command('freeze seo it loops again')
    product.clock.advance(minutes(4))
    await product.triggers.sweep(product.endsAt())
    expect((await stopped(product)).seo).toMatchObject({ reason: 'it loops again' })
    const told = asLines(product.slack.news()).filter((line) => line.startsWith('private'))
    expect(told).toEqual(says('private: seo is no longer frozen', 'private: seo is frozen'))
  })
})
