import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNumber } from '../../shared/platform/typed-number.ts'

describe('a number that a person types', () => {
  test.each([
    ['0', 0],
    ['500', 500],
    [' 1200 ', 1200],
    ['007', 7],
    ['1,200', 1200],
    ['1.200', 1200],
    ['1 200', 1200],
    ['1’200', 1200],
    ["1'200'300", 1_200_300],
    ['1.200.000', 1_200_000],
    ['12\u00a0345', 12_345],
    ['999\u202f999', 999_999],
    ['1\u2009200\u2009000', 1_200_000],
    ['1\u3000200', 1200],
    ['1\t200', 1200],
  ])('%j is read as %d', (text, number) => {
    expect(readNumber(text)).toBe(number)
  })

  test.each([
    '',
    '0,500',
    '0.500',
    '000,100',
    '00,500',
    '1,20',
    '1,2000',
    '1200,300',
    '1,,200',
    ',200',
    '1,200,',
    '1.200,000',
    '1,200.000',
    '1 200,000',
    "1'200’000",
    '1\u00a0200 300',
    '1. 200',
    '1\n200',
    '1.5',
    '-5',
    '+5',
    '1e3',
    '1.001E+03',
    '0x10',
    '１２００',
    '٤٢',
    'many',
    '1-200',
    '99999999999999999999',
  ])('%j is refused, because it could mean another number', (text) => {
    expect(readNumber(text)).toBeNull()
  })

  test('a number is read alike with any one mark between its groups, and refused with two different marks', () => {
    const mark = fc.constantFrom(',', '.', ' ', "'", '’', '\u00a0', '\u202f', '\u2007')
    fc.assert(
      fc.property(fc.integer({ min: 1_000_000, max: Number.MAX_SAFE_INTEGER }), mark, mark, (number, one, other) => {
        const groups = number.toLocaleString('en').split(',')
        expect(readNumber(groups.join(one))).toBe(number)
        const mixed = `${groups[0]}${one}${groups.slice(1).join(other)}`
        expect(readNumber(mixed)).toBe(one === other ? number : null)
      }),
    )
  })
})
