import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type RunResult, readRun } from '../../shared/tracking/read-answer.ts'
import { parsePointer } from '../../shared/tracking/read-units.ts'
import type { Exchange, FailedExchange } from '../../shared/tracking/transport.ts'

const token = 'eyJhbGciOi.J9-abc_def/+=.sig'

function answered(body: string | Buffer, { status = 200, headers = {} } = {}): Exchange {
  return { kind: 'answered', status, headers, body: Buffer.from(body) }
}
function read(exchange: Exchange, pointer?: string): RunResult {
  return readRun(exchange, { pointer: pointer === undefined ? undefined : parsePointer(pointer), token })
}
const outcome = (exchange: Exchange) => {
  const result = read(exchange)
  return result.kind === 'ran' ? [result.kind, null] : [result.kind, result.reason]
}

describe('run, by status', () => {
  it.each([200, 201, 202, 204, 206, 299])('run: status %i with an empty body ran', (status) => {
    expect(read(answered('', { status }))).toEqual({
      kind: 'ran',
      stated: null,
      answer: { status, contentType: null, body: '', truncated: false },
    })
  })

  it.each([400, 401, 402, 403, 404, 405, 410, 422, 429])('run: status %i did not run, with any body', (status) => {
    for (const body of ['', '{"units":5}', '<html>', Buffer.from([0xff])]) {
      expect(outcome(answered(body, { status }))).toEqual(['did-not-run', `refused with status ${status}`])
    }
  })

  it.each([
    ...[199, 300, 301, 302, 303, 304, 307, 308, 406, 407, 408, 409, 411, 412, 413, 415, 418, 421, 423, 425, 451, 499],
    ...[500, 501, 502, 503, 504, 599, 600, 999],
  ])('run: status %i is unknown, with any body', (status) => {
    for (const body of ['', '{"units":5}', '{"error":"not started"}']) {
      expect(outcome(answered(body, { status }))).toEqual(['unknown', `answered with status ${status}`])
    }
  })
})

