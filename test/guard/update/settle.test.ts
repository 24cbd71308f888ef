import { expect, test } from 'vitest'
import { isPlausible, neverSent, runOutcomeOf } from '../../../shared/guard/update/settle.ts'
import type { StatedUnits } from '../../../shared/tracking/tracking.ts'
import { u } from '../../support/records.ts'

const answer = { status: 200, contentType: 'application/json', body: '{}', truncated: false }

test.each<[string, StatedUnits | null, number, string]>([
  ['nothing', null, 40, 'ran; the answer states no units, so the 40 units held were charged'],
  ['the hold', { units: 40, source: 'units', byPointer: false }, 40, 'ran; the answer states 40 units at units'],
  [
    'more',
    { units: 41, source: 'units', byPointer: false },
    41,
    'ran; the answer states 41 at units, 1 more than were held',
  ],
  [
    'more, by a pointer',
    { units: 1055, source: '/u', byPointer: true },
    1055,
    'ran; the answer states 1,055 at /u, 1,015 more than were held',
  ],
  [
    'less',
    { units: 39, source: 'units', byPointer: false },
    40,
    'ran; the answer states only 39 at units, which is not configured to be believed, so the 40 units held were charged',
  ],
  ['less, by a pointer', { units: 39, source: '/u', byPointer: true }, 39, 'ran; the answer states 39 units at /u'],
  [
    'nothing at all, by a pointer',
    { units: 0, source: '/u', byPointer: true },
    0,
    'ran; the answer states 0 units at /u',
  ],
  [
    'the most',
    { units: 1e12, source: '/u', byPointer: true },
    1e12,
    'ran; the answer states 1,000,000,000,000 at /u, 999,999,999,960 more than were held',
  ],
  [
    'more than the most',
    { units: 1e12 + 1, source: '/u', byPointer: true },
    40,
    'ran; the answer states 1000000000001 at /u, which is not a possible number, so the 40 units held were charged',
  ],
  [
    'less than nothing',
    { units: -1, source: '/u', byPointer: true },
    40,
    'ran; the answer states -1 at /u, which is not a possible number, so the 40 units held were charged',
  ],
])('an answer is charged that states %s', (_name, stated, units, note) => {
  const found = runOutcomeOf({ kind: 'ran', stated, answer }, u(40))
  expect(found).toEqual({ kind: 'ran', units, from: 'sender', by: 'service', note, service: answer })
})

test('a refusal of the service did not run, and names its status', () => {
  expect(runOutcomeOf({ kind: 'did-not-run', reason: 'no such project', status: 404, answer }, u(40))).toEqual({
    ...{ kind: 'did-not-run', from: 'sender', by: 'service', note: 'no such project', service: answer },
    problem: {
      slug: 'service-refused',
      detail:
        'The service refused the update with status 404, so it provably did not run: no such project. The units were given back.',
      members: { serviceStatus: 404 },
    },
  })
})

test('a request that never reached the service did not run', () => {
  const found = runOutcomeOf({ kind: 'did-not-run', reason: 'connection refused', status: null, answer: null }, u(40))
  expect(found).toEqual({
    ...{ kind: 'did-not-run', from: 'sender', by: 'service', note: 'connection refused' },
    problem: {
      slug: 'service-unreachable',
      detail:
        'The service could not be reached, so the update provably did not run: connection refused. The units were given back.',
      members: { serviceStatus: null },
    },
  })
})

test('an unknown outcome is a doubt, with the answer if an answer came', () => {
  const unknown = { kind: 'unknown', reason: 'status 500', status: 500 } as const
  const said = { kind: 'unknown', from: 'sender', by: 'service', note: 'status 500' }
  expect(runOutcomeOf({ ...unknown, answer }, u(40))).toEqual({ ...said, service: answer })
  expect(runOutcomeOf({ ...unknown, answer: null }, u(40))).toEqual(said)
})

test('an answer is stored unchanged and without anything else', () => {
  const long = { status: 503, contentType: null, body: 'x', truncated: true }
  const found = runOutcomeOf({ kind: 'unknown', reason: 'r', status: 503, answer: { ...long, ...{ more: 1 } } }, u(40))
  expect(found).toMatchObject({ service: long })
  expect(Object.keys(found.service ?? {})).toEqual(['status', 'contentType', 'body', 'truncated'])
})

test('the guard itself releases an update that was not sent', () => {
  expect(neverSent('the hold left too little time for it')).toEqual({
    ...{ kind: 'did-not-run', from: 'sender', by: 'guard', note: 'the hold left too little time for it' },
    problem: {
      slug: 'service-unreachable',
      detail: 'Nothing was sent to the service: the hold left too little time for it. The units were given back.',
      members: {},
    },
  })
})

test.each([
  [0, true],
  [1e12, true],
  [1e12 + 1, false],
  [-1, false],
  [1.5, false],
  [Number.NaN, false],
])('stated units of %s can be charged: %s', (units, expected) => {
  expect(isPlausible(units)).toBe(expected)
})
