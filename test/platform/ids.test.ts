import { describe, expect, test } from 'vitest'
import { digest, systemIds } from '../../shared/platform/ids.ts'

describe('digest', () => {
  // Another program computed these digests: 130 bits in base 32 of the SHA-256 over each part after its length in bytes and a colon.
  test.each([
    [['a', 'bc'], 'ac8ab1w8f0db4qattz1zgm1ng9'],
    [['ab', 'c'], '8c7v3d5c8crpxjm1zas7m69gne'],
    [['é'], '5whwe62pb1y2mvzxps7gw4f9jg'],
    [[], 'werc8gmrzge196qvyk49jvxs4g'],
  ])('the digest of %j is stable', (parts, expected) => {
    expect(digest(...parts)).toBe(expected)
  })

  test('a digest separates its parts', () => {
    const lists = [
      [],
      [''],
      ['', ''],
      ['ab'],
      ['a', 'b'],
      ['b', 'a'],
      ['a', 'b', ''],
      ['', 'ab'],
      ['1:a'],
      ['a', '1:b'],
      ['a1:b'],
      ['2:ab'],
    ]
    const digests = lists.map((parts) => digest(...parts))
    expect(new Set(digests).size).toBe(lists.length)
    for (const each of digests) expect(each).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/)
  })
})

describe('chance', () => {
  test('random ids are long, of safe letters, and never the same', () => {
    const names = Array.from({ length: 2_000 }, systemIds.random)
    expect(new Set(names).size).toBe(2_000)
    for (const name of names) expect(name).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/)
    const letters = new Set(names.join(''))
    expect(letters.size).toBe(32)
  })

  test('random fractions are from 0 to below 1', () => {
    const fractions = Array.from({ length: 1_000 }, systemIds.fraction)
    expect(fractions.every((fraction) => fraction >= 0 && fraction < 1)).toBe(true)
  })
})
