import { describe, expect, test } from 'vitest'
import { toNumber } from '../../functions/dashboard/forms.ts'

describe('a number in a form', () => {
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
    ['12\u00a0345', 12_345],
    ['999\u202f999', 999_999],
  ])('a form reads the number %j as %d', (text, units) => {
    expect(toNumber(text)).toBe(units)
  })

  test.each([
    ...['', '0,500', '0.500', '00,500', '1,20', '1,2000', '1200,300', '1,,200', ',200'],
    ...['1.5', '-5', '+5', '1e3', 'many'],
  ])('a form refuses the number %j, because it is ambiguous', (text) => {
    expect(toNumber(text)).toBeNaN()
  })
})
