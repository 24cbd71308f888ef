import { describe, expect, test } from 'vitest'
import type { Asker, UpdatesRequest } from '../../../shared/guard/update/request.ts'
import type { Caller } from '../../../shared/ledger/definitions/definitions.ts'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { acceptance } from '../../../shared/ledger/identity.ts'
import { SecretUnavailable } from '../../../shared/platform/secrets.ts'
import { maxUnits } from '../../../shared/platform/words.ts'
import { makes, only, ran, startGuard, unknown } from '../../support/guard.ts'
import { at, u } from '../../support/records.ts'

const month = (units: number) => ({ limits: [{ window: 'month', units: u(units) }] }) as const
const frozen = { frozen: { reason: 'stop', by: 'ada', at: 0 } }
const many = Array.from({ length: 12 }, (_, index) => `p-${index}`)
const token = (scopes: readonly ('run' | 'propose' | 'read' | 'admin')[], budgets: '*' | readonly string[] = '*') => ({
  token: { scopes: new Set(scopes), budgets },
})
const forbidden = (detail: string, members: object = {}) => ({
  status: 403,
  problem: { slug: 'forbidden', detail, members },
})

describe('the record of a request', () => {
  test('a record keeps all members of the request and nothing more', async () => {
    const { ask } = await startGuard()
    const answer = await ask(
      {
        budget: 'account',
        reason: 'new prices',
        maxUnits: u(50),
        force: true,
        whenShort: 'ask',
        query: { depth: '20' },
        target: { segment: 'sh%6Fp', search: 'depth=20' },
      },
      { ...token(['run', 'admin']), via: 'gateway', replyTo: 'evt_1', key: 'k' },
    )
    const { hold: _hold, history: _history, ...update } = only(answer)
    expect(update).toEqual({
      // The id derives from caller, route, key and position, so that tomorrow's request finds yesterday's record.
      id: 'upd_1xyd36rr5mmkkepw6dxsktdq55',
      kind: 'ranking',
      project: 'shop',
      budget: 'account',
      caller: 'bob',
      via: 'gateway',
      reason: 'new prices',
      maxUnits: 50,
      force: true,
      whenShort: 'ask',
      replyTo: ['evt_1'],
      query: { depth: '20' },
      target: { segment: 'sh%6Fp', search: 'depth=20' },
      content: { digest: expect.stringMatching(/^[0-9a-z]{26}$/), count: 1 },
      createdAt: at('2026-11-20T10:00:00Z'),
      finishedAt: at('2026-11-20T10:00:00Z'),
      state: 'settled',
      version: 2,
      month: 'month:2026-11-01',
      estimated: 40,
      charged: 40,
      closedBy: 'sender',
      ran: true,
      owner: null,
      service: { status: 200, contentType: null, body: '', truncated: false },
      token: { scopes: ['run', 'admin'], budgets: '*' },
    })
    const { hold: _held, history: _lines, content: _content, ...plain } = only(await ask({ projects: ['other'] }))
    expect(Object.keys(plain).toSorted()).toEqual(
      [
        'id',
        'kind',
        'project',
        'budget',
        'caller',
        'via',
        'createdAt',
        'state',
        'version',
        'month',
        'estimated',
        'charged',
        'closedBy',
        'finishedAt',
        'ran',
        'service',
        'token',
        'byDefault',
        'owner',
      ].toSorted(),
    )
  })

  test('a record marks the update of a caller who may only propose', async () => {
    const { ask, sent } = await startGuard()
    const { status, updates } = await ask({}, token(['propose']))
    expect([status, updates[0]?.state, updates[0]?.proposed, sent]).toEqual([202, 'awaiting-approval', true, []])
    expect((await ask({ projects: ['other'] }, token(['propose', 'run']))).updates[0]).not.toHaveProperty('proposed')
  })

  test('a request without a key is a new one each time', async () => {
    const { ask } = await startGuard()
    const [first, second] = [await ask({ kind: 'keyword-difficulty' }), await ask()]
    expect(first.updates[0]?.id).not.toBe(second.updates[0]?.id)
    expect([first.replayed, second.replayed]).toEqual([false, false])
  })
})

