import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { folded } from '../../shared/ledger/book/definitions.ts'

describe('one folded name for all spellings of a project', () => {
  test.each([
    ['acme', ['acme', 'Acme', 'ACME', ' acme ', 'acme\u00a0', '\u200bac\u00adme', 'ａｃｍｅ']],
    ['café', ['café', 'cafe\u0301', 'CAFÉ', 'CAFE\u0301']],
    ['strasse', ['strasse', 'Straße', 'STRASSE', 'straẞe']],
    ['οδος', ['οδοσ', 'οδος', 'ΟΔΟΣ']],
    ['my shop', ['my shop', 'My  Shop', 'my\u3000shop', 'my\u00a0SHOP']],
    ['1', ['1', '①', '１']],
  ] as [string, string[]][])('%s', (one, spellings) => {
    expect(spellings.map(folded)).toEqual(spellings.map(() => one))
  })

  test('different project names stay apart', () => {
    const names = ['acme', 'acme2', 'a-cme', 'a.cme', 'acme/shop', 'c', 'c++', 'e', 'é', '77', 'ac me']
    expect(new Set(names.map(folded)).size).toBe(names.length)
  })

  test('folding a folded name or its capitals changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (name) => {
        const one = folded(name)
        expect(folded(one)).toBe(one)
        expect(folded(name.toUpperCase())).toBe(one)
        expect(folded(name.normalize('NFD'))).toBe(one)
      }),
      { numRuns: 2000 },
    )
  })
})
