import { type Definitions, folded, type Listing, listingsOf } from './definitions.ts'

type Budgets = Pick<Definitions, 'budgets'>

export interface NearName {
  /** What a lenient service may read. `null`: some other number. */
  readonly reading: string | null
  readonly listing: Listing | null
}

/**
 * Whether a service that reads leniently may take this name for another project. `null` where a budget lists it in any
 * folded spelling: then it is clear.
 */
export function nearName(definitions: Budgets, project: string): NearName | null {
  if (listingsOf(definitions, project).length > 0) return null
  return oddNumber(definitions, project) ?? numberWithTail(definitions, project) ?? sameLetters(definitions, project)
}

const plainNumber = /^(?:0|[1-9]\d*)$/
const maxId = 2 ** 31

/** `08203`, `+8203`, `8203.0`, `8.203e3`, `0x200b`, and digits of other scripts. */
function oddNumber(definitions: Budgets, project: string): NearName | null {
  const text = withAsciiDigits(project.normalize('NFKC')).trim()
  const number = numberIn(text)
  if (number === null || (plainNumber.test(project) && number < maxId)) return null
  const reading = number < maxId ? String(Math.trunc(Math.abs(number))) : null
  return { reading, listing: reading === null ? null : (listingsOf(definitions, reading)[0] ?? null) }
}

/** `null`: no number. */
function numberIn(text: string): number | null {
  if (!/\d/.test(text)) return null
  const [, sign = '', rest = ''] = /^([+-]?)(.*)$/s.exec(text) ?? []
  const number = Number(rest)
  if (Number.isNaN(number) || /^[+-]/.test(rest)) return null
  return sign === '-' ? -number : number
}

/** `8203x`, `8203-a`, `"8203"`: parsers that stop at the first other character read 8203. */
function numberWithTail(definitions: Budgets, project: string): NearName | null {
  const [, digits] = /^["'\s]*(\d{4,})\D.*$/s.exec(withAsciiDigits(project.normalize('NFKC'))) ?? []
  if (digits === undefined) return null
  const { numbers } = indexOf(definitions)
  for (const reading of [digits, digits.replace(/^0+(?=\d)/, '')]) {
    const listing = numbers.get(reading)
    if (listing) return { reading, listing }
  }
  return null
}

function sameLetters(definitions: Budgets, project: string): NearName | null {
  const { letters } = indexOf(definitions)
  for (const key of keysOf(project)) {
    const found = letters.get(key)
    if (found) return found
  }
  return null
}

interface Index {
  readonly numbers: ReadonlyMap<string, Listing>
  readonly letters: ReadonlyMap<string, NearName>
}

const indexes = new WeakMap<object, Index>()

/** Made for the first name that no budget lists, because thousands of projects may be listed. */
function indexOf({ budgets }: Budgets): Index {
  const known = indexes.get(budgets)
  if (known) return known
  const numbers = new Map<string, Listing>()
  const letters = new Map<string, NearName>()
  for (const budget of Object.values(budgets)) {
    for (const project of budget.projects) {
      for (const text of new Set([project.name, project.id ?? project.name])) {
        const listing = { budget, project }
        if (/^\d+$/.test(text)) numbers.set(text, listing)
        for (const key of keysOf(text)) letters.set(key, { reading: text, listing })
      }
    }
  }
  const index = { numbers, letters }
  indexes.set(budgets, index)
  return index
}

const minKeyLength = 3

/** Of the name, and of its part before what may begin a query, a fragment or a parameter. */
function keysOf(name: string): readonly string[] {
  const whole = folded(name)
  const [before = ''] = whole.split(/[;?#&]/, 1)
  return [...new Set([whole, before].map(keyOf))].filter(({ length }) => length >= minKeyLength)
}

/** A hyphen and an inner dot stay, because projects are often domains. */
const keyOf = (text: string): string =>
  withAsciiDigits(text.normalize('NFKD'))
    .replace(/([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu, '$1')
    .replace(/[øłđħæœþß]/g, (letter) => writtenOut[letter] ?? letter)
    .replace(/\p{Pd}/gu, '-')
    .replace(/^["'`´“”„‟‘’‚‛«»‹›\s]+|["'`´“”„‟‘’‚‛«»‹›.\s]+$/gu, '')

const writtenOut: Readonly<Record<string, string>> = {
  ...{ ø: 'o', ł: 'l', đ: 'd', ħ: 'h' },
  ...{ æ: 'ae', œ: 'oe', þ: 'th', ß: 'ss' },
}

const withAsciiDigits = (text: string): string =>
  /[^\x20-\x7e]/.test(text) ? text.replace(/\p{Nd}/gu, (digit) => String(digitValueOf(digit))) : text

/** Each script has its ten digits in one row of code points. */
function digitValueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0
  let first = code
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first--
  return (code - first) % 10
}
