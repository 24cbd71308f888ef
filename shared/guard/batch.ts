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
import type { Quoting } from './quoting.ts'
import { zoneOf } from './sentences.ts'

export type Batch = ReturnType<typeof createBatch>

type Priced = { readonly known: Known; readonly quote: Quote }

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
    const quotes = await inParallel(candidates, runsAtOnce, ({ request }) => quoting.quote(request))
    // Again, from memory: if it was rotated, an estimate has found that out, and has had the new one read.
    const token = candidates.length === 0 ? '' : await parts.serviceToken()

    const refusals: Problem[] = []
    for (const { known, decided } of early) {
      if (decided.say !== 'refuse') continue
      refusals.push(decided.problem)
      put(known, { update: await performing.refuse(known, decided.problem) })
    }
    const priced: Priced[] = []
    const unknown: Problem[] = []
    for (const [position, known] of candidates.entries()) {
      const quoted = quotes[position]
      if (quoted?.kind === 'quote') priced.push({ known, quote: quoted })
      if (quoted?.kind !== 'problem') continue
      unknown.push(quoted.problem)
      put(known, { project: known.request.project, problem: quoted.problem })
    }
    if (whenShort !== 'refuse' || knowns.length === 1) await performInOrder(priced, { token, endsAt, put })
    else if (unknown[0])
      for (const { known } of priced) put(known, { project: known.request.project, problem: unknown[0] })
    else {
      const short = refusals.find(({ slug }) => slug === 'over-budget') ?? allOrNothing(priced)
      if (!short) await performInOrder(priced, { token, endsAt, put })
      else for (const { known, quote } of priced) put(known, { update: await performing.refuse(known, short, quote) })
    }
    return rows
  }

  async function performInOrder(
    priced: readonly Priced[],
    how: { token: string; endsAt: number; put: (known: Known, row: Row) => void },
  ): Promise<void> {
    const slots = createSlots(runsAtOnce)
    const running: Promise<void>[] = []
    const waiting: Update[] = []
    for (const { known, quote } of priced) {
      await slots.take()
      try {
        const { update, ours } = await performing.admit({ ...known, waiting }, quote, how.endsAt)
        if (update.state === 'awaiting-approval') waiting.push(update)
        how.put(known, { update, ...(ours && { ours }) })
        if (ours) {
          running.push(
            performing
              .run(update, how.token)
              .then((ended) => how.put(known, { update: ended, ours }))
              // It stays as it was told: running, for the sweep to find.
              .catch((cause) => log.error('not-settled', { update: update.id, cause }))
              .finally(slots.give),
          )
          continue
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
export function allOrNothing(priced: readonly Priced[]): Problem | null {
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