describe('the rights of a caller', () => {
  test('a disabled caller reads that they are disabled', async () => {
    const { ask, caller, service } = await startGuard()
    await caller('bob', { disabled: true })
    service.estimate = () => Promise.reject(new Error('the service must not be asked'))
    expect(await ask()).toMatchObject(forbidden('bob is disabled; ask an administrator.'))
  })

  test.each([
    ['read', 403],
    ['run', 201],
    ['propose', 202],
  ] as const)('a caller with the scope %s is answered with %d', async (scope, status) => {
    const { ask } = await startGuard()
    const answer = await ask({}, token([scope]))
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer).toMatchObject(forbidden('bob needs the scope run or propose for this.'))
  })

  test.each<[string, Caller['scopes'], 'run' | 'read', string]>([
    ['the list allows propose, the token run', ['read', 'propose'], 'run', 'propose'],
    ['the list allows both, the token neither', ['run', 'propose'], 'read', 'run or propose'],
  ])('a caller reads that the token lacks a scope that the list allows: %s', async (_title, scopes, held, lacks) => {
    const { ask, caller } = await startGuard()
    await caller('bob', { ...(scopes && { scopes }) })
    expect(await ask({}, token([held]))).toMatchObject(
      forbidden(`bob needs the scope ${lacks} for this; the list of callers allows it, but the token lacks it.`),
    )
  })

  test('only administrators and callers with the right may force', async () => {
    const { ask, caller } = await startGuard()
    await caller('eve', { mayForce: true })
    const force = { force: true, reason: 'r' }
    expect(await ask(force)).toMatchObject(forbidden('bob may not force updates; that needs the scope admin.'))
    expect((await ask(force, { caller: 'eve' })).status).toBe(201)
    expect((await ask({ ...force, projects: ['b'] }, token(['run', 'admin']))).status).toBe(201)
  })

  test('a refusal names the budget that a caller may not charge, and the setting', async () => {
    const { ask, askAs, budget, caller } = await startGuard()
    await budget('seo', { projects: [{ name: 'shop' }] })
    const members = { budget: 'seo' }
    const detail = (where: string) => `bob may not charge the budget seo; ${where} the budgets that it may.`
    expect((await ask({ projects: ['free', 'shop'] }, token(['run'], ['account']))).status).toBe(201)
    await budget('other', {})
    expect(await ask({}, token(['run'], ['other']))).toMatchObject(forbidden(detail('its token names'), members))
    await caller('bob', { scopes: ['run'], budgets: ['other'] })
    const inSlack = { caller: 'bob', via: 'slack', route: '/units' } as const
    expect(await askAs(inSlack)).toMatchObject(forbidden(detail('the list of callers names'), members))
  })

  test.each([
    [{ budget: 'gone' }, 'There is no budget gone.'],
    [{ budget: 'other' }, 'shop belongs to seo, so it is charged there or to a parent of it, not to other.'],
    [
      { budget: 'other', projects: ['shop', 'free', 'store'] },
      'shop belongs to seo, so it is charged there or to a parent of it, not to other. store belongs to seo, so it is charged there or to a parent of it, not to other.',
    ],
  ])('a budget that cannot be charged is refused: %o', async (wanted, detail) => {
    const { ask, budget } = await startGuard()
    await budget('seo', { projects: [{ name: 'shop' }, { name: 'store' }] })
    await budget('other', {})
    const { status, problem } = await ask(wanted)
    expect([status, problem?.slug, problem?.detail]).toEqual([400, 'invalid-request', detail])
    const errors = detail.split(/(?<=\.) /).map((message) => ({ path: 'budget', message }))
    expect(problem?.members).toEqual({ errors })
  })

  test('a request charges the owner’s budget by default, or a named budget above it', async () => {
    const { ask, budget } = await startGuard()
    await budget('seo', { projects: [{ name: 'shop', id: '7' }] })
    const kind = 'keyword-difficulty'
    const charged = async (wanted: object) => (await ask(wanted)).updates.map((update) => update.budget)
    expect(await charged({ projects: ['shop', 'free'] })).toEqual(['seo', 'account'])
    expect(await charged({ kind, projects: ['7'], budget: 'seo' })).toEqual(['seo'])
    expect(await charged({ kind, projects: ['free'], budget: 'seo' })).toEqual(['seo'])
  })
})

