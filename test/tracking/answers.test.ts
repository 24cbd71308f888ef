import { readFileSync } from 'node:fs'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { runOutcomeOf } from '../../shared/guard/update/settle.ts'
import { type AnswerRules, noRules, parseConditions, parseRefusals } from '../../shared/tracking/conditions.ts'
import { readDates } from '../../shared/tracking/read-dates.ts'
import { readEstimate } from '../../shared/tracking/read-estimate.ts'
import { readRun } from '../../shared/tracking/read-run.ts'
import type { AnsweredExchange } from '../../shared/tracking/transport.ts'
import { realisticAnswers } from './realistic-answers.ts'

interface Cases {
  readonly run: readonly { body: string; proves: string }[]
  readonly estimate: readonly { body: string; reads: string }[]
  readonly stated: readonly { estimate: string; run: string; charged: number }[]
  readonly run_with_settings: readonly { set: string; body: string; proves: string }[]
}

/** Answers that were read wrongly before. */
const cases = JSON.parse(readFileSync(new URL('answers.json', import.meta.url), 'utf8')) as Cases

const token = 'token'

const answered = (body: string | Buffer, headers: Record<string, string> = {}, status = 200): AnsweredExchange => ({
  kind: 'answered',
  status,
  headers,
  body: Buffer.from(body),
})

const run = (body: string | Buffer, rules: AnswerRules = noRules, names: readonly string[] = []) =>
  readRun(answered(body), { pointer: undefined, rules, names, token })

const provedBy = (body: string, rules?: AnswerRules) => run(body, rules).kind.replaceAll('-', ' ')

test.each(cases.run)('the answer $body to a run proves: $proves', ({ body, proves }) => {
  expect(provedBy(body)).toBe(proves)
})

test.each(cases.run_with_settings)('with $set, $body proves: $proves', ({ set, body, proves }) => {
  const [name = '', ...condition] = set.split('=')
  const text = condition.join('=')
  const rules = {
    RUN_REFUSED: { ...noRules, refused: parseRefusals(text) },
    RUN_STARTED: { ...noRules, started: parseConditions(text) },
    ANSWERS_WELL: { ...noRules, well: parseConditions(text) },
  }[name]
  expect(provedBy(body, rules)).toBe(proves)
})

test('with RUN_STARTED, a body that it does not name proves nothing, also an empty one', () => {
  const rules = { ...noRules, started: parseConditions('/code=0') }
  for (const body of ['', '{}', '{"status":"queued"}', '{"code":200}']) expect(provedBy(body, rules)).toBe('unknown')
  expect(provedBy('{"code":0}', rules)).toBe('ran')
})

test('a body that RUN_REFUSED and RUN_STARTED both name proves nothing', () => {
  const rules = { ...noRules, started: parseConditions('/code=0'), refused: parseRefusals('/reason=quota') }
  expect(provedBy('{"code":0,"reason":"quota"}', rules)).toBe('unknown')
  expect(provedBy('{"code":1,"reason":"quota"}', rules)).toBe('did not run')
})

test.each(cases.estimate)('the estimate $body reads as $reads', ({ body, reads }) => {
  const reading = readEstimate(answered(body), { pointer: undefined, token })
  const figure = reading.kind === 'units' ? String(reading.units).replace(/^0$/, 'no-price') : reading.kind
  expect(figure).toBe(reads)
})

test.each(cases.stated)('after the estimate $estimate, the run $run is charged $charged', (stated) => {
  const reading = readEstimate(answered(stated.estimate), { pointer: undefined, token })
  if (reading.kind !== 'units') throw new Error('the estimate must be readable')
  const result = readRun(answered(stated.run), { pointer: undefined, place: reading.place, token })
  const outcome = runOutcomeOf(result, { held: reading.units, runPointer: 'RUN_POINTER_RANKING' })
  expect(outcome).toMatchObject({ kind: 'ran', units: stated.charged })
})

describe('bodies of public APIs', () => {
  const judged = realisticAnswers.map((answer) => ({ ...answer, found: run(answer.body).kind }))
  const those = (truth: 'failed' | 'started', found: string) =>
    judged.filter((answer) => answer.truth === truth && answer.found === found)

  test('no body without a setting says that a run did not happen', () => {
    expect(judged.filter(({ found }) => found === 'did-not-run')).toEqual([])
  })

  test('of 97 failures, few count as run', () => {
    expect(judged.filter(({ truth }) => truth === 'failed')).toHaveLength(97)
    expect(those('failed', 'ran').length).toBeLessThanOrEqual(33) // 25 of 73
  })

  test('of 87 starts, few end in doubt', () => {
    expect(judged.filter(({ truth }) => truth === 'started')).toHaveLength(87)
    expect(those('started', 'unknown').length).toBeLessThanOrEqual(24) // 15 of 53
  })
})

