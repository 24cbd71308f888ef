import { describe, expect, test } from 'vitest'
import { only, startGuard, unknown } from '../../support/guard.ts'
import { u } from '../../support/records.ts'

const hour = 3_600_000

/** Every update of 40 units needs approval, except updates of `free`. */
async function start() {
  const product = await startGuard()
  const { guard, budget, service, ask } = product
  const limits = (units: number) => ({ limits: [{ window: 'month', units: u(units) }] as const })
  await budget('clients', limits(500))
  await budget('seo', {
    parent: 'clients',
    ...limits(300),
    approvalAbove: u(10),
    projects: [{ name: 'Shop', id: '7' }],
  })
  let keys = 0
  return {
    ...product,
    inbox: async (limit?: number) => guard.inbox(limit),
    costs: (units: number) => {
      service.estimate = async () => ({ kind: 'units', units: u(units), source: 'x' })
    },
    propose: async (project: string, more: object = {}, asker: object = {}) =>
      only(await ask({ projects: [project], budget: 'seo', ...more }, { key: `key-${++keys}`, ...asker })),
  }
}

type Started = Awaited<ReturnType<typeof start>>

async function run({ guard, propose, clock }: Started, project: string) {
  const { id } = await propose(project)
  await guard.decide('approve', id, { caller: 'eve' })
  return guard.start(id, clock.now() + 60_000)
}

