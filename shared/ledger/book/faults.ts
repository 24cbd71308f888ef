import { grouped } from '../../platform/words.ts'
import type { Book } from './book.ts'
import {
  type Budget,
  budgetNamed,
  counterOwnersIn,
  type Definitions,
  folded,
  maxDepth,
  windowKinds,
} from './definitions.ts'

/**
 * What is wrong with a set of budgets as a whole, each thing once; empty when nothing is. Projects that collided before,
 * in definitions of an older version, do not stop other changes: freezing, for one.
 */
export function faultsOf(definitions: Definitions, before?: Definitions): readonly { path: string; message: string }[] {
  const budgets = Object.values(definitions.budgets)
  const known = new Set(before && collisionsIn(before))
  const ofParents = new Set(
    budgets.map((budget) => parentFaultOf(definitions, budget)).filter((fault) => fault !== null),
  )
  return [
    ...[...ofParents].map((message) => ({ path: 'parent', message })),
    ...collisionsIn(definitions)
      .filter((message) => !known.has(message))
      .map((message) => ({ path: 'projects', message })),
    ...sizeFaultsOf(definitions, before),
  ]
}

/** The definitions are one item, and DynamoDB's items have at most 400 KB. */
const maxBytes = 350_000

function sizeFaultsOf(definitions: Definitions, before: Definitions | undefined) {
  const size = sizeOf(definitions)
  if (size <= maxBytes || (before && size <= sizeOf(before))) return []
  const message = `all budgets and callers together take at most ${maxBytes / 1000} KB: name fewer projects, or delete callers`
  return [{ path: 'projects', message }]
}

/** Without what stops a budget or a caller: a stop has room up to the size that DynamoDB takes. */
function sizeOf({ budgets, callers = {} }: Definitions): number {
  const lasting = Object.entries(callers).filter(([, caller]) => !caller.disabled || Object.keys(caller).length > 1)
  const text = JSON.stringify({
    budgets: Object.fromEntries(Object.entries(budgets).map(([name, each]) => [name, { ...each, frozen: undefined }])),
    callers: Object.fromEntries(lasting.map(([name, each]) => [name, { ...each, disabled: undefined }])),
  })
  return Buffer.byteLength(text)
}

/** A sentence for each name or id that stands for more than one listed project; spellings are compared folded. */
export function collisionsIn({ budgets }: Pick<Definitions, 'budgets'>): readonly string[] {
  const messages: string[] = []
  const first = new Map<string, { readonly spelling: string; readonly owner: string }>()
  for (const budget of Object.values(budgets)) {
    for (const { name, id } of budget.projects) {
      const spellings = id === undefined || folded(id) === folded(name) ? [name] : [name, id]
      for (const spelling of spellings) {
        const before = first.get(folded(spelling))
        if (before) messages.push(twiceOwned(spelling, before, budget.name))
        else first.set(folded(spelling), { spelling, owner: budget.name })
      }
    }
  }
  return messages
}

function twiceOwned(
  project: string,
  { spelling, owner }: { readonly spelling: string; readonly owner: string },
  other: string,
): string {
  const same = spelling === project ? project : `${project}, which is the same project as ${spelling},`
  return owner === other
    ? `${same} stands for two projects of ${owner}`
    : `${same} has one owner, and cannot belong to ${owner} and to ${other}`
}

function parentFaultOf(definitions: Definitions, budget: Budget): string | null {
  let depth = 1
  for (let next = budget; next.parent !== null; depth++) {
    if (depth === maxDepth) return `budgets are at most ${maxDepth} deep, and no budget is its own ancestor`
    const parent = budgetNamed(definitions, next.parent)
    if (!parent) return `there is no budget ${next.parent}; create it first`
    next = parent
  }
  return null
}

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
  const limited = counterOwnersIn(definitions).map(({ name }) => name)
  const names = windowKinds.flatMap((window) => [...new Set([...Object.keys(book.counters[window]), ...limited])])
  // DynamoDB counts one byte for each member of a map.
  return names.reduce((sum, name) => sum + Buffer.byteLength(name) + 1 + bytesOfCounter, bytesWithoutCounters)
}

/** A change that makes no book larger is possible whatever the size: a freeze, for one. */
export function bookSizeFaults(books: readonly Book[], before: Definitions, after: Definitions) {
  const tooLarge = books.find((book) => {
    const size = largestSizeOf(book, after)
    return size > maxBookBytes && size > largestSizeOf(book, before)
  })
  if (!tooLarge) return []
  const size = grouped(largestSizeOf(tooLarge, after))
  const message = `the book of ${tooLarge.month} could take ${size} bytes, and at most ${grouped(maxBookBytes)} are allowed: give fewer callers limits, or merge budgets; deleted ones count until the end of the next month`
  return [{ path: 'limits', message }]
}
