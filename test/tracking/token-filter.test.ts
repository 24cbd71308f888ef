import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { createTokenFilter, holdsToken } from '../../shared/tracking/answer-body.ts'

/** The forwarded part of some chunks, and whether they were cut. */
function filtered(token: string, chunks: readonly (string | Buffer)[]): { text: string; isCut: boolean } {
  const filter = createTokenFilter(token)
  const passed: Buffer[] = []
  for (const chunk of chunks) {
    const bytes = filter.pass(Buffer.from(chunk))
    if (bytes === null) return { text: Buffer.concat(passed).toString('latin1'), isCut: true }
    passed.push(Buffer.from(bytes))
  }
  return { text: Buffer.concat([...passed, filter.end()]).toString('latin1'), isCut: false }
}

describe('the token in a stream', () => {
  it.each<[name: string, token: string, chunks: string[], text: string]>([
    ['whole', 'abc', ['x abc y'], ''],
    ['alone', 'abc', ['abc'], ''],
    ['after chunks', 'abc', ['one ', 'two ', 'abc'], 'one two '],
    ['across a border', 'abc', ['xa', 'bcy'], 'x'],
    ['byte by byte', 'abc', [...'xxabcy'], 'xx'],
    ['behind a false start', 'aab', ['xa', 'a', 'ab'], 'x'],
    ['behind its own half', 'abab', ['ab', 'ab'], ''],
    ['overlapping', 'aabaac', ['aabaab', 'aac'], 'aab'],
    ['with slashes as JSON escapes them', 'a/b', ['"a\\', '/b"'], '"'],
    ['percent-encoded', 'a/b', ['?t=a%2', 'Fb'], '?t='],
    ['with quotes as JSON escapes them', 'a"b', ['"a\\"', 'b"'], '"'],
  ])('a stream is cut before the token: %s', (_name, token, chunks, text) => {
    expect(filtered(token, chunks)).toEqual({ text, isCut: true })
  })

  it.each<[name: string, token: string, chunks: string[]]>([
    ['nothing', 'abc', []],
    ['empty chunks', 'abc', ['', 'x', '', 'y']],
    ['a part at the end', 'abc', ['x', 'ab']],
    ['parts in the middle', 'abc', ['ab', 'ab', 'a', 'b', 'bc', 'ac']],
    ['another case', 'abc', ['ABC', 'Abc']],
  ])('a stream without the token is not cut: %s', (_name, token, chunks) => {
    expect(filtered(token, chunks)).toEqual({ text: chunks.join(''), isCut: false })
  })

  test('a stream is cut exactly at the token, and nothing else is changed', () => {
    const letters = fc.constantFrom('a', 'b', '.')
    const text = (minLength: number, maxLength: number) => fc.string({ unit: letters, minLength, maxLength })
    fc.assert(
      fc.property(text(1, 6), fc.array(text(0, 9), { maxLength: 12 }), (token, chunks) => {
        const whole = chunks.join('')
        const passed = filtered(token, chunks)
        expect(passed.isCut).toBe(whole.includes(token))
        if (passed.isCut) expect(whole.slice(0, whole.indexOf(token)).startsWith(passed.text)).toBe(true)
        else expect(passed.text).toBe(whole)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a stream delays at most the length of one token', () => {
    const filter = createTokenFilter('x'.repeat(100))
    let ahead = 0
    for (let times = 0; times < 50; times++) {
      const chunk = Buffer.from(`y${'x'.repeat(99)}`)
      ahead += chunk.length - (filter.pass(chunk)?.length ?? Number.NaN)
      expect(ahead).toBeLessThan(100)
    }
  })

  test('the filter finds the token in a whole text', () => {
    expect(holdsToken('Bearer a/b', 'a/b')).toBe(true)
    expect(holdsToken('https://x.example/?t=a%2Fb', 'a/b')).toBe(true)
    expect(holdsToken('a/c', 'a/b')).toBe(false)
  })
})
