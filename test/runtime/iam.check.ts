import { expect, test } from 'vitest'
import { isAllowed, type Statement } from './iam/policy.ts'

const access = (keys: readonly string[] = []) => ({
  action: 'dynamodb:PutItem',
  resource: 'arn:aws:dynamodb:::table/ledger',
  keys: { 'dynamodb:LeadingKeys': keys },
})
const allow = (own: Partial<Statement> = {}): Statement => ({
  Effect: 'Allow',
  Action: ['dynamodb:PutItem'],
  Resource: 'arn:aws:dynamodb:::table/ledger',
  ...own,
})
const keys = (operator: string, ...patterns: readonly string[]) => ({
  Condition: { [operator]: { 'dynamodb:LeadingKeys': patterns } },
})

test.each<[what: string, statements: readonly Statement[], found: readonly string[], isIt: boolean]>([
  ['its action on its resource', [allow()], [], true],
  ['no statement', [], [], false],
  ['another action', [allow({ Action: 'dynamodb:UpdateItem' })], [], false],
  ['another resource', [allow({ Resource: 'arn:aws:dynamodb:::table/other' })], [], false],
  [
    'a pattern of actions and resources',
    [allow({ Action: 'dynamodb:Put*', Resource: 'arn:*:table/ledge?' })],
    [],
    true,
  ],
  ['a statement that denies', [allow(), allow({ Effect: 'Deny', Action: '*' })], [], false],
  ['all keys under the pattern', [allow(keys('ForAllValues:StringLike', 'a#*'))], ['a#1', 'a#2'], true],
  ['one key that is not', [allow(keys('ForAllValues:StringLike', 'a#*'))], ['a#1', 'b#2'], false],
  ['any key under the pattern', [allow(keys('ForAnyValue:StringLike', 'a#*'))], ['a#1', 'b#2'], true],
  ['no key, where all must fit', [allow(keys('ForAllValues:StringLike', 'a#*'))], [], true],
  ['no key, where one must be there', [allow(keys('Null', 'false'))], [], false],
  ['keys under none of the patterns', [allow(keys('ForAllValues:StringNotLike', 'a#*', 'b#*'))], ['c#1', 'd#2'], true],
  ['one key that is', [allow(keys('ForAllValues:StringNotLike', 'a#*', 'b#*'))], ['c#1', 'b#2'], false],
  ['a key letter by letter', [allow(keys('ForAllValues:StringEquals', 'a#*'))], ['a#1'], false],
])('a policy is read as IAM reads it: %s', (_what, statements, found, isIt) => {
  expect(isAllowed(statements, access(found))).toBe(isIt)
})

test('a policy with unsupported parts fails the rehearsal', () => {
  const fails = (own: object) => expect(() => isAllowed([allow(own)], access())).toThrow(/does not know/)
  fails(keys('DateLessThan', '2026'))
  fails({ Condition: { StringEquals: { 'dynamodb:Attributes': ['state'] } } })
  fails({ NotResource: '*' })
})
