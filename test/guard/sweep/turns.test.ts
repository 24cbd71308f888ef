import { describe, expect, test } from 'vitest'
import { createApprovals } from '../../../shared/guard/inbox/approvals.ts'
import { occurrences } from '../../../shared/guard/plans/stored-occurrence.ts'
import { createAlerts } from '../../../shared/guard/sweep/alerts.ts'
import { createSweep } from '../../../shared/guard/sweep/sweep.ts'
import { days, minutes } from '../../support/clock.ts'
import { ran, startGuard, unknown } from '../../support/guard.ts'

const names = Array.from({ length: 10 }, (_, index) => `p${index}`)
const slowMs = 20_000

/** Ten updates, each a minute after the update before. */
async function ten(respondAsync: boolean) {
  const product = await startGuard({ units: 10_000 })
  const { service, clock, ask } = product
  service.run = async () => unknown
  for (const name of names) {
    await ask({ projects: [name] }, {}, { respondAsync })
    clock.advance(minutes(1))
  }
  service.run = async () => ran
  const asked: string[] = []
  const slowly = <Result>(answer: Result) => {
    return async ({ segment }: { readonly segment: string }) => {
      asked.push(segment)
      clock.advance(slowMs)
      return answer
    }
  }
  return { ...product, asked, slowly }
}

describe('a sweep with too little time for its list', () => {
  test('a short sweep begins with the oldest doubt, and the next process continues after it', async () => {
    const { guard, elsewhere, service, clock, asked, slowly } = await ten(false)
    service.dates = slowly({ kind: 'dates', dates: [] })
    clock.advance(minutes(10))
    await (await guard.jobs()).sweep(clock.now() + minutes(5))
    expect(asked).toEqual(['p0', 'p1', 'p2', 'p3'])
    for (const process of [elsewhere, guard]) await (await process.jobs()).sweep(clock.now() + minutes(5))
    expect(asked).toEqual([...names, 'p0', 'p1'])
    asked.length = 0
    await (await guard.jobs()).sweep(clock.now() + days(1))
    expect(asked).toEqual(['p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9', 'p0', 'p1'])
    asked.length = 0
    await (await guard.jobs()).sweep(clock.now() + minutes(5))
    expect(asked).toEqual(['p0', 'p1', 'p2', 'p3'])
  })

  test('a short sweep reaches released updates however long the doubts take', async () => {
    const { guard, other, service, clock, ask, asked, slowly } = await ten(false)
    service.run = async () => unknown
    const [late] = (await ask({ projects: ['late'] })).updates
    clock.advance(minutes(10))
    await guard.decide('did-not-run', late?.id ?? '', { caller: 'eve' }, { reason: 'not in their log' })
    expect((await other.open('watched', 5)).rows).toHaveLength(1)
    service.dates = slowly({ kind: 'dates', dates: [] })
    await (await guard.jobs()).sweep(clock.now() + minutes(5))
    expect(asked).toContain('late')
  })

  test('a short sweep starts the oldest requested update first, so that it does not expire', async () => {
    const { guard, elsewhere, service, clock, sent, slowly } = await ten(true)
    clock.advance(minutes(2))
    service.estimate = slowly({ kind: 'units', units: 40, source: 'units' } as never)
    const processes = [guard, elsewhere]
    for (let sweeps = 0; sweeps < 5; sweeps++)
      await (await processes[sweeps % 2]?.jobs())?.sweep(clock.now() + minutes(1))
    expect(sent.map(({ target }) => target.segment)).toEqual(names)
  })

  test('a short sweep starts updates behind blocked ones before they expire', async () => {
    const { guard, other, service, clock, sent, slowly } = await ten(true)
    clock.advance(minutes(2))
    const hanging = slowly({
      kind: 'unreachable',
      reason: 'no whole answer before the deadline',
      status: null,
    } as const)
    const stuck = ['p0', 'p1', 'p2', 'p3']
    service.estimate = async (target) =>
      stuck.includes(target.segment) ? hanging(target) : { kind: 'units', units: 40 as never, source: 'units' }
    for (let sweeps = 0; sweeps < 3; sweeps++) await (await guard.jobs()).sweep(clock.now() + minutes(1))
    expect(sent.map(({ target }) => target.segment)).toEqual(['p4', 'p5', 'p6', 'p7', 'p8', 'p9'])
    expect((await other.open('requested', 10)).rows).toHaveLength(4)
  })

  test('a short sweep gives each occurrence of a plan its turn', async () => {
    const { parts, clock, other } = await startGuard()
    const time = clock.now()
    for (const plan of names) {
      await other.queue(occurrences).add({
        id: `${plan}#1`,
        version: 1,
        createdAt: clock.now(),
        plan,
        time,
        state: 'running',
        startedAt: time,
        round: 0,
        nextAt: time,
      })
      clock.advance(1)
    }
    const advanced: string[] = []
    const sweep = () =>
      createSweep({
        ...parts,
        approvals: createApprovals(parts),
        start: async () => null,
        alerts: createAlerts(parts),
        runAsked: async () => null,
        advance: async (id, endsAt) => {
          if (clock.now() + 22_000 > endsAt) return null
          advanced.push(id)
          clock.advance(slowMs)
          return other.queue(occurrences).get(id)
        },
      })
    for (let sweeps = 0; sweeps < 4; sweeps++) await sweep().advanceOccurrences(clock.now() + minutes(1))
    expect(advanced).toEqual(['p0#1', 'p1#1', 'p2#1', 'p3#1', 'p4#1', 'p5#1', 'p6#1', 'p7#1'])
  })
})
