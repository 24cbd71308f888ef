import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { occurrences } from '../../../shared/guard/plans/stored-occurrence.ts'
import { parsePlans } from '../../../shared/guard/plans-file.ts'
import type { EstimateReading, RunResult } from '../../../shared/tracking/tracking.ts'
import { days, minutes } from '../../support/clock.ts'
import { ran as didRun, startGuard } from '../../support/guard.ts'
import { night, startNight, time } from '../../support/night.ts'
import { json } from '../../support/product.ts'
import { u } from '../../support/records.ts'
import type { Answer } from '../../support/scripted-service.ts'

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index + 1}`)
const refusedRun = (status: number): Extract<RunResult, { kind: 'did-not-run' }> => ({
  kind: 'did-not-run',
  reason: `refused with status ${status}`,
  status,
  answer: { status, contentType: null, body: '', truncated: false },
})
const neverSent: RunResult = { kind: 'did-not-run', reason: 'could not connect', status: null, answer: null }
const priced: EstimateReading = { kind: 'units', units: u(40), source: 'units' }
const free: EstimateReading = { ...priced, units: u(0) }

/** A plan over the real guard and ledger. `until` sweeps up to the given minute after its start. */
async function startPlan(projects: readonly string[]) {
  const plans = parsePlans(JSON.stringify([{ ...night, projects }]))
  const started = await startGuard({ units: 100_000, parts: { plans: async () => plans } })
  const { guard, clock, sent } = started
  const endsAt = () => clock.now() + minutes(5)
  let startedAt = time
  return {
    ...started,
    fire: async () => (await guard.jobs()).fire('night', time, endsAt()),
    until: async (minute: number, everyMinutes = 1) => {
      while (clock.now() < startedAt + minutes(minute)) {
        clock.advance(minutes(everyMinutes))
        await started.sweep()
        await (await guard.jobs()).advanceOccurrences(endsAt())
      }
    },
    again: async (only: 'unsent' | 'refused') => {
      startedAt = clock.now()
      return (await guard.jobs()).runAgain('night', time, only, endsAt())
    },
    runsOf: (project: string) => sent.filter(({ target }) => target.segment === project).length,
    last: async () => (await guard.ledger.queue(occurrences).latest('occurrences#night', 1))[0],
    report: async () => {
      const [occurrence] = await guard.ledger.queue(occurrences).latest('occurrences#night', 1)
      if (!occurrence) throw new Error('the plan has not run')
      return guard.report(occurrence)
    },
  }
}

describe('how often a plan sends `run`', () => {
  test.each([400, 401, 404, 429])(
    'a plan of one project sends `run` at most twice in an hour if the service answers %i',
    async (status) => {
      const { product, fire, at, ran, last } = await startNight(
        { projects: ['a'] },
        { on: ({ operation }) => (operation === 'run' ? { status } : undefined) },
      )
      await fire()
      const minutesOfRuns = [0]
      for (const minute of [4, 5, 14, 15, 30, 55, 60, 65]) {
        const before = ran().length
        await at(minute)
        if (ran().length > before) minutesOfRuns.push(minute)
      }
      expect(minutesOfRuns).toEqual([0, 5])
      expect(await last()).toMatchObject({ state: 'done', counts: { released: 1 } })
      expect(await product.audit()).toBe(true)
    },
  )

  test('an attempt of which nothing was sent does not count', async () => {
    const { service, fire, until, sent, last } = await startPlan(['a'])
    const results = [neverSent, refusedRun(400), neverSent, neverSent, refusedRun(404), didRun]
    service.run = async () => results[sent.length - 1] ?? didRun
    await fire()
    await until(70)
    // The attempts at 0, 15 and 30 minutes reached no service, so those at 5 and 55 minutes are the two.
    expect(sent).toHaveLength(5)
    expect(await last()).toMatchObject({ state: 'done', counts: { released: 1 } })
  })

  test('a plan retries up to five times what was never sent', async () => {
    const { service, fire, until, sent, counts } = await startPlan(['a'])
    service.run = async () => neverSent
    await fire()
    await until(70)
    expect(sent).toHaveLength(5)
    expect(await counts()).toMatchObject({ spent: 0, held: 0, inDoubt: 0 })
  })

  test('running what was not sent may send `run` twice again', async () => {
    const { service, fire, until, again, sent } = await startPlan(['a'])
    service.run = async () => refusedRun(400)
    await fire()
    await until(70)
    expect(sent).toHaveLength(2)
    await again('unsent')
    await until(70)
    expect(sent).toHaveLength(4)
  })
})

describe('a plan with a project without a price', () => {
  test('a project without a price is asked for in each round, and runs when there is a price', async () => {
    const { service, fire, until, runsOf, report, last } = await startPlan(['a', 'b'])
    const asked: string[] = []
    service.estimate = async ({ segment }) => {
      asked.push(segment)
      return segment === 'a' && asked.length < 5 ? free : priced
    }
    await fire()
    expect(await report()).toMatchObject({
      counts: { settled: 1, noPrice: 1, refused: 0, unsent: 0 },
      refusals: [{ project: 'a', problem: { slug: 'no-price' } }],
    })
    expect(await last()).toMatchObject({ state: 'running', nextAt: time + minutes(5) })
    await until(70)
    expect([asked, runsOf('a'), runsOf('b')]).toEqual([['a', 'b', 'a', 'a', 'a'], 1, 1])
    expect(await last()).toMatchObject({ state: 'done', counts: { settled: 2 }, doneAt: time + minutes(30) })
  })

  test('a project that has no price in any round ends without a price, and runs with what was refused', async () => {
    const { service, fire, until, again, report, sent, counts } = await startPlan(['a'])
    let asked = 0
    service.estimate = async () => {
      asked++
      return free
    }
    await fire()
    await until(70)
    expect(asked).toBe(5)
    expect(await report()).toMatchObject({ occurrence: { state: 'done', counts: { noPrice: 1 } }, unitsCharged: 0 })
    service.estimate = async () => priced
    await again('unsent')
    expect(sent).toEqual([])
    await until(1)
    await again('refused')
    expect(sent).toHaveLength(1)
    expect(await counts()).toMatchObject({ spent: 40 })
  })

  test('an attempt without a price does not count as one of the two', async () => {
    const { service, fire, until, sent } = await startPlan(['a'])
    let asked = 0
    service.estimate = async () => (asked++ % 2 === 0 ? free : priced)
    service.run = async () => refusedRun(400)
    await fire()
    await until(70)
    expect([asked, sent.length]).toEqual([4, 2])
  })
})

describe('a plan that doubts stop', () => {
  const inDoubt = json({ response_code: 26 })
  const onRun =
    (answer: (project: string) => Answer | undefined) =>
    ({ project, operation }: { project: string; operation: string }) =>
      operation === 'run' ? answer(project) : undefined

  test('an occurrence stopped by doubts names their sign and the settings that decide it', async () => {
    const { fire, last, told } = await startNight({ projects: names(5) }, { on: onRun(() => inDoubt) })
    await fire()
    const reason =
      '3 updates in a row are in doubt; resolve them, then run what was not sent. Their answers have response_code 26 at /response_code: RUN_STARTED or ANSWERS_WELL decide such answers (npm run doctor)'
    expect(await last()).toMatchObject({ state: 'stopped', reason })
    expect((await told())[0]).toContain(`“${reason}”`)
  })

  test('an occurrence stopped by different doubts names each sign once', async () => {
    const answers: Record<string, Answer> = {
      p1: inDoubt,
      p2: json({ errors: ['the quota is used'] }),
      p3: { status: 500 },
    }
    const { fire, last } = await startNight({ projects: names(3) }, { on: onRun((project) => answers[project]) })
    await fire()
    expect((await last()).reason).toBe(
      '3 updates in a row are in doubt; resolve them, then run what was not sent. Some of their answers have response_code 26 at /response_code and errors at /errors: RUN_STARTED or ANSWERS_WELL decide such answers (npm run doctor)',
    )
  })

  test('after a stopped occurrence the next one begins with the projects that were not sent', async () => {
    let isBroken = true
    const { product, fire, ran, last } = await startNight(
      { projects: names(6) },
      { on: onRun((project) => (!isBroken ? undefined : project === 'p1' ? { status: 404 } : inDoubt)) },
    )
    await fire()
    expect([ran(), (await last()).state]).toEqual([['p1', 'p2', 'p3', 'p4'], 'stopped'])
    product.clock.advance(minutes(10))
    const { body } = await product.call('GET', '/updates?state=in-doubt')
    const ids = body.updates.map(({ id }: { id: string }) => id)
    const outcome = { ids, outcome: 'did-not-run', reason: 'looked it up' }
    expect((await product.call('POST', '/updates/resolve', { body: outcome })).status).toBe(200)
    isBroken = false
    const nextNight = async () => {
      const before = ran().length
      product.clock.advance(days(1))
      await (await product.guard.jobs()).fire('night', product.clock.now(), product.endsAt())
      return ran().slice(before)
    }
    // Those that did not run may stop the plan again, so they come after the others.
    expect(await nextNight()).toEqual(['p5', 'p6', 'p1', 'p2', 'p3', 'p4'])
    expect(await nextNight()).toEqual(names(6))
  })
})

describe('a plan after a 429 of the service with `Retry-After`', () => {
  const seconds = (wait: number): Answer => ({ status: 429, headers: { 'retry-after': String(wait) } })

  test.each(['estimate', 'run'])(
    'a plan asks for nothing until the time that the service named for the %s',
    async (slow) => {
      let isBusy = true
      const { product, fire, at, ran, estimated, last } = await startNight(
        {},
        { on: ({ operation }) => (operation === slow && isBusy ? seconds(7 * 60) : undefined) },
      )
      await fire()
      expect(estimated()).toEqual(['a'])
      isBusy = false
      const { body } = await product.call('POST', '/plans/night/run', { body: { time: new Date(time).toISOString() } })
      expect(body).toMatchObject({ state: 'running', nextTryAt: '2026-11-20T10:07:00.000Z' })
      for (const minute of [5, 6.99]) await at(minute)
      expect(estimated()).toEqual(['a'])
      await at(7)
      expect(ran().slice(-3)).toEqual(['a', 'b', 'c'])
      expect(await last()).toMatchObject({ state: 'done', finishedAt: '2026-11-20T10:07:00.000Z' })
      expect(await product.audit()).toBe(true)
    },
  )

  /** The estimates fail until minute 55; then the first run is refused with 429. */
  const busyAtTheEnd = async (wait: number) => {
    const started = await startNight(
      { projects: ['a', 'b'] },
      {
        on: ({ operation, product }) => {
          if (product.clock.now() < time + minutes(55)) return operation === 'estimate' ? { status: 404 } : undefined
          return operation === 'run' && product.clock.now() === time + minutes(55) ? seconds(wait) : undefined
        },
      },
    )
    await started.fire()
    for (const minute of [5, 15, 30, 55]) await started.at(minute)
    expect(started.ran()).toEqual(['a'])
    return started
  }

  test('a plan has a last round when the wait ends, with a second attempt of the project that was refused', async () => {
    const { at, ran, last } = await busyAtTheEnd(3 * 60)
    await at(57.99)
    expect(ran()).toEqual(['a'])
    await at(58)
    expect(ran()).toEqual(['a', 'a', 'b'])
    expect(await last()).toMatchObject({ state: 'done', finishedAt: '2026-11-20T10:58:00.000Z' })
  })

  test('a plan whose wait ends an hour after its start has its last round then', async () => {
    const { at, ran, last } = await busyAtTheEnd(5 * 60)
    expect(await last()).toMatchObject({ state: 'running' })
    await at(60)
    // The request of b has expired by now, because it waited for an hour.
    expect(ran()).toEqual(['a', 'a'])
    expect(await last()).toMatchObject({ state: 'done' })
  })

  test('a plan whose wait ends later than an hour after its start stops, and `only: unsent` runs the rest', async () => {
    const { product, at, ran, last, told, unsent } = await busyAtTheEnd(5 * 60 + 1)
    const reason = 'the service asks to wait until 20 Nov 2026 11:00 UTC; run what was not sent after that'
    expect(await last()).toMatchObject({ state: 'stopped', reason, counts: { released: 1, unsent: 1 } })
    expect(await told()).toEqual([
      `🛑 The plan night of 20 Nov 2026 10:00 UTC was stopped before its end. “${reason}” ↩️ 1 project did not run; nothing was spent, ⏭️ 1 project no longer asked for. Nothing was spent.`,
    ])
    await at(61)
    expect(ran()).toEqual(['a'])
    expect((await unsent()).body).toMatchObject({ state: 'done', counts: { settled: 2 } })
    expect(ran()).toEqual(['a', 'a', 'b'])
    expect(await product.audit()).toBe(true)
  })

  test('a plan waits also if a person’s request was refused, and requests of persons are sent meanwhile', async () => {
    let isBusy = true
    const { product, fire, estimated, at, ran } = await startNight(
      {},
      { on: ({ project }) => (project === 'other' && isBusy ? seconds(60) : undefined) },
    )
    const update = { kind: 'ranking', project: 'other' }
    expect((await product.update(update)).status).toBe(502)
    await fire()
    expect(estimated()).toEqual(['other'])
    isBusy = false
    expect((await product.update(update)).status).toBe(201)
    await at(1)
    expect(ran()).toEqual(['other', 'a', 'b', 'c'])
  })

  test('a 429 without `Retry-After` refuses one project, and the others are tried', async () => {
    const { fire, estimated } = await startNight(
      {},
      { on: ({ project, operation }) => (operation === 'run' && project === 'a' ? { status: 429 } : undefined) },
    )
    await fire()
    expect(estimated()).toEqual(['a', 'b', 'c'])
  })

  test('a clock that was set back does not stop plans for longer than an hour', async () => {
    let isBusy = true
    const { product, fire, ran } = await startNight({}, { on: () => (isBusy ? seconds(60) : undefined) })
    product.clock.advance(days(2))
    await product.update({ kind: 'ranking', project: 'other' })
    product.clock.advance(-days(2))
    isBusy = false
    await fire()
    expect(ran()).toEqual(['a', 'b', 'c'])
  })
})

interface Said {
  readonly estimate: EstimateReading
  readonly run: RunResult | null
  /** The units that the service took. */
  readonly took: number
}

const willRun: Said = { estimate: priced, run: didRun, took: 40 }
const slowDown = (wait: number) => ({ ...refusedRun(429), retryAfterMs: minutes(wait) }) as const

const answers: Readonly<Record<string, Said>> = {
  ran: willRun,
  'ran, though the answer has a sign': { estimate: priced, run: signed(), took: 40 },
  'did not run, and the answer has a sign': { estimate: priced, run: signed(), took: 0 },
  'no answer': {
    estimate: priced,
    run: { kind: 'unknown', reason: 'timed out', status: null, answer: null },
    took: 40,
  },
  'refused with 400': { estimate: priced, run: refusedRun(400), took: 0 },
  'refused with 429': { estimate: priced, run: refusedRun(429), took: 0 },
  'a wait after the run': { estimate: priced, run: slowDown(4), took: 0 },
  'a long wait after the run': { estimate: priced, run: slowDown(58), took: 0 },
  'never sent': { estimate: priced, run: neverSent, took: 0 },
  'no price': { estimate: free, run: null, took: 0 },
  'no estimate': { estimate: { kind: 'unreachable', reason: 'timed out', status: null }, run: null, took: 0 },
  'a wait after the estimate': {
    estimate: { kind: 'refused', status: 429, retryAfterMs: minutes(9) },
    run: null,
    took: 0,
  },
}

function signed(): RunResult {
  const text = 'response_code 26 at /response_code'
  const sign = { text, family: 'code', condition: '/response_code=26' } as const
  return { kind: 'unknown', reason: `the answer has ${text}`, status: 200, answer: null, sign }
}

describe('a plan whose service gives random answers', () => {
  const scripts = fc.array(fc.array(fc.constantFrom(...Object.values(answers)), { maxLength: 10 }), {
    minLength: 1,
    maxLength: 4,
  })

  test('each project is sent at most twice for each word of a person, runs once, and its units are counted', async () => {
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const projects = names(script.length)
        const { service, clock, fire, until, again, last, counts, lines } = await startPlan(projects)
        const left = new Map(projects.map((project, index) => [project, [...(script[index] ?? [])]]))
        let said = willRun
        let waitsUntil = 0
        let took = 0
        const sends: { project: string; mayHaveRun: boolean }[] = []
        const hear = (answer: object) => {
          if ('retryAfterMs' in answer) waitsUntil = Math.max(waitsUntil, clock.now() + Number(answer.retryAfterMs))
        }
        service.estimate = async ({ segment }) => {
          expect(clock.now()).toBeGreaterThanOrEqual(waitsUntil)
          said = left.get(segment)?.shift() ?? willRun
          hear(said.estimate)
          return said.estimate
        }
        service.run = async ({ segment: project }) => {
          const result = said.run
          if (!result) throw new Error('nothing may be sent without a price')
          expect(sends.filter((send) => send.project === project && send.mayHaveRun)).toEqual([])
          if (result !== neverSent) sends.push({ project, mayHaveRun: result.kind !== 'did-not-run' })
          took += said.took
          hear(result)
          return result
        }
        const look = async (most: number, from: number) => {
          for (const project of projects)
            expect(sends.slice(from).filter((send) => send.project === project).length).toBeLessThanOrEqual(most)
          const { spent, inDoubt, held } = await counts()
          expect(spent + inDoubt).toBeGreaterThanOrEqual(took)
          expect(held).toBe(0)
        }
        await fire()
        await until(61, 5)
        await look(2, 0)
        expect(await last()).toMatchObject({ doneAt: expect.any(Number) })
        const before = sends.length
        clock.advance(minutes(60))
        await again('unsent')
        await until(61, 5)
        await look(2, before)
        expect(lines.filter(({ event }) => event === 'project-waits')).toEqual([])
      }),
      { numRuns: 60 },
    )
  })
})
