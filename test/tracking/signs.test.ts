import { describe, expect, test } from 'vitest'
import { type Condition, meets, parseConditions, parseRefusals, scalarText } from '../../shared/tracking/conditions.ts'
import { failureIn, saysNothing } from '../../shared/tracking/sign-words.ts'
import { type Call, signsIn } from '../../shared/tracking/signs.ts'
import { redactorOf } from '../../shared/tracking/transport.ts'

const token = 'canary-token'

const signsOf = (
  document: unknown,
  { call = 'run', names = [], well = [] }: { call?: Call; names?: readonly string[]; well?: readonly Condition[] } = {},
) => signsIn(document as never, { call, names, well, redact: redactorOf(token) })

const textsOf = (...of: Parameters<typeof signsOf>) => signsOf(...of).map(({ text }) => text)

describe('members that name an error', () => {
  test.each([
    'error',
    'errors',
    'err',
    'fault',
    'failure',
    'failures',
    'failed',
    'exception',
    'errorMessage',
    'err_msg',
    'error-msg',
    'Error_Description',
    'isError',
    'HAS_ERRORS',
  ])('%s with a text is a sign', (name) => {
    expect(textsOf({ [name]: 'quota' })).toEqual([`${name} at /${name}`])
  })

  test.each(['message', 'warning', 'errata', 'terror', 'error_count'])('%s is no sign', (name) => {
    expect(textsOf({ [name]: 'quota' })).toEqual([])
  })

  test.each([
    null,
    false,
    0,
    '',
    ' ',
    '0',
    '00',
    '0.0',
    'false',
    'None',
    'NULL',
    'no',
    'n/a',
    '-',
    'ok',
    'Success.',
    'no error',
    'No errors.',
    [],
    {},
    [null, ''],
    { code: 0, message: 'Success' },
    { message: '', errors: [] },
    { code: 204, message: 'no content' },
    { errno: 'ok', text: 'fine' },
    [{ code: '200' }],
  ])('error %j says nothing', (value) => {
    expect(textsOf({ error: value })).toEqual([])
  })

  test.each([true, 1, -1, 'x', '0x', ['', 'x'], { code: 1 }, { message: 'x' }, [{ code: 0 }, { code: 2 }]])(
    'error %j says something',
    (value) => {
      expect(textsOf({ error: value })[0]).toMatch(/^error( true| 1| -1)? at \/error$/)
    },
  )
})

describe('members that deny a success', () => {
  test.each(['success', 'ok', 'isSuccess', 'successful', 'started', 'accepted'])('%s', (name) => {
    for (const value of [false, null, 'false', 'no', '', 'later']) expect(textsOf({ [name]: value })).toHaveLength(1)
    for (const value of [true, 1, 7, 'true', 'Yes', 'y', 'OK', 'success', ' 1 ', {}]) {
      expect(textsOf({ [name]: value })).toEqual([])
    }
  })

  test.each([
    ['success', 1],
    ['ok', 1],
    ['is_success', 1],
    ['successful', 1],
    ['started', 0],
    ['accepted', 0],
  ])('%s of 0 has %i signs, because elsewhere 0 is a count', (name, count) => {
    expect(textsOf({ [name]: 0 })).toHaveLength(count)
  })
})

describe('states', () => {
  test.each(['status', 'State', 'result'])('%s may fail', (name) => {
    for (const value of [false, -1, 400, 599, '404', ' -2 ', 'failed', 'Bad Request', 'QuotaExceeded', 'not started']) {
      expect(textsOf({ [name]: value })).toHaveLength(1)
    }
    for (const value of [true, null, 0, 1, 399, '200', 'queued', '0 failed', 'no errors', 'done without errors']) {
      expect(textsOf({ [name]: value })).toEqual([])
    }
  })

  test('names the word, never other text', () => {
    expect(textsOf({ status: `failed <!channel> ${token}` })).toEqual(['status failed at /status'])
    expect(textsOf({ status: 'limitexceeded' })).toEqual(['status exceeded at /status'])
  })

  test('a word of the project’s own name is no sign, a word beside it is', () => {
    const names = ['limit.example', 'error']
    expect(textsOf({ status: 'Update of LIMIT.example queued' }, { names })).toEqual([])
    expect(textsOf({ status: 'limit.example: quota' }, { names })).toEqual(['status quota at /status'])
    expect(textsOf({ status: 'limit.example2' }, { names })).toEqual(['status limit at /status'])
    expect(textsOf({ status: 'errors' }, { names })).toEqual(['status errors at /status'])
  })
})

