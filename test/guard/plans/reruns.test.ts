import { describe, expect, test } from 'vitest'
import { occurrences, reruns } from '../../../shared/guard/plans/stored-occurrence.ts'
import { AnswerLost, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { keyOf, type Store } from '../../../shared/ledger/store/store.ts'
import { hours, minutes } from '../../support/clock.ts'
import { due, startNight, time } from '../../support/night.ts'
import { json } from '../../support/product.ts'
import { createMemoryStore } from '../../support/store/memory-store.ts'

type Fault = { readonly pk: string; readonly skip?: number; readonly how: 'not written' | 'answer lost' }

/** A paused night with no project sent. A fault breaks one write of an item whose key begins with its `pk`. */
async function unsentNight(plan: object = {}, options: Parameters<typeof startNight>[1] = {}) {
  const inner = createMemoryStore()
  let fault: Fault | null = null
  const store: Store = {
    ...inner,
    transact: async (...how) => {
      const [writes] = how
      if (!fault || !writes.some((write) => keyOf(write).pk.startsWith(fault?.pk ?? ''))) return inner.transact(...how)
      if (fault.skip) {
        fault = { ...fault, skip: fault.skip - 1 }
        return inner.transact(...how)
      }
      const { how: kind } = fault
      fault = null
      if (kind === 'not written') throw new LedgerUnavailable('down')
      await inner.transact(...how)
      throw new AnswerLost('lost')
    },
  }
  const started = await startNight(plan, { ...options, store })
  const { product, fire, sweep } = started
  const stop = (action: 'pause' | 'resume') =>
    product.call('POST', `/plans/night/${action}`, { body: { reason: 'holidays' } })
  if (!options.on) await stop('pause')
  await fire()
  await stop('resume')
  const { ledger } = product.guard
  const occurrence = async () => (await ledger.queue(occurrences).latest('occurrences#night', 1))[0]
  const seenVersion = (await occurrence())?.version ?? 0
  return {
    ...started,
    store,
    stop,
    occurrence,
    ask: async (only: 'unsent' | 'refused' = 'unsent', version = seenVersion) => {
      const result = await product.guard.askToRunAgain('night', time, { only, seenVersion: version, by: 'eve' })
      return result.kind === 'problem' ? result.problem.detail : result.kind
    },
    open: async () => (await ledger.queue(reruns).open(10)).rows,
    fail: (next: Fault) => {
      fault = next
    },
    sweepAgain: () => sweep(product.startProcess()),
    lines: (event: string) => product.logged.map((line) => JSON.parse(line)).filter((line) => line.event === event),
  }
}

/** `c` was refused because it cost too much. The plan was paused then, so `a` and `b` were not sent. */
async function partlyRefusedNight() {
  let isStopped = false
  const night = await unsentNight(
    { projects: ['c', 'a', 'b'] },
    {
      on: ({ project, operation, product }) => {
        if (operation !== 'estimate') return undefined
        const stop = { body: { reason: 'holidays' } }
        if (project === 'a' && !isStopped) {
          isStopped = true
          return { ...json({ data: { keyword_units: 40 } }), once: product.call('POST', '/plans/night/pause', stop) }
        }
        return project === 'c' && !isStopped ? json({ data: { keyword_units: 999_999 } }) : undefined
      },
    },
  )
  night.product.clock.advance(minutes(1))
  return night
}

describe('a rerun from the dashboard', () => {
  test('the next sweep makes a rerun once, under the name of the person', async () => {
    const { ask, open, sweep, ran, occurrence, lines, product, told } = await unsentNight()
    const before = await occurrence()
    expect(await ask()).toBe('asked')
    expect(await occurrence()).toEqual(before)
    expect(await open()).toMatchObject([{ plan: 'night', time, only: 'unsent', by: 'eve', createdAt: time }])
    expect(lines('rerun')).toMatchObject([{ plan: 'night', time, only: 'unsent', by: 'eve' }])
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await occurrence()).toMatchObject({ state: 'done', counts: { settled: 3 } })
    expect(await open()).toEqual([])
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('several presses before the sweep make one rerun', async () => {
    const { ask, open, sweep, ran, lines, told } = await unsentNight()
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['asked', 'asked', 'asked'])
    const logged = lines('rerun').length
    expect(await ask()).toBe('asked')
    expect(await open()).toHaveLength(1)
    expect(lines('rerun')).toHaveLength(logged)
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await told()).toHaveLength(2)
  })

  test('a page from before the run requests no rerun, though projects are left', async () => {
    const { product, ask, sweep, open, occurrence } = await unsentNight()
    await product.call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units: 50 }] } })
    expect(await ask()).toBe('asked')
    await sweep()
    expect(await occurrence()).toMatchObject({ state: 'done', counts: { settled: 1, refused: 2 } })
    product.clock.advance(minutes(1))
    expect(await ask('refused')).toBe(
      'The run of the plan night of 20 Nov 2026 10:00 UTC has changed since this page was loaded; load the page again first.',
    )
    expect(await open()).toEqual([])
    expect(await ask('unsent')).toBe('nothing-left')
    expect(await ask('refused', (await occurrence())?.version)).toBe('asked')
  })

  test('a rerun is refused while a rerun of the other part waits, and the waiting rerun stays', async () => {
    const { ask, open } = await partlyRefusedNight()
    expect(await ask('refused')).toBe('asked')
    expect(await ask('unsent')).toMatch(/has changed since this page was loaded/)
    expect(await open()).toMatchObject([{ only: 'refused' }])
  })

  test.each([
    ['refused', ['c'], { settled: 1, unsent: 2 }],
    ['unsent', ['a', 'b'], { settled: 2, refused: 1 }],
  ] as const)('a rerun of the %s projects runs only those', async (only, projects, counts) => {
    const { ask, sweep, ran, report } = await partlyRefusedNight()
    expect(await ask(only)).toBe('asked')
    await sweep()
    expect(ran()).toEqual(projects)
    expect((await report())?.counts).toMatchObject(counts)
  })

  test('a rerun is refused if the plan did not run then', async () => {
    const { product, open } = await unsentNight()
    const asked = await product.guard.askToRunAgain('night', time - hours(24), {
      only: 'unsent',
      seenVersion: 1,
      by: 'eve',
    })
    expect(asked).toMatchObject({ kind: 'problem', problem: { slug: 'wrong-state' } })
    expect(await open()).toEqual([])
  })

  test.each([
    ['the request is not written', { pk: 'rerun#', how: 'not written' }, 'LedgerUnavailable'],
    ['the answer to the request is lost', { pk: 'rerun#', how: 'answer lost' }, 'AnswerLost'],
  ] as const)('a rerun runs once if %s and the button is pressed again', async (_name, fault, error) => {
    const { ask, fail, sweep, ran, told } = await unsentNight()
    fail(fault)
    await expect(ask()).rejects.toMatchObject({ name: error })
    expect(await ask()).toBe('asked')
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await told()).toHaveLength(2)
  })

  test.each([
    ['before the occurrence begins', { pk: 'occurrence#', how: 'not written' }],
    ['with the answer to its beginning lost', { pk: 'occurrence#', how: 'answer lost' }],
    ['after the occurrence has begun', { pk: 'occurrence#', skip: 1, how: 'not written' }],
    ['before the request is ended', { pk: 'rerun#', how: 'not written' }],
    ['with the answer to the end lost', { pk: 'rerun#', how: 'answer lost' }],
  ] as const)('a rerun runs once if a sweep fails %s and another follows', async (_name, fault) => {
    const { product, ask, open, fail, sweep, sweepAgain, ran, occurrence, told } = await unsentNight()
    expect(await ask()).toBe('asked')
    fail(fault)
    await sweep().catch(() => undefined)
    product.clock.advance(minutes(5))
    await sweepAgain()
    product.clock.advance(minutes(5))
    await sweepAgain()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await occurrence()).toMatchObject({ state: 'done', counts: { settled: 3 } })
    expect(await open()).toEqual([])
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('a rerun runs once if three sweeps begin it at once', async () => {
    const { product, ask, open, sweep, sweepAgain, ran, told } = await unsentNight()
    expect(await ask()).toBe('asked')
    await Promise.all([sweep(), sweepAgain(), sweepAgain()])
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(await open()).toEqual([])
    expect(await told()).toHaveLength(2)
    expect(await product.audit()).toBe(true)
  })

  test('a sweep with an old reading of the request does not reopen a finished rerun', async () => {
    const { product, ask, open, sweep, occurrence } = await unsentNight()
    await product.call('PUT', '/budgets/account', { body: { limits: [{ window: 'month', units: 50 }] } })
    await ask()
    const [read] = await open()
    await sweep()
    const ended = await occurrence()
    product.clock.advance(minutes(1))
    if (read) await (await product.guard.jobs()).runAsked({ ...read, only: 'refused' }, product.endsAt())
    expect(await occurrence()).toEqual(ended)
  })

  test.each([
    ['the plan is paused', 'The plan night was paused by ada: holidays. Resume it first.'],
    ['the person is disabled', 'eve asked for this run and is disabled now.'],
    ['an hour passes', 'No sweep could begin this run within an hour.'],
  ])('a rerun is refused and logged if %s before the sweep, and may be asked for again', async (what, detail) => {
    const { product, ask, open, stop, sweep, ran, lines } = await unsentNight()
    const disable = (disabled: boolean) => product.call('PUT', '/callers/eve', { body: { disabled, reason: 'left' } })
    await ask()
    if (what === 'the plan is paused') await stop('pause')
    else if (what === 'the person is disabled') expect((await disable(true)).status).toBe(201)
    else product.clock.advance(hours(1))
    await sweep()
    expect(ran()).toEqual([])
    expect(lines('plan-not-run')).toMatchObject([{ plan: 'night', time, detail }])
    expect(await open()).toEqual([])
    await stop('resume')
    await disable(false)
    expect(await ask()).toBe('asked')
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(lines('plan-not-run')).toHaveLength(1)
  })

  test('a rerun may begin until the last millisecond of the hour', async () => {
    const { product, ask, sweep, ran } = await unsentNight()
    await ask()
    product.clock.advance(hours(1) - 1)
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
  })

  test('a rerun with a damaged item delays no other run', async () => {
    const { product, store, sweep, ran, lines } = await unsentNight()
    const damaged = { pk: 'rerun#x', sk: 'rerun', id: 'x', openAs: 'rerun', openSince: '2026' }
    await store.transact([{ kind: 'put', item: damaged, when: [] }], 'damaged')
    const headers = { prefer: 'respond-async' }
    await product.call('POST', '/plans/night/run', { body: { time: due, only: 'unsent' }, headers })
    expect(ran()).toEqual([])
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c'])
    expect(lines('occurrence-failed')).toMatchObject([{ occurrence: 'x' }])
  })

  /** `dear` is refused; `gone` does not run; the runs of `a`, `b` and `c` are in doubt; `late` and `later` are not sent. */
  async function doubtfulNight(projects: readonly string[]) {
    let isBroken = true
    const night = await unsentNight(
      { projects },
      {
        on: ({ project, operation }) => {
          if (!isBroken) return undefined
          if (operation === 'run') return { status: project === 'gone' ? 404 : 500 }
          return project === 'dear' ? json({ data: { keyword_units: 999_999 } }) : undefined
        },
      },
    )
    isBroken = false
    const { product } = night
    product.clock.advance(minutes(6))
    return {
      ...night,
      resolve: async (wanted: string) => {
        const rows = (await night.report())?.rows
        const id = rows?.find(({ project }) => project === wanted)?.update?.id
        const body = { outcome: 'did-not-run', reason: 'looked it up' }
        expect((await product.call('POST', `/updates/${id}/resolve`, { body })).status).toBe(200)
        product.clock.advance(minutes(1))
      },
    }
  }
  const isStopped =
    /^The run of the plan night of .* is stopped by 3 updates in a row that are in doubt: upd_\w+ \(a\), upd_\w+ \(b\) and upd_\w+ \(c\)\. Nothing was sent\. Resolve them, then run what was /

  test('a rerun that doubts would stop is refused, and runs after one of them is resolved', async () => {
    const { ask, open, occurrence, sweep, ran, resolve, report, lines } = await doubtfulNight([
      'a',
      'b',
      'c',
      'late',
      'later',
    ])
    const before = await occurrence()
    expect(await ask()).toMatch(isStopped)
    expect(await report()).toMatchObject({
      blockedBy: { unsent: [{ project: 'a' }, { project: 'b' }, { project: 'c' }] },
    })
    expect([await open(), lines('rerun')]).toEqual([[], []])
    await sweep()
    expect(await occurrence()).toEqual(before)
    await resolve('b')
    expect(await ask()).toBe('asked')
    await sweep()
    expect(ran()).toEqual(['a', 'b', 'c', 'b', 'late', 'later'])
    expect(await occurrence()).toMatchObject({ state: 'done' })
  })

  test.each([
    ['refused', 'before the doubts', ['dear', 'a', 'b', 'c', 'late'], 'asked'],
    ['refused', 'between the doubts', ['a', 'b', 'dear', 'c', 'late'], 'asked'],
    ['unsent', 'before the doubts', ['gone', 'a', 'b', 'c'], 'asked'],
    ['unsent', 'before and after the doubts', ['gone', 'a', 'b', 'c', 'late'], expect.stringMatching(isStopped)],
  ] as const)('a rerun of the %s projects %s: %j', async (only, _where, projects, said) => {
    const { ask } = await doubtfulNight(projects)
    expect(await ask(only)).toEqual(said)
  })

  test('a rerun is refused if all projects are in doubt', async () => {
    const { ask, unsent, told } = await doubtfulNight(['a', 'b', 'c'])
    expect(await ask()).toMatch(isStopped)
    expect((await unsent()).status).toBe(409)
    expect(await told()).toHaveLength(1)
  })

  test('a rerun is refused as running if its occurrence is not over', async () => {
    const { product, ask, sweep, open, occurrence } = await unsentNight({ projects: ['a', 'gone'] })
    product.service.script('/on-demand/gone/estimate', { status: 404 })
    await ask()
    await sweep()
    expect((await occurrence())?.doneAt).toBeUndefined()
    expect(await ask()).toBe('running')
    expect(await open()).toEqual([])
  })
})
