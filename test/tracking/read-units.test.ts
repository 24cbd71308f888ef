import { describe, expect, it } from 'vitest'
import { parseStrictJson } from '../../shared/platform/json.ts'
import { parsePointer, resolvePointer } from '../../shared/tracking/pointer.ts'
import { readUnits } from '../../shared/tracking/read-units.ts'
import { shapeOf } from '../../shared/tracking/shape.ts'
import type { AnsweredExchange } from '../../shared/tracking/transport.ts'

const read = (body: string, pointer?: string) =>
  readUnits(body, pointer === undefined ? undefined : parsePointer(pointer))

describe('units by well-known names', () => {
  it.each<[name: string, body: string, units: number, source: string]>([
    ['a plain number', '120', 120, 'the whole body'],
    ['a digit string', '"120"', 120, 'the whole body'],
    ['white space around it', ' \n120\n', 120, 'the whole body'],
    ['zero', '{"units":0}', 0, 'units'],
    ['5.0 is the integer 5', '{"units":5.0}', 5, 'units'],
    ['1e9 is an integer', '{"units":1e9}', 1_000_000_000, 'units'],
    ['minus zero is zero', '{"units":-0}', 0, 'units'],
    ['the largest safe integer', '{"units":9007199254740991}', 9_007_199_254_740_991, 'units'],
    ['the largest safe digit string', '{"units":"9007199254740991"}', 9_007_199_254_740_991, 'units'],
    ['leading zeros in a digit string', '{"units":"007"}', 7, 'units'],
    ['keyword_units', '{"keyword_units":5}', 5, 'keyword_units'],
    ['estimated_units', '{"estimated_units":5}', 5, 'estimated_units'],
    ['required_units', '{"required_units":5}', 5, 'required_units'],
    ['total_units', '{"total_units":5}', 5, 'total_units'],
    ['keywordUnits', '{"keywordUnits":5}', 5, 'keywordUnits'],
    ['estimatedUnits', '{"estimatedUnits":5}', 5, 'estimatedUnits'],
    ['requiredUnits', '{"requiredUnits":5}', 5, 'requiredUnits'],
    ['totalUnits', '{"totalUnits":5}', 5, 'totalUnits'],
    ['estimate', '{"estimate":5}', 5, 'estimate'],
    ['cost', '{"cost":"5"}', 5, 'cost'],
    ['total', '{"total":5}', 5, 'total'],
    ['a name written with an escape', '{"\\u0075nits":5}', 5, 'units'],
    ['nested', '{"data":{"result":{"keyword_units":5}},"ok":true}', 5, 'keyword_units'],
    ['nested under a well-known name', '{"estimate":{"units":5,"currency":"keyword units"}}', 5, 'units'],
    ['two names that agree', '{"units":5,"total":"5"}', 5, 'units, total'],
    ['an own number that agrees with a nested one', '{"total":5,"data":{"units":5}}', 5, 'total'],
    ['rows', '[{"units":3},{"units":4}]', 7, 'sum of units'],
    ['one row', '{"projects":[{"name":"alpha","units":3}]}', 3, 'sum of units'],
    ['rows of different names', '[{"units":3},{"cost":4}]', 7, 'sum of units, cost'],
    ['rows that agree with their total', '{"total":7,"rows":[{"units":3},{"units":4}]}', 7, 'total'],
    ['rows of rows', '[[{"units":1},{"units":2}],[{"units":3}]]', 6, 'sum of units'],
    ['rows nested in rows', '[{"p":{"units":1}},{"p":{"units":2}}]', 3, 'sum of units'],
    ['a map of projects', '{"projects":{"alpha":{"units":3},"beta":{"units":4}}}', 7, 'sum of units'],
    ['a map and its total', '{"total_units":7,"projects":{"a":{"units":3},"b":{"units":4}}}', 7, 'total_units'],
    ['a total that counts the rows beside it', '{"total":2,"rows":[{"units":3},{"units":4}]}', 7, 'sum of units'],
    ['a total beside a longer list', '{"total":9,"rows":["a","b"]}', 9, 'total'],
    ['a project called cost', '{"projects":{"cost":{"units":3},"beta":{"units":4}}}', 7, 'sum of units'],
    ['arrays about something else', '{"units":5,"engines":["a",1,{"id":7}],"none":[]}', 5, 'units'],
    ['__proto__ is a name like any other', '{"__proto__":{"units":5}}', 5, 'units'],
    ['an envelope that reports success', '{"response_code":0,"error":null,"units":5}', 5, 'units'],
    ['"0" and an empty error report success', '{"response_code":"0","error":"","units":5}', 5, 'units'],
    ['false, 0, {} and [] are no error', '[{"error":false,"units":1},{"error":{},"units":2}]', 3, 'sum of units'],
  ])('estimate: %s', (_name, body, units, source) => {
    expect(read(body)).toMatchObject({ kind: 'units', units, source })
  })

  it.each<[name: string, body: string, reason: string]>([
    ['empty body', '', 'the body is empty'],
    ['white space only', ' \n', 'the body is empty'],
    ['text', 'five', 'not JSON'],
    ['HTML', '<html><body>5</body></html>', 'not JSON'],
    ['cut off', '{"units":5', 'not JSON'],
    ['two documents', '{"units":5}{"units":5}', 'not JSON'],
    ['hexadecimal number', '{"units":0x10}', 'not JSON'],
    ['NaN', '{"units":NaN}', 'not JSON'],
    ['null', 'null', 'no well-known name of units'],
    ['true', 'true', 'no well-known name of units'],
    ['negative top level', '-1', 'no well-known name of units'],
    ['text at top level', '"five"', 'no well-known name of units'],
    ['no digits at top level', '""', 'no well-known name of units'],
    ['empty object', '{}', 'no well-known name of units'],
    ['empty array', '[]', 'no well-known name of units'],
    ['other names only', '{"count":5,"Units":5,"UNITS":5}', 'no well-known name of units'],
    ['an array of plain numbers', '[3,4]', 'no well-known name of units'],
    ['an array of one plain number', '[3]', 'no well-known name of units'],
    ['a map of plain numbers', '{"projects":{"alpha":3}}', 'no well-known name of units'],
    ['negative', '{"units":-1}', 'units is not a non-negative integer'],
    ['fraction', '{"units":1.5}', 'units is not a non-negative integer'],
    ['2^53', '{"units":9007199254740992}', 'units is not a non-negative integer'],
    ['2^53 as digits', '{"units":"9007199254740992"}', 'units is not a non-negative integer'],
    ['seventeen digits', '{"units":"00000000000000005"}', 'units is not a non-negative integer'],
    ['1e400', '{"units":1e400}', 'units is not a non-negative integer'],
    ['hexadecimal string', '{"units":"0x10"}', 'units is not a non-negative integer'],
    ['space before digits', '{"units":" 5"}', 'units is not a non-negative integer'],
    ['line break after digits', '{"units":"5\\n"}', 'units is not a non-negative integer'],
    ['signed string', '{"units":"+5"}', 'units is not a non-negative integer'],
    ['exponent in a string', '{"units":"1e3"}', 'units is not a non-negative integer'],
    ['digits of another script', '{"units":"٥"}', 'units is not a non-negative integer'],
    ['empty string', '{"units":""}', 'units is not a non-negative integer'],
    ['null units', '{"units":null}', 'units is not a non-negative integer'],
    ['true units', '{"units":true}', 'units is not a non-negative integer'],
    ['one bad candidate beside a good one', '{"units":5,"cost":"5.00"}', 'cost is not a non-negative integer'],
    ['a bad candidate far below', '{"units":5,"a":[{"b":{"cost":-1}}]}', 'cost is not a non-negative integer'],
    ['numbers under a well-known name', '{"units":[3,4]}', 'units holds no readable units'],
    ['a map under a well-known name', '{"total":5,"units":{"alpha":3}}', 'units holds no readable units'],
    ['two names that disagree', '{"units":5,"total":6}', 'units, total and the rest of the body disagree'],
    ['a nested number that disagrees', '{"total":5,"a":{"units":6}}', 'total and the rest of the body disagree'],
    [
      'rows that disagree with their total',
      '{"total":8,"r":[{"units":3},{"units":4}]}',
      'total and the rest of the body disagree',
    ],
    [
      'units twice, in two members',
      '{"a":{"units":5},"b":{"units":5}}',
      'more than one member states units and none is their total',
    ],
    [
      'rows beside a page count',
      '{"data":[{"units":5}],"meta":{"total":1}}',
      'more than one member states units and none is their total',
    ],
    ['units twice, under one name', '{"units":5,"units":5}', 'the same name twice in one object'],
    ['twice, once escaped', '{"units":5,"unit\\u0073":6}', 'the same name twice in one object'],
    ['any name twice', '{"units":5,"a":{"b":1,"c":[],"b":2}}', 'the same name twice in one object'],
    ['some rows without units', '[{"units":3},{"name":"beta"}]', 'some rows state units and some do not'],
    ['a plain number among rows', '[{"units":3},4]', 'some rows state units and some do not'],
    ['a map with a row without units', '{"projects":{"a":{"units":3},"b":4}}', 'some rows state units and some do not'],
    ['a project called cost, or a cost', '{"projects":{"cost":3,"beta":4}}', 'a well-known name among the projects'],
    ['a sum that is too large', '[{"units":9007199254740991},{"units":1}]', 'the sum is too large'],
    ['nesting of 65', `${'['.repeat(65)}${']'.repeat(65)}`, 'nested deeper than 64 levels'],
    ['nesting of 100,000', '['.repeat(100_000), 'nested deeper than 64 levels'],
    ['nesting of 100,000 objects', '{"units":'.repeat(100_000), 'nested deeper than 64 levels'],
    ['non-zero response_code', '{"response_code":7,"units":5}', 'the answer has response_code 7 at /response_code'],
    ['response_code as text', '{"response_code":"-1","units":5}', 'the answer has response_code -1 at /response_code'],
    ['error text', '{"error":"no such project","units":0}', 'the answer has error at /error'],
    ['error true', '{"error":true,"units":5}', 'the answer has error true at /error'],
    ['error number', '{"error":3,"units":5}', 'the answer has error 3 at /error'],
    ['error object', '{"error":{"code":3},"units":5}', 'the answer has error at /error'],
    ['error array', '{"error":["x"],"units":5}', 'the answer has error at /error'],
    ['error in one row', '[{"units":3},{"units":0,"error":"unknown"}]', 'the answer has error at /1/error'],
    ['an error far below', '{"units":5,"a":{"b":[{"error":"x"}]}}', 'the answer has error at /a/b/0/error'],
    ['a denied success far below', '{"units":5,"a":{"ok":false}}', 'the answer has ok false at /a/ok'],
    [
      'a total that counts the list beside it',
      '{"total":2,"projects":[{"name":"a"},{"name":"b"}]}',
      'no well-known name of units',
    ],
  ])('estimate unreadable: %s', (_name, body, reason) => {
    expect(read(body)).toMatchObject({ kind: 'unreadable', reason })
  })
})

