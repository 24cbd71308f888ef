import { digest } from '../platform/ids.ts'
import type { Condition, Item, Store, Value, Write } from './store.ts'
import { expiryOf, keptForDays } from './table.ts'
import { type Update, wasUpToDate } from './update.ts'

/**
 * What the ended updates of one billing month add up to, so that a statement need not read each of them: one item for a
 * month, kept by the sweep. No decision rests on it, and the updates know all that it says.
 */
export interface Tally {
  /** The book's window, `month:2026-11-12`. */
  readonly month: string
  /** Of the updates created up to then, in ms since the epoch, each is in `sums` or in `open`, if it is of this month. */
  readonly until: number
  /** When it was written. */
  readonly at: number
  readonly sums: readonly TallySum[]
  /** What had not ended by then: it may be of this month yet. */
  readonly open: readonly string[]
}

/** For one budget, project, caller and owner, as they were named: settled updates, units charged, refused updates. */
export interface TallySum extends Pick<Update, 'budget' | 'project' | 'caller'> {
  /** The project's owner at the hold, where an ancestor of it paid. */
  readonly owner?: string
  readonly updates: number
  readonly charged: number
  readonly refused: number
}

/** What is stored for a month. The mark is another one after every write. */
export type KeptTally = { readonly mark: string } & (
  | { readonly kind: 'tally'; readonly tally: Tally }
  /** Something in it has changed since: it has to be counted anew. */
  | { readonly kind: 'spoilt' }
  /** The month has more budgets, projects and callers than an item takes, and is not counted any more. */
  | { readonly kind: 'too-large' }
)

export type CountedTally = Extract<KeptTally, { kind: 'tally' }>

export interface Tallies {
  /** `null`: nothing was kept yet. */
  read(month: string): Promise<KeptTally | null>
  /** Of two who write at once the first one's counts: `moved`. `too-large`: that was noted instead. */
  write(tally: Tally, seen: KeptTally | null): Promise<'written' | 'moved' | 'too-large'>
  /** Has a tally that proved wrong counted anew; does nothing when it has changed meanwhile. */
  spoil(tally: Tally, seen: KeptTally): Promise<void>
}

/** Half of what DynamoDB takes: each write costs two units for a KB of it. */
const mostBytes = 200_000

const tallyKey = (month: string) => ({ pk: 'tally', sk: month })

export function createTallies({ store }: { store: Store }): Tallies {
  async function read(month: string): Promise<KeptTally | null> {
    const [item] = await store.get([tallyKey(month)])
    return item ? fromItem(item) : null
  }

  async function write(tally: Tally, seen: KeptTally | null): Promise<'written' | 'moved' | 'too-large'> {
    const item = toItem(tally, seen)
    const isTooLarge = Buffer.byteLength(JSON.stringify(item)) > mostBytes
    const written = isTooLarge ? { ...emptyItem(tally.month, item.mark, tally.until), tooLarge: true } : item
    if (!(await replace(written, seen))) return 'moved'
    return isTooLarge ? 'too-large' : 'written'
  }

  async function spoil({ month, until }: Tally, seen: KeptTally): Promise<void> {
    await replace({ ...emptyItem(month, digest('spoilt', seen.mark), until), spoilt: true }, seen)
  }

  async function replace(item: Item, seen: KeptTally | null): Promise<boolean> {
    const unchanged: Condition = seen ? { is: 'equal', path: ['mark'], value: seen.mark } : { is: 'absent-item' }
    const writes = [{ do: 'put', item, when: [unchanged] }] as const
    return (await store.transact(writes, digest('tally', JSON.stringify(item)))).applied
  }

  return { read, write, spoil }
}

/**
 * The write that goes with the correction of an update that has ended: what was counted with it before is not believed
 * from then on. It has no condition, so that nothing here can keep a correction from being booked.
 */
export const spoilTally = ({ month, id, version, createdAt }: Update): Write => ({
  do: 'put',
  item: { ...emptyItem(month, `${id}#${version}`, createdAt), spoilt: true },
  when: [],
})

type Ended = Pick<Update, 'budget' | 'project' | 'caller' | 'state' | 'charged' | 'plan' | 'problem' | 'hold'>

/** The part of an update that has ended in what its month adds up to. */
export const sumOf = (update: Ended): TallySum => ({
  budget: update.budget,
  project: update.project,
  caller: update.caller,
  ...(update.hold?.owners?.[0] !== undefined && { owner: update.hold.owners[0] }),
  updates: update.state === 'settled' ? 1 : 0,
  charged: update.charged ?? 0,
  refused: update.state === 'refused' && !wasUpToDate(update) ? 1 : 0,
})

const emptyItem = (month: string, mark: Value | undefined, at: number): Item => ({
  ...tallyKey(month),
  mark,
  ...expiryOf(at, keptForDays),
})

/** Each mark is made of the one before, so that none comes back: who has counted before a change never writes after it. */
function toItem({ month, until, at, sums, open }: Tally, seen: KeptTally | null): Item {
  const rows = sums.map(({ budget, project, caller, updates, charged, refused, owner }) => [
    ...[budget, project, caller, updates, charged, refused],
    ...(owner === undefined ? [] : [owner]),
  ])
  const mark = digest(seen?.mark ?? '', JSON.stringify([until, at, rows, open]))
  return { ...emptyItem(month, mark, until), until, at, sums: rows, open }
}

function fromItem({ sk: month, mark, until, at, sums, open, spoilt, tooLarge }: Item): KeptTally {
  if (typeof mark !== 'string') throw new Error(`the tally of ${month} is damaged`)
  if (spoilt) return { mark, kind: 'spoilt' }
  if (tooLarge) return { mark, kind: 'too-large' }
  if (typeof until !== 'number' || typeof at !== 'number' || !Array.isArray(sums) || !Array.isArray(open))
    throw new Error(`the tally of ${month} is damaged`)
  return { mark, kind: 'tally', tally: { month, until, at, sums: sums.map(fromRow), open: open.map(String) } }
}

function fromRow(row: Value): TallySum {
  const [budget, project, caller, updates, charged, refused, owner] = Array.isArray(row) ? row : []
  return {
    budget: String(budget),
    project: String(project),
    caller: String(caller),
    updates: Number(updates),
    charged: Number(charged),
    refused: Number(refused),
    ...(owner !== undefined && { owner: String(owner) }),
  }
}
