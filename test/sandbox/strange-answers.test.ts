import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startScriptedService } from '../support/scripted-service.ts'
import {
  answerOf,
  datesBody,
  estimateBody,
  runBody,
  type Strange,
  strangeService,
} from '../support/strange/strange-answers.ts'

const sampleOf = <Each extends Strange>(arbitrary: fc.Arbitrary<Each>) =>
  fc.sample(arbitrary, { seed: 43, numRuns: 3_000 }).map((each) => ({ ...each, text: textOf(each) }))

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  'gzip, gzip': (bytes) => gunzipSync(gunzipSync(bytes)),
  deflate: inflateSync,
  br: brotliDecompressSync,
}

function textOf({ headers, bytes }: Strange): string {
  const decoded = decoders[headers['content-encoding'] ?? '']?.(bytes) ?? bytes
  const charset = /charset=(utf-16le|ISO)/.exec(headers['content-type'] ?? '')?.[1]
  return decoded.toString(charset === undefined ? 'utf8' : charset === 'ISO' ? 'latin1' : 'utf16le')
}

const runs = sampleOf(runBody(6))
const estimates = sampleOf(estimateBody(1_204))
const dates = sampleOf(datesBody(['2026-10-16', '2026-11-13']))

const at = (text: string, ...path: readonly (string | number)[]): unknown => {
  try {
    return path.reduce((value, name) => value?.[name], JSON.parse(text))
  } catch {
    return undefined
  }
}

