import { budgetNamed, chainOf } from '../../ledger/definitions/definitions.ts'
import { DamagedItem, LedgerUnavailable } from '../../ledger/errors.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { aboutUpdate } from '../../platform/log.ts'
import { createSlots, inParallel } from '../../platform/parallel.ts'
import { maxUnits } from '../../platform/words.ts'
import { type GuardParts, runsAtOnce, withParts } from '../options.ts'
import { ledgerProblem } from '../problems.ts'
import { countersOf, enforced } from '../rules/counters.ts'
import { namesOfProject } from '../rules/projects.ts'
import { zoneOf } from '../sentences.ts'
import { decideEarly } from './decide.ts'
import type { Execution } from './execute.ts'
import { moreThanAnyHas, type Need, neededOf, needsInWords, overBudget } from './over-budget.ts'
import type { DecisionInput, Quote, QuoteResult, Quotes, TimedQuote } from './quote.ts'

export type WhenShort = 'refuse' | 'fit' | 'ask'

export type Row =
  | {
      readonly update: Update
      readonly ours?: true
      readonly earlier?: Update
    }
  | { readonly project: string; readonly problem: Problem }

export type Batch = ReturnType<typeof createBatch>

type QuotedUpdate = { readonly known: DecisionInput; readonly quoted: QuoteResult }

type Candidate = Priced & { readonly quote: TimedQuote }

interface InOrder {
  readonly isWhole: boolean
  readonly token: string
  readonly endsAt: number
  put(known: DecisionInput, row: Row): void
}

interface BatchParts extends Pick<GuardParts, 'serviceToken' | 'log' | 'options'> {
  execution: Execution
  quotes: Quotes
}

export const createBatch = (parts: BatchParts) => withParts(parts, { perform })

/** With `refuse`, admits all updates or none: every estimate must be known, and the sum must fit. */
async function perform(
  parts: BatchParts,
  knowns: readonly DecisionInput[],
  whenShort: WhenShort,
  endsAt: number,
): Promise<ReadonlyMap<string, Row>> {
  const { options, execution } = parts
  const rows = new Map<string, Row>()
  const put = ({ request }: DecisionInput, row: Row) => void rows.set(request.id, row)
  const early = knowns.map((known) => ({ known, decided: decideEarly(known, options) }))
  const candidates = early.filter(({ decided }) => decided.kind === 'pass').map(({ known }) => known)
  // Calls that may fail precede the first write, because a 503 must not leave half a request. The token precedes the
  // estimates, because a slow token would let estimates expire.
  if (candidates.length > 0) await parts.serviceToken()
  const quotes = await quoteAll(parts, candidates)
  // Reads the token from memory, because an estimate may have found a rotated token.
  const token = candidates.length === 0 ? '' : await parts.serviceToken()

  const refusals: Problem[] = []
  for (const { known, decided } of early) {
    if (decided.kind !== 'refuse') continue
    refusals.push(decided.problem)
    put(known, { update: await execution.refuse(known, decided.problem) })
  }
  const short = refusals.find(({ slug }) => slug === 'over-budget') ?? null
  const how = { isWhole: whenShort === 'refuse' && knowns.length > 1, token, endsAt, put }
  await performInOrder(parts, await admissible(parts, quotes, short, how), how)
  return rows
}

const quoteAll = ({ quotes }: BatchParts, knowns: readonly DecisionInput[]): Promise<QuotedUpdate[]> =>
  inParallel(knowns, runsAtOnce, async (known) => {
    const { request } = known
    return { known, quoted: await aboutUpdate(request, () => quotes.quote(request, namesOf(known))) }
  })

const namesOf = ({ view, request }: DecisionInput) => namesOfProject(view.definitions, request.project)

/** With `isWhole`, it returns no update if an estimate is missing or the sum does not fit. */
async function admissible(
  { execution }: BatchParts,
  quotes: readonly QuotedUpdate[],
  short: Problem | null,
  { isWhole, put }: Pick<InOrder, 'isWhole' | 'put'>,
): Promise<Candidate[]> {
  const priced: Candidate[] = []
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
  for (const { known, quote } of priced) put(known, { update: await execution.refuse(known, refusal, quote) })
  return []
}

