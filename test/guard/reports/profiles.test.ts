import { expect, test } from 'vitest'
import { reportsOf } from '../../../shared/reports/reports.ts'
import { days, hours } from '../../support/clock.ts'
import { only, startGuard } from '../../support/guard.ts'
import { u } from '../../support/records.ts'

test('last month’s spending is unknown if the ledger began after it, and known a month later', async () => {
  const { ask, guard, clock } = await startGuard()
  await ask()
  const spent = async () => [
    (await (await reportsOf(guard)).personProfile('bob'))?.spent,
    (await (await reportsOf(guard)).projectProfile('shop'))?.spent,
  ]
  expect(await spent()).toEqual(Array(2).fill({ now: 40, before: null }))
  clock.set('2026-12-02T10:00:00Z')
  expect(await spent()).toEqual(Array(2).fill({ now: 0, before: 40 }))
})

test('the inbox lists the decisions of a week, also about older requests', async () => {
  const { ask, budget, guard, clock } = await startGuard()
  await budget('account', { parent: null, approvalAbove: u(10) })
  const { id } = only(await ask())
  clock.advance(hours(20))
  await guard.decide('approve', id, { caller: 'eve' })
  const decided = async () => (await guard.inbox()).decided.map(({ what }) => what)
  clock.advance(days(6.5))
  expect(await decided()).toEqual(['approve'])
  clock.advance(days(1))
  expect(await decided()).toEqual([])
})
