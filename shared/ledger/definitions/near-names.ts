import { type Definitions, folded, type Listing, listingsOf, type OwnedProject } from './definitions.ts'

type Budgets = Pick<Definitions, 'budgets'>

export interface NearName {
  /** The name that a lenient service may read instead. `null`: a number that is too large for an id. */
  readonly reading: string | null
  readonly listing: Listing | null
}

/**
 * The listed names, and other numbers, that a lenient service may read instead of this name, and the listed names that it
 * may read as this name. Empty if a budget lists the name itself, in any spelling.
 */
export function nearNames(definitions: Budgets, project: string): readonly NearName[] {
  if (listingsOf(definitions, project).length > 0) return []
  return [...readingsOf(definitions, project), ...readAsNumber(definitions, project)]
}

/** What a service may read instead of a name, also of a name that a budget lists. */
export const readingsOf = (definitions: Budgets, project: string): readonly NearName[] =>
  [oddNumbers, numbersWithTail, sameLetters].flatMap((find) => find(definitions, project))

export const namesIn = ({ name, id = name }: OwnedProject): readonly string[] => [...new Set([name, id])]

export const nearName = (definitions: Budgets, project: string): NearName | null =>
  nearNames(definitions, project)[0] ?? null

const plainNumber = /^(?:0|[1-9]\d*)$/
const octal = /^[+-]?0+[1-7][0-7]*$/
const maxId = 2 ** 31

/** `08203`, `+8203`, `8203.0`, `8.203e3`, `0x200b`, and digits of other scripts. */
function oddNumbers(definitions: Budgets, project: string): NearName[] {
  const readings = oddReadings(project)
  if (readings === null) return []
  const found = readings.flatMap((reading) => listingsOf(definitions, reading).map((listing) => ({ reading, listing })))
  return found.length > 0 ? found : [{ reading: readings[0] ?? null, listing: null }]
}

/** `null`: not an oddly written number. */
function oddReadings(project: string): string[] | null {
  const text = withAsciiDigits(project.normalize('NFKC')).trim()
  const number = numberIn(text)
  if (number === null || (plainNumber.test(project) && number < maxId)) return null
  const numbers = octal.test(text) ? [number, Number.parseInt(text, 8)] : [number]
  return numbers.filter((each) => Math.abs(each) < maxId).map(asPlain)
}

const asPlain = (number: number): string => String(Math.abs(Math.trunc(number)))

/** Leaves out the sign, as a service may do. `null`: the text is not a number. */
function numberIn(text: string): number | null {
  if (!/\d/.test(text)) return null
  const rest = text.replace(/^[+-]/, '')
  const number = Number(rest)
  return Number.isNaN(number) || /^[+-]/.test(rest) ? null : number
}

const minDigits = 4

/** In `8203x`, `8203-a` and `"8203"`, many parsers stop at the first other character and read 8203. */
function numbersWithTail(definitions: Budgets, project: string): NearName[] {
  const { numbers } = indexOf(definitions)
  return [...new Set(tailReadings(project))].flatMap((reading) => {
    const listing = numbers.get(reading)
    return listing ? [{ reading, listing }] : []
  })
}

const tailReadings = (project: string): string[] =>
  [project, project.normalize('NFKC')].flatMap((spelling) => {
    const text = withAsciiDigits(spelling).replace(/^["'\s]+/, '')
    const parsed = [Number.parseInt(text, /^[+-]?0x/i.test(text) ? 16 : 10), Number.parseFloat(text)].map(asPlain)
    return [...(/^\d+/.exec(text) ?? []), ...parsed].filter(({ length }) => length >= minDigits)
  })

/** The other direction: if a budget lists `8203x`, the service may run it for `8203`, too. */
const readAsNumber = (definitions: Budgets, project: string): readonly NearName[] =>
  indexOf(definitions).readAs.get(folded(project)) ?? []

const sameLetters = (definitions: Budgets, project: string): NearName[] =>
  keysOf(project).flatMap((key) => indexOf(definitions).letters.get(key) ?? [])

interface Index {
  readonly numbers: ReadonlyMap<string, Listing>
  readonly letters: ReadonlyMap<string, readonly NearName[]>
  /** Listed names by the numbers that a service may read instead of them. */
  readonly readAs: ReadonlyMap<string, readonly NearName[]>
}

const indexes = new WeakMap<object, Index>()

/** Cached, and made only for the first unlisted name, because thousands of projects may be listed. */
function indexOf({ budgets }: Budgets): Index {
  const known = indexes.get(budgets)
  if (known) return known
  const numbers = new Map<string, Listing>()
  const letters = new Map<string, NearName[]>()
  const readAs = new Map<string, NearName[]>()
  for (const budget of Object.values(budgets)) {
    for (const project of budget.projects) {
      for (const reading of namesIn(project)) {
        const listing = { budget, project }
        if (/^\d+$/.test(folded(reading))) numbers.set(folded(reading), listing)
        const near = { reading, listing }
        for (const key of keysOf(reading)) letters.set(key, [...(letters.get(key) ?? []), near])
        for (const number of new Set([...(oddReadings(reading) ?? []), ...tailReadings(reading)]))
          readAs.set(number, [...(readAs.get(number) ?? []), near])
      }
    }
  }
  const index = { numbers, letters, readAs }
  indexes.set(budgets, index)
  return index
}

export interface NearListings {
  readonly name: string
  readonly budget: string
  readonly reading: string
  readonly other: string
}

/** Two listed projects that a lenient service may confuse. No pair appears twice. */
export function nearListings(definitions: Budgets): readonly NearListings[] {
  const pairs = new Map<string, NearListings>()
  for (const { name: budget, projects } of Object.values(definitions.budgets)) {
    for (const project of projects) {
      for (const name of namesIn(project)) {
        for (const { reading, listing } of readingsOf(definitions, name)) {
          if (reading === null || !listing || listing.project === project) continue
          const pair = { name, budget, reading, other: listing.budget.name }
          const key = JSON.stringify([name, reading].toSorted())
          if (!pairs.has(key)) pairs.set(key, pair)
        }
      }
    }
  }
  return [...pairs.values()]
}

const minKeyLength = 3

/** The keys of the whole name, and of its part before a query, a fragment or a parameter. */
function keysOf(name: string): readonly string[] {
  const whole = folded(name)
  const [before = ''] = whole.split(/[;?#&]/, 1)
  return [...new Set([whole, before].map(keyOf))].filter((key) => [...key].length >= minKeyLength)
}

/** A hyphen and an inner dot stay, because projects are often domains. */
const keyOf = (text: string): string =>
  withAsciiDigits(text.normalize('NFKD'))
    .replace(/([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu, '$1')
    .replace(/[øłđħæœþß]/g, (letter) => writtenOut[letter] ?? letter)
    .replace(/\p{Pd}/gu, '-')
    .replace(/^["'`´“”„‟‘’‚‛«»‹›\s]+|["'`´“”„‟‘’‚‛«»‹›.\s]+$/gu, '')

const writtenOut: Readonly<Record<string, string>> = {
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ß: 'ss',
}

const withAsciiDigits = (text: string): string =>
  /[^\x20-\x7e]/.test(text) ? text.replace(/\p{Nd}/gu, (digit) => String(digitValueOf(digit))) : text

/** The ten digits of a script have consecutive code points. */
function digitValueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0
  let first = code
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first--
  return (code - first) % 10
}
