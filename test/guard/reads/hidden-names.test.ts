import { expect, test } from 'vitest'
import { createTelling } from '../../../shared/guard/reads/hidden-names.ts'

const isTelling = createTelling(() => ['account', 'zenith', 'zenith-eu', 'Big Shop', '東京', 'a.b', '—', '7777'])

test.each([
  ['zenith has 20 of 100 units left', true],
  ["ask Zenith's manager", true],
  ['see https://zenith.example/x', true],
  ['zenithal projection', false],
  ['the big shop of last year', true],
  ['a big shopping centre, big or small', true],
  ['big news of the shop', false],
  ['東京店の更新', true],
  ['a.b is done', true],
  ['a and b', false],
  ['project 7777 again', true],
  ['it cost 77,770 units', false],
  ['account has 20 of 100 units left', true],
  ['more than any account may have', false],
  ['a grant of 40 to account for the month', true],
  ['the new account manager agreed', false],
  ['', false],
])('%j names a hidden budget, project or plan: %s', (text, expected) => {
  expect(isTelling(text)).toBe(expected)
})
