import { describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { allFaults, shorten, textFaults, toPath } from '../../shared/platform/faults.ts'
import { approvalExpiresAfter } from '../../shared/records/budget.ts'
import { budgetName, kindOf, planName, project, query, someUnits, units } from '../../shared/records/common-fields.ts'
import { productKinds } from '../../shared/tracking/kinds.ts'

const kind = kindOf(productKinds)

const lone = '\ud800'
const said = (schema: z.ZodMiniType, value: unknown) => {
  const { success, error, data } = schema.safeParse(value)
  return success
    ? { data }
    : error.issues.map(
        ({ message, issues }: { message: string; issues?: { message: string }[] }) => issues?.[0]?.message ?? message,
      )
}

describe('names and numbers in requests', () => {
  const takesUnits = 'must be a whole number of units from 0 to 1000000000000'
  const takesSome = 'must be a whole number of units from 1 to 1000000000000'
  const takesProject = 'must have 1 to 512 characters, no control characters, and neither "." nor ".."'
  const takesName = 'must have 1 to 63 of a-z, 0-9 and -, not beginning with -'
  const takesQueryName = 'names have 1 to 64 characters, none of them a control character'
  const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, '1']))

  test.each<[z.ZodMiniType, unknown]>([
    ...[0, 1, 1_000_000_000_000].map((number): [z.ZodMiniType, unknown] => [units, number]),
    ...[1, 1_000_000_000_000].map((number): [z.ZodMiniType, unknown] => [someUnits, number]),
    ...['ranking', 'keyword-difficulty'].map((text): [z.ZodMiniType, unknown] => [kind, text]),
    ...['a', '...', '.a', 'a.', ' ', 'é', '/', '..%2f', 'x'.repeat(512)].map((text): [z.ZodMiniType, unknown] => [
      project,
      text,
    ]),
    ...['a', '0', 'a-', 'a'.repeat(63), '0-9'].map((text): [z.ZodMiniType, unknown] => [budgetName, text]),
    [planName, 'nightly-2'],
    ...['15m', '168h', '7d', '10080m'].map((text): [z.ZodMiniType, unknown] => [approvalExpiresAfter, text]),
    [query, {}],
    [query, { a: 'x', ['b'.repeat(64)]: 'y'.repeat(512) }],
    [query, twenty],
  ])('names and numbers in requests are accepted: %#', (schema, value) => {
    expect(said(schema, value)).toEqual({ data: value })
  })

  test('numbers and booleans become text in a query', () => {
    expect(said(query, { a: 20, b: true, c: -1.5 })).toEqual({ data: { a: '20', b: 'true', c: '-1.5' } })
  })

  test.each<[z.ZodMiniType, readonly unknown[], string]>([
    [units, [-1, 1.5, 1e12 + 1, '40', null, Number.NaN, 2 ** 53], takesUnits],
    [someUnits, [0, -1, 1e12 + 1, '1'], takesSome],
    [kind, ['Ranking', '', null], 'must be ranking or keyword-difficulty'],
    [project, ['', '.', '..', 'a\u0000', '\u007fa', 'a\nb', 'x'.repeat(513), `a${lone}`], takesProject],
    [project, [7, null], 'must be the name of a project'],
    [budgetName, ['', '-a', 'A', 'a_b', 'a'.repeat(64), 'ab\n', 'é'], takesName],
    [budgetName, [7], 'must be the name of a budget'],
    [planName, ['-a'], takesName],
    [
      approvalExpiresAfter,
      ['14m', '8d', '0h', '1w', '4', '4H', '1.5h', ''],
      'must be 15 minutes to 7 days, such as 30m, 4h or 2d',
    ],
    [planName, [7], 'must be the name of a plan'],
    [query, [{ '': 'a' }, { 'a\u0000': 'a' }, { ['b'.repeat(65)]: 'a' }, { 'a\nb': 'a' }], takesQueryName],
    [
      query,
      [{ a: null }, { a: [] }, { a: {} }, { a: Number.POSITIVE_INFINITY }],
      'must be a string, a number, true or false',
    ],
    [query, [{ a: '' }], 'must not be empty'],
    [query, [{ a: 'y'.repeat(513) }], 'must have at most 512 characters'],
    [query, [{ ...twenty, more: '1' }], 'must have at most 20 names'],
  ])('names and numbers in requests are refused: %#', (schema, values, message) => {
    for (const value of values) expect(said(schema, value), JSON.stringify(value)).toEqual([message])
  })
})

