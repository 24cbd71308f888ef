import { expect, test } from 'vitest'
import { makes, startGuard, unknown } from '../../support/guard.ts'

const key = { key: 'one key' }
const proposes = { token: { scopes: new Set(['propose'] as const), budgets: '*' as const } }

test('a request is refused if another request queued an update under its key during the estimate', async () => {
  const { ask, elsewhere, before, sent, guard } = await startGuard()
  before.push(async (writes) => {
    if (!makes('running')(writes)) return false
    await ask({ projects: ['acme'] }, key, { by: elsewhere, respondAsync: true })
    return true
  })
  const answer = await ask({ projects: ['globex'] }, key)
  expect([answer.status, answer.problem?.slug]).toEqual([422, 'key-reused'])
  expect(sent).toEqual([])
  expect((await guard.ledger.updates({}, 10)).rows).toMatchObject([{ project: 'acme', state: 'requested' }])
})

test('the approval of one project is not used for a request for another project under the same key', async () => {
  const { ask, elsewhere, before, sent, guard } = await startGuard()
  before.push(async (writes) => {
    if (!makes('awaiting-approval')(writes)) return false
    const [update] = (await ask({ projects: ['acme'] }, { ...key, ...proposes }, { by: elsewhere })).updates
    if (update) await elsewhere.decide('approve', update.id, { caller: 'dora' })
    return true
  })
  const answer = await ask({ projects: ['globex'] }, { ...key, ...proposes })
  expect([answer.status, answer.problem?.slug]).toEqual([422, 'key-reused'])
  expect(sent).toEqual([])
  expect((await guard.ledger.updates({}, 10)).rows).toMatchObject([{ project: 'acme', state: 'requested' }])
})

test('the records of a second delivery stay if the first delivery’s estimates grow old and no longer fit', async () => {
  const { ask, elsewhere, clock, service, sent, guard } = await startGuard({ units: 100 })
  const both = { projects: ['acme', 'globex'] }
  const { estimate } = service
  service.run = async () => unknown
  service.estimate = async (target) => {
    service.estimate = estimate
    await ask(both, key, { by: elsewhere })
    clock.advance(31_000)
    return estimate(target)
  }
  await ask(both, key)
  expect(sent).toHaveLength(2)
  expect((await guard.ledger.updates({}, 10)).rows).toMatchObject([{ state: 'in-doubt' }, { state: 'in-doubt' }])
  expect((await guard.ledger.audit()).every(({ ok }) => ok)).toBe(true)
})
