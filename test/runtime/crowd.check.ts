import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { synthesize } from '../support/infra/stack.ts'
import { type ScriptedService, startScriptedService, usualAnswer } from '../support/scripted-service.ts'
import { createItemLocks } from '../support/store/item-locks.ts'
import { ledgerSettings, type Rehearsal, startRehearsal } from './rehearsal.ts'

/** npm run test:runtime -- forty */
const processes = Number(process.env.PROCESSES ?? 20)
const rounds = 2
const lockedForMs = 10
/** Here the processes start and load on a few cores. On Lambda, each process has its own cores. */
const startedAtOnce = 4

const closings: (() => Promise<unknown>)[] = []
const locks = createItemLocks(lockedForMs)
let service: ScriptedService
let rehearsal: Rehearsal

beforeAll(async () => {
  service = await startScriptedService({ fallback: (request) => usualAnswer(request, {}) })
  closings.push(service.close)
  const stack = synthesize({
    bundles: inject('bundles'),
    env: { ...ledgerSettings, TRACKING_BASE_URL: '' },
    context: { sandbox: 'true' },
  })
  rehearsal = await startRehearsal(stack, { locks, serviceUrl: service.baseUrl })
  closings.push(rehearsal.close)
})

afterAll(async () => {
  for (const close of closings.toReversed()) await close()
})

const ask = async (project: string) => {
  const from = performance.now()
  const { status, body } = await rehearsal.call('POST', '/updates', { body: { kind: 'ranking', project } })
  const outcome = `${status} ${body.updates?.[0].state ?? body.type}`
  return { outcome, project, ms: performance.now() - from }
}

/** Requests `count` updates at once, each in its own process. */
const askAtOnce = (count: number, name: string) =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(`${name}-${index}`)))

test(`${processes} processes on one book: each update waits for its turn, and is done long before its deadline`, async () => {
  const { aws, call, fleet } = rehearsal
  for (let started = 0; started < processes; started += startedAtOnce) {
    await fleet('Api').warm(startedAtOnce)
    await askAtOnce(startedAtOnce, `start-${started}`)
  }
  const [conflicts, from] = [locks.seen.conflicts, performance.now()]
  const answers = []
  for (let round = 0; round < rounds; round++) answers.push(...(await askAtOnce(processes, `round-${round}`)))
  const seconds = (performance.now() - from) / 1000

  expect(answers.filter(({ outcome }) => outcome !== '201 settled')).toEqual([])
  expect(await fleet('Api').environments()).toHaveLength(processes)
  expect(locks.seen.conflicts - conflicts).toBeGreaterThan(processes)
  const runs = service.requests.filter(({ url }) => /round-\S+\/run/.test(url)).map(({ url }) => url)
  expect(runs).toHaveLength(answers.length)
  expect(new Set(runs).size).toBe(answers.length)
  expect(aws.denials()).toEqual([])
  expect((await call('GET', '/audit')).body.ok).toBe(true)
  const slowest = Math.max(...answers.map(({ ms }) => ms)) / 1000
  const found = `${answers.length} updates in ${seconds.toFixed(1)} s, the slowest in ${slowest.toFixed(1)} s`
  process.stdout.write(`${processes} processes: ${found}, ${locks.seen.conflicts - conflicts} cancelled transactions\n`)
})