describe('the generator of strange answers', () => {
  test.each<[string, (text: string) => boolean]>([
    ['a queue', (text) => at(text, 'status') === 'queued'],
    ['a code of success', (text) => at(text, 'error', 'code') === 0],
    ['an error that says none', (text) => at(text, 'error') === 'none'],
    ['an error that is a note', (text) => String(at(text, 'error')).includes('no search volume')],
    ['a code of failure', (text) => at(text, 'response_code') === 10],
    ['success beside an error', (text) => at(text, 'success') === true && at(text, 'error') !== undefined],
    ['no success', (text) => at(text, 'success') === false],
    ['a status as text', (text) => at(text, 'status') === '402'],
    ['errors', (text) => at(text, 'errors', 0, 'string') === 'no rights'],
    ['an error below details', (text) => at(text, 'details', 'error') === 'quota'],
    ['a list at the top', (text) => text.startsWith('[{')],
    ['a wrapped answer', (text) => typeof at(text, 'data', 'attributes') === 'object'],
    ['an empty list', (text) => text === '[]'],
    ['no body', (text) => text === ''],
    ['a text', (text) => text === '"failed"'],
    ['false', (text) => text === 'false'],
    ['a list of false', (text) => text === '[false]'],
    ['a name twice', (text) => text === '{"a":1,"a":2}'],
    ['a page', (text) => text.startsWith('<!doctype')],
    ['half a body', (text) => text === '{"status":'],
    ['a balance as a total', (text) => at(text, 'total') === 48_210],
    ['0 units', (text) => at(text, 'units') === 0],
    ['far too many units', (text) => at(text, 'data', 'units') === 94_000],
  ])('a run that took its units may answer %s', (_, isThere) => {
    expect(runs.some(({ text, unitsTaken }) => unitsTaken === 6 && isThere(text))).toBe(true)
  })

  test('a run that took nothing answers with its own status or with 200', () => {
    const refused = runs.filter(({ unitsTaken, isCached }) => unitsTaken === 0 && !isCached)
    expect([...new Set(refused.map(({ status }) => status))].sort()).toEqual([200, 402, 404, 429])
    expect(refused.some(({ text }) => at(text, 'response_code') === 26)).toBe(true)
    expect(refused.some(({ text }) => text.startsWith('"failed - '))).toBe(true)
  })

  test.each<[string, (text: string) => boolean]>([
    ['under a known name', (text) => at(text, 'keyword_units') === 1_204],
    ['under another name', (text) => at(text, 'price') === 1_204],
    ['as text', (text) => at(text, 'keyword_units') === '1204'],
    ['as text with groups', (text) => at(text, 'keyword_units') === '1,204'],
    ['as the whole body', (text) => text === '1204'],
    ['in rows', (text) => at(text, 'projects', 0, 'keyword_units') === 1_204],
    ['in rows with their number', (text) => at(text, 'total') === 1 && at(text, 'projects', 0) !== undefined],
    ['beside a balance', (text) => at(text, 'keyword_units') === 1_204 && at(text, 'total') === 48_210],
    ['with a code of failure', (text) => at(text, 'keyword_units') === 1_204 && at(text, 'response_code') === 10],
    ['as 0 without a price', (text) => at(text, 'units') === 0 && at(text, 'message') !== undefined],
    ['in a text', (text) => text.includes('needs 1204 keyword units')],
  ])('an estimate may state the price %s', (_, isThere) => {
    expect(estimates.some(({ text, isCached }) => !isCached && isThere(text))).toBe(true)
  })

  test('a cached estimate shows an earlier price', () => {
    expect(estimates.some(({ text, isCached, units }) => isCached && /602/.test(text) && units === 1_204)).toBe(true)
    expect(estimates.every(({ headers, isCached }) => isCached === ((headers.age ?? '0') !== '0'))).toBe(true)
  })

  test.each<[string, (text: string) => boolean]>([
    ['as a list', (text) => at(text, 'dates', 0) === '2026-10-16'],
    ['with the newest first', (text) => at(text, 'dates', 0) === '2026-11-13'],
    ['as a list at the top', (text) => at(text, 0) === '2026-10-16'],
    ['as objects', (text) => at(text, 'dates', 0, 'date') === '2026-10-16'],
    ['as member names', (text) => at(text, 'dates', '2026-10-16') !== undefined],
    ['with times', (text) => at(text, 'dates', 0) === '2026-10-16T05:00:00Z'],
    ['as digits', (text) => at(text, 'dates', 0) === '20261016'],
    ['as seconds', (text) => at(text, 'dates', 0) === 1_792_108_800],
    ['beside the next update', (text) => at(text, 'next_update') === '2027-01-01'],
  ])('dates may be stated %s', (_, isThere) => {
    expect(dates.some(({ text }) => isThere(text))).toBe(true)
  })

  test('answers have each encoding, charset and status of the family', () => {
    const distinct = (values: readonly (string | undefined)[]) => [...new Set(values)].sort()
    expect(distinct(runs.map(({ headers }) => headers['content-encoding']))).toEqual([
      '',
      'UTF-8',
      'br',
      'deflate',
      'gzip',
      'gzip, gzip',
      'identity',
      'none',
      'utf-8',
      'x-gzip',
      undefined,
    ])
    expect(distinct(runs.map(({ headers }) => headers['content-type']))).toEqual([
      'application/json',
      'application/json; charset=ISO-8859-1',
      'application/json; charset=of-our-own',
      'application/json; charset=utf-16le',
      'text/html; charset=utf-8',
      'text/plain',
    ])
    expect(distinct(runs.map(({ headers }) => headers.age))).toEqual(['0', '900', 'old', undefined])
    expect(distinct(runs.map(({ status }) => String(status)))).toEqual([
      '200',
      '201',
      '202',
      '203',
      '207',
      '402',
      '404',
      '429',
    ])
  })

  test('an answer shrinks to a usual one', () => {
    const { counterexample } = fc.check(
      fc.property(estimateBody(6), () => false),
      { seed: 43 },
    )
    expect(counterexample).toEqual([
      {
        status: 200,
        headers: { 'content-type': 'application/json' },
        bytes: Buffer.from('{"keyword_units":6}'),
        isCached: false,
        units: 6,
      },
    ])
  })

  test('a scripted service sends the bytes and headers of a strange answer', async () => {
    const [estimate, run] = [estimates.find(({ headers }) => headers['content-encoding'] === 'gzip'), runs[0]]
    if (!estimate || !run) throw new Error('there are answers')
    const fallback = strangeService({ estimate, run })
    const service = await startScriptedService({ fallback: (request) => fallback(request) ?? { status: 404 } })
    onTestFinished(() => service.close())
    const answer = await fetch(`${service.baseUrl}/on-demand/a/estimate`)
    expect([answer.status, await answer.text()]).toEqual([estimate.status, estimate.text])
    expect(fallback({ url: '/v3/on-demand/a/run?x=1' })).toEqual(answerOf(run))
    expect(fallback({ url: '/v3/projects/a/dates' })).toBeUndefined()
  })
})
