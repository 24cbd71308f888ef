import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parsePointer } from '../../shared/tracking/pointer.ts'
import { type RunResult, readRun } from '../../shared/tracking/read-run.ts'
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
  it.each([200, 201, 202, 203, 204])('run: status %i with an empty body ran', (status) => {
    expect(read(answered('', { status }))).toEqual({
      kind: 'ran',
      stated: null,
      isSilent: true,
      answer: { status, contentType: null, body: '', truncated: false },
    })
  })

  it.each([400, 401, 402, 403, 404, 405, 410, 422, 429])('run: status %i did not run, with any body', (status) => {
    for (const body of ['', '{"units":5}', '<html>', Buffer.from([0xff])]) {
      expect(outcome(answered(body, { status }))).toEqual(['did-not-run', `refused with status ${status}`])
    }
  })

  it.each([
    199, 205, 206, 207, 226, 299, 300, 301, 302, 303, 304, 307, 308, 406, 407, 408, 409, 411, 412, 413, 415, 418, 421,
    423, 425, 451, 499, 500, 501, 502, 503, 504, 599, 600, 999,
  ])('run: status %i is unknown, with any body', (status) => {
    for (const body of ['', '{"units":5}', '{"error":"not started"}']) {
      expect(outcome(answered(body, { status }))).toEqual(['unknown', `answered with status ${status}`])
    }
  })
})

describe('run, by the body of a 200', () => {
  it.each<[name: string, body: string | Buffer, headers: Record<string, string>, reason: string]>([
    ['HTML', '<html>ok</html>', { 'content-type': 'text/html' }, 'the body is neither JSON nor empty'],
    ['HTML that says it is JSON', '<html>ok</html>', {}, 'the body is neither JSON nor empty'],
    ['text', 'OK', {}, 'the body is neither JSON nor empty'],
    ['JSON that was cut off', '{"units":5', {}, 'the body is neither JSON nor empty'],
    ['two documents', '{}{}', {}, 'the body is neither JSON nor empty'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 'the body is not UTF-8'],
    ['a name twice', '{"a":1,"a":2}', {}, 'the body proves nothing: the same name twice in one object'],
    [
      'nesting of 100,000',
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      {},
      'the body proves nothing: nested deeper than 64 levels',
    ],
    ['an error', '{"error":"quota"}', {}, 'the answer has error at /error, so it proves nothing'],
    ['a JSON string', '"OK"', {}, 'the answer has a body that is no object, so it proves nothing'],
    ['a JSON number', '1', {}, 'the answer has a body that is no object, so it proves nothing'],
    ['null', 'null', {}, 'the answer has a body that is no object, so it proves nothing'],
    ['a flag in a list', '[{},false]', {}, 'the answer has a value that is no object at /1, so it proves nothing'],
  ])('run: %s is unknown', (_name, body, headers, reason) => {
    expect(outcome(answered(body, { headers }))).toEqual(['unknown', reason])
  })

  it.each(['', ' \r\n\t', '{}', '[]', '[{}]', '{"task":7}', '\ufeff{"task":7}', '{"status":null}'])(
    'run: nothing in the body %j says that it ran, and it counts',
    (body) => {
      expect(read(answered(body))).toMatchObject({ kind: 'ran', isSilent: true })
    },
  )

  it.each(['{"status":"queued"}', '{"success":true}', '{"response_code":0}', '{"data":{"state":"done"}}'])(
    'run: the body %j says that it ran',
    (body) => {
      expect(read(answered(body))).not.toHaveProperty('isSilent')
    },
  )
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
  const stated = (body: string, how: { pointer?: string; place?: string }) => {
    const pointer = how.pointer === undefined ? undefined : parsePointer(how.pointer)
    const result = readRun(answered(body), { pointer, place: how.place, token })
    if (result.kind !== 'ran') throw new Error(result.reason)
    return result.stated
  }

  it.each<[name: string, body: string, pointer: string, stated: object | null]>([
    ['a number', '{"used":5,"units":9}', '/used', { units: 5, source: '/used', by: 'pointer' }],
    ['digits', '{"used":"5"}', '/used', { units: 5, source: '/used', by: 'pointer' }],
    ['a negative number', '{"used":-1}', '/used', { units: -1, source: '/used', by: 'pointer' }],
    ['zero', '{"used":-0}', '/used', { units: 0, source: '/used', by: 'pointer' }],
    ['nothing', '{"units":5}', '/used', null],
    ['a fraction', '{"used":1.5}', '/used', null],
    ['a number that is too large', '{"used":1e400}', '/used', null],
  ])('the configured place has %s', (_name, body, pointer, expected) => {
    expect(stated(body, { pointer, place: '/units' })).toEqual(expected)
  })

  it.each<[name: string, body: string, stated: object | null]>([
    ['its own place', '{"data":{"units":7},"units":9}', { units: 7, source: '/data/units', by: 'estimate' }],
    ['another place', '{"total":48210}', { units: 48_210, source: '/total', by: 'none' }],
    ['a place far below', '{"queue":[{"cost":"3"}]}', { units: 3, source: '/queue/0/cost', by: 'none' }],
    ['no place with a whole number', '{"total":1.5,"cost":"many"}', null],
    ['no place, if a total counts the list beside it', '{"total":1,"projects":["acme"]}', null],
    ['no place at all', '{"status":"queued"}', null],
  ])('without a configured place, the figure is at %s', (_name, body, expected) => {
    expect(stated(body, { place: '/data/units' })).toEqual(expected)
  })

  it('a figure of a body without the estimate’s place is only named', () => {
    expect(stated('{"units":5}', {})).toEqual({ units: 5, source: '/units', by: 'none' })
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
    expect(stored(Buffer.from([0x61, 0xff]))).toMatchObject({ body: 'a\ufffd', truncated: true })
  })

  it('stored answer: the token is found in the decoded text', () => {
    const encoded = gzipSync(JSON.stringify({ seen: token }))
    expect(stored(encoded, { 'content-encoding': 'gzip' }).body).toBe('{"seen":"[redacted]"}')
  })

  it('stored answer: bytes that cannot be decoded are not kept, because they could hide the token', () => {
    expect(stored(token, { 'content-encoding': 'gzip' })).toMatchObject({ body: '', truncated: true })
    expect(stored(token, { 'content-encoding': 'gzip, br' })).toMatchObject({ body: '', truncated: true })
  })

  it('stored answer: the type names the charset of the stored text', () => {
    const latin1 = { 'content-type': 'application/json; charset="ISO-8859-1"' }
    expect(stored(Buffer.from('{"project":"café"}', 'latin1'), latin1)).toEqual({
      status: 200,
      contentType: 'application/json; charset="utf-8"',
      body: '{"project":"café"}',
      truncated: false,
    })
  })

  it('stored answer: the age of a cached answer is kept', () => {
    expect(stored('{}', { age: '900' })).toMatchObject({ age: '900' })
    expect(stored('{}', { age: '0' })).not.toHaveProperty('age')
  })
})
