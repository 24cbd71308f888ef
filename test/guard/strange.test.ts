import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openBrowser } from '../support/browser/browser.ts'
import { send } from '../support/browser/page-forms.ts'
import { listenForAgents } from '../support/mcp.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import {
  datesBody,
  estimateBody,
  runBody,
  type StrangeEstimate,
  type StrangeRun,
  strangeService,
} from '../support/strange/strange-answers.ts'

// Answers that the stand-in never gives, through every door. Whatever they are, no promise may break.

interface Truth {
  readonly estimate: StrangeEstimate
  readonly run: StrangeRun
}

type Started = Awaited<ReturnType<typeof start>>

const night = (projects: readonly string[]) => ({
  name: 'night',
  kind: 'ranking',
  projects,
  schedule: 'cron(0 9 * * ? *)',
})

/** One product. The service answers each project by what `truths` says of it. */
async function start(planned: readonly string[] = ['none'], env: Record<string, string> = {}) {
  const truths = new Map<string, (url: string) => ReturnType<ReturnType<typeof strangeService>>>()
  const product = await startProduct({
    store: createMemoryStore(),
    slack: true,
    plans: [night(planned)],
    env,
    service: ({ url }) => truths.get(decodeURIComponent(new URL(url, 'http://x').pathname.split('/')[3] ?? ''))?.(url),
  })
  await product.call('PUT', '/callers/slack:U2BOB', { body: { scopes: ['read', 'run'], budgets: '*' } })
  await product.call('PUT', '/callers/agent', { body: { ratePerMinute: 100_000 } })
  const browser = openBrowser(product)
  await browser.logIn(product.signed({ sub: 'ben', scope: 'read run', budgets: '*' }))
  const agent = await (await listenForAgents(product)).connect()
  return { ...product, truths, browser, agent }
}

const doors: Readonly<Record<string, (by: Started, project: string) => Promise<unknown>>> = {
  'POST /updates': ({ update }, project) => update({ kind: 'ranking', project }),
  // The answer is the service's own, so it may be anything.
  'the gateway': async ({ api, signed }, project) => {
    const authorization = `Bearer ${await signed({ sub: 'tool', scope: 'read run', budgets: '*' })}`
    const answer = await api.request(`/v3/on-demand/${project}/run`, { headers: { authorization } })
    await answer.arrayBuffer()
  },
  'the page': async ({ browser, deliver }, project) => {
    const page = await browser.get(`/dashboard/ask?${new URLSearchParams({ kind: 'ranking', project })}`)
    if (page.html.includes('Ask for the update</button>')) await send(browser, page, 'Ask for the update')
    await deliver()
  },
  Slack: async ({ slack, deliver }, project) => {
    await slack.command(`run ranking ${project}`, { user: 'U2BOB' })
    await deliver()
    const offered = JSON.stringify(slack.news().at(-1)?.body ?? null).includes('"confirm"')
    const button = offered ? slack.buttons().at(-1) : undefined
    if (button) await slack.press('confirm', button.value, { user: 'U2BOB' })
    await deliver()
  },
  'an agent': async ({ agent }, project) => {
    const { data } = await agent.call('estimate_update', { kind: 'ranking', project })
    if (data.quote) await agent.request(data.quote)
  },
}
const refusals = [400, 401, 402, 403, 404, 405, 410, 422, 429]

/** An ordinary service: the run takes what the estimate says. */
const ordinary: Truth = {
  estimate: { ...ordinaryAnswer('{"units":6}'), units: 6 },
  run: { ...ordinaryAnswer('{"response_code":0}'), unitsTaken: 6 },
}

function ordinaryAnswer(body: string) {
  return { status: 200, headers: { 'content-type': 'application/json' }, bytes: Buffer.from(body), isCached: false }
}

const truth: fc.Arbitrary<Truth> = fc
  .integer({ min: 1, max: 60 })
  .chain((units) => fc.record({ estimate: estimateBody(units), run: runBody(units) }))

interface Counted {
  readonly project: string
  readonly state: string
  readonly units: { readonly held: number; readonly charged: number | null }
  readonly service?: { readonly status: number }
}

async function updatesOf({ call }: Started): Promise<readonly Counted[]> {
  return (await call('GET', '/updates?limit=200')).body.updates
}

const runsOf = ({ seen }: Started, project: string) => seen('run').filter(({ url }) => url.includes(`/${project}/`))

