import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clean, code, cut, cutMarked, date, escapeMarks, prose, withoutMarks } from '../../shared/slack/text.ts'
import { anyText } from '../support/slack/records.ts'

describe('the escaping of text', () => {
  test.each([
    ['a & b', 'a &amp; b'],
    ['<!channel>', '&lt;!channel&gt;'],
    ['&amp;', '&amp;amp;'],
    [`"it's" 50 % ü`, `"it's" 50 % ü`],
  ])('only three characters are escaped: %s', (text, expected) => {
    expect(escapeMarks(text)).toBe(expected)
  })
})

describe('cutting', () => {
  test.each<[string, number, string]>([
    ['four', 4, 'four'],
    ['fives', 4, 'fiv…'],
    ['ab😀cd', 4, 'ab…'],
    ['ab😀cd', 5, 'ab😀…'],
    ['ab&amp;cd', 5, 'ab…'],
    ['ab&amp;cd', 6, 'ab…'],
    ['ab&amp;cd', 7, 'ab…'],
    ['ab&amp;cde', 8, 'ab&amp;…'],
    ['a < b, which is less', 12, 'a < b, whic…'],
  ])('a text is cut: %s to %d', (text, most, expected) => {
    expect(cut(text, most)).toBe(expected)
  })

  test.each<[string, number, string]>([
    ['see <@U123ABC> now', 10, 'see …'],
    ['see <@U123ABC> now', 16, 'see <@U123ABC> …'],
    ['at <!date^1^{time}|12 Nov> it', 20, 'at …'],
    ['`one` and `two`', 13, '`one` and …'],
    ['`one` and two', 12, '`one` and t…'],
  ])('marked text is cut: %s to %d', (text, most, expected) => {
    expect(cutMarked(text, most)).toBe(expected)
  })

  test('a cut text is never longer, and never ends within a character or entity', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 30 }), (text, most) => {
        const shown = cut(escapeMarks(text.toWellFormed()), most)
        expect(shown.length).toBeLessThanOrEqual(most)
        expect(shown.isWellFormed()).toBe(true)
        expect(shown.replace(/&(?:amp|lt|gt);/g, '')).not.toContain('&')
      }),
    )
  })
})

describe('text by other people', () => {
  test.each([
    ['two\nlines\tand\u2028more', 'two lines and more'],
    ['\u202eabc\u202c', 'abc'],
    ['a\u200bb\ufeffc\u0000d', 'abc d'],
    ['  ', '(blank)'],
    ['\u200b', '(blank)'],
    ['a\ud800', 'a\ufffd'],
  ])('text by other people is one line of visible text: %j', (text, expected) => {
    expect(clean(text)).toBe(expected)
  })

  test.each([
    ['acme-shop', '`acme-shop`'],
    ['a`b', '`aˋb`'],
    ['*a* & <!here>', '`*a* &amp; &lt;!here&gt;`'],
    ['x'.repeat(81), `\`${'x'.repeat(79)}…\``],
  ])('other people’s text is shown as a name: %s', (text, expected) => {
    expect(code(text)).toBe(expected)
  })

  test.each([
    ['a *bold* claim', 'a ∗bold∗ claim'],
    ['~gone~ `code`', '∼gone∼ ˋcodeˋ'],
    ['_all_ of keyword_units_', 'ˍallˍ of keyword_unitsˍ'],
    [':tada: at 10:30', '∶tada: at 10:30'],
    ['>> quote > this', '› quote &gt; this'],
    [
      '<!channel> <@U123ABC> <http://evil.example|here>',
      '&lt;!channel&gt; &lt;@U123ABC&gt; &lt;http://evil.example|here&gt;',
    ],
  ])('other people’s text is shown as a sentence: %s', (text, expected) => {
    expect(prose(text)).toBe(expected)
  })
})

test('a time is the reader’s, or the account’s if Slack cannot show that', () => {
  expect(date(Date.parse('2026-12-11T23:00:00.999Z'), 'Europe/Berlin')).toBe(
    '<!date^1797030000^{date_short_pretty} {time}|12 Dec 2026 00:00 Europe/Berlin>',
  )
})

test('a notification has no marks', () => {
  expect(
    withoutMarks('<@U1A> did *640 units* of `a*b*` until <!date^1^{time}|12 Dec 2026>:\n> _why_ &lt;not&gt;\nMore.'),
  ).toBe('<@U1A> did 640 units of a∗b∗ until 12 Dec 2026: “_why_ &lt;not&gt;” More.')
})