describe('a caller who loses rights while their update waits', () => {
  const narrowedBy = async (caller: Caller, asker: Partial<Asker>, wanted: Partial<UpdatesRequest> = {}) => {
    const product = await startGuard()
    await product.budget('seo', {})
    product.service.estimate = async () => {
      await product.caller(asker.caller ?? 'bob', caller)
      return { kind: 'units', units: u(40), source: 'units' }
    }
    const { problem, updates } = await product.ask(wanted, asker)
    return { sent: product.sent.length, state: updates[0]?.state, detail: problem?.detail }
  }

  test.each<[string, Caller, Partial<Asker>, Partial<UpdatesRequest>, string]>([
    ['nothing', { scopes: ['read'] }, {}, {}, 'bob needs the scope run or propose for this.'],
    [
      'other budgets',
      { budgets: ['seo'] },
      {},
      {},
      'bob may not charge the budget account; the list of callers names the budgets that it may.',
    ],
    [
      'no force',
      { scopes: ['run'] },
      token(['run', 'admin']),
      { force: true },
      'bob may not force updates; that needs the scope admin.',
    ],
  ])('an update is refused after its caller’s rights shrank to %s', async (_what, caller, asker, wanted, detail) => {
    expect(await narrowedBy(caller, asker, wanted)).toEqual({ sent: 0, state: 'refused', detail })
  })

  test('an update needs approval if its caller may only propose now and their token has that scope', async () => {
    const proposing: Caller = { scopes: ['propose', 'read'] }
    expect(await narrowedBy(proposing, token(['run', 'propose']))).toEqual({ sent: 0, state: 'awaiting-approval' })
    expect(await narrowedBy(proposing, token(['run']))).toMatchObject({ sent: 0, state: 'refused' })
  })

  test('an update runs if its caller may still run updates', async () => {
    const caller: Caller = { scopes: ['run', 'propose'], budgets: ['seo'] }
    const wanted = { budget: 'seo' }
    expect(await narrowedBy(caller, token(['run', 'read'], ['seo', 'ads']), wanted)).toMatchObject({ state: 'settled' })
  })

  test('a queued update is refused, also if a person has approved it', async () => {
    const { ask, budget, caller, guard, clock, sent } = await startGuard()
    await budget('seo', {})
    await budget('other', { approvalAbove: u(10) })
    const queued = only(await ask({ budget: 'seo' }, token(['run'], ['seo', 'other']), { respondAsync: true }))
    const awaiting = only(await ask({ budget: 'other', projects: ['b'] }))
    await caller('bob', { budgets: ['account'], scopes: ['read'] })
    expect((await guard.decide('approve', awaiting.id, { caller: 'eve' })).kind).toBe('done')
    for (const { id } of [queued, awaiting])
      expect(await guard.start(id, clock.now() + 60_000)).toMatchObject({
        state: 'refused',
        problem: { slug: 'forbidden', detail: 'bob needs the scope run or propose for this.' },
      })
    expect(sent).toEqual([])
  })

  test('the rights of a Slack user come from the list alone', async () => {
    const { askAs, caller, guard, clock, sent, other } = await startGuard()
    await caller('slack:U1', { scopes: ['run'], budgets: '*' })
    const slack = { caller: 'slack:U1', via: 'slack', route: 'slack' } as const
    expect(only(await askAs(slack))).toMatchObject({ state: 'settled' })
    await caller('slack:U2', { scopes: ['run'], budgets: '*' })
    const queued = await guard.submit(
      { ...slack, caller: 'slack:U2' },
      { kind: 'ranking', projects: ['b'], whenShort: 'fit' },
      { respondAsync: true, endsAt: clock.now() },
    )
    await caller('slack:U2', { scopes: ['run'], budgets: [] })
    await guard.start(only(queued).id, clock.now() + 60_000)
    expect((await other.update(only(queued).id))?.problem?.detail).toBe(
      'slack:U2 may not charge the budget account; the list of callers names the budgets that it may.',
    )
    expect(sent).toHaveLength(1)
  })

  test.each([
    ['every budget', '*'],
    ['its budgets', ['seo', 'account']],
  ] as const)('answers from the record, even if its budget was deleted: a token for %s', async (_which, budgets) => {
    const { ask, budget, other } = await startGuard()
    await budget('seo', {})
    const asker = { key: 'k', ...token(['run'], budgets) }
    const { id } = only(await ask({ budget: 'seo' }, asker))
    await other.change('ada', ({ definitions: { budgets, ...definitions } }) => {
      const { seo: _gone, ...rest } = budgets
      return {
        definitions: { ...definitions, budgets: rest },
        note: { type: 'limit', budget: 'account', reason: 'test' },
      }
    })
    expect(await ask({ budget: 'seo' }, asker)).toMatchObject({ replayed: true, updates: [{ id }] })
  })
})

