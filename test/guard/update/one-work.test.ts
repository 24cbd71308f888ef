import { describe, expect, test } from 'vitest'
import type { Answer } from '../../../shared/guard/update/answer.ts'
import { nameOf } from '../../../shared/ledger/store/store.ts'
import { definitionsKey } from '../../../shared/ledger/store/stored.ts'
import { workKeysOf } from '../../../shared/ledger/updates/work.ts'
import type { RunResult } from '../../../shared/tracking/tracking.ts'
import { makes, only, ran, startGuard, unknown } from '../../support/guard.ts'
import { u } from '../../support/records.ts'

const saying = ({ status, problem }: Answer) => [status, problem?.slug, problem?.detail]

describe('one project under all its spellings', () => {
  test.each([' ACME', 'acme\u00a0', 'Ａｃｍｅ', '\u200bacme', 'P-77', 'p-77'])(
    'a project is charged to its owner and obeys its freeze under the spelling %j',
    async (project) => {
      const guard = await startGuard()
      await guard.budget('seo', { projects: [{ name: 'Acme', id: 'p-77' }] })
      const { definitions } = await guard.other.view()
      expect(only(await guard.ask({ projects: [project], kind: 'keyword-difficulty' }))).toMatchObject({
        budget: 'seo',
        hold: { works: workKeysOf(definitions, 'keyword-difficulty', project) },
      })
      const frozen = await startGuard()
      const stop = { reason: 'too dear', by: 'ada', at: 1 }
      await frozen.budget('seo', { projects: [{ name: 'Acme', id: 'p-77' }], frozen: stop })
      expect((await frozen.ask({ projects: [project] })).problem?.slug).toBe('budget-frozen')
      expect(frozen.sent).toEqual([])
    },
  )

  test('a project is refused if one request names it twice, by another spelling or by its id', async () => {
    const guard = await startGuard()
    await guard.budget('seo', { projects: [{ name: 'Acme', id: 'p-77' }] })
    expect(saying(await guard.ask({ projects: ['acme', 'other', 'P-77'] }))).toEqual([
      400,
      'invalid-request',
      'acme and P-77 are the same project; name it once.',
    ])
    expect(saying(await guard.ask({ projects: ['shop', 'Shop'] }))).toEqual([
      400,
      'invalid-request',
      'shop and Shop are the same project; name it once.',
    ])
    expect([guard.sent, (await guard.guard.ledger.updates({}, 10)).rows]).toEqual([[], []])
  })

  test('a project is refused while two budgets list it, until one budget removes it', async () => {
    const guard = await startGuard()
    await guard.budget('seo', { projects: [{ name: 'acme' }] })
    await guard.budget('blog', { projects: [] })
    const name = nameOf(definitionsKey)
    const item = guard.items.get(name)
    const stored = JSON.parse(JSON.stringify(item))
    stored.budgets.blog.projects = [{ name: 'Acme' }]
    guard.items.set(name, stored)
    const detail =
      'acme stands for Acme of blog and for acme of seo; an administrator has to remove one of them from its budget.'
    expect(saying(await guard.ask({ projects: ['acme'] }))).toEqual([400, 'invalid-request', detail])
    const queued = await guard.ask({ projects: ['other'] }, {}, { respondAsync: true })
    expect(queued.status).toBe(202)
    // Other changes are still possible, and so is the change that removes the collision.
    expect((await guard.budget('seo', { perUpdate: 500 as never })).kind).toBe('changed')
    expect((await guard.budget('blog', { projects: [] })).kind).toBe('changed')
    expect(only(await guard.ask({ projects: ['acme'] }))).toMatchObject({ state: 'settled', budget: 'seo' })
  })

  test('a queued project is refused when its name begins to collide', async () => {
    const guard = await startGuard()
    await guard.budget('seo', { projects: [{ name: 'acme' }] })
    await guard.budget('blog', { projects: [] })
    const queued = only(await guard.ask({ projects: ['acme'] }, {}, { respondAsync: true }))
    const name = nameOf(definitionsKey)
    const stored = JSON.parse(JSON.stringify(guard.items.get(name)))
    stored.budgets.blog.projects = [{ name: 'ACME' }]
    guard.items.set(name, stored)
    const update = await guard.guard.start(queued.id, guard.clock.now() + 60_000)
    expect(update).toMatchObject({ state: 'refused', problem: { slug: 'invalid-request' } })
    expect(guard.sent).toEqual([])
  })
})

