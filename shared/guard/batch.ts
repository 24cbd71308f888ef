import { chainOf } from '../ledger/definitions.ts'
import { LedgerUnavailable } from '../ledger/store.ts'
import type { Problem } from '../ledger/update.ts'
import type { Log } from '../platform/log.ts'
import { createSlots, inParallel } from '../platform/parallel.ts'
import type { Row } from './answer.ts'
import { decideEarly, type Known, limited, type Quote, zoneOf } from './decide.ts'
import { type GuardOptions, runsAtOnce } from './options.ts'
import { overBudget, type Short } from './over-budget.ts'
import type { Performing } from './performing.ts'
import { problem } from './problems.ts'
import type { Quoting } from './quoting.ts'

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

  async function perform(
    knowns: readonly Known[],
    whenShort: 'refuse' | 'fit',
    endsAt: number,
  ): Promise<ReadonlyMap<string, Row>> {
    const rows = new Map<string, Row>()
    const put = ({ request }: Known, row: Row) => rows.set(request.id, row)
    const candidates: Known[] = []
    for (const known of knowns) {
      const early = decideEarly(known, options)
      if (early.say === 'go-on') candidates.push(known)
      else put(known, { update: await performing.refuse(known, early.problem) })
    }
    if (candidates.length === 0) return rows

    const token = await parts.serviceToken()
    const quotes = await inParallel(candidates, runsAtOnce, ({ request }) => quoting.quote(request))
    const priced = candidates.flatMap((known, position): Priced[] => {
      const quoted = quotes[position]
      if (quoted?.kind === 'quote') return [{ known, quote: quoted }]
      if (quoted) put(known, { project: known.request.project, problem: quoted.problem })
      return []
    })
    const refusal = whenShort === 'refuse' && knowns.length > 1 ? refusalOfAll(priced, [...rows.values()]) : null
    if (!refusal) await performInOrder(priced, { token, endsAt, put })
    else {
      for (const { known, quote } of priced) {
        if (refusal.recorded) put(known, { update: await performing.refuse(known, refusal.problem, quote) })
        else put(known, { project: known.request.project, problem: refusal.problem })
      }
    }
    return rows
  }

  async function performInOrder(
    priced: readonly Priced[],
    how: { token: string; endsAt: number; put: (known: Known, row: Row) => void },
  ): Promise<void> {
    const slots = createSlots(runsAtOnce)
    const running: Promise<void>[] = []
    for (const { known, quote } of priced) {
      await slots.take()
      try {
        const { update, ours } = await performing.admit(known, quote, how.endsAt)
        how.put(known, { update })
        if (ours) {
          running.push(
            performing
              .run(update, how.token)
              .then((ended) => how.put(known, { update: ended }))
              .finally(slots.give),
          )
          continue
        }
      } catch (cause) {
        if (!(cause instanceof LedgerUnavailable)) throw cause
        log.error('not-admitted', { update: known.request.id, cause })
        how.put(known, { project: known.request.project, problem: ledgerUnavailable })
      }
      slots.give()
    }
    await Promise.all(running)
  }

  return { perform }
}

export const ledgerUnavailable = problem(
  'ledger-unavailable',
  'The ledger does not answer, so nothing was sent to the service and nothing spent; the same request may be sent again.',
)

/** Why none may be admitted: all that the request needs must be known, and must fit one reading of the book. */
function refusalOfAll(priced: readonly Priced[], rows: readonly Row[]): { problem: Problem; recorded: boolean } | null {
  for (const row of rows) {
    if (!('update' in row)) return { problem: row.problem, recorded: false }
    if (row.update.problem?.slug === 'over-budget') return { problem: row.update.problem, recorded: true }
  }
  const problem = allOrNothing(priced)
  return problem && { problem, recorded: true }
}

/** The refusal of updates that do not fit one reading of the book together. */
export function allOrNothing(priced: readonly Priced[]): Problem | null {
  const [first] = priced
  if (!first) return null
  const { view } = first.known
  const sums = new Map<string, Short & { readonly needed: number }>()
  for (const { known, quote } of priced) {
    for (const figures of limited(view, chainOf(view.definitions, known.request.budget))) {
      const counter = `${figures.window} ${figures.budget}`
      sums.set(counter, { figures, needed: (sums.get(counter)?.needed ?? 0) + quote.units })
    }
  }
  const short = [...sums.values()].filter(({ figures, needed }) => needed > figures.available)
  if (short.length === 0) return null
  const total = priced.reduce((sum, { quote }) => sum + quote.units, 0)
  const what = priced.length === 1 ? 'this needs' : `these ${priced.length} updates need`
  return overBudget(short, total, zoneOf(view), what)
}