describe('an idempotency key', () => {
  const key = { key: 'k' }

  test('a known key is answered from the records', async () => {
    const { ask, sent } = await startGuard()
    const first = await ask({ query: { a: '1', b: '2' } }, key)
    const again = await ask({ query: { b: '2', a: '1' } }, key)
    expect(again).toEqual({ ...first, replayed: true })
    expect(sent).toHaveLength(1)
  })

  test.each<[string, Caller, string]>([
    ['is disabled', { disabled: true }, 'bob is disabled; ask an administrator.'],
    ['may not ask any more', { scopes: ['read'] }, 'bob needs the scope run or propose for this.'],
  ])('a known idempotency key is not answered to a caller who %s', async (_title, listed, detail) => {
    const { ask, caller } = await startGuard()
    await ask({}, key)
    await ask({}, { ...key, key: 'queued' }, { respondAsync: true })
    await caller('bob', listed)
    for (const name of [key.key, 'queued'])
      expect(await ask({}, { ...key, key: name })).toMatchObject(forbidden(detail))
  })

  test.each<[string, Parameters<Awaited<ReturnType<typeof startGuard>>['ask']>[0]]>([
    ['another query', { query: { a: '2' } }],
    ['no query', {}],
    ['another reason', { query: { a: '1' }, reason: 'r' }],
    ['one project more', { query: { a: '1' }, projects: ['shop', 'other'] }],
  ])('a key with other content is refused: %s', async (_name, wanted) => {
    const { ask, sent } = await startGuard()
    await ask({ query: { a: '1' } }, key)
    expect(await ask(wanted, key)).toEqual({
      status: 422,
      updates: [],
      notRecorded: [],
      replayed: false,
      earlier: [],
      problem: {
        slug: 'key-reused',
        detail:
          'This idempotency key was used before, for a request with other content; use a new key for a new request.',
        members: {},
      },
    })
    expect(sent).toHaveLength(1)
  })

  test.each([{ caller: 'eve' }, { route: 'GET /v3' }])('a key belongs to a caller and a route: %o', async (asker) => {
    const { ask, sent } = await startGuard()
    await ask({ kind: 'keyword-difficulty' }, key)
    const second = await ask({ projects: ['other'] }, { ...key, ...asker })
    expect([second.status, second.replayed, sent.length]).toEqual([201, false, 2])
  })

  test('a repeated key is answered with the running request, or with the queued update', async () => {
    const { ask, before, guard, other } = await startGuard()
    const answers: unknown[] = []
    before.push(async (writes) => {
      if (makes('settled')(writes)) answers.push(await ask({}, key), await ask({ projects: ['q'] }, { key: 'q' }))
      return false
    })
    const queued = await ask({ projects: ['q'] }, { key: 'q' }, { respondAsync: true })
    const { id } = only(await ask({}, key))
    const [during] = answers
    expect(during).toMatchObject({
      status: 409,
      problem: {
        slug: 'in-progress',
        detail: `The first request with this key is still running as ${id}; ask again in a moment.`,
        members: { update: id },
      },
      updates: [{ id, state: 'running' }],
    })
    answers.length = 0
    await guard.start(queued.updates[0]?.id ?? '', at('2026-11-20T11:00:00Z'))
    expect(answers[1]).toMatchObject({
      status: 202,
      problem: null,
      updates: [{ state: 'running', project: 'q' }],
      replayed: true,
    })
    expect(await other.update(id)).toMatchObject({ state: 'settled' })
  })

  test('request: delivered twice: a key is refused if another delivery used it meanwhile and runs or has other content', async () => {
    const two = { projects: ['no-estimate', 'shop'], whenShort: 'fit' } as const
    for (const [earlier, wanted, status, slug, shown] of [
      [{}, {}, 409, 'in-progress', [{ state: 'running' }]],
      [two, two, 409, 'in-progress', [{ state: 'running' }]],
      [{}, { maxUnits: u(60) }, 422, 'key-reused', []],
    ] as const) {
      const { ask, elsewhere, before, service } = await startGuard()
      service.estimate = async ({ segment }) =>
        segment === 'shop' ? { kind: 'units', units: u(40), source: 'units' } : { kind: 'refused', status: 500 }
      let finish = () => {}
      const sent = new Promise<void>((resolve) => {
        service.run = () =>
          new Promise((answer) => {
            finish = () => answer(ran)
            resolve()
          })
      })
      let first: ReturnType<typeof ask> | undefined
      before.push(async (writes) => {
        if (!makes('running')(writes)) return false
        first = ask(earlier, key, { by: elsewhere })
        await sent
        return true
      })
      const second = await ask(wanted, key)
      expect(second).toMatchObject({ status, problem: { slug }, updates: shown })
      expect(second.updates).toHaveLength(shown.length)
      finish()
      expect((await first)?.status).toBe(201)
    }
  })

  test('a repeated key retries only the updates that could not be recorded', async () => {
    const { ask, service, sent } = await startGuard()
    service.estimate = async ({ segment }) =>
      segment === 'b' ? { kind: 'refused', status: 500 } : { kind: 'units', units: u(40), source: 'units' }
    const wanted = { projects: ['a', 'b'], whenShort: 'fit' } as const
    const first = await ask(wanted, key)
    expect([first.status, first.updates.length, first.notRecorded.length]).toEqual([201, 1, 1])
    service.estimate = async () => ({ kind: 'units', units: u(40), source: 'units' })
    const again = await ask(wanted, key)
    expect([again.status, again.replayed, again.updates.map(({ project }) => project)]).toEqual([
      201,
      false,
      ['a', 'b'],
    ])
    expect(sent).toHaveLength(2)
  })
})