describe('the place of the figure', () => {
  it.each<[body: string, place: string]>([
    ['{"units":5}', '/units'],
    ['{"data":{"a/b":{"cost":"5"}}}', '/data/a~1b/cost'],
    ['[{"units":3}]', '/0/units'],
    ['{"projects":{"acme":{"units":3}}}', '/projects/acme/units'],
  ])('one scalar of %s has the place %s', (body, place) => {
    expect(read(body)).toMatchObject({ place })
  })

  it.each(['120', '[{"units":3},{"units":4}]', '{"units":5,"cost":5}', '{"total":5,"data":{"units":5}}'])(
    'the figure of %s has no place',
    (body) => {
      expect(read(body)).not.toHaveProperty('place')
    },
  )

  it('a configured pointer is the place', () => {
    expect(read('{"data":{"needed":5}}', '/data/needed')).toMatchObject({ place: '/data/needed' })
    expect(read('5', '')).not.toHaveProperty('place')
  })
})

describe('units by a configured pointer', () => {
  it.each<[name: string, body: string, pointer: string, units: number, source: string]>([
    ['a member', '{"data":{"needed":5}}', '/data/needed', 5, '/data/needed'],
    ['digits', '{"needed":"5"}', '/needed', 5, '/needed'],
    ['an element', '{"rows":[{"n":1},{"n":2}]}', '/rows/1/n', 2, '/rows/1/n'],
    ['~1 and ~0', '{"a/b":{"c~d":5}}', '/a~1b/c~0d', 5, '/a~1b/c~0d'],
    ['the empty name', '{"":5}', '/', 5, '/'],
    ['the whole document', '5', '', 5, 'the whole body'],
    ['names beside it do not matter', '{"needed":5,"units":-1,"total":9}', '/needed', 5, '/needed'],
  ])('estimate by pointer: %s', (_name, body, pointer, units, source) => {
    expect(read(body, pointer)).toMatchObject({ kind: 'units', units, source })
  })

  it.each<[name: string, body: string, pointer: string]>([
    ['nothing there, though a well-known name is', '{"units":5}', '/needed'],
    ['negative', '{"needed":-1}', '/needed'],
    ['fraction', '{"needed":1.5}', '/needed'],
    ['null', '{"needed":null}', '/needed'],
    ['an object', '{"needed":{"units":5}}', '/needed'],
    ['an inherited property', '{}', '/constructor/length'],
    ['the length of an array', '[1,2]', '/length'],
    ['an index with a leading zero', '[1,2]', '/01'],
    ['the element after the last', '[1,2]', '/-'],
    ['an index out of range', '[1,2]', '/2'],
    ['a character of a string', '{"needed":"55"}', '/needed/0'],
    ['a member of null', '{"needed":null}', '/needed/units'],
  ])('estimate by pointer unreadable: %s', (_name, body, pointer) => {
    expect(read(body, pointer)).toEqual({
      kind: 'unreadable',
      reason: `no non-negative integer at ${pointer}`,
      pointerHelps: true,
    })
  })

  it.each([
    ['{"error":"x","needed":5}', 'the answer has error at /error'],
    ['{"success":false,"needed":5}', 'the answer has success false at /success'],
  ])('estimate by pointer: %s is unreadable', (body, reason) => {
    expect(read(body, '/needed')).toMatchObject({ kind: 'unreadable', reason })
  })

  it.each([
    ['{"status":"error","needed":5}', 'status error at /status'],
    ['{"response_code":26,"needed":5}', 'response_code 26 at /response_code'],
  ])('estimate by pointer: the sign in %s is named and not obeyed', (body, text) => {
    expect(read(body, '/needed')).toMatchObject({ kind: 'units', units: 5, sign: { text } })
  })

  it.each(['units', 'data/units', '#/units', '/a~', '/a~2'])(
    'a wrong pointer is refused at start: %s',
    (text: string) => {
      expect(() => parsePointer(text)).toThrow(RangeError)
    },
  )

  it('a pointer with ~01 means the name ~1', () => {
    expect(resolvePointer({ '~1': 5 }, parsePointer('/~01'))).toBe(5)
  })
})