describe('codes', () => {
  test.each(['code', 'statusCode', 'response_code', 'ERROR-CODE', 'errcode', 'errno'])('%s', (name) => {
    for (const value of [1, -1, 199, 300, 20_000, '7', '20000']) expect(textsOf({ [name]: value })).toHaveLength(1)
    for (const value of [
      0,
      200,
      299,
      '0',
      '00',
      '200',
      '',
      null,
      true,
      {},
      'OK',
      'queued.',
      '200 OK',
      '2xx?'.replace('xx', '01 '),
    ]) {
      expect(textsOf({ [name]: value })).toEqual([])
    }
  })

  test('at the top any other text is a sign, below it only a word of a failure', () => {
    expect(textsOf({ code: 'US' })).toEqual(['code at /code'])
    expect(textsOf({ data: { code: 'US' } })).toEqual([])
    expect(textsOf({ data: { code: 'INVALID_PROJECT' } })).toEqual(['code invalid at /data/code'])
    expect(textsOf([{ code: 'US' }, { code: 'expired' }])).toEqual(['code expired at /1/code'])
  })

  test('a code of more than twelve digits is not shown', () => {
    expect(textsOf({ code: '123456789012' })).toEqual(['code 123456789012 at /code'])
    expect(textsOf({ code: '1234567890123' })).toEqual(['code at /code'])
  })
})

describe('places', () => {
  test.each([
    'result',
    'results',
    'data',
    'response',
    'details',
    'meta',
    'error',
    'projects',
    'tasks',
    'items',
    'payload',
    'body',
    'Data',
    'RE_SULTS',
  ])('below %s, also in lists and further below', (name) => {
    const at = `/${name}`
    expect(textsOf({ [name]: { ok: false } })).toContain(`ok false at ${at}/ok`)
    expect(textsOf({ [name]: [{}, { status: 500 }] })).toContain(`status 500 at ${at}/1/status`)
    expect(textsOf({ [name]: { task: { code: 7 } } })).toContain(`code 7 at ${at}/task/code`)
  })

  test('elements of a list at the top', () => {
    expect(textsOf([{ ok: true }, { error: 'x' }])).toEqual(['error at /1/error'])
  })

  test.each(['queue', 'request', 'links'])('nothing below %s for a run or dates', (name) => {
    const document = { [name]: { error: 'x', ok: false, status: 500, code: 7 } }
    expect(textsOf(document)).toEqual([])
    expect(textsOf(document, { call: 'dates' })).toEqual([])
    // Errors and successes of an estimate count at any depth.
    expect(textsOf(document, { call: 'estimate' })).toEqual([`error at /${name}/error`, `ok false at /${name}/ok`])
  })

  test('a run’s body, and an element of a list at its top, must be an object or a list', () => {
    expect(textsOf('x')).toEqual(['a body that is no object'])
    expect(textsOf(null)).toEqual(['a body that is no object'])
    expect(textsOf([{}, [], 7])).toEqual(['a value that is no object at /2'])
    expect(textsOf([{}, []])).toEqual([])
    expect(textsOf(7, { call: 'estimate' })).toEqual([])
  })

  test('names of places are redacted and cut', () => {
    const long = 'x'.repeat(60)
    const document = { data: { [token]: { [long]: { ok: false } } } }
    expect(textsOf(document)).toEqual([`ok false at /data/[redacted]/${'x'.repeat(39)}…/ok`])
  })
})

describe('values that a person configured to be no sign', () => {
  const well = parseConditions('/status_code=20000|20100 /data/0/ok=false /error/code=7')

  test('at their place alone', () => {
    expect(textsOf({ status_code: 20_100 }, { well })).toEqual([])
    expect(textsOf({ status_code: '20000' }, { well })).toEqual([])
    expect(textsOf({ status_code: 20_200 }, { well })).toHaveLength(1)
    expect(textsOf({ data: { status_code: 20_100 } }, { well })).toHaveLength(1)
    expect(textsOf({ data: [{ ok: false }, { ok: false }] }, { well })).toEqual(['ok false at /data/1/ok'])
  })

  test('also inside an error', () => {
    expect(textsOf({ error: { code: 7 } }, { well })).toEqual([])
    expect(textsOf({ error: { code: 7, text: 'x' } }, { well })).toEqual(['error at /error'])
  })
})