describe('a request that prefers to be answered later', () => {
  const later = { respondAsync: true }

  test('a respond-async request is recorded without a request to the service', async () => {
    const { ask, service, guard } = await startGuard()
    service.estimate = () => Promise.reject(new Error('the service must not be asked'))
    const { status, updates } = await ask({}, {}, later)
    expect([status, updates]).toMatchObject([202, [{ state: 'requested', queued: true, version: 1 }]])
    expect(updates[0]?.history).toStrictEqual([{ state: 'requested', at: at('2026-11-20T10:00:00Z'), by: 'bob' }])
    service.estimate = async () => ({ kind: 'units', units: u(40), source: 'units' })
    expect(await guard.start(updates[0]?.id ?? '', at('2026-11-20T11:00:00Z'))).toMatchObject({ state: 'settled' })
  })

  test('a respond-async request is refused at once if the refusal needs no estimate', async () => {
    const { ask, budget } = await startGuard()
    await budget('seo', frozen)
    const { status, updates } = await ask({ budget: 'seo' }, {}, later)
    expect([status, updates]).toMatchObject([402, [{ state: 'refused', problem: { slug: 'budget-frozen' } }]])
  })
})

describe('work that was already done', () => {
  test('work that was already done is answered with its update', async () => {
    const { ask, sent } = await startGuard()
    const [first] = (await ask()).updates
    const again = await ask({}, { caller: 'eve', key: 'e' })
    expect(again).toEqual({
      status: 200,
      updates: [first],
      problem: null,
      notRecorded: [],
      replayed: false,
      earlier: [first?.id],
    })
    expect(await ask({}, { caller: 'eve', key: 'e' })).toEqual({ ...again, replayed: true })
    expect(sent).toHaveLength(1)
  })

  test('work that was already done is refused if its record has expired', async () => {
    const { ask, items } = await startGuard()
    const { id } = only(await ask())
    await ask({}, { key: 'e' })
    items.delete(JSON.stringify([`update#${id}`, 'update']))
    const refused = { state: 'refused', problem: { slug: 'already-updated', members: { update: id } } }
    expect(await ask({}, { key: 'e' })).toMatchObject({ status: 200, updates: [refused], earlier: [] })
  })
})

