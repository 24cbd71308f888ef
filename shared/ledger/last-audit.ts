import { digest } from '../platform/ids.ts'
import { toUnits } from '../platform/words.ts'
import type { AuditedCounter } from './audit.ts'
import type { Counter } from './book.ts'
import type { Item, Store, Value } from './store.ts'

/**
 * The result of the audit that was made last, so that who looks at it need not make one: an audit reads every update of
 * three months.
 */
export interface LastAudit {
  /** In ms since the epoch. */
  readonly at: number
  /** Who had it made: a person, or `digest`. */
  readonly by: string
  /** How many counters there were, how many differed from the sum of their lines, and how many moved meanwhile. */
  readonly counters: number
  readonly wrong: number
  readonly moved: number
  /** The counters, what differs first; of very many the first ones. */
  readonly rows: readonly AuditedCounter[]
}

export interface LastAudits {
  /** `null`: none was made yet. */
  read(): Promise<LastAudit | null>
  write(audit: Pick<LastAudit, 'at' | 'by'>, rows: readonly AuditedCounter[]): Promise<void>
}

const key = { pk: 'audit', sk: 'last' } as const
/** Some forty kilobytes: three books of sixty budgets, with month and day. */
const mostRows = 400

export function createLastAudits({ store }: { store: Store }): LastAudits {
  async function read(): Promise<LastAudit | null> {
    const [item] = await store.get([key])
    return item ? fromItem(item) : null
  }

  /** Of two audits at once, the one that ended last is shown. */
  async function write({ at, by }: Pick<LastAudit, 'at' | 'by'>, rows: readonly AuditedCounter[]): Promise<void> {
    const numbers = {
      counters: rows.length,
      wrong: rows.filter(({ ok }) => ok === false).length,
      moved: rows.filter(({ ok }) => ok === null).length,
    }
    const shown = rows.toSorted((a, b) => Number(a.ok ?? false) - Number(b.ok ?? false)).slice(0, mostRows)
    const item: Item = { ...key, at, by, ...numbers, rows: shown.map(toRow) }
    await store.transact([{ do: 'put', item, when: [] }], digest('audit', JSON.stringify(item)))
  }

  return { read, write }
}

// As lists, because names would be most of the item.

const toRow = ({ window, budget, ok, recorded, recomputed }: AuditedCounter): Value => [
  window,
  budget,
  ok,
  toFigures(recorded),
  ...(ok ? [] : [toFigures(recomputed)]),
]

const toFigures = ({ limit, granted, available, held, inDoubt, spent }: Counter): Value => [
  limit,
  granted,
  available,
  held,
  inDoubt,
  spent,
]

function fromItem({ at, by, counters, wrong, moved, rows }: Item): LastAudit {
  if (!Array.isArray(rows)) throw new Error('the last audit is damaged')
  const numbers = { at: Number(at), counters: Number(counters), wrong: Number(wrong), moved: Number(moved) }
  return { ...numbers, by: String(by), rows: rows.map(fromRow) }
}

function fromRow(row: Value): AuditedCounter {
  const [window, budget, ok, recorded, recomputed = recorded] = listOf(row)
  return {
    window: String(window),
    budget: String(budget),
    ok: typeof ok === 'boolean' ? ok : null,
    recorded: fromFigures(recorded),
    recomputed: fromFigures(recomputed),
  }
}

function fromFigures(figures: Value | undefined): Counter {
  const [limit, granted, available, held, inDoubt, spent] = listOf(figures)
  return {
    limit: limit === 'unlimited' ? limit : toUnits(Number(limit)),
    granted: Number(granted),
    available: Number(available),
    held: Number(held),
    inDoubt: Number(inDoubt),
    spent: Number(spent),
  }
}

const listOf = (value: Value | undefined): readonly Value[] => (Array.isArray(value) ? value : [])