describe('strict JSON', () => {
  it('strict JSON accepts 64 levels', () => {
    expect(parseStrictJson(`${'['.repeat(64)}${']'.repeat(64)}`).ok).toBe(true)
    for (const wide of [Array(100).fill([]), Array(100).fill({}), '['.repeat(100), ['"', '{'.repeat(100)]])
      expect(parseStrictJson(JSON.stringify(wide))).toEqual({ ok: true, value: wide })
  })

  it.each([
    '{"a":{"x":1},"b":{"x":1}}',
    '[{"x":1},{"x":1}]',
    '{"a":"a","b":["a","a"]}',
    '{"a\\"":1,"a":"},{"}',
    '{"[[":"]"}',
  ])('strict JSON accepts equal names in different objects: %s', (text) => {
    expect(parseStrictJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
  })

  it.each(['{"a":1,"a":1}', '{"a":[{"b":1}],"a":1}', '{"a":{},"b":"","a":2}', '{"__proto__":1,"__proto__":2}'])(
    'strict JSON refuses equal names in one object: %s',
    (text) => {
      expect(parseStrictJson(text)).toEqual({ ok: false, reason: 'the same name twice in one object' })
    },
  )

  it.each(['', '"', '"\\', '{"a":1,}', "{'a':1}", ']', '{"a" 1}', '\ufeff{}', '{"\\x":1}'])(
    'strict JSON refuses what is not JSON: %j',
    (text) => {
      expect(parseStrictJson(text)).toEqual({ ok: false, reason: 'not JSON' })
    },
  )
})

describe('shape of a body', () => {
  const answer = (body: string | Buffer, contentType?: string): AnsweredExchange => ({
    kind: 'answered',
    status: 200,
    headers: contentType === undefined ? {} : { 'content-type': contentType },
    body: Buffer.from(body),
  })
  const shape = (body: string | Buffer, contentType?: string) => shapeOf(answer(body, contentType), (text) => text)

  it.each<[body: string, shape: string]>([
    [
      '{"data":[{"name":"secret","value":1},{"name":"b","value":2}],"ok":true}',
      '{"data": [2 × {"name": string, "value": number}], "ok": boolean}',
    ],
    ['[1,"a",null,2]', '[4 × number | string | null]'],
    ['{"a":[],"b":{}}', '{"a": [], "b": {}}'],
    ['5', 'number'],
    [`{"${'k'.repeat(41)}":1}`, `{"${'k'.repeat(39)}…": number}`],
    ['[[[[[[[1]]]]]]]', '[1 × [1 × [1 × [1 × [1 × [1 × […]]]]]]]'],
    [JSON.stringify(Array(1500).fill(0)), '[1,500 × number]'],
  ])('the shape of a body: %s', (body, expected) => {
    expect(shape(body)).toBe(expected)
  })

  it('the shape of a body that is not JSON is its media type and size', () => {
    expect(shape(`<html>${' '.repeat(1198)}`, 'text/HTML; charset=utf-8')).toBe('text/html, 1,204 bytes')
  })

  it.each(['', '<script>', 'a b/c', `${'x'.repeat(50)}/y`])(
    'the shape of a body does not repeat a forged media type: %j',
    (type) => {
      expect(shape('five', type)).toBe('no media type, 4 bytes')
    },
  )

  it('the shape of a body has a limited length', () => {
    const names = Array.from({ length: 20 }, (_, index) => [`${'n'.repeat(36)}${index}`, 0])
    expect(shape(JSON.stringify(Object.fromEntries(names)))).toHaveLength(400)
  })

  it('the shape of a body hides a token among the names before it is cut', () => {
    const token = `t${'0'.repeat(60)}`
    const redact = (text: string) => text.replaceAll(token, '[redacted]')
    expect(shapeOf(answer(`{"${token}":1}`), redact)).toBe('{"[redacted]": number}')
  })
})
