import { expect, test } from 'vitest'
import { isPlausible, neverSent, runOutcomeOf } from '../../../shared/guard/update/settle.ts'
import type { StatedUnits } from '../../../shared/tracking/tracking.ts'
import { u } from '../../support/records.ts'

const answer = { status: 200, contentType: 'application/json', body: '{}', truncated: false }

const rules = { held: u(40), runPointer: 'RUN_POINTER_RANKING' }

test.each<[string, StatedUnits | null, number, string]>([
  ['nothing', null, 40, 'ran; the answer states no units, so the 40 units held were charged'],
  ['the hold', { units: 40, source: '/u', by: 'estimate' }, 40, 'ran; it cost 40 units'],
  ['the hold elsewhere', { units: 40, source: '/u', by: 'none' }, 40, 'ran; it cost 40 units'],
  [
    'more, at the place of the estimate',
    { units: 41, source: '/u', by: 'estimate' },
    41,
    'ran; the answer states 41 units at /u, 1 more than were held',
  ],
  [
    'ten times the hold, at the place of the estimate',
    { units: 400, source: '/u', by: 'estimate' },
    400,
    'ran; the answer states 400 units at /u, 360 more than were held',
  ],
  [
    'more than ten times the hold',
    { units: 401, source: '/u', by: 'estimate' },
    40,
    'ran; the 40 units held were charged. The answer also states 401 at /u, where a figure above ten times the hold is not read; if it is the cost, set RUN_POINTER_RANKING=/u.',
  ],
  [
    'less, at the place of the estimate',
    { units: 39, source: '/u', by: 'estimate' },
    40,
    'ran; the 40 units held were charged. The answer also states 39 at /u, where a figure below the hold is not read; if it is the cost, set RUN_POINTER_RANKING=/u.',
  ],
  [
    'more, at another place',
    { units: 48_210, source: '/total', by: 'none' },
    40,
    'ran; the 40 units held were charged. The answer also states 48,210 at /total, which is not read; if it is the cost, set RUN_POINTER_RANKING=/total.',
  ],
  [
    'more, at a configured place',
    { units: 1055, source: '/u', by: 'pointer' },
    1055,
    'ran; the answer states 1,055 units at /u, 1,015 more than were held',
  ],
  [
    'less, at a configured place',
    { units: 39, source: '/u', by: 'pointer' },
    39,
    'ran; the answer states 39 units at /u',
  ],
  [
    'nothing at all, at a configured place',
    { units: 0, source: '/u', by: 'pointer' },
    40,
    'ran; the 40 units held were charged. The answer also states 0 at /u, which is a cost only with ZERO_PRICE=free.',
  ],
  [
    'the most',
    { units: 1e12, source: '/u', by: 'pointer' },
    1e12,
    'ran; the answer states 1,000,000,000,000 units at /u, 999,999,999,960 more than were held',
  ],
  [
    'more than the most',
    { units: 1e12 + 1, source: '/u', by: 'pointer' },
    40,
    'ran; the 40 units held were charged. The answer also states 1,000,000,000,001 at /u, which is no possible cost.',
  ],
  [
    'less than nothing',
    { units: -1, source: '/u', by: 'pointer' },
    40,
    'ran; the 40 units held were charged. The answer also states −1 at /u, which is no possible cost.',
  ],
])('an answer is charged that states %s', (_name, stated, units, note) => {
  const found = runOutcomeOf({ kind: 'ran', stated, answer }, rules)
  expect(found).toEqual({ kind: 'ran', units, from: 'sender', by: 'service', note, service: answer })
})

test('with ZERO_PRICE=free a configured place may state a cost of 0', () => {
  const stated = { units: 0, source: '/u', by: 'pointer' } as const
  const found = runOutcomeOf({ kind: 'ran', stated, answer }, { ...rules, isZeroFree: true })
  expect(found).toMatchObject({ units: 0, note: 'ran; the answer states 0 units at /u' })
})

test('a run is charged although its answer does not say that it ran', () => {
  const found = runOutcomeOf({ kind: 'ran', stated: null, isSilent: true, answer }, rules)
  expect(found).toMatchObject({
    units: 40,
    note: 'the answer does not say that it ran, so it counts as run; the answer states no units, so the 40 units held were charged',
  })
})

test('an answer with a sign of failure is a doubt that names the sign and where to look', () => {
  const sign = { text: 'response_code 26 at /response_code', family: 'code', condition: '/response_code=26' } as const
  const reason = 'the answer has response_code 26 at /response_code, so it proves nothing'
  expect(runOutcomeOf({ kind: 'unknown', reason, status: 200, answer, sign }, rules)).toEqual({
    kind: 'unknown',
    from: 'sender',
    by: 'service',
    note: 'the answer has response_code 26 at /response_code, so it proves nothing. If the update ran, say so here; the settings that decide such answers: npm run doctor.',
    service: answer,
    sign: 'response_code 26 at /response_code',
  })
})

test('a refusal that a setting names did not run', () => {
  const result = { kind: 'did-not-run', reason: 'RUN_REFUSED names this answer', status: 200, answer } as const
  expect(runOutcomeOf(result, rules)).toMatchObject({
    problem: {
      slug: 'service-refused',
      detail:
        'The service refused the update, so it provably did not run: RUN_REFUSED names this answer. The units were given back.',
      members: { serviceStatus: 200 },
    },
  })
})

test('a refusal for now says how long the service asks to wait', () => {
  const reason = 'refused with status 429'
  const result = { kind: 'did-not-run', reason, status: 429, answer, retryAfterMs: 60_000 } as const
  expect(runOutcomeOf(result, rules)).toMatchObject({
    problem: {
      detail:
        'The service refused the update with status 429, so it provably did not run: refused with status 429. The units were given back. The service asks to wait 60 seconds.',
      members: { serviceStatus: 429, retryAfter: 60 },
    },
  })
})

test('a refusal of the service did not run, and names its status', () => {
  expect(runOutcomeOf({ kind: 'did-not-run', reason: 'no such project', status: 404, answer }, rules)).toEqual({
    kind: 'did-not-run',
    from: 'sender',
    by: 'service',
    note: 'no such project',
    service: answer,
    problem: {
      slug: 'service-refused',
      detail:
        'The service refused the update with status 404, so it provably did not run: no such project. The units were given back.',
      members: { serviceStatus: 404 },
    },
  })
})

test('a request that never reached the service did not run', () => {
  const found = runOutcomeOf({ kind: 'did-not-run', reason: 'connection refused', status: null, answer: null }, rules)
  expect(found).toEqual({
    kind: 'did-not-run',
    from: 'sender',
    by: 'service',
    note: 'connection refused',
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
  expect(runOutcomeOf({ ...unknown, answer }, rules)).toEqual({ ...said, service: answer })
  expect(runOutcomeOf({ ...unknown, answer: null }, rules)).toEqual(said)
})

test('an answer is stored unchanged and without anything else', () => {
  const long = { status: 503, contentType: null, body: 'x', truncated: true }
  const found = runOutcomeOf(
    { kind: 'unknown', reason: 'r', status: 503, answer: Object.assign({ more: 1 }, long) },
    rules,
  )
  expect(found).toMatchObject({ service: long })
  expect(Object.keys(found.service ?? {})).toEqual(['status', 'contentType', 'body', 'truncated'])
})

test('the guard itself releases an update that was not sent', () => {
  expect(neverSent('the hold left too little time for it')).toEqual({
    kind: 'did-not-run',
    from: 'sender',
    by: 'guard',
    note: 'the hold left too little time for it',
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