describe('one work under several names', () => {
  const listed = { projects: [{ name: 'Acme', id: 'p-77' }] }

  test.each([
    ['its name and its id', 'Acme', 'p-77'],
    ['its id and its name', 'p-77', 'Acme'],
    ['another spelling', 'acme', ' ACME'],
    ['an id in capitals', 'P-77', 'acme'],
  ])('a running work is refused, and an ended one answers with its update: %s', async (_how, first, second) => {
    const guard = await startGuard()
    await guard.budget('seo', listed)
    guard.service.run = async () => {
      const rival = await guard.ask({ projects: [second] }, { key: 'k' }, { by: guard.elsewhere })
      expect([rival.status, rival.problem?.slug]).toEqual([409, 'duplicate-work'])
      return ran
    }
    const done = only(await guard.ask({ projects: [first] }))
    expect(done.state).toBe('settled')
    const again = await guard.ask({ projects: [second] })
    expect([again.status, again.earlier]).toEqual([200, [done.id]])
    expect(guard.sent).toHaveLength(1)
  })

  test('spellings of a name that no budget lists are one work', async () => {
    const guard = await startGuard()
    const done = only(await guard.ask({ projects: ['Shop'] }))
    expect((await guard.ask({ projects: ['shop'] })).earlier).toEqual([done.id])
    expect((await guard.ask({ projects: ['SHOP '] })).earlier).toEqual([done.id])
    expect(guard.sent).toHaveLength(1)
  })

  test('a work in doubt stays one if its id is listed or removed', async () => {
    const guard = await startGuard()
    guard.service.run = async () => unknown
    await guard.budget('seo', { projects: [{ name: 'acme' }] })
    only(await guard.ask({ projects: ['acme'] }))
    await guard.budget('seo', listed)
    expect((await guard.ask({ projects: ['p-77'] })).problem?.slug).toBe('duplicate-work')
    only(await guard.ask({ projects: ['p-77'], kind: 'keyword-difficulty' }))
    await guard.budget('seo', { projects: [] })
    const byName = await guard.ask({ projects: ['acme'], kind: 'keyword-difficulty' })
    expect(byName.problem?.slug).toBe('duplicate-work')
    expect(guard.sent).toHaveLength(2)
  })

  test('only one of two simultaneous updates under different names holds a work', async () => {
    const guard = await startGuard()
    await guard.budget('seo', listed)
    guard.service.run = async () => unknown
    let rival: Answer | null = null
    guard.before.push(async (writes) => {
      if (!makes('running')(writes)) return false
      rival = await guard.ask({ projects: ['p-77'] }, {}, { by: guard.elsewhere })
      return true
    })
    const late = await guard.ask({ projects: ['acme'] })
    expect(only(rival ?? late).state).toBe('in-doubt')
    expect(late.problem?.slug).toBe('duplicate-work')
    expect(guard.sent).toHaveLength(1)
  })
})

