import type { Item } from '../../shared/ledger/store.ts'
import type { Run } from './service.ts'

/** A promise was broken. The message says which, the trace says how. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

type Budgets = Readonly<Record<string, { readonly frozen?: unknown } | undefined>>
type Stored = { readonly [name: string]: unknown }
interface Counter {
  readonly l: number | 'u'
  readonly g: number
  readonly a: number
  readonly h: number
  readonly i: number
  readonly s: number
}
interface Record_ {
  readonly id: string
  readonly kind: string
  readonly project: string
  readonly budget: string
  readonly state: string
  readonly version: number
  readonly month: string
  readonly charged?: number
  readonly overrun?: number
  readonly closedBy?: string
  readonly hold?: {
    readonly units: number
    readonly budgets: readonly string[]
    readonly day: string
    readonly attempt: string
  }
}

/** The drawn edges; whoever is at an end stays there. */
const edges: Readonly<Record<string, readonly string[]>> = {
  'awaiting-approval': ['requested', 'rejected', 'expired', 'cancelled'],
  requested: ['running', 'refused', 'cancelled', 'expired', 'awaiting-approval'],
  running: ['settled', 'released', 'in-doubt'],
  'in-doubt': ['settled', 'released'],
}
const beginnings = ['awaiting-approval', 'requested', 'refused', 'running']

/**
 * Reads the table as it is stored and does its own arithmetic: nothing here knows the ledger's code. Looked at after
 * every effect.
 */