describe('several updates of one request', () => {
  /** The most updates that were in progress at the same time. */
  const counting = <T>(act: () => Promise<T>) => {
    let [now, most] = [0, 0]
    return {
      most: () => most,
      act: async () => {
        most = Math.max(most, ++now)
        await new Promise(setImmediate)
        now--
        return act()
      },
    }
  }

  test('a request of several updates estimates and runs five at a time', async () => {
    const { ask, service, sent } = await startGuard()
    const [estimates, runs] = [
      counting(async () => ({ kind: 'units', units: u(40), source: 'u' }) as const),
      counting(async () => ran),
    ]
    service.estimate = estimates.act
    service.run = runs.act
    const { updates } = await ask({ projects: many })
    expect(updates.map(({ project, state }) => `${project} ${state}`)).toEqual(many.map((name) => `${name} settled`))
    expect([estimates.most(), runs.most(), sent.length]).toEqual([5, 5, 12])
  })

  test('a request records nothing without a secret, but a refusal needs no secret', async () => {
    const serviceToken = () => Promise.reject(new SecretUnavailable('token', 'gone'))
    const { ask, budget, other, service } = await startGuard({ parts: { serviceToken } })
    const asked: unknown[] = []
    service.estimate = async (target) => {
      asked.push(target)
      return { kind: 'units', units: u(40), source: 'units' }
    }
    await budget('seo', { ...frozen, projects: [{ name: 'a' }] })
    await expect(ask({ projects: ['a', 'b'] })).rejects.toThrow(SecretUnavailable)
    expect([(await other.updates({}, 10)).rows, asked]).toEqual([[], []])
    expect(await ask({ projects: ['a'] })).toMatchObject({ status: 402, updates: [{ state: 'refused' }] })
  })

  test('a run has the token that is read after the estimates, because the token may have been rotated', async () => {
    let rotated = 'old'
    const { ask, service, sent } = await startGuard({ parts: { serviceToken: async () => rotated } })
    service.estimate = async () => {
      rotated = 'new'
      return { kind: 'units', units: u(40), source: 'units' }
    }
    await ask()
    expect(sent.map(({ token }) => token)).toEqual(['new'])
  })

  test('each update fails without waiting if the ledger fails for all updates', async () => {
    const { ask, before, sent, lines } = await startGuard()
    before.push(async (writes) => {
      if (makes('running')(writes)) throw new LedgerUnavailable('away')
      return false
    })
    const { status, problem, notRecorded, updates } = await ask({ projects: many, whenShort: 'fit' })
    expect([status, problem?.slug, notRecorded.map(({ project }) => project), updates]).toEqual([
      503,
      'ledger-unavailable',
      many,
      [],
    ])
    expect(lines.filter(({ event }) => event === 'not-admitted')).toHaveLength(12)
    expect(sent).toEqual([])
  })

  test('all updates stop if the ledger refuses a write for another reason', async () => {
    const { ask, before } = await startGuard()
    before.push(async (writes) => {
      if (makes('running')(writes)) throw new Error('no permission')
      return false
    })
    await expect(ask()).rejects.toThrow('no permission')
  })

  test('a request waits for the sent updates before it stops', async () => {
    const { ask, before, service, other } = await startGuard()
    let admitted = 0
    before.push(async (writes) => {
      if (makes('running')(writes) && ++admitted === 2) throw new Error('no permission')
      return false
    })
    service.run = async () => {
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      return ran
    }
    await expect(ask({ projects: ['a', 'b'] })).rejects.toThrow('no permission')
    const { rows } = await other.updates({}, 10)
    expect(rows.map(({ project, state }) => `${project} ${state}`)).toEqual(['a settled'])
  })

  test('a request may ask for approval of more updates than may run at once', async () => {
    const { ask, budget } = await startGuard()
    await budget('seo', { approvalAbove: u(10) })
    const { updates } = await ask({ projects: many, budget: 'seo' })
    expect(updates.map(({ state }) => state)).toEqual(many.map(() => 'awaiting-approval'))
  })

  test('an update stays running if its run throws, and the others continue', async () => {
    const { ask, service, lines } = await startGuard()
    service.run = async ({ segment }) => {
      if (segment === 'p-1') throw new Error('no such thing')
      return ran
    }
    const { status, updates } = await ask({ projects: many })
    expect([status, updates.map(({ state }) => state)]).toEqual([
      202,
      many.map((name) => (name === 'p-1' ? 'running' : 'settled')),
    ])
    expect(lines.filter(({ event }) => event === 'not-settled')).toMatchObject([
      { level: 'error', update: updates[1]?.id, cause: { message: 'no such thing' } },
    ])
  })

  describe('a request with refuse, which is all or nothing', () => {
    const states = (updates: readonly { project: string; state: string }[]) =>
      updates.map(({ project, state }) => `${project} ${state}`)

    test('all or nothing refuses all updates if one is over budget', async () => {
      const { ask, budget } = await startGuard()
      await budget('seo', { ...month(0), projects: [{ name: 'b' }] })
      const { status, problem, updates } = await ask({ projects: ['a', 'b'] })
      expect([status, problem?.slug, states(updates)]).toEqual([402, 'over-budget', ['a refused', 'b refused']])
      expect(updates[0]?.problem).toEqual(updates[1]?.problem)
      expect(updates.map(({ estimated }) => estimated)).toEqual([40, undefined])
    })

    test('all or nothing refuses only one update for any other reason', async () => {
      const { ask, budget } = await startGuard()
      await budget('seo', { ...frozen, projects: [{ name: 'b' }] })
      const { status, updates } = await ask({ projects: ['a', 'b'] })
      expect([status, states(updates)]).toEqual([201, ['a settled', 'b refused']])
      await budget('seo', { projects: [{ name: 'b' }, { name: 'c' }] })
      const none = await ask({ projects: ['b', 'c'] })
      expect([none.status, states(none.updates)]).toEqual([402, ['b refused', 'c refused']])
    })

    test.each([
      [maxUnits, 'account has 1,000 of 1,000 units left this month and these 2 updates need 1,000,000,000,040;'],
      [maxUnits + 1, 'The update of b needs'],
    ])('all or nothing refuses all if one needs %d units', async (units, detail) => {
      const { ask, service, sent } = await startGuard()
      service.estimate = async ({ segment }) => ({ kind: 'units', units: u(segment === 'b' ? units : 40), source: 'u' })
      const { status, problem, updates } = await ask({ projects: ['a', 'b'] })
      expect([status, states(updates), sent]).toEqual([402, ['a refused', 'b refused'], []])
      expect(problem?.detail).toContain(detail)
    })

    test('all or nothing: no project runs if one project has no estimate', async () => {
      const { ask, budget, service, sent } = await startGuard()
      await budget('seo', { ...frozen, projects: [{ name: 'c' }] })
      service.estimate = async ({ segment }) =>
        segment === 'b' ? { kind: 'refused', status: 404 } : { kind: 'units', units: u(40), source: 'units' }
      const { status, problem, updates, notRecorded } = await ask({ projects: ['a', 'b', 'c'] })
      expect([status, problem?.slug, states(updates), sent]).toEqual([502, 'service-refused', ['c refused'], []])
      expect(notRecorded.map(({ project, problem }) => [project, problem.members.serviceStatus])).toEqual([
        ['a', 404],
        ['b', 404],
      ])
    })

    test('all or nothing sums every counter, passes exactly what is left, and names all counters in one sentence', async () => {
      const { ask, budget, sent } = await startGuard({ units: 120 })
      await budget('seo', { ...month(79), projects: [{ name: 'a' }, { name: 'b' }] })
      const { problem } = await ask({ projects: ['a', 'b', 'c'] })
      expect([problem?.detail, problem?.members.units, sent]).toEqual([
        'seo has 79 of 79 units left this month and these 3 updates need 80; resets 1 Dec 2026 00:00 UTC; ask for 1 more.',
        120,
        [],
      ])
      await budget('seo', month(80))
      expect((await ask({ projects: ['a', 'b', 'c'] })).status).toBe(201)
      expect(sent).toHaveLength(3)
    })

    test('all or nothing leaves once what a budget keeps for plans', async () => {
      const { ask, budget, sent } = await startGuard()
      const listed = { projects: [{ name: 'a' }, { name: 'b' }] }
      await budget('seo', { ...month(100), ...listed, keep: u(21) })
      const { problem } = await ask({ projects: ['a', 'b'] })
      expect([problem?.detail, sent]).toEqual([
        'seo has 100 of 100 units left this month, 21 of them for plans, and these 2 updates need 80; resets 1 Dec 2026 00:00 UTC; ask for 1 more.',
        [],
      ])
      await budget('seo', { ...month(100), ...listed, keep: u(20) })
      expect((await ask({ projects: ['a', 'b'] })).status).toBe(201)
      expect(sent).toHaveLength(2)
    })

    test('all or nothing suggests sizes that fit every short budget', async () => {
      const { ask, budget } = await startGuard()
      await budget('seo', { ...month(20), projects: [{ name: 'a' }] })
      await budget('ads', { ...month(60), projects: [{ name: 'b' }, { name: 'c' }, { name: 'd' }] })
      const { problem } = await ask({ projects: ['a', 'b', 'c', 'd'] })
      expect(problem?.members.wouldPass).toEqual([
        'updates of at most 20 units together, now',
        'a grant of 20 to seo for the month and 60 to ads for the month (POST /budgets/<name>/entries, scope admin)',
        'the same request after 1 Dec 2026 00:00 UTC, if it fits then',
      ])
    })

    test('all or nothing refuses one remaining update in the singular', async () => {
      const { ask, budget } = await startGuard()
      await budget('seo', { ...frozen, projects: [{ name: 'b' }] })
      await budget('acme', { ...month(39), projects: [{ name: 'a' }] })
      expect((await ask({ projects: ['a', 'b'] })).updates[0]?.problem?.detail).toBe(
        'acme has 39 of 39 units left this month and this needs 40; resets 1 Dec 2026 00:00 UTC; ask for 1 more.',
      )
    })

    test('a request with fit runs the updates that fit, in order', async () => {
      const { ask, service } = await startGuard({ units: 100 })
      service.estimate = async ({ segment }) => ({
        kind: 'units',
        units: u({ a: 50, b: 60, c: 50 }[segment] ?? 0),
        source: 'u',
      })
      const { updates } = await ask({ projects: ['a', 'b', 'c'], whenShort: 'fit' })
      expect(states(updates)).toEqual(['a settled', 'b refused', 'c settled'])
    })
  })
})