describe('faults', () => {
  test('a fault names the place of a value that a schema would not see, at any depth', () => {
    const parsed = JSON.parse('{"a":[{"__proto__":{"b":1}}],"c":"ok","d":null,"e":7}')
    expect(textFaults(parsed)).toEqual([{ path: 'a.0.__proto__', message: 'is not a known member' }])
    expect(textFaults({ a: ['ok', lone], [`n${lone}`]: { b: lone }, c: true })).toEqual([
      { path: 'a.1', message: 'is not Unicode' },
      { path: 'n\ufffd', message: 'is not Unicode' },
    ])
    expect([textFaults('text'), textFaults(lone), textFaults(null)]).toEqual([
      [],
      [{ path: '', message: 'is not Unicode' }],
      [],
    ])
  })

  test.each([
    [
      { code: 'unrecognized_keys', path: ['a'], message: 'm', keys: ['b', 'c'] },
      [
        ['a.b', 'is not a known member'],
        ['a.c', 'is not a known member'],
      ],
    ],
    [{ code: 'unrecognized_keys', path: ['a'], message: 'm' }, [['a', 'm']]],
    [{ code: 'custom', path: ['a'], message: 'm', keys: ['b'] }, [['a', 'm']]],
    [{ code: 'invalid_key', path: ['a'], message: 'm', issues: [{ message: 'too long' }] }, [['a', 'too long']]],
    [{ code: 'invalid_key', path: ['a'], message: 'm', issues: [] }, [['a', 'm']]],
    [{ code: 'invalid_key', path: ['a'], message: 'm' }, [['a', 'm']]],
    [{ code: 'custom', path: ['a'], message: 'm', issues: [{ message: 'too long' }] }, [['a', 'm']]],
    [{ code: 'invalid_type', path: [], message: 'm', expected: 'object' }, [['', 'must be a JSON object']]],
    [{ code: 'invalid_type', path: ['a'], message: 'm', expected: 'record' }, [['a', 'must be a JSON object']]],
    [{ code: 'invalid_type', path: ['a', 0], message: 'm', expected: 'string' }, [['a.0', 'm']]],
    [{ code: 'custom', path: ['a'], message: 'm', expected: 'object' }, [['a', 'm']]],
  ])('a schema’s fault is described to people: %#', (issue, faults) => {
    expect(allFaults([], [issue])).toEqual(faults.map(([path, message]) => ({ path, message })))
  })

  test('faults of a member, or inside a member, that was named already are left out', () => {
    const found = [{ path: 'a', message: 'is not Unicode' }]
    const issue = (...path: string[]) => ({ code: 'custom', path, message: 'm' })
    expect(allFaults(found)).toEqual(found)
    expect(allFaults(found, [issue('a'), issue('a', 'b'), issue('ab'), issue('b', 'a')])).toEqual([
      ...found,
      { path: 'ab', message: 'm' },
      { path: 'b.a', message: 'm' },
    ])
  })

  test('unknown names are shown with at most 60 characters, none of which acts', () => {
    expect(shorten('x'.repeat(60))).toBe('x'.repeat(60))
    expect(shorten('x'.repeat(61))).toBe(`${'x'.repeat(60)}…`)
    expect(shorten(`${'x'.repeat(59)}😀y`)).toBe(`${'x'.repeat(59)}\ufffd…`)
    expect(shorten(`\u001b[2J${lone}\u0007`)).toBe('\ufffd[2J\ufffd\ufffd')
    expect(toPath(['a', 0, 'x'.repeat(61)])).toBe(`a.0.${'x'.repeat(60)}…`)
  })
})