export function createAuditor(items: () => Iterable<Item>) {
  let records = new Map<string, Record_>()
  const entries = new Map<string, string>()
  const runOf = new Map<string, number>()
  /** What may make a counter negative: told by whoever does it. */
  const excused = new Set<string>()

  /** Kept, because whoever it is thrown at may catch it. */
  let first: Broken | null = null
  const broken = (why: string): never => {
    first ??= new Broken(why)
    throw first
  }

  function look(): void {
    const now = new Map<string, Record_>()
    const books: Stored[] = []
    let budgets: Budgets = {}
    for (const item of items()) {
      if (item.pk === 'book') books.push(item)
      else if (item.pk === 'definitions') budgets = item.budgets as unknown as Budgets
      else if (item.sk === 'update') now.set(String(item.id), item as unknown as Record_)
      else if (item.sk === 'entry') lookAtEntry(item)
    }
    for (const [id, record] of now) {
      const before = records.get(id)
      lookAtRecord(before, record)
      if (record.state === 'running' && before?.state !== 'running') lookAtFence(record, budgets)
    }
    for (const id of records.keys()) if (!now.has(id)) broken(`the record ${id} is gone`)
    records = now
    for (const book of books) lookAtBook(book)
  }

  /** What was there before the scene began is taken as it is. */
  function know(): void {
    records = new Map(
      [...items()].flatMap((item) => (item.sk === 'update' ? [[String(item.id), item as unknown as Record_]] : [])),
    )
  }

  function lookAtRecord(before: Record_ | undefined, record: Record_): void {
    if (!before) {
      if (!beginnings.includes(record.state)) broken(`${record.id} begins as ${record.state}`)
      lookAtChain(record)
      return
    }
    if (before === record) return
    if (record.version !== before.version + 1)
      broken(`${record.id} goes from version ${before.version} to ${record.version}`)
    if (record.state !== before.state && !(edges[before.state] ?? []).includes(record.state)) {
      broken(`${record.id} goes from ${before.state} to ${record.state}`)
    }
  }

  /** What was stopped by then holds nothing, whoever had decided before. */
  function lookAtFence({ id, hold }: Record_, budgets: Budgets): void {
    const frozen = hold?.budgets.find((name) => budgets[name]?.frozen !== undefined)
    if (frozen !== undefined) broken(`${id} holds on ${frozen}, which is frozen`)
  }

  /** Every budget here is the root, or a child of it. */
  function lookAtChain({ id, hold, budget }: Record_): void {
    if (hold && !(hold.budgets.includes(budget) && hold.budgets.includes('account')))
      broken(`${id} is not charged to its whole chain`)
  }

  function lookAtEntry(item: Item): void {
    const text = JSON.stringify(item)
    const before = entries.get(item.pk)
    if (before !== undefined && before !== text) broken(`the entry ${item.pk} has changed`)
    const { by, reason } = item as { by?: unknown; reason?: unknown }
    if (!by || !reason) broken(`the entry ${item.pk} has nobody, or no reason`)
    entries.set(item.pk, text)
  }

  function lookAtBook(book: Stored): void {
    const month = String(book.sk)
    const today = String(book.today)
    for (const window of ['month', 'day'] as const) {
      for (const [budget, counter] of Object.entries(book[window] as Record<string, Counter>)) {
        const { l, g, a, h, i, s } = counter
        if (![g, a, h, i, s].every(Number.isSafeInteger)) broken(`${window} ${budget}: not whole numbers`)
        if (a + h + i + s !== (l === 'u' ? 0 : l) + g)
          broken(`${window} ${budget}: ${a}+${h}+${i}+${s} is not ${l}+${g}`)
        if (h < 0 || i < 0 || s < 0) broken(`${window} ${budget}: something is negative`)
        if (l !== 'u' && a < 0 && !excused.has(budget) && !hasOverrun(budget))
          broken(`${window} ${budget}: overspent by ${-a}`)
        lookAtSums(month, window === 'day' ? today : null, budget, counter, window)
      }
    }
  }

  const hasOverrun = (budget: string) =>
    [...records.values()].some(({ overrun, hold }) => overrun !== undefined && hold?.budgets.includes(budget))

  function lookAtSums(month: string, day: string | null, budget: string, { h, i, s }: Counter, window: string): void {
    let held = 0
    let inDoubt = 0
    let charged = 0
    for (const { hold, state, month: of, charged: units } of records.values()) {
      if (!hold?.budgets.includes(budget) || of !== month || (day !== null && hold.day !== day)) continue
      if (state === 'running') held += hold.units
      if (state === 'in-doubt') inDoubt += hold.units
      charged += units ?? 0
    }
    if (held !== h) broken(`${window} ${budget}: ${h} held, and the records hold ${held}`)
    if (inDoubt !== i) broken(`${window} ${budget}: ${i} in doubt, and the records have ${inDoubt}`)
    if (s < charged) broken(`${window} ${budget}: ${s} spent, and the records charge ${charged}`)
  }

  /** A run has arrived at the service: only with the sender's own fence, once, and never beside another of the same work. */
  function arrived({ project, process }: Run): void {
    const running = [...records.values()].filter((record) => record.project === project && record.state === 'running')
    const own = running.find(({ hold }) => hold?.attempt.startsWith(`${process}-`))
    if (!own) {
      broken(`${process} runs ${project} without a fence of its own`)
      return
    }
    if (running.length > 1) broken(`${project} runs twice at once`)
    const count = (runOf.get(own.id) ?? 0) + 1
    runOf.set(own.id, count)
    if (count > 1) broken(`${own.id} was run ${count} times`)
  }

  /** Whatever was consumed is counted; whoever was answered, and could write it down, wrote down the answer. */
  function lookAtConsumption(runs: readonly Run[], { strictly = false } = {}): void {
    const consumed = runs.filter(({ ran }) => ran).reduce((sum, { units }) => sum + units, 0)
    const counted = [...records.values()]
      .filter(({ id }) => !before.has(id))
      .reduce(
        (sum, { state, hold, charged }) =>
          sum + (state === 'running' || state === 'in-doubt' ? (hold?.units ?? 0) : (charged ?? 0)),
        0,
      )
    const byWord = [...records.values()].some(({ state, closedBy }) => state === 'released' && closedBy === 'person')
    for (const { id, state, closedBy, charged, project, hold } of records.values()) {
      if (state !== 'settled' || closedBy !== 'sender') continue
      const run = runs.find((each) => each.project === project && hold?.attempt.startsWith(`${each.process}-`))
      if (run?.stated !== undefined && charged !== run.stated)
        broken(`${id} cost ${run.stated} and was charged ${charged}`)
    }
    if (consumed > counted && (strictly || !byWord))
      broken(`${consumed} units were consumed, and ${counted} are counted`)
  }

  know()
  const before = new Set(records.keys())
  return {
    look,
    first: () => first,
    arrived,
    lookAtConsumption,
    excuse: (budget: string) => void excused.add(budget),
    records: () => records,
  }
}
