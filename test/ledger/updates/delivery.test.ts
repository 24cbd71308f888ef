import { expect, test } from 'vitest'
import { awaitedMs, type DeliveryState, deliveryOf, isUndelivered } from '../../../shared/ledger/updates/delivery.ts'
import type { Update } from '../../../shared/ledger/updates/update.ts'
import { holdOf, u, updateOf } from '../../support/records.ts'

const createdAt = Date.parse('2026-11-20T10:00:00Z')
const now = createdAt + 1
const late = { state: 'late', at: now } as const
const hold = holdOf({ datesBefore: ['2026-11-19'] })
const paid = { state: 'settled', ran: true, charged: u(40), hold, plan: 'nightly' } as const
const paidWith = (changes: object) => updateOf({ createdAt, ...paid, ...changes } as Partial<Update>)

test.each<[DeliveryState | null, about: string, changes: object, at?: number]>([
  ['awaited', 'of a plan', {}],
  ['awaited', 'of a budget that lists its project', { plan: undefined, owner: 'seo' }],
  [null, 'of neither, because no sweep looks for them', { plan: undefined }],
  ['awaited', 'until they are 15 days old', {}, createdAt + awaitedMs - 1],
  [null, 'that were never looked for in 15 days', {}, createdAt + awaitedMs],
  ['came', 'that closed the update', { closedBy: 'evidence' }],
  ['late', 'that a sweep missed', { delivery: late }],
  [null, 'without dates before the run', { hold: holdOf() }],
  [null, 'of an update without a hold', { hold: undefined }],
  [null, 'of an update in doubt, even if they were late before', { state: 'in-doubt', delivery: late }],
  [null, 'of an update that did not run', { ran: false, delivery: late }],
])('data are %s: %s', (state, _about, changes, at = now) => {
  expect(deliveryOf(paidWith(changes), at)).toBe(state)
})

test('only late data of a paid update are undelivered', () => {
  const isLate = (changes: object) => isUndelivered(paidWith({ delivery: late, ...changes }))
  expect([isLate({}), isLate({ delivery: { ...late, state: 'came' } })]).toEqual([true, false])
  expect([isLate({ state: 'in-doubt' }), isLate({ ran: false }), isLate({ delivery: undefined })]).toEqual([
    false,
    false,
    false,
  ])
})