/** The units that the service took for runs that the guard sent, each at most at its estimate. */
function mustBeCounted(started: Started, updates: readonly Counted[], truths: ReadonlyMap<string, Truth>): void {
  for (const [project, { estimate, run }] of truths) {
    const own = updates.filter((update) => update.project === project)
    const sent = runsOf(started, project).length
    const admitted = own.filter(({ state }) => ['settled', 'released', 'in-doubt'].includes(state))
    expect(sent, 'a run is sent once for each admitted update').toBeLessThanOrEqual(admitted.length)
    for (const { state, units, service } of own) {
      // Only a refusing status of the service itself gives units back.
      if (state === 'released') expect([refusals.includes(service?.status ?? 0), run.isCached]).toEqual([true, false])
      const { held, charged } = units
      expect(charged ?? 0, 'the charge').toBeLessThanOrEqual(held * 10)
      const counted = charged ?? held
      // A cached estimate is refused, so a hold is never below the price.
      if (sent > 0 && state !== 'refused' && run.unitsTaken > 0 && !run.isCached) {
        expect(counted, 'the counted units').toBeGreaterThanOrEqual(Math.min(run.unitsTaken, estimate.units))
      }
    }
  }
}

describe('answers of a strange service', () => {
  test.each(Object.entries(doors))('through %s, they free no unit and send no run twice', async (_door, attempt) => {
    const started = await start()
    const truths = new Map<string, Truth>()
    let number = 0
    await fc.assert(
      fc.asyncProperty(
        truth,
        fc.constantFrom<readonly string[]>([], ['2026-11-20'], ['2026-11-13']),
        async (drawn, dates) => {
          const project = `p${++number}`
          const [listed] = fc.sample(datesBody(dates), 1)
          started.truths.set(project, (url) => strangeService({ ...drawn, ...(listed && { dates: listed }) })({ url }))
          truths.set(project, drawn)
          await attempt(started, project)
          // A client that repeats itself must not run the project again.
          await attempt(started, project)
          expect(runsOf(started, project).length).toBeLessThanOrEqual(
            drawn.run.status >= 400 && !drawn.run.isCached ? 2 : 1,
          )
          mustBeCounted(
            started,
            (await updatesOf(started)).filter((update) => update.project === project),
            new Map([[project, drawn]]),
          )
        },
      ),
      { numRuns: 40, endOnFailure: true, examples: [[ordinary, []]] },
    )
    expect(await started.audit()).toBe(true)
    // The door works: it runs the project of the ordinary service, which comes first.
    expect(runsOf(started, 'p1')).toHaveLength(1)
  })

  test('through a plan, they send run at most twice for a project, and free no unit', async () => {
    const projects = Array.from({ length: 12 }, (_, at) => `p${at}`)
    const drawn = fc.sample(truth, { numRuns: projects.length, seed: 7 })
    const started = await start(projects)
    const truths = new Map(projects.map((project, at) => [project, drawn[at] as Truth]))
    for (const [project, each] of truths) started.truths.set(project, (url) => strangeService(each)({ url }))
    started.clock.set('2026-11-20T09:00:10Z')
    await (await started.guard.jobs()).fire('night', Date.parse('2026-11-20T09:00:00Z'), started.endsAt())
    for (let minutes = 5; minutes <= 65; minutes += 5) {
      started.clock.advance(5 * 60_000)
      await (await started.guard.jobs()).sweep(started.endsAt())
    }
    for (const project of projects) expect(runsOf(started, project).length, project).toBeLessThanOrEqual(2)
    mustBeCounted(started, await updatesOf(started), truths)
    expect(await started.audit()).toBe(true)
  })
})

/** Answers that were read wrongly before, and what they prove. */
const { run: cases } = JSON.parse(readFileSync('test/tracking/answers.json', 'utf8')) as {
  readonly run: readonly { readonly body: string; readonly proves: 'ran' | 'unknown' }[]
}
const stateOf = { ran: 'settled', unknown: 'in-doubt' } as const

function answerWith({ truths }: Started, project: string, body: string): void {
  truths.set(project, (url) => {
    if (url.includes('/estimate')) return { body: '{"units":6}' }
    return url.endsWith('/run') ? { body } : undefined
  })
}

describe('answers that were read wrongly before', () => {
  test.each(Object.entries(doors))('through %s, each runs once and ends as it proves', async (_door, attempt) => {
    const started = await start()
    for (const [at, { body, proves }] of cases.entries()) {
      const project = `c${at}`
      answerWith(started, project, body)
      await attempt(started, project)
      await attempt(started, project)
      const own = (await updatesOf(started)).filter((update) => update.project === project)
      expect(
        own.map(({ state }) => state),
        body,
      ).toContain(stateOf[proves])
      expect(runsOf(started, project), body).toHaveLength(1)
    }
  })

  test('through a plan, each runs once and ends as it proves', async () => {
    for (const [at, { body, proves }] of cases.entries()) {
      const project = `c${at}`
      const started = await start([project])
      answerWith(started, project, body)
      started.clock.set('2026-11-20T09:00:10Z')
      await (await started.guard.jobs()).fire('night', Date.parse('2026-11-20T09:00:00Z'), started.endsAt())
      for (let minutes = 5; minutes <= 65; minutes += 5) {
        started.clock.advance(5 * 60_000)
        await (await started.guard.jobs()).sweep(started.endsAt())
      }
      const states = (await updatesOf(started)).map(({ state }) => state)
      expect([states, runsOf(started, project).length], body).toEqual([[stateOf[proves]], 1])
    }
  })
})
