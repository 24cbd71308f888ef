import { describe, expect, test } from 'vitest'
import { LedgerUnavailable } from '../../shared/ledger/errors.ts'
import { digest } from '../../shared/platform/ids.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { formWith, press } from '../support/browser/page-forms.ts'
import { minutes } from '../support/clock.ts'
import { json, type Product, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

// Who may decide on pages, what the page says afterwards, and that the API decides in the same way.

const month = (units: number) => [{ window: 'month', units }]

/** As many characters as a name may have, of three bytes each. */
const longest = '長'.repeat(512)

const many = Array.from({ length: 20 }, (_, each) => `dear ${each}`)

/** Ada requests and Bob may approve. `dear` needs approval, and `lost` ends in doubt. */
async function start() {
  const product = await startProduct({
    store: createMemoryStore(),
    units: {
      dear: 120,
      dearer: 130,
      dearest: 140,
      [longest]: 120,
      ...Object.fromEntries(many.map((project) => [project, 120])),
    },
    service: ({ url }) => (/lost[^/]*\/run/.test(url) ? { status: 500 } : undefined),
  })
  await product.call('PUT', '/budgets/clients', { body: { limits: month(2_000), approvalAbove: 100 } })
  await product.call('PUT', '/budgets/seo', { body: { limits: month(2_000), approvalAbove: 100 } })
  const as = async (sub: string, scope: string) => {
    const browser = openBrowser(product)
    await browser.logIn(product.signed({ sub, scope, budgets: '*', exp: product.clock.now() / 1000 + 8 * 3600 }))
    return browser
  }
  return { product, as, bob: await as('bob', 'read approve') }
}

const ask = async (product: Product, project: string, body: object = {}): Promise<string> =>
  (await product.update({ kind: 'ranking', project, budget: 'seo', ...body })).body.updates[0].id

const stateOf = async (product: Product, id: string) => (await product.call('GET', `/updates/${id}`)).body.state

const buttonsIn = (html: string) => [...html.matchAll(/name="do" value="([\w-]+)"/g)].map(([, action]) => action)
describe('the inbox', () => {
  test('the inbox says if nothing waits', async () => {
    const { bob } = await start()
    const { text, html } = await bob.get('/dashboard/inbox')
    expect(text).toContain('To decide: 0 Nothing waits for a decision: no approval, and no doubt.')
    expect(text).toContain('Nothing was decided in the last seven days.')
    expect(html).not.toMatch(/name="(do|one)"/)
  })

  test.each([
    ['on the list', '/dashboard/inbox'],
    ['on its own page', null],
  ])('a press that showed an older price %s does not approve the higher one', async (_where, at) => {
    const { product, bob } = await start()
    const id = await ask(product, 'dear')
    const seen = await bob.get(at ?? `/dashboard/updates/${id}`)
    await product.guard.decide('approve', id, { caller: 'bob' })
    product.clock.advance(minutes(1))
    product.service.script(({ url }) => /\/(estimate|run)$/.test(url), json({ keyword_units: 1_500 }))
    expect(await product.guard.start(id, product.endsAt())).toMatchObject({ state: 'awaiting-approval' })
    const told = await press(bob, seen, 'Approve')
    expect(told.text).toContain(
      'The ranking update of dear needs 1,500 units now, and you were shown 120, so it was not approved. Nothing was spent; look at it again.',
    )
    expect([await stateOf(product, id), product.seen('run')]).toEqual(['awaiting-approval', []])
    expect((await press(bob, told, 'Approve')).text).toContain('✓ The ranking update of dear is approved')
    expect(await stateOf(product, id)).toBe('requested')
  })

  test('the inbox has a button to choose all updates if there are several and the user may decide', async () => {
    const { product, as, bob } = await start()
    const [one, other] = [await ask(product, 'dear'), await ask(product, 'dearer')]
    await ask(product, 'lost')
    const none = await bob.get('/dashboard/inbox')
    expect(none.text.match(/Choose all/g)).toHaveLength(2)
    expect(none.html).not.toMatch(new RegExp(`value="${one}"[^>]*checked`))
    expect((await (await as('rita', 'read')).get('/dashboard/inbox')).text).not.toContain('Choose all')
    const all = await bob.get('/dashboard/inbox?choose=approvals')
    expect(all.text).toContain('Choose none')
    const told = await press(bob, all, 'Reject chosen', { reason: 'too dear' })
    expect(told.text).toContain('✓ The ranking update of dear is rejected.')
    for (const id of [one, other]) {
      const { body } = await product.call('GET', `/updates/${id}`)
      expect([body.state, body.history.at(-1).note]).toEqual(['rejected', 'too dear'])
    }
  })

  test('the inbox and the page of the approver say how an approved update ended that did not run', async () => {
    const { product, bob } = await start()
    const [frozen, refused] = [await ask(product, 'dear'), await ask(product, 'dearer')]
    for (const id of [frozen, refused]) await product.guard.decide('approve', id, { caller: 'bob' })
    await product.guard.freeze('seo', { caller: 'ada', reason: 'audit' })
    product.clock.advance(minutes(1))
    await product.guard.start(frozen, product.endsAt())
    await product.guard.decide('cancel', refused, { caller: 'ada' }, { reason: 'not needed' })
    const { text } = await bob.get('/dashboard/inbox')
    expect(text).toMatch(/dear approved by bob, then refused: seo was frozen by ada on .* 1 minute ago/)
    expect(text).toMatch(/dearer approved by bob, then cancelled: not needed 1 minute ago/)
    const person = (await bob.get('/dashboard/people/bob')).text
    expect(person).toMatch(/approved: dearer, then cancelled: not needed/)
  })

  test('the inbox groups the updates of one request, and shows the last run, a second request and late decisions', async () => {
    const { product, bob } = await start()
    await product.update({ kind: 'ranking', projects: ['dear', 'dearer'], budget: 'seo', reason: 'the relaunch' })
    const other = await ask(product, 'dear', { budget: 'clients', force: true, reason: 'again' })
    const { text, html } = await bob.get('/dashboard/inbox')
    expect(text).toContain('ada asked for 2 updates: 250 units')
    expect(text).toMatch(/1 more request for the same work .*ada asked via http just now: “again”/)
    expect(html.match(/name="id" value=/g)).toHaveLength(3)
    await bob.decide({ do: 'approve', id: other, reason: 'agreed' })
    expect((await bob.get('/dashboard/inbox')).text).toContain('Decided lately dear approved by bob just now: agreed')
    await product.deliver()
    expect((await bob.get('/dashboard/inbox')).text).toContain('120 units last run 120, just now seo has')
  })

  test('the inbox has one row for a project that was requested five times', async () => {
    const { product, bob } = await start()
    for (let time = 1; time <= 5; time++) {
      await product.call('PUT', `/budgets/b${time}`, { body: { limits: month(2_000), approvalAbove: 100 } })
      await ask(product, 'dear', { budget: `b${time}`, force: true, reason: 'again' })
    }
    const { text, html } = await bob.get('/dashboard/inbox?choose=approvals')
    expect(text).toContain('To decide: 5')
    expect(html.match(/<summary>[^<]*for the same work/g)).toEqual(['<summary>4 more requests for the same work'])
    expect(text).not.toContain('Another request for this project')
    expect(html.match(/<input type="checkbox"[^>]* checked=""/g)).toHaveLength(1)
  })

  test('the inbox lists the problems of budgets and plans beside the updates', async () => {
    const plan = { name: 'night', kind: 'ranking', projects: ['one'], budget: 'low', schedule: 'cron(0 5 * * ? *)' }
    const product = await startProduct({ store: createMemoryStore(), plans: [plan] })
    await product.call('PUT', '/budgets/low', { body: { limits: month(100) } })
    await (await product.guard.jobs()).readPrices(product.endsAt())
    const eve = openBrowser(product)
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    const { text, html } = await eve.get('/dashboard/inbox')
    expect(text).toContain(
      'low out 23 Nov Runs out with the plan night: plans need 400 units until the reset, 100 are left, so 300 are short from 23 Nov 2026 05:00 UTC. Grant 300…',
    )
    expect(html).toContain('href="/dashboard/budgets/low/book?type=grant&amp;units=300&amp;window=month#grant"')
    const { html: form } = await eve.get('/dashboard/budgets/low/book?type=grant&units=300&window=month')
    expect(form).toContain('name="units" type="text" value="300"')
  })

  test('the inbox lists a paused plan once, with all of its budgets', async () => {
    const plan = { name: 'night', kind: 'ranking', projects: ['one', 'two'], schedule: 'cron(0 5 * * ? *)' }
    const product = await startProduct({ store: createMemoryStore(), plans: [plan] })
    for (const [budget, name] of Object.entries({ east: 'one', west: 'two' }))
      await product.call('PUT', `/budgets/${budget}`, { body: { limits: month(900), projects: [{ name }] } })
    await product.call('POST', '/plans/night/pause', { body: { reason: 'a holiday' } })
    const eve = openBrowser(product)
    await eve.logIn(product.signed({ sub: 'eve', scope: 'read admin' }))
    for (const [path, end] of [
      ['/dashboard/inbox', 'Decided lately'],
      ['/', 'Who spent'],
    ] as const)
      expect((await eve.get(path)).text).toMatch(
        new RegExp(
          `plan night plan paused Paid by east, west. The plan night was paused by \\w+ on 20 Nov 2026 10:00 UTC: a holiday Resume… ${end}`,
        ),
      )
  })

  test('a user who may only read sees no button and is refused every decision', async () => {
    const { product, as } = await start()
    const [dear, lost] = [await ask(product, 'dear'), await ask(product, 'lost')]
    const rita = await as('rita', 'read')
    for (const path of ['/dashboard/inbox', `/dashboard/updates/${dear}`, `/dashboard/updates/${lost}`]) {
      const { html } = await rita.get(path)
      expect([path, buttonsIn(html), html.includes('type="checkbox"')]).toEqual([path, [], false])
    }
    for (const [action, id, scopes] of [
      ['approve', dear, 'approve'],
      ['reject', dear, 'approve'],
      ['cancel', dear, 'run or propose or admin'],
      ['ran', lost, 'approve'],
    ] as const) {
      const told = await rita.decide({ do: action, id, reason: 'mine' })
      expect(told.text).toContain(`✕ rita needs the scope ${scopes} for this, and has: read.`)
    }
    expect([await stateOf(product, dear), await stateOf(product, lost)]).toEqual(['awaiting-approval', 'in-doubt'])
  })

  test('the caller of an update reads that they may cancel it but not approve it', async () => {
    const { product, as } = await start()
    const id = await ask(product, 'dear')
    const ada = await as('ada', 'read run approve')
    const { text, html } = await ada.get(`/dashboard/updates/${id}`)
    expect(text).toContain('You asked for the ranking update of dear, so someone else has to approve it.')
    expect(buttonsIn(html)).toEqual(['cancel'])
    expect((await ada.decide({ do: 'approve', id })).text).toContain(
      '✕ You asked for the ranking update of dear, so someone else has to approve it.',
    )
    const told = await ada.decide({ do: 'cancel', id, reason: 'not needed', from: 'update' })
    expect(told.text).toContain('✓ The ranking update of dear is cancelled.')
    expect(told.text).toContain('✕ cancelled 20 Nov 2026 10:00 by ada not needed')
  })
})

describe('decisions', () => {
  test('an approval is recorded, started by the queue, and announced once', async () => {
    const { product, bob } = await start()
    const id = await ask(product, 'dear')
    const told = await bob.decide({ do: 'approve', id, reason: 'it is agreed' })
    expect(told.text).toContain('✓ The ranking update of dear is approved and starts in a moment.')
    expect((await bob.get('/dashboard/inbox')).text).not.toContain('is approved')
    await product.deliver()
    const { body } = await product.call('GET', `/updates/${id}`)
    expect([body.state, body.approvedBy, body.history[1].note]).toEqual(['settled', 'bob', 'it is agreed'])
    const { text } = await bob.get(`/dashboard/updates/${id}`)
    expect(text).toMatch(/History ! awaiting approval .* ◔ approved 20 Nov 2026 10:00 by bob it is agreed ▶ running/)
  })

  test('only the chosen updates are approved at once, each up to its own cap', async () => {
    const { product, bob } = await start()
    const [dear, dearer, dearest] = [
      await ask(product, 'dear'),
      await ask(product, 'dearer'),
      await ask(product, 'dearest'),
    ]
    const caps = { [`units-${dear}`]: '1,200', [`units-${dearer}`]: '', [`units-${dearest}`]: 'many' }
    const approve = { do: 'approve', id: [dear, dearer], ...caps }
    const low = await bob.decide({ ...approve, [`units-${dear}`]: '119' })
    expect(low.text).toContain('✓ The ranking update of dearer is approved')
    expect(low.text).toContain('✕ The ranking update of dear cannot be approved up to 119 units: it needs 120 units.')
    expect((await bob.decide({ ...approve, id: [dear, dearest] })).html).toMatch(
      new RegExp(`name="units-${dearest}" type="text" value="many"[^>]* aria-invalid="true"`),
    )
    expect(await stateOf(product, dear)).toBe('awaiting-approval')
    await bob.decide({ ...approve, id: dear })
    const { body } = await product.call('GET', '/updates?state=requested')
    const upTo = body.updates.map((update: Record<string, unknown>) => [update.project, update.approvedUpTo])
    expect(upTo.toSorted()).toEqual([
      ['dear', 1_200],
      ['dearer', 130],
    ])
    expect((await bob.decide({ do: 'reject', id: dearest, ...caps })).text).toContain('dearest is rejected')
  })

  test.each([
    ['Approve', 'dear', '✓ The ranking update of dear is approved and starts in a moment.'],
    ['Reject', 'dear', '✓ The ranking update of dear is rejected.'],
    ['It ran', 'lost', '✓ The ranking update of lost is settled: 40 units charged.'],
  ])(
    'a second press of %s is answered as done, and a late press of another person with the first decision',
    async (button, project, said) => {
      const { product, as, bob } = await start()
      const carl = await as('carl', 'read approve')
      const id = await ask(product, project)
      const [seen, byCarl] = [await bob.get(`/dashboard/updates/${id}`), await carl.get(`/dashboard/updates/${id}`)]
      const filled = { reason: 'as agreed' }
      for (const _press of [1, 2]) expect((await press(bob, seen, button, filled)).text).toContain(said)
      await product.deliver()
      expect((await press(bob, seen, button, filled)).text).not.toContain('✕ The')
      const late = await press(carl, byCarl, button, filled)
      expect(late.text).toMatch(/✕ The ranking update of \w+ cannot be \w+: .* since 20 Nov 2026 10:00 UTC/)
      expect(product.seen('run').length).toBe(button === 'Reject' ? 0 : 1)
    },
  )

  test('a decision reads the present list of callers, not a copy of two seconds ago', async () => {
    const { product, bob } = await start()
    const dear = await ask(product, 'dear')
    const inbox = await bob.get('/dashboard/inbox')
    // This process has read the list a moment ago.
    await product.call('PUT', '/callers/bob', { body: { scopes: ['read'] }, process: product.startProcess() })
    await press(bob, inbox, 'Reject', { reason: 'too dear' })
    expect(await stateOf(product, dear)).toBe('awaiting-approval')
  })

  test('a button in a row decides only that row, with its own cap and note', async () => {
    const { product, bob } = await start()
    const dear = await ask(product, 'dear')
    product.clock.advance(minutes(1))
    const dearer = await ask(product, 'dearer')
    const inbox = await bob.get('/dashboard/inbox')
    const filled = {
      id: dearer,
      [`units-${dear}`]: '150',
      [`note-${dear}`]: 'up to 150',
      reason: 'not this',
      inAll: '1',
    }
    const told = await press(bob, inbox, 'Approve up to', filled)
    expect(told.text).toContain('✓ The ranking update of dear is approved')
    const { body } = await product.call('GET', `/updates/${dear}`)
    expect([body.approvedUpTo, body.history.at(-1).note]).toEqual([150, 'up to 150'])
    expect(await stateOf(product, dearer)).toBe('awaiting-approval')
  })

  test('with a sum, the chosen updates are approved from the top as far as they fit', async () => {
    const { product, bob } = await start()
    const ids: string[] = []
    for (const project of ['dear 1', 'dearest', 'dearer', 'dear']) {
      ids.push(await ask(product, project))
      product.clock.advance(minutes(1))
    }
    const inbox = await bob.get('/dashboard/inbox')
    const told = await press(bob, inbox, 'Approve chosen', { id: ids.slice(1), inAll: '260' })
    expect(told.text).toContain('✕ 1 of 3 did not fit into 260 units and still wait.')
    expect(await Promise.all(ids.map((id) => stateOf(product, id)))).toEqual([
      'awaiting-approval',
      'requested',
      'awaiting-approval',
      'requested',
    ])
  })

  test('a user resolves a doubt as ran at a cost, or as not run once that is possible', async () => {
    const { product, bob } = await start()
    const [one, other] = [await ask(product, 'lost'), await ask(product, 'lost too')]
    const early = await bob.get('/dashboard/inbox')
    expect(early.text).toContain(
      'The request may still take effect. You can already say that the update ran. From 20 Nov 2026 10:05 on you can also say that it did not run.',
    )
    expect(buttonsIn(early.html)).toEqual(['ran'])
    const ran = await bob.decide({ do: 'ran', id: one, reason: 'seen on the screen', units: '1,035', from: 'update' })
    expect(ran.text).toContain('✓ The ranking update of lost is settled: 1,035 units charged.')
    expect(ran.text).toContain('⚠ It cost 995 units more than were held.')
    const didNotRun = { do: 'did-not-run', id: other, reason: 'not there' }
    expect((await bob.decide(didNotRun)).text).toContain('✕ The ranking update of lost too may still take effect until')
    product.clock.advance(minutes(5))
    const late = await bob.get('/dashboard/inbox')
    expect(late.text).toContain('The request can no longer take effect, so you can choose either answer.')
    expect(buttonsIn(late.html)).toEqual(['ran', 'did-not-run'])
    expect((await bob.decide(didNotRun)).text).toContain(
      '✓ The ranking update of lost too is released: 40 units returned.',
    )
    expect(await product.figures('seo')).toMatchObject({ spent: 1_035, inDoubt: 0 })
  })

  test.each<[string, Record<string, string | string[]>, string]>([
    ['no such action', { do: 'pay', id: 'upd_x' }, 'do: must be one of the buttons.'],
    [
      '101 at once',
      { do: 'reject', id: Array.from({ length: 101 }, (_, each) => `u${each}`) },
      '✕ Choose at most 100 updates.',
    ],
    ['no such update', { do: 'reject', id: 'upd_none' }, 'There is no update upd_none.'],
    ['an unknown field', { do: 'reject', id: 'upd_x', by: 'eve' }, 'by: is not a known member.'],
  ])('a refused decision has a sentence: %s', async (_name, fields, said) => {
    const { bob } = await start()
    const told = await bob.decide(fields)
    expect(told.status).toBe(200)
    expect(told.text).toContain(said)
  })

  test.each<[string, Record<string, string>, string, string]>([
    ['no reason', { do: 'ran', reason: '' }, 'reason', 'Is needed to say whether it ran.'],
    [
      'no number',
      { do: 'ran', reason: 'x', units: 'many', from: 'update' },
      'units',
      'Must be a whole number of units',
    ],
    [
      'units that did not run',
      { do: 'did-not-run', reason: 'x', units: '1', from: 'update' },
      'units',
      'Is allowed only with “It ran”.',
    ],
    ['a sum that is no number', { do: 'reject', inAll: 'many' }, 'inAll', 'Must be a whole number of units'],
    ['a row without its note', { one: 'ran', reason: '' }, 'note-', 'Is needed to say whether it ran.'],
    ['a row with no number', { one: 'approve', 'units-': 'many' }, 'units-', 'Must be a whole number of units'],
  ])('a wrong decision marks the field, keeps the input, decides nothing: %s', async (_name, fields, marked, fault) => {
    const { product, bob } = await start()
    const dear = await ask(product, 'dear')
    await ask(product, 'dearer')
    const lost = await ask(product, 'lost')
    const id = fields.one === 'approve' || fields.do === 'reject' ? dear : lost
    const named = (name: string) => (name.endsWith('-') ? `${name}${id}` : name)
    const sent = Object.entries({ id, ...fields }).map(([name, value]) => [
      named(name),
      name === 'one' ? `${value} ${id}` : value,
    ])
    const told = await bob.decide(Object.fromEntries(sent))
    expect(told.text).toContain('✕ Nothing was done yet. Please correct the marked field.')
    const [input = ''] = new RegExp(`<input [^>]*name="${named(marked)}"[^>]*>`).exec(told.html) ?? []
    expect(input).toContain('aria-invalid="true" autofocus=""')
    expect(input).toContain(`value="${fields[marked] ?? ''}"`)
    expect(told.text).toContain(`✕ ${fault}`)
    expect([await stateOf(product, dear), await stateOf(product, lost)]).toEqual(['awaiting-approval', 'in-doubt'])
  })

  test('a decision about a project with the longest name shows its outcome', async () => {
    const { product, bob } = await start()
    const id = await ask(product, longest)
    const told = await bob.decide({ do: 'reject', id })
    expect(told.text).toContain(`✓ The ranking update of ${longest} is rejected.`)
  })

  test('a failed decision keeps the input in its form', async () => {
    const { product, bob } = await start()
    const [dear] = [await ask(product, 'dear'), await ask(product, 'dearer')]
    const lost = await ask(product, 'lost')
    const reason = 'in the “contract” & <signed>'
    const list = await press(bob, await bob.get('/dashboard/inbox'), 'Reject chosen', { reason })
    expect(list.text).toContain('Choose at least one update first.')
    expect(formWith(list.html, 'Reject chosen').fields).toMatchObject({ reason: [reason], [`note-${dear}`]: [''] })
    const own = await bob.get(`/dashboard/updates/${lost}`)
    const again = await press(bob, own, 'It ran', { reason, units: 'about 40' })
    expect(again.text).toContain('✕ Must be a whole number of units')
    expect(formWith(again.html, 'It ran').fields).toMatchObject({ reason: [reason], units: ['about 40'] })
    const done = await press(bob, list, 'Reject chosen', { reason, id: dear })
    expect(done.text).toContain('✓ The ranking update of dear is rejected.')
    expect(formWith(done.html, 'Reject chosen').fields).toMatchObject({ reason: [''] })
  })

  test('a hundred decisions are listed as far as a cookie has room, and only in their own session', async () => {
    const { product, bob, as } = await start()
    const ids: string[] = []
    for (const project of many) ids.push(await ask(product, project))
    const none = ids.map((_, each) => `upd_none_${each}`)
    const told = await bob.decide({ do: 'reject', id: [...ids, ...none] })
    for (const project of many) expect(told.text).toContain(`✓ The ranking update of ${project} is rejected.`)
    for (const id of none) expect(told.text).toContain(`✕ There is no update ${id}.`)
    const long = Array.from(
      { length: 100 },
      (_, each) => `upd_${['a', 'b', 'c'].map((part) => digest(part, String(each))).join('')}`,
    )
    const most = await bob.decide({ do: 'reject', id: long })
    const shown = most.text.match(/There is no update/g)?.length ?? 0
    expect(shown).toBeGreaterThan(20)
    expect(/✕ And (\d+) more\./.exec(most.text)?.[1]).toBe(String(100 - shown))
    const { formToken } = await bob.get('/')
    await bob.post('/dashboard/decide', { form: formToken, from: 'inbox', do: 'reject', id: 'upd_none' })
    const eve = await as('eve', 'read')
    for (const cookie of [bob.cookies.get('unit-guard-said'), 'x', 'e30.x', '.']) {
      eve.cookies.set('unit-guard-said', cookie ?? '')
      const { status, text } = await eve.get('/')
      expect([status, text.includes('upd_none')]).toEqual([200, false])
    }
  })

  test('a page says which decisions were made before the ledger stopped answering', async () => {
    const { product, bob } = await start()
    const ids = [await ask(product, 'dear'), await ask(product, 'dearer'), await ask(product, 'dearest')]
    const { formToken } = await bob.get('/dashboard/inbox')
    const { transact } = product.store
    const reject = (answered: number, id: readonly string[]) => {
      let left = answered
      product.store.transact = async (...args) => {
        if (left-- > 0) return transact(...args)
        throw new LedgerUnavailable('gone')
      }
      return bob.post('/dashboard/decide', { form: formToken, from: 'inbox', do: 'reject', id })
    }
    const none = await reject(0, ids)
    expect(none.status).toBe(503)
    expect(none.text).toContain('The ledger does not answer')
    expect((await reject(1, ids)).status).toBe(303)
    product.store.transact = transact
    expect((await bob.get('/dashboard/inbox')).text).toContain(
      '✓ The ranking update of dear is rejected. ✕ The ledger does not answer',
    )
    expect(await Promise.all(ids.map((id) => stateOf(product, id)))).toEqual([
      'rejected',
      'awaiting-approval',
      'awaiting-approval',
    ])
  })
})
