import { grouped } from '../platform/words.ts'
import type { Book } from './book.ts'
import { type Definitions, limitedIn, windowKinds } from './definitions.ts'

/** A book is one item, and DynamoDB's items have at most 400 KB. */
const maxBookBytes = 350_000

/** The key, the day, the revision and two maps. */
const bytesWithoutCounters = 128
/** A map with a member for each of its six figures: a letter, and a number of 16 digits with its sign. */
const bytesOfCounter = 3 + 6 * (1 + 1 + 10)

/**
 * The bytes of a book in DynamoDB after a change to these definitions. Every figure counts as the largest that it can become,
 * so a hold cannot make the book larger than this. Counters of deleted budgets and callers stay in a book.
 */
export function largestSizeOf(book: Book, definitions: Definitions): number {
  const limited = limitedIn(definitions).map(({ name }) => name)
  const names = windowKinds.flatMap((window) => [...new Set([...Object.keys(book.counters[window]), ...limited])])
  // DynamoDB counts one byte for each member of a map.
  return names.reduce((sum, name) => sum + Buffer.byteLength(name) + 1 + bytesOfCounter, bytesWithoutCounters)
}

/** A change that makes no book larger is possible whatever the size: a freeze, for one. */
export function sizeFaultsOf(books: readonly Book[], before: Definitions, after: Definitions) {
  const tooLarge = books.find((book) => {
    const size = largestSizeOf(book, after)
    return size > maxBookBytes && size > largestSizeOf(book, before)
  })
  if (!tooLarge) return []
  const size = grouped(largestSizeOf(tooLarge, after))
  const message = `the book of ${tooLarge.month} could take ${size} bytes, and at most ${grouped(maxBookBytes)} are allowed: give fewer callers limits, or merge budgets; deleted ones count until the end of the next month`
  return [{ path: 'limits', message }]
}