describe('conditions of settings', () => {
  test('conditions have a pointer and values, with %7C, %25 and %20 for | % and a blank', () => {
    expect(parseConditions(' /a=1|2  /b~1c/0=x%7Cy|50%25|not%20now ')).toEqual([
      { pointer: { text: '/a', tokens: ['a'] }, values: ['1', '2'] },
      { pointer: { text: '/b~1c/0', tokens: ['b/c', '0'] }, values: ['x|y', '50%', 'not now'] },
    ])
    expect(parseConditions('/a=b=c')[0]?.values).toEqual(['b=c'])
  })

  test.each(['', 'a=1', '/a', '/a~=1', '/a=5%', '/a=1 b=2', '=1'])('%j is refused with an example', (text) => {
    expect(() => parseConditions(text)).toThrow('must be conditions such as /response_code=26|27, separated by blanks')
  })

  test.each(['0', 'ok', '', 'null', 'false', 'No%20Errors.'])('RUN_REFUSED takes no value %j', (value) => {
    expect(() => parseRefusals(`/a=26|${value}`)).toThrow('says nothing')
    expect(parseConditions(`/a=26|${value}`)).toHaveLength(1)
  })

  test('one condition of several is enough, and values are compared as JSON text', () => {
    const conditions = parseConditions('/a=1|true /b/0=x')
    for (const document of [{ a: 1 }, { a: '1' }, { a: true }, { b: ['x'] }])
      expect(meets(document, conditions)).toBe(true)
    for (const document of [{ a: 2 }, { a: [1] }, { b: ['y', 'x'] }, {}, []])
      expect(meets(document, conditions)).toBe(false)
  })

  test.each([
    ['x', 'x'],
    [20_000, '20000'],
    [1.5, '1.5'],
    [null, 'null'],
    [[], null],
    [{}, null],
    [undefined, null],
  ])('the JSON text of %j is %j', (value, text) => {
    expect(scalarText(value as never)).toBe(text)
  })
})

describe('words of a failure', () => {
  test.each([
    ['not enough units', 'not'],
    ['not', null],
    ['bad request', 'bad request'],
    ['bad', null],
    ['request', null],
    ['no fatal error', null],
    ['no error, 2 failed', 'failed'],
    ['10 failed', 'failed'],
    ['0 failed, 0 skipped', null],
    ['no', 'no'],
    ['no data', 'no'],
    ['n', 'n'],
    ['errorless', null],
    ['expireddomains', null],
    ['RATE_LIMIT', 'limit'],
    ['NotFound', 'not'],
    ['', null],
  ])('in %j: %j', (text, word) => {
    expect(failureIn(text)).toBe(word)
  })

  test.each(['0', '000', '0.00', 'OK.', ' n/a '])('%j says nothing', (text) => {
    expect(saysNothing(text)).toBe(true)
  })

  test.each(['0.1', '-0', 'okay', 'noerror', '.'])('%j says something or nothing known', (text) => {
    expect(saysNothing(text)).toBe(text === '.')
  })
})

test('each sign has the condition that would name it in a setting', () => {
  const conditionsOf = (document: unknown) => signsOf(document).map(({ condition }) => condition)
  expect(conditionsOf({ response_code: 26 })).toEqual(['/response_code=26'])
  expect(conditionsOf({ error: 'a|b 5%' })).toEqual(['/error=a%7Cb%205%25'])
  expect(conditionsOf({ data: [{ 'a/b': 1, ok: false }] })).toEqual(['/data/0/ok=false'])
  expect(conditionsOf({ error: { text: 'x' } })).toEqual([null])
  expect(conditionsOf({ data: { 'a b': { ok: false } } })).toEqual([null])
  expect(conditionsOf({ error: 'x'.repeat(200) })).toEqual([null])
})