describe('the inbox', () => {
  test('the inbox is empty if nothing waits', async () => {
    const { inbox } = await start()
    expect(await inbox()).toMatchObject({ entries: [], hasMore: false, decided: [] })
  })

  test('the inbox lists approvals and doubts by deadline, and says if it leaves some out', async () => {
    const product = await start()
    const { inbox, propose, service, clock } = product
    service.run = async () => unknown
    await run(product, 'lost')
    clock.advance(hour)
    const first = await propose('a')
    clock.advance(hour)
    const second = await propose('b')
    const { entries, hasMore } = await inbox()
    expect(hasMore).toBe(false)
    expect(entries).toMatchObject([
      { kind: 'approval', deadline: first.approvableUntil, units: 40, rows: [{ update: { id: first.id } }] },
      { kind: 'approval', deadline: second.approvableUntil },
      {
        kind: 'doubt',
        units: 40,
        update: { project: 'lost' },
        owner: null,
        deadline: clock.now() - 2 * hour + 7 * 24 * hour,
        didNotRunFrom: clock.now() - 2 * hour + 300_000,
      },
    ])
    const cut = await inbox(1)
    expect([cut.entries.length, cut.hasMore, cut.entries[0]]).toEqual([2, true, entries[0]])
    await product.guard.decide('reject', second.id, { caller: 'eve' })
    expect((await inbox(1)).hasMore).toBe(false)
    await run(product, 'lost too')
    expect((await inbox(1)).hasMore).toBe(true)
  })

  test('the inbox puts updates that expire soon before updates that have waited longer', async () => {
    const { inbox, propose, budget, clock } = await start()
    await propose('slow')
    clock.advance(hour)
    await budget('seo', { approvalExpiresAfter: '2h' })
    await propose('soon')
    const projects = (await inbox()).entries.map((entry) => entry.kind === 'approval' && entry.rows[0]?.update.project)
    expect(projects).toEqual(['soon', 'slow'])
  })

  test('the inbox shows the price of the last run of the project and kind, under any of its names', async () => {
    const product = await start()
    const { inbox, propose, clock, costs } = product
    const ran = await run(product, 'Shop')
    clock.advance(24 * hour)
    costs(60)
    await propose('7')
    clock.advance(1)
    await propose('other')
    clock.advance(1)
    await propose('Shop', { kind: 'keyword-difficulty' })
    const { entries } = await inbox()
    const lastRuns = entries.map((entry) => entry.kind === 'approval' && entry.rows[0]?.lastRun)
    expect(lastRuns).toEqual([{ update: ran?.id, at: ran?.finishedAt, units: 40 }, null, null])
    const sameWork = entries.flatMap((entry) => (entry.kind === 'approval' ? entry.rows[0]?.sameWork : []))
    expect(sameWork).toEqual([])
  })

  test('the inbox shows the counter with the least left after the approval, and its grant', async () => {
    const { inbox, propose, budget, other, clock } = await start()
    await propose('a')
    const effect = async () => {
      const [entry] = (await inbox()).entries
      return entry?.kind === 'approval' ? entry.rows[0]?.effect : undefined
    }
    expect(await effect()).toMatchObject({ figures: { budget: 'seo', available: 300 }, granted: 0, after: 260 })
    await budget('clients', { limits: [{ window: 'day', units: u(50) }] })
    expect(await effect()).toMatchObject({ figures: { budget: 'clients', window: 'day', available: 50 }, after: 10 })
    await budget('clients', { limits: [] })
    await budget('seo', { limits: [{ window: 'month', units: u(30) }] })
    expect(await effect()).toMatchObject({ figures: { budget: 'seo' }, after: -10 })
    clock.advance(1)
    await propose('b', { whenShort: 'ask' })
    const granting = (await inbox()).entries[1]
    expect(granting).toMatchObject({ rows: [{ effect: { figures: { available: 30 }, granted: 10, after: 0 } }] })
    // The grant is for this counter only: another window and another budget still lack units.
    const month = { window: 'month', units: u(30) } as const
    await budget('seo', { limits: [month, { window: 'day', units: u(35) }] })
    const short = async () => (await inbox()).entries[1]
    expect(await short()).toMatchObject({ rows: [{ effect: { figures: { window: 'day' }, granted: 0, after: -5 } }] })
    await budget('seo', { limits: [month] })
    await budget('clients', { limits: [{ window: 'month', units: u(35) }] })
    expect(await short()).toMatchObject({
      rows: [{ effect: { figures: { budget: 'clients' }, granted: 0, after: -5 } }],
    })
    await budget('clients', { limits: [] })
    await other.change('ada', ({ definitions }) => {
      const { seo: _, ...budgets } = definitions.budgets
      return { definitions: { ...definitions, budgets }, note: { type: 'limit', budget: 'account', reason: 'test' } }
    })
    expect(await effect()).toBeNull()
  })

  test('the inbox groups the updates of one request, with their sum and the first deadline', async () => {
    const { inbox, ask, propose, clock, guard, costs } = await start()
    const several = { budget: 'seo', projects: ['a', 'b'], whenShort: 'fit' } as const
    const { updates } = await ask(several, { key: 'k' })
    clock.advance(1)
    await ask({ ...several, projects: ['c', 'd'] }, { key: 'l' })
    clock.advance(1)
    await propose('e')
    const { entries } = await inbox()
    expect(entries.map(({ units }) => units)).toEqual([80, 80, 40])
    const rows = entries.map((entry) =>
      entry.kind === 'approval' ? entry.rows.map(({ update }) => update.project) : [],
    )
    expect(rows.map((projects) => projects.toSorted()).toSorted()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(updates.map(({ content }) => content.count)).toEqual([2, 2])
    const [first] = updates
    await guard.decide('approve', first?.id ?? '', { caller: 'eve' })
    costs(50)
    await guard.start(first?.id ?? '', clock.now() + 60_000)
    const again = (await inbox()).entries[0]
    expect(again).toMatchObject({ units: 90, deadline: updates[1]?.approvableUntil })
    expect(again?.kind === 'approval' && again.rows.length).toBe(2)
  })

  test('the inbox shows another open request for the same work, under any name', async () => {
    const product = await start()
    const { inbox, propose, service, clock, other } = product
    const admin = { token: { scopes: new Set(['run', 'admin']), budgets: '*' } }
    const [shop, byId, difficulty] = [
      await propose('Shop'),
      await propose('7', { budget: 'clients' }, admin),
      await propose('shop', { kind: 'keyword-difficulty' }),
    ]
    const others = async () =>
      new Map(
        (await inbox()).entries.flatMap((entry) =>
          (entry.kind === 'approval' ? entry.rows : [entry]).map(({ update, sameWork }) => [
            update.id,
            sameWork.map(({ id }) => id),
          ]),
        ),
      )
    expect(await others()).toEqual(
      new Map([
        [shop.id, [byId.id]],
        [byId.id, [shop.id]],
        [difficulty.id, []],
      ]),
    )
    const { id } = await propose('SHOP', { budget: 'account' }, admin)
    await product.guard.decide('approve', id, { caller: 'eve' })
    service.run = async () => {
      expect((await others()).get(shop.id)).toContain(id)
      return unknown
    }
    await product.guard.start(id, clock.now() + 60_000)
    expect(await other.update(id)).toMatchObject({ state: 'in-doubt' })
    expect((await others()).get(id)?.toSorted()).toEqual([shop.id, byId.id].toSorted())
  })

  test('the inbox lists recent decisions with their persons, the newest first', async () => {
    const product = await start()
    const { inbox, propose, guard, service, clock, costs } = product
    service.run = async () => unknown
    const lost = await run(product, 'lost')
    const decisions = [
      () => guard.decide('ran', lost?.id ?? '', { caller: 'eve' }, { reason: 'seen' }),
      async () => guard.decide('reject', (await propose('a')).id, { caller: 'eve' }, { reason: 'dear' }),
      async () => guard.decide('cancel', (await propose('b')).id, { caller: 'bob', isAdmin: false }),
    ]
    for (const decide of decisions) {
      clock.advance(1000)
      expect(await decide()).toMatchObject({ kind: 'done' })
    }
    clock.advance(1000)
    const { id } = await propose('c')
    await guard.decide('approve', id, { caller: 'joe' }, { units: u(50) })
    costs(60)
    await guard.start(id, clock.now() + 60_000)
    const { decided } = await inbox()
    expect(decided.map(({ update, what, by, note }) => [update.project, what, by, note])).toEqual([
      ['c', 'approve', 'joe', 'approved'],
      ['b', 'cancel', 'bob', undefined],
      ['a', 'reject', 'eve', 'dear'],
      ['lost', 'ran', 'eve', 'seen'],
      ['lost', 'approve', 'eve', 'approved'],
    ])
    clock.advance(300_000)
    service.run = async () => unknown
    const second = await run(product, 'lost again')
    clock.advance(300_000)
    await guard.decide('did-not-run', second?.id ?? '', { caller: 'joe' }, { reason: 'gone' })
    expect((await inbox()).decided[0]).toMatchObject({ what: 'did-not-run', by: 'joe', note: 'gone' })
    for (let each = 0; each < 11; each++)
      await guard.decide('reject', (await propose(`more-${each}`)).id, { caller: 'eve' })
    expect((await inbox()).decided).toHaveLength(10)
  })

  test('the inbox lists the recent approval of an open update that is over a week old', async () => {
    const product = await start()
    const { budget, clock, guard, inbox, propose, service } = product
    await budget('seo', { approvalExpiresAfter: '7d' })
    service.run = async () => unknown
    const { id } = await propose('slow')
    clock.advance(6 * 24 * hour)
    await guard.decide('approve', id, { caller: 'eve' })
    await guard.start(id, clock.now() + 60_000)
    clock.advance(2 * 24 * hour)
    const { entries, decided } = await inbox()
    expect(entries).toMatchObject([{ kind: 'doubt', update: { id } }])
    expect(decided).toMatchObject([{ what: 'approve', by: 'eve', update: { id } }])
  })

  test('the inbox counts no automatic runs, no doubts that evidence closed, and nothing older than a week', async () => {
    const product = await start()
    const { inbox, propose, ask, guard, service, clock, budget, sweep } = product
    await budget('free', { limits: [] })
    const queued = only(await ask({ projects: ['queued'], budget: 'free' }, { key: 'q' }, { respondAsync: true }))
    await guard.start(queued.id, clock.now() + 60_000)
    service.run = async () => unknown
    const doubt = only(await ask({ projects: ['doubt'], budget: 'free' }, { key: 'd' }))
    clock.advance(300_000)
    service.dates = async () => ({ kind: 'dates', dates: ['2026-11-20'] })
    await sweep()
    expect(await guard.ledger.update(doubt.id)).toMatchObject({ state: 'settled', closedBy: 'evidence' })
    expect((await inbox()).decided).toEqual([])
    service.dates = async () => ({ kind: 'dates', dates: [] })
    const late = await propose('late')
    clock.advance(24 * hour)
    await sweep()
    expect(await guard.ledger.update(late.id)).toMatchObject({ state: 'expired' })
    expect((await inbox()).decided).toEqual([])
    await guard.decide('reject', (await propose('a')).id, { caller: 'eve' })
    expect((await inbox()).decided).toHaveLength(1)
    clock.advance(7 * 24 * hour + 1)
    expect((await inbox()).decided).toEqual([])
  })

  test('the inbox needs the same number of reads for any number of updates', async () => {
    const { inbox, propose, reads } = await start()
    const count = async () => {
      const before = reads.length
      await inbox()
      return reads.length - before
    }
    await propose('a')
    await inbox()
    const few = await count()
    for (let each = 0; each < 30; each++) await propose(`p${each}`)
    expect(await count()).toBe(few)
  })
})