async function renewed(
  parts: BatchParts,
  [next, ...later]: readonly [Candidate, ...Candidate[]],
  how: InOrder,
): Promise<Candidate[]> {
  const known = await parts.execution.look(next.known.request)
  return admissible(parts, await quoteAll(parts, [known, ...later.map((each) => each.known)]), null, how)
}

async function performInOrder(parts: BatchParts, priced: readonly Candidate[], how: InOrder): Promise<void> {
  const { execution, log } = parts
  const slots = createSlots(runsAtOnce)
  const running: Promise<void>[] = []
  const waiting: Update[] = []
  const left = [...priced]
  let { token } = how
  for (let next = left.shift(); next; next = left.shift()) {
    const { known, quote } = next
    await slots.take()
    try {
      const admitted = await execution.admit({ ...known, waiting }, quote, how.endsAt)
      if (admitted === 'stale') {
        const again = await renewed(parts, [next, ...(how.isWhole ? left : [])], how)
        token = await parts.serviceToken()
        left.splice(0, how.isWhole ? left.length : 0, ...again)
      } else {
        const { update, ours } = admitted
        if (update.state === 'awaiting-approval') waiting.push(update)
        how.put(known, { update, ...(ours && { ours }) })
        if (ours) {
          running.push(
            execution
              .run(update, token, namesOf(known))
              .then((ended) => how.put(known, { update: ended, ours }))
              // The sweep finds the update as `running`.
              .catch((cause) => log.error('not-settled', { update: update.id, cause }))
              .finally(slots.give),
          )
          continue
        }
      }
    } catch (cause) {
      if (!(cause instanceof LedgerUnavailable || cause instanceof DamagedItem)) {
        // Only this process learns how the sent updates end.
        await Promise.all(running)
        throw cause
      }
      log.error('not-admitted', { update: known.request.id, cause })
      how.put(known, notRecorded(known, cause))
    }
    slots.give()
  }
  await Promise.all(running)
}

/** @param known may be one of several in its request. */
export function notRecorded({ request }: DecisionInput, cause: LedgerUnavailable | DamagedItem): Row {
  const { project, content } = request
  return { project, problem: ledgerProblem(cause, content.count > 1 ? project : undefined) }
}

type Priced = { readonly known: DecisionInput; readonly quote: Quote }

export function allOrNothing(priced: readonly Priced[]): Problem | null {
  const [first] = priced
  if (!first) return null
  const absurd = priced.find(({ quote }) => quote.units > maxUnits)
  if (absurd) return moreThanAnyHas(`The update of ${absurd.known.request.project}`, absurd.quote.units)
  const { view } = first.known
  const short = neededTogether(priced, enforced).filter(({ figures, needed }) => needed > figures.available)
  if (short.length === 0) return null
  const total = priced.reduce((sum, { quote }) => sum + quote.units, 0)
  const subject = priced.length === 1 ? undefined : `these ${priced.length} updates`
  return overBudget(short, total, zoneOf(view), (worst) => needsInWords(worst, first.known.request, subject))
}

/** The units that all updates need of each counter. Reads the first update's view, because the other views may be older. */
export function neededTogether(priced: readonly Priced[], countersIn: typeof enforced) {
  const sums = new Map<string, Need>()
  const view = priced[0]?.known.view
  if (!view) return []
  for (const { known, quote } of priced) {
    const { request } = known
    // The budget was deleted meanwhile. The update's own decision refuses it.
    if (!budgetNamed(view.definitions, request.budget)) continue
    const chain = chainOf(view.definitions, request.budget)
    for (const figures of countersIn(view, countersOf(view, chain, request))) {
      const counter = `${figures.window} ${figures.budget}`
      const before = sums.get(counter)
      const need = neededOf(figures, quote.units, request)
      sums.set(counter, before ? { ...before, needed: before.needed + quote.units } : need)
    }
  }
  return [...sums.values()]
}