describe('the status of the answer', () => {
  test('an answer says the outcome of a rejected, cancelled or released update, and by whom', async () => {
    const { ask, budget, guard, service } = await startGuard()
    await budget('seo', { approvalAbove: u(10) })
    const key = { key: 'k' }
    const { id } = only(await ask({ budget: 'seo' }, key))
    await guard.decide('reject', id, { caller: 'eve' }, { reason: 'too dear' })
    expect(await ask({ budget: 'seo' }, key)).toMatchObject({
      status: 402,
      problem: { slug: 'rejected', detail: `The update ${id} was rejected by eve: too dear.`, members: {} },
    })
    const { id: second } = only(await ask({ budget: 'seo' }, { key: '2' }))
    await guard.decide('cancel', second, { caller: 'bob', isAdmin: false })
    expect((await ask({ budget: 'seo' }, { key: '2' })).problem).toEqual({
      slug: 'cancelled',
      detail: `The update ${second} was cancelled by bob.`,
      members: {},
    })
    service.run = async () => unknown
    const { id: third } = only(await ask({ projects: ['c'] }, { key: '3' }))
    expect((await ask({ projects: ['c'] }, { key: '3' })).status).toBe(202)
    await guard.decide('ran', third, { caller: 'eve' }, { reason: 'seen' })
    expect((await ask({ projects: ['c'] }, { key: '3' })).status).toBe(201)
  })

  test('an answer is 409 if a restored ledger does not know whether the work was done', async () => {
    const { ask, clock, other } = await startGuard()
    const restored = { table: 'the-copy', epoch: 1, to: clock.now() - 300_000, toText: '09:55' }
    await other.change('setup', acceptance(restored))
    const account = { name: 'account', parent: null, limits: [], projects: [] }
    await other.change('ada', ({ definitions }) => ({
      definitions: { ...definitions, budgets: { account } },
      note: { type: 'unfreeze', budget: 'account', reason: 'reconciled' },
    }))
    expect(await ask()).toMatchObject({ status: 409, problem: { slug: 'ledger-restored' } })
  })

  test('an answer names the status of the service for an update that a person released', async () => {
    const { ask, clock, guard, service } = await startGuard()
    const answer = { status: 500, contentType: null, body: '', truncated: false }
    for (const [key, given, serviceStatus] of [
      ['a', answer, 500],
      ['b', null, null],
    ] as const) {
      service.run = async () => ({ ...unknown, kind: 'unknown', reason: 'r', status: null, answer: given })
      const { id } = only(await ask({ projects: [key] }, { key }))
      clock.advance(300_000)
      await guard.decide('did-not-run', id, { caller: 'eve' }, { reason: 'seen' })
      expect(await ask({ projects: [key] }, { key })).toMatchObject({
        status: 502,
        problem: {
          slug: 'service-refused',
          detail: `The update ${id} was released by eve: seen.`,
          members: { serviceStatus },
        },
      })
    }
  })
})