describe('the runs that a work remembers', () => {
  const difficulty = { kind: 'keyword-difficulty' } as const
  const cooldown = { ranking: 'day', 'keyword-difficulty': 7 * 24 * 3600_000 } as const
  const refused: RunResult = {
    kind: 'did-not-run',
    status: 429,
    reason: 'status 429',
    answer: { status: 429, contentType: null, body: '', truncated: false },
  }
  const free: RunResult = {
    kind: 'ran',
    stated: { units: u(0), source: '/units', by: 'pointer' },
    answer: { status: 200, contentType: null, body: '', truncated: false },
  }
  type Guard = Awaited<ReturnType<typeof startGuard>>

  /** An update that the sweep has put in doubt. The test decides when the update gets its answer. */
  async function silent(guard: Guard, ...[wanted, asker]: Parameters<Guard['ask']>) {
    let answer = (_result: RunResult): void => undefined
    const answered = new Promise<RunResult>((resolve) => {
      answer = resolve
    })
    const sentBefore = guard.sent.length
    guard.service.run = () => answered
    const asked = guard.ask({ ...difficulty, ...wanted }, asker)
    await expect.poll(() => guard.sent.length).toBe(sentBefore + 1)
    guard.clock.advance(60_000)
    const [id = '', ...others] = (await guard.sweep()).doubted
    expect(others).toEqual([])
    guard.service.run = async () => ran
    return {
      id,
      answer: async (result: RunResult) => {
        answer(result)
        await asked
      },
    }
  }

  const resolve = (guard: Guard, id: string, outcome: 'ran' | 'did-not-run', units?: number) =>
    guard.guard.decide(
      outcome,
      id,
      { caller: 'ada' },
      { reason: 'seen', ...(units !== undefined && { units: u(units) }) },
    )

  /** Takes the work over on the next day with an update that the service refuses. */
  async function takeOver(guard: Guard) {
    guard.clock.advance(24 * 3600_000)
    guard.service.run = async () => refused
    expect(only(await guard.ask(difficulty)).state).toBe('released')
    guard.service.run = async () => ran
  }

  test('a person’s statement that an update ran counts, although another update took the work over', async () => {
    const guard = await startGuard()
    guard.service.run = async () => unknown
    const { id } = only(await guard.ask(difficulty))
    await takeOver(guard)
    expect((await resolve(guard, id, 'ran')).kind).toBe('done')
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [id] })
    expect(guard.sent).toHaveLength(2)
  })

  test('a late answer of the sender ends a work’s doubt', async () => {
    const guard = await startGuard()
    const late = await silent(guard)
    await takeOver(guard)
    await late.answer(ran)
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [late.id] })
    expect(guard.sent).toHaveLength(2)
  })

  test('a late answer of the sender ends a work’s doubt, against a person who said that it did not run', async () => {
    const options = { serviceTimeoutMs: 5000, serviceFlightMs: 300_000, cooldown, isZeroFree: true }
    const guard = await startGuard({ parts: { options } })
    const late = await silent(guard)
    guard.clock.advance(24 * 3600_000)
    expect((await resolve(guard, late.id, 'did-not-run')).kind).toBe('done')
    await takeOver(guard)
    await late.answer(ran)
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [late.id] })
    expect(guard.sent).toHaveLength(2)
  })

  test('evidence ends a work’s doubt', async () => {
    const cooldown = { ranking: 7 * 24 * 3600_000, 'keyword-difficulty': 7 * 24 * 3600_000 }
    const options = { serviceTimeoutMs: 5000, serviceFlightMs: 300_000, cooldown }
    const guard = await startGuard({ parts: { options } })
    guard.service.run = async () => unknown
    const { id } = only(await guard.ask())
    guard.clock.advance(24 * 3600_000)
    guard.service.run = async () => refused
    expect(only(await guard.ask()).state).toBe('released')
    guard.service.dates = async () => ({ kind: 'dates', dates: ['2026-11-20'] })
    expect((await guard.sweep()).proven).toEqual([id])
    guard.service.run = async () => ran
    expect(await guard.ask()).toMatchObject({ status: 200, earlier: [id] })
    expect(guard.sent).toHaveLength(2)
  })

  test('a run that becomes known between a decision and its hold makes the guard decide again', async () => {
    const guard = await startGuard()
    guard.service.run = async () => unknown
    const { id } = only(await guard.ask(difficulty))
    guard.clock.advance(24 * 3600_000)
    guard.before.push(async (writes) => {
      if (!makes('running')(writes)) return false
      await guard.elsewhere.decide('ran', id, { caller: 'ada' }, { reason: 'seen' })
      return true
    })
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [id] })
    expect(guard.sent).toHaveLength(1)
  })

  test('a late run does not take the work back from a running update', async () => {
    const guard = await startGuard()
    guard.service.run = async () => unknown
    const { id } = only(await guard.ask(difficulty))
    guard.clock.advance(24 * 3600_000)
    guard.service.run = async () => {
      await guard.elsewhere.decide('ran', id, { caller: 'ada' }, { reason: 'seen' })
      const forced = { ...difficulty, force: true, reason: 'now' }
      const rival = await guard.ask(
        forced,
        { token: { scopes: new Set(['admin', 'run']), budgets: '*' } },
        { by: guard.elsewhere },
      )
      expect(rival.problem?.slug).toBe('duplicate-work')
      return refused
    }
    expect(only(await guard.ask(difficulty)).state).toBe('released')
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [id] })
    expect(guard.sent).toHaveLength(2)
  })

  test('a run that cost nothing counts as a run', async () => {
    const options = { serviceTimeoutMs: 5000, serviceFlightMs: 300_000, cooldown, isZeroFree: true }
    const guard = await startGuard({ parts: { options } })
    const late = await silent(guard)
    guard.clock.advance(24 * 3600_000)
    await resolve(guard, late.id, 'did-not-run')
    await late.answer(free)
    expect(await guard.guard.ledger.update(late.id)).toMatchObject({
      state: 'released',
      charged: 0,
      corrected: true,
      ran: true,
    })
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [late.id] })
  })

  test('a corrected run has no cool-down', async () => {
    const guard = await startGuard()
    const late = await silent(guard)
    await resolve(guard, late.id, 'ran')
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [late.id] })
    await late.answer(refused)
    expect(await guard.guard.ledger.update(late.id)).toMatchObject({ state: 'settled', charged: 0, ran: false })
    expect(only(await guard.ask(difficulty)).state).toBe('settled')
    expect(guard.sent).toHaveLength(2)
  })

  test('a corrected run does not hide the run before it', async () => {
    const guard = await startGuard()
    const first = only(await guard.ask(difficulty))
    const admin = { token: { scopes: new Set(['admin', 'run'] as const), budgets: '*' as const } }
    const forced = await silent(guard, { force: true, reason: 'now' }, admin)
    await resolve(guard, forced.id, 'ran')
    expect((await guard.ask(difficulty)).earlier).toEqual([forced.id])
    await forced.answer(refused)
    expect(await guard.ask(difficulty)).toMatchObject({ status: 200, earlier: [first.id] })
    expect(guard.sent).toHaveLength(2)
  })
})
