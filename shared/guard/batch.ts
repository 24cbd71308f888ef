import { chainOf } from '../ledger/definitions.ts'
import { LedgerUnavailable } from '../ledger/store.ts'
import type { Problem, Update } from '../ledger/update.ts'
import type { Log } from '../platform/log.ts'
import { createSlots, inParallel } from '../platform/parallel.ts'
import { mostUnits } from '../platform/words.ts'
import type { Row } from './answer.ts'
import type { WhenShort } from './asking.ts'
import { countersOf, decideEarly, type Known, limited, moreThanAnyHas, type Quote } from './decide.ts'
import { type GuardOptions, runsAtOnce } from './options.ts'
import { overBudget, type Short } from './over-budget.ts'
import type { Performing } from './performing.ts'
import { ledgerProblem } from './problems.ts'
import type { Quoted, Quoting, TimedQuote } from './quoting.ts'
import { zoneOf } from './sentences.ts'

export type Batch = ReturnType<typeof createBatch>

type QuotedUpdate = { readonly known: Known; readonly quoted: Quoted }

type Priced = { readonly known: Known; readonly quote: TimedQuote }

interface InOrder {
  /** All or none: the estimates of a request with `refuse` are summed. */
  readonly isWhole: boolean
  readonly token: string
  readonly endsAt: number
  put(known: Known, row: Row): void
}

/** The updates of one request: refused, asked about and estimated together, held in order, run a few at once. */
export function createBatch(parts: {
  performing: Performing
  quoting: Quoting
  serviceToken: () => Promise<string>
  log: Log
  options: GuardOptions
}) {
  const { performing, quoting, log, options } = parts

  /**
   * `refuse` is all or nothing: what the request needs together must be known, and must fit one reading of the book.
   */
  async function perform(
    knowns: readonly Known[],
    whenShort: WhenShort,
    endsAt: number,
  ): Promise<ReadonlyMap<string, Row>> {
    const rows = new Map<string, Row>()
    const put = ({ request }: Known, row: Row) => void rows.set(request.id, row)
    const early = knowns.map((known) => ({ known, decided: decideEarly(known, options) }))
    const candidates = early.flatMap(({ known, decided }) => (decided.say === 'go-on' ? [known] : []))
    // All that may fail without a trace comes first: an answer of 503 must not leave half of a request recorded.
    // The token before the estimates: it may be slow, and their time is short.
    if (candidates.length > 0) await parts.serviceToken()
    const quotes = await quoteAll(candidates)
    // Again, from memory: if it was rotated, an estimate has found that out, and has had the new one read.
    const token = candidates.length === 0 ? '' : await parts.serviceToken()

    const refusals: Problem[] = []
    for (const { known, decided } of early) {
      if (decided.say !== 'refuse') continue
      refusals.push(decided.problem)
      put(known, { update: await performing.refuse(known, decided.problem) })
    }
    const short = refusals.find(({ slug }) => slug === 'over-budget') ?? null
    const how = { isWhole: whenShort === 'refuse' && knowns.length > 1, token, endsAt, put }
    await performInOrder(await admissible(quotes, short, how), how)
    return rows
  }

  const quoteAll = (knowns: readonly Known[]): Promise<QuotedUpdate[]> =>
    inParallel(knowns, runsAtOnce, async (known) => ({ known, quoted: await quoting.quote(known.request) }))

  /** The updates that have an estimate. With `isWhole`: all of them, or none if an estimate is missing or the sum is short. */
  async function admissible(
    quotes: readonly QuotedUpdate[],
    short: Problem | null,
    { isWhole, put }: Pick<InOrder, 'isWhole' | 'put'>,
  ): Promise<Priced[]> {
    const priced: Priced[] = []
    const unknown: Problem[] = []
    for (const { known, quoted } of quotes) {
      if (quoted.kind === 'quote') priced.push({ known, quote: quoted })
      if (quoted.kind !== 'problem') continue
      unknown.push(quoted.problem)
      put(known, { project: known.request.project, problem: quoted.problem })
    }
    if (!isWhole) return priced
    const [missing] = unknown
    if (missing) {
      for (const { known } of priced) put(known, { project: known.request.project, problem: missing })
      return []
    }
    const refusal = short ?? allOrNothing(priced)
    if (!refusal) return priced
    for (const { known, quote } of priced) put(known, { update: await performing.refuse(known, refusal, quote) })
    return []
  }

  /** Asks again for estimates that grew old while updates before them were held and run. */
  async function renewed([next, ...later]: readonly [Priced, ...Priced[]], how: InOrder): Promise<Priced[]> {
    const known = await performing.look(next.known.request)
    return admissible(await quoteAll([known, ...later.map((each) => each.known)]), null, how)
  }

  async function performInOrder(priced: readonly Priced[], how: InOrder): Promise<void> {
    const slots = createSlots(runsAtOnce)
    const running: Promise<void>[] = []
    const waiting: Update[] = []
    const left = [...priced]
    let { token } = how
    for (let next = left.shift(); next; next = left.shift()) {
      const { known, quote } = next
      await slots.take()
      try {
        const admitted = await performing.admit({ ...known, waiting }, quote, how.endsAt)
        if (admitted === 'stale') {
          const again = await renewed([next, ...(how.isWhole ? left : [])], how)
          token = await parts.serviceToken()
          left.splice(0, how.isWhole ? left.length : 0, ...again)
        } else {
          const { update, ours } = admitted
          if (update.state === 'awaiting-approval') waiting.push(update)
          how.put(known, { update, ...(ours && { ours }) })
          if (ours) {
            running.push(
              performing
                .run(update, token)
                .then((ended) => how.put(known, { update: ended, ours }))
                // It stays as it was told: running, for the sweep to find.
                .catch((cause) => log.error('not-settled', { update: update.id, cause }))
                .finally(slots.give),
            )
            continue
          }
        }
      } catch (cause) {
        if (!(cause instanceof LedgerUnavailable)) {
          // What was sent is waited for: nobody else knows how it ends.
          await Promise.all(running)
          throw cause
        }
        log.error('not-admitted', { update: known.request.id, cause })
        how.put(known, { project: known.request.project, problem: ledgerProblem(cause) })
      }
      slots.give()
    }
    await Promise.all(running)
  }

  return { perform }
}

/** The refusal of updates that do not fit one reading of the book together. */
export function allOrNothing(priced: readonly { readonly known: Known; readonly quote: Quote }[]): Problem | null {
  const [first] = priced
  if (!first) return null
  const absurd = priced.find(({ quote }) => quote.units > mostUnits)
  if (absurd) return moreThanAnyHas(`The update of ${absurd.known.request.project}`, absurd.quote.units)
  const { view } = first.known
  const sums = new Map<string, Short & { readonly needed: number }>()
  for (const { known, quote } of priced) {
    const chain = chainOf(view.definitions, known.request.budget)
    for (const figures of limited(view, countersOf(view, chain, known.request))) {
      const counter = `${figures.window} ${figures.budget}`
      sums.set(counter, { figures, needed: (sums.get(counter)?.needed ?? 0) + quote.units })
    }
  }
  const short = [...sums.values()].filter(({ figures, needed }) => needed > figures.available)
  if (short.length === 0) return null
  const total = priced.reduce((sum, { quote }) => sum + quote.units, 0)
  const what = priced.length === 1 ? undefined : () => `these ${priced.length} updates need`
  return overBudget(short, total, zoneOf(view), what)
}
