/** Texts are compared without blanks at the ends, without a last dot, and without regard to case. */
export const plainText = (text: string): string => text.trim().replace(/\.$/, '').trimEnd().toLowerCase()

const saysNothingTexts: ReadonlySet<string> = new Set([
  '',
  'false',
  'none',
  'null',
  'no',
  'n/a',
  '-',
  'ok',
  'success',
  'no error',
  'no errors',
])

/** `0`, `00` and `0.0` say nothing, too. */
export const saysNothing = (text: string): boolean => {
  const plain = plainText(text)
  return saysNothingTexts.has(plain) || /^0+(\.0+)?$/.test(plain)
}

/** In a text about a state or a code, one of these words means a failure. */
const failureWords: ReadonlySet<string> = new Set([
  'fail',
  'failed',
  'failure',
  'failures',
  'error',
  'errors',
  'errored',
  'fatal',
  'exception',
  'aborted',
  'denied',
  'refused',
  'rejected',
  'invalid',
  'forbidden',
  'unauthorized',
  'unauthenticated',
  'insufficient',
  'expired',
  'ko',
  'nok',
  'no',
  'n',
  'cancelled',
  'canceled',
  'timeout',
  'quota',
  'limit',
  'skipped',
  'blocked',
  'unavailable',
])

const negations: ReadonlySet<string> = new Set(['no', '0', 'without'])

/**
 * The first word that means a failure. A word after `no`, `0` or `without` does not: "0 failed, no errors".
 * @param names the project's own names, which may contain such words.
 */
export function failureIn(text: string, names: readonly string[] = []): string | null {
  const words = wordsOf(text, names)
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const next = words[at + 1] ?? ''
    if (negations.has(word) && isFailure(next, words[at + 2])) {
      at++ // "no fatal error" negates both words
      while (isFailure(words[at + 1] ?? '', words[at + 2])) at++
      continue
    }
    if (word === 'bad' && next === 'request') return 'bad request'
    if (isFailure(word, next)) return failureWords.has(word) || word === 'not' ? word : 'exceeded'
  }
  return null
}

const isFailure = (word: string, next: string | undefined): boolean =>
  failureWords.has(word) || word.endsWith('exceeded') || (word === 'not' && Boolean(next))

/** `QuotaExceeded` and `QUOTA_EXCEEDED` are two words. */
function wordsOf(text: string, names: readonly string[]): readonly string[] {
  let rest = text
  for (const name of names) {
    if (name === '') continue
    rest = rest.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])${escaped(name)}(?![\\p{L}\\p{N}])`, 'giu'), ' ')
  }
  return rest
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
