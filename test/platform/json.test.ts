import { expect, test } from 'vitest'
import { fromUtf8 } from '../../shared/platform/json.ts'

test('JSON is read only from bytes that are valid UTF-8', () => {
  expect(fromUtf8(Buffer.from('Müller 東京'))).toBe('Müller 東京')
  expect(fromUtf8(Buffer.from('Müller', 'latin1'))).toBeNull()
  expect(fromUtf8(Uint8Array.of(0xe6, 0x9d))).toBeNull()
})

test('a byte order mark is dropped unless the caller keeps it', () => {
  expect(fromUtf8(Buffer.from('\u{feff}{}'))).toBe('{}')
  expect(fromUtf8(Buffer.from('\u{feff}{}'), { keepsByteOrderMark: true })).toBe('\u{feff}{}')
})