describe('encodings that browsers forgive', () => {
  const body = '{"status":"queued"}'

  test.each<[encoding: string, bytes: Buffer]>([
    ['UTF-8', Buffer.from(body)],
    ['none', Buffer.from(body)],
    ['', Buffer.from(body)],
    ['Identity', Buffer.from(body)],
    ['gzip', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['GZIP', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['deflate', deflateRawSync(body)],
    ['br', brotliCompressSync(body)],
  ])('a body with the encoding "%s" is read', (encoding, bytes) => {
    const exchange = answered(bytes, { 'content-encoding': encoding })
    expect(readRun(exchange, { pointer: undefined, token })).toMatchObject({ kind: 'ran', answer: { body } })
  })

  test.each<[encoding: string, reason: string]>([
    ['gzip, gzip', 'the body is content-encoded'],
    ['compress', 'the body is content-encoded'],
    ['toString', 'the body is content-encoded'],
    ['gzip', 'the encoded body cannot be decoded'],
    ['br', 'the encoded body cannot be decoded'],
  ])('plain bytes with the encoding "%s" are unreadable', (encoding, reason) => {
    const exchange = answered(body, { 'content-encoding': encoding })
    expect(readRun(exchange, { pointer: undefined, token })).toMatchObject({ kind: 'unknown', reason })
    expect(readEstimate(exchange, { pointer: undefined, token })).toMatchObject({ kind: 'unreadable', reason })
    expect(readDates(exchange, { token })).toEqual({ kind: 'unreadable', reason })
  })

  test('a small body that decodes to more than 1 MiB is unreadable', () => {
    const bomb = gzipSync(`{"units":6,"filler":"${'a'.repeat(1024 * 1024)}"}`)
    const exchange = answered(bomb, { 'content-encoding': 'gzip' })
    expect(readEstimate(exchange, { pointer: undefined, token })).toMatchObject({
      kind: 'unreadable',
      reason: 'the encoded body cannot be decoded',
    })
  })

  test('a charset is honoured, and an unknown one is unreadable', () => {
    const latin1 = Buffer.from('{"project":"café"}', 'latin1')
    const read = (type: string) => readRun(answered(latin1, { 'content-type': type }), { pointer: undefined, token })
    expect(read('application/json; charset=ISO-8859-1')).toMatchObject({ kind: 'ran' })
    expect(read('application/json; charset=utf-8')).toMatchObject({ kind: 'unknown', reason: 'the body is not UTF-8' })
    expect(read('application/json; charset=klingon')).toMatchObject({
      kind: 'unknown',
      reason: 'the charset of the body is unknown',
    })
  })
})

describe('answers of a cache', () => {
  test.each(['900', '1', 'a while', '-1', '0, 900', ''])('with Age "%s" nothing is concluded', (age) => {
    const headers = { age, date: new Date(0).toUTCString() }
    for (const status of [200, 404, 500]) {
      const result = readRun(answered('{"status":"queued"}', headers, status), { pointer: undefined, token })
      expect(result).toMatchObject({ kind: 'unknown', reason: 'answered by a cache' })
      const estimate = readEstimate(answered('{"units":6}', headers, status), { pointer: undefined, token })
      expect(estimate).toMatchObject({ kind: 'unreadable', reason: 'answered by a cache' })
      expect(estimate).not.toHaveProperty('sentAt')
    }
    expect(readDates(answered('["2026-11-01"]', headers), { token })).toEqual({
      kind: 'unreadable',
      reason: 'answered by a cache',
    })
  })

  test.each(['0', '00'])('Age "%s" is an answer of the service', (age) => {
    expect(readRun(answered('{}', { age }), { pointer: undefined, token })).toMatchObject({ kind: 'ran' })
    expect(readEstimate(answered('{"units":6}', { age }), { pointer: undefined, token })).toMatchObject({ units: 6 })
  })
})

describe('a refusal for now', () => {
  test.each<[header: string, ms: number | undefined]>([
    ['60', 60_000],
    ['0', 0],
    ['1000000000', 3_600_000],
    ['Thu, 26 Nov 2026 10:02:00 GMT', 120_000],
    ['Thu, 26 Nov 2026 09:00:00 GMT', 0],
    ['Fri, 27 Nov 2026 10:00:00 GMT', 3_600_000],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
  ])('Retry-After "%s" of a 429 is read', (header, ms) => {
    const exchange = answered('{}', { 'retry-after': header, date: 'Thu, 26 Nov 2026 10:00:00 GMT' }, 429)
    const results = [
      readRun(exchange, { pointer: undefined, token }),
      readEstimate(exchange, { pointer: undefined, token }),
    ]
    expect(results.map((result) => ('retryAfterMs' in result ? result.retryAfterMs : undefined))).toEqual([ms, ms])
  })

  test('Retry-After of another status is not read', () => {
    const result = readRun(answered('{}', { 'retry-after': '60' }, 404), { pointer: undefined, token })
    expect(result).not.toHaveProperty('retryAfterMs')
  })
})
