import { describe, expect, test } from 'vitest'
import { createLog } from '../../shared/platform/log.ts'

function start() {
  const lines: string[] = []
  const log = createLog({ write: (line) => lines.push(line), now: () => Date.parse('2026-11-20T10:00:00Z') })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') }
}

describe('the log line of an event', () => {
  test('an event is logged as one line with time, level, name and fields', () => {
    const { log, lines } = start()
    log.info('request', { status: 200, caller: undefined })
    log.error('failed')
    expect(lines).toEqual([
      '{"at":"2026-11-20T10:00:00.000Z","level":"info","event":"request","status":200}',
      '{"at":"2026-11-20T10:00:00.000Z","level":"error","event":"failed"}',
    ])
  })

  test('an event is logged as one line with any fields', () => {
    const { log, lines, last } = start()
    const text = 'two\nlines\r\u2028\u0000 "quoted" \\ \ud800'
    log.info('x', { text })
    expect(lines[0]).not.toMatch(/[\n\r]/)
    expect(last().text).toBe(text)
  })

  test('an error is logged with its causes', () => {
    const { log, last } = start()
    const cause = new TypeError('the cable is cut', { cause: 'a mouse' })
    log.error('failed', { cause: new Error('no answer', { cause }) })
    expect(last().cause).toEqual({
      name: 'Error',
      message: 'no answer',
      stack: expect.stringContaining('log.test.ts'),
      cause: { name: 'TypeError', message: 'the cable is cut', stack: expect.any(String), cause: 'a mouse' },
    })
  })

  test.each<[string, () => unknown]>([
    ['a circle of causes', () => circular(new Error('a'))],
    ['a circle of objects', () => circular({})],
    ['a bigint', () => 7n],
    [
      'a member that throws',
      () => ({
        get broken() {
          throw new Error('do not look')
        },
      }),
    ],
  ])('logging never fails: %s', (_name, make) => {
    const { log, last } = start()
    log.error('failed', { requestId: 'r-1', ms: 5, odd: make() })
    expect(last()).toEqual({
      at: '2026-11-20T10:00:00.000Z',
      level: 'error',
      event: 'failed',
      requestId: 'r-1',
      ms: 5,
      notShown: expect.stringMatching(/Error/),
    })
  })

  test.each([
    ['letters', 'x'.repeat(100_000)],
    ['quotes', '"'.repeat(100_000)],
    ['backslashes', '\\'.repeat(100_000)],
    ['halves of characters', '\ud800'.repeat(100_000)],
    ['line breaks', '\n'.repeat(100_000)],
  ])('a log line has at most 8,192 characters of valid JSON: %s', (_name, text) => {
    const { log, lines, last } = start()
    log.error('failed', { requestId: 'r-1', text })
    expect(lines[0]?.length).toBeGreaterThan(4_000)
    expect(lines[0]?.length).toBeLessThanOrEqual(8_192)
    expect(last()).toMatchObject({ level: 'error', event: 'failed', cut: expect.stringContaining('"requestId":"r-1"') })
  })
})

function circular(value: object): object {
  return Object.assign(value, { cause: value })
}

describe('secrets in log lines', () => {
  const secret = 'canary-1234567890'
  const nested = new Error(`refused: ${secret}`, { cause: new Error(`sent ${secret}`) })

  test.each<[string, unknown]>([
    ['a field', secret],
    ['inside a text', `token=${secret}&x=1`],
    ['twice', `${secret}${secret}`],
    ['in a list', [[secret]]],
    ['as a name', { [secret]: 1 }],
    ['in an error, its stack and its cause', nested],
    ['where a line is cut', `${'x'.repeat(3_900)}${secret.repeat(300)}`],
  ])('a secret is hidden in every line: %s', (_name, value) => {
    const { log, lines } = start()
    log.hide(secret)
    log.error('x', { value })
    expect(lines[0]).toContain('[redacted]')
    expect(lines[0]).not.toContain('canary')
    expect(lines[0]).not.toContain('567890')
  })

  test('a secret is hidden in every line after the log knows it', () => {
    const { log, last } = start()
    log.info('x', { value: secret })
    expect(last().value).toBe(secret)
    log.hide(secret)
    log.info('x', { value: secret })
    expect(last().value).toBe('[redacted]')
  })

  test.each([['a"b\\c/d-canary'], ['$&-canary-$1'], ['.*+?^$(){}|[]canary']])(
    'hides a secret with odd characters: %s',
    (odd) => {
      const { log, last } = start()
      log.hide(odd)
      log.info('x', { value: `<${odd}>` })
      expect(last().value).toBe('<[redacted]>')
    },
  )

  test('two secrets are hidden completely if one begins with the other', () => {
    const { log, last } = start()
    log.hide('canary-old')
    log.hide('canary-old-and-new')
    log.info('x', { value: 'canary-old-and-new canary-old' })
    expect(last().value).toBe('[redacted] [redacted]')
  })

  test('a secret shorter than eight characters is not hidden', () => {
    const { log, last } = start()
    log.hide('')
    log.hide('request')
    log.info('request', {})
    expect(last().event).toBe('request')
  })

  test.each([
    ['Bearer abc.def', 'Bearer [redacted]'],
    ['authorization: bearer   abc,def', 'authorization: bearer   [redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl', '[redacted]'],
    ['?jwt=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.&x', '?jwt=[redacted]&x'],
    ['the word eye and the file eyJ.txt', 'the word eye and the file eyJ.txt'],
  ])('text that looks like a token is hidden: %s', (text, shown) => {
    const { log, last } = start()
    log.info('x', { text })
    expect(last().text).toBe(shown)
  })
})