describe('run, by the body of a 200', () => {
  it.each<[name: string, body: string]>([
    ['an object', '{"status":"queued"}'],
    ['an empty object', '{}'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a JSON string', '"OK"'],
    ['a JSON number', '1'],
    ['white space', ' \r\n\t'],
    ['a byte order mark', '\ufeff{"status":"queued"}'],
    ['a name twice', '{"a":1,"a":2}'],
    ['nesting of 100,000', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['response_code 0', '{"response_code":0}'],
    ['response_code "0"', '{"response_code":"0"}'],
    ['response_code null', '{"response_code":null}'],
    ['error null', '{"error":null}'],
    ['error empty', '{"error":""}'],
    ['error 0', '{"error":0}'],
    ['an error below the top', '{"projects":[{"error":"unknown"}]}'],
    ['an array of errors', '[{"error":"unknown"}]'],
    ['an inherited name', '{"__proto__":{"error":"x"}}'],
  ])('run: %s ran', (_name, body) => {
    expect(outcome(answered(body))).toEqual(['ran', null])
  })

  it.each<[name: string, body: string]>([
    ['response_code 1', '{"response_code":1}'],
    ['response_code "7"', '{"response_code":"7","error":""}'],
    ['error text', '{"error":"quota"}'],
    ['error true', '{"error":true}'],
    ['error 5', '{"error":5}'],
    ['error object', '{"error":{"code":1}}'],
    ['error array', '{"error":[""]}'],
  ])('run: %s did not run', (_name, body) => {
    expect(outcome(answered(body))).toEqual(['did-not-run', 'an error envelope with status 200'])
  })

  it.each<[name: string, body: string | Buffer, headers: Record<string, string>, reason: string]>([
    ['HTML', '<html>ok</html>', { 'content-type': 'text/html' }, 'the body is neither JSON nor empty'],
    ['HTML that says it is JSON', '<html>ok</html>', {}, 'the body is neither JSON nor empty'],
    ['text', 'OK', {}, 'the body is neither JSON nor empty'],
    ['JSON that was cut off', '{"units":5', {}, 'the body is neither JSON nor empty'],
    ['two documents', '{}{}', {}, 'the body is neither JSON nor empty'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 'the body is not UTF-8'],
    ['gzip', gzipSync('{}'), { 'content-encoding': 'gzip' }, 'the body is content-encoded'],
    [
      'an error beside a code that denies it',
      '{"response_code":0,"error":{"code":0,"message":""},"data":{"keyword_units":40}}',
      {},
      'the body reports both success and an error',
    ],
    [
      'an error in words beside such a code',
      '{"response_code":"0","error":"none"}',
      {},
      'the body reports both success and an error',
    ],
    ['an error that is there and is not', '{"error":null,"error":"x"}', {}, 'the body is an ambiguous error envelope'],
  ])('run: %s is unknown', (_name, body, headers, reason) => {
    expect(outcome(answered(body, { headers }))).toEqual(['unknown', reason])
  })

  it('run: an answer with a declared identity encoding ran', () => {
    expect(outcome(answered('{}', { headers: { 'content-encoding': 'Identity' } }))).toEqual(['ran', null])
  })
})

describe('run, without an answer', () => {
  const failed = (sent: FailedExchange['sent'], status: number | null = null): FailedExchange => ({
    kind: 'failed',
    sent,
    cause: 'connection',
    reason: 'why',
    status,
  })

  it('run: a request that provably was not sent did not run', () => {
    expect(read(failed('no'))).toEqual({ kind: 'did-not-run', reason: 'why', status: null, answer: null })
  })

  it('run: every other error is unknown, even after a status that would be a refusal', () => {
    expect(read(failed('maybe'))).toEqual({ kind: 'unknown', reason: 'why', status: null, answer: null })
    expect(read(failed('maybe', 404))).toEqual({ kind: 'unknown', reason: 'why', status: 404, answer: null })
  })
})

describe('units that a run states', () => {
  it.each<[name: string, body: string, pointer: string | undefined, stated: object | null]>([
    ['a well-known name', '{"units":5}', undefined, { units: 5, source: 'units', byPointer: false }],
    ['rows', '[{"units":3},{"units":4}]', undefined, { units: 7, source: 'sum of units', byPointer: false }],
    ['1e9', '{"units":1e9}', undefined, { units: 1_000_000_000, source: 'units', byPointer: false }],
    ['a pointer', '{"used":5,"units":9}', '/used', { units: 5, source: '/used', byPointer: true }],
    ['digits by a pointer', '{"used":"5"}', '/used', { units: 5, source: '/used', byPointer: true }],
    ['negative by a pointer', '{"used":-1}', '/used', { units: -1, source: '/used', byPointer: true }],
    ['zero by a pointer', '{"used":-0}', '/used', { units: 0, source: '/used', byPointer: true }],
    ['the whole body by a pointer', '5', '', { units: 5, source: 'the whole body', byPointer: true }],
    ['negative by a name', '{"units":-1}', undefined, null],
    ['units twice, disagreeing', '{"units":5,"total":6}', undefined, null],
    ['units twice, under one name', '{"units":5,"units":5}', undefined, null],
    ['an error in a row', '[{"units":5},{"error":"x"}]', undefined, null],
    ['nothing stated', '{"status":"queued"}', undefined, null],
    ['nothing at the pointer', '{"units":5}', '/used', null],
    ['a fraction at the pointer', '{"used":1.5}', '/used', null],
    ['too large at the pointer', '{"used":1e400}', '/used', null],
    ['a name twice on the way', '{"used":5,"used":6}', '/used', null],
    ['too deep', `{"used":5,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, '/used', null],
  ])('run states units: %s', (_name, body, pointer, stated) => {
    expect(read(answered(body), pointer)).toMatchObject({ kind: 'ran', stated })
  })
})

describe('the stored answer', () => {
  const stored = (body: string | Buffer, headers: Record<string, string> = {}) => {
    const { answer } = read(answered(body, { headers }))
    if (answer === null) throw new Error('nothing was stored')
    return answer
  }

  it.each<[name: string, echo: string, kept: string]>([
    ['as it is', `{"seen":"Bearer ${token}","again":"${token}"}`, '{"seen":"Bearer [redacted]","again":"[redacted]"}'],
    ['with escaped slashes', `{"seen":"${token.replaceAll('/', '\\/')}"}`, '{"seen":"[redacted]"}'],
    ['percent-encoded', `{"seen":"${encodeURIComponent(token)}"}`, '{"seen":"[redacted]"}'],
    ['across the cut', `"${'a'.repeat(16 * 1024 - 10)}${token}"`, `"${'a'.repeat(16 * 1024 - 10)}[redacted`],
  ])('stored answer: an echo of our token is redacted, %s', (_name, echo, kept) => {
    expect(stored(echo).body).toBe(kept)
  })

  it('stored answer: an echo of our token among the headers is redacted', () => {
    expect(stored('{}', { 'content-type': `text/${token}` }).contentType).toBe('text/[redacted]')
  })

  it('stored answer: up to 16 KiB are kept, and the rest is cut', () => {
    expect(stored('a'.repeat(16_384))).toMatchObject({ body: 'a'.repeat(16_384), truncated: false })
    expect(stored('a'.repeat(16_385))).toMatchObject({ body: 'a'.repeat(16_384), truncated: true })
  })

  it('stored answer: the text is cut between characters', () => {
    expect(stored(`a${'€'.repeat(6000)}`)).toMatchObject({ body: `a${'€'.repeat(5461)}`, truncated: true })
    expect(stored('😀'.repeat(5000)).body).toBe('😀'.repeat(4096))
  })

  it('stored answer: bytes that are not UTF-8 are replaced', () => {
    expect(stored(Buffer.from([0x61, 0xff])).body).toBe('a\ufffd')
  })
})
