import { digest } from '../platform/ids.ts'
import type { Condition, Item, Store } from './store.ts'
import { expiryOf } from './table.ts'

/**
 * What the overview draws of a month beside its book: one small item, kept by the sweep. It is a picture and nothing else:
 * no decision rests on it, it may lack days, and the book and its lines know all that it shows.
 */
export interface Picture {
  /** The book's window, `month:2026-11-12`. */
  readonly month: string
  /** When days ended, ascending, in ms since the epoch. */
  readonly ends: readonly number[]
  /** By budget: units spent, held and in doubt by each of `ends`; `null`: it was not counted yet. */
  readonly used: Readonly<Record<string, readonly (number | null)[]>>
  readonly saved: Saved
}

/** Duplicates that were refused, and the units that the same work had cost. */
export interface Saved {
  readonly updates: number
  readonly units: number
  /** Updates that were asked for until then are counted, in ms since the epoch. */
  readonly until: number
}

export interface Pictures {
  /** `null`: nothing was kept yet. */
  read(month: string): Promise<Picture | null>
  /** Of two who write at once the first one's counts; what the other saw is seen again. */
  write(picture: Picture, seen: Picture | null): Promise<void>
}

const pictureKey = (month: string) => ({ pk: 'picture', sk: month })
/** A month and its two neighbours are over by then. */
const keptForDays = 100

export function createPictures({ store }: { store: Store }): Pictures {
  async function read(month: string): Promise<Picture | null> {
    const [item] = await store.get([pictureKey(month)])
    return item ? fromItem(item) : null
  }

  async function write({ month, ends, used, saved }: Picture, seen: Picture | null): Promise<void> {
    const item: Item = {
      ...pictureKey(month),
      ends,
      used,
      saved: { ...saved },
      ...expiryOf(saved.until, keptForDays),
    }
    const unchanged: Condition[] = seen
      ? [
          { is: 'equal', path: ['ends'], value: seen.ends },
          { is: 'equal', path: ['saved', 'until'], value: seen.saved.until },
        ]
      : [{ is: 'absent-item' }]
    await store.transact([{ do: 'put', item, when: unchanged }], digest('picture', JSON.stringify(item)))
  }

  return { read, write }
}

function fromItem({ sk: month, ends, used, saved }: Item): Picture {
  if (!Array.isArray(ends)) throw new Error(`the picture of ${month} is damaged`)
  return { month, ends: ends as Picture['ends'], used: used as Picture['used'], saved: saved as unknown as Saved }
}
