import type { RunOutcome } from '../../ledger/book/outcome.ts'
import type { View } from '../../ledger/book/view.ts'
import { Contention, ifUnavailable, LedgerUnavailable } from '../../ledger/errors.ts'
import { WrongLedger } from '../../ledger/identity.ts'
import type { Hold, Problem, Update, UpdateRequest } from '../../ledger/updates/update.ts'
import { toRfc3339 } from '../../platform/clock.ts'
import { noteCount } from '../../platform/log.ts'
import { productKinds } from '../../tracking/kinds.ts'
import type { RunResult } from '../../tracking/tracking.ts'
import type { HoldFields, RunFields } from '../log-lines.ts'
import {
  estimateLastsMs,
  type GuardParts,
  hasTime,
  maxDecisionPauseMs,
  minRunMs,
  settleMarginMs,
  withParts,
} from '../options.ts'
import { noApproverClause } from '../people/approvers.ts'
import { type Decision, decide } from './decide.ts'
import { type DecisionInput, type Quote, resultAt, type TimedQuote, targetOfRequest } from './quote.ts'
import { awaitingRecord, refusedRecord, requestedRecord, runningRecord } from './records.ts'
import { isPlausible, neverSent, runOutcomeOf, settle } from './settle.ts'
import { createUnreadFigures, type UnreadFigures } from './unread-figures.ts'
import { replacedBy, sameWorkWaiting } from './waiting-work.ts'

type ExecutionParts = Pick<
  GuardParts,
  'ledger' | 'tracking' | 'clock' | 'ids' | 'log' | 'options' | 'plans' | 'mapToken' | 'kinds'
>

interface Admission {
  readonly update: Update
  /** This process made the fence, so no other may run the update. */
  readonly ours: boolean
}

export type Execution = ReturnType<typeof createExecution>

export function createExecution(parts: ExecutionParts) {
  // One-shot latch: never runs a hold twice.
  const passed = new WeakSet<Hold>()
  const unreadFigures = createUnreadFigures(parts)
  return {
    ...withParts(parts, { look, admit, refuse, queue }),
    run: (held: Update, token: string, names: readonly string[] = []) =>
      run(parts, { passed, unreadFigures }, held, { token, names }),
  }
}

const mayBegin = (parts: ExecutionParts, endsAt: number) =>
  hasTime(parts, endsAt, parts.options.serviceTimeoutMs + settleMarginMs)

/** The latest time for a hold. A later hold leaves `run` too little time. */
const holdUntil = ({ options }: ExecutionParts, { now }: View) => now + options.serviceTimeoutMs / 4

async function look(parts: ExecutionParts, request: UpdateRequest): Promise<DecisionInput> {
  // Reads the plans file for each decision, because the file says what a plan may charge.
  const plan = request.plan === undefined ? null : (await parts.plans()).find(({ name }) => name === request.plan)
  const token = request.token?.issuer ? ((await parts.mapToken?.(request.token)) ?? null) : undefined
  const { id, kind, project } = request
  const view = await parts.ledger.view([{ id, work: { kind, project } }])
  return { view, asked: resultAt(view, 0), request, ...(token !== undefined && { token }), ...(plan && { plan }) }
}

/**
 * Decides, and decides again if another write changed what the decision read. `stale`: the estimate is too old.
 * @throws Contention when the time is over; nothing was written.
 */
async function admit(
  parts: ExecutionParts,
  first: DecisionInput,
  quote: TimedQuote,
  endsAt: number,
): Promise<Admission | 'stale'> {
  const { ids, options, ledger, clock } = parts
  const attempt = ids.random()
  for (let round = 0; ; round++) {
    const now = round === 0 ? await bringUpToNow(parts, first) : await lookAgain(parts, first.request, round)
    const known = { ...first, ...now }
    const taken = takenUnder(known)
    if (taken) return { update: taken, ours: false }
    const seen = known.asked.update
    if (round > 1 && !mayBegin(parts, endsAt))
      throw new Contention(`gave up on ${first.request.id} after ${round} decisions`)
    const decision = decide(known, quote, options)
    // A refusal's numbers must be read after the estimate.
    if (decision.kind === 'refuse' && round === 0) continue
    if (decision.kind !== 'hold') {
      const { update, replaces } =
        decision.kind === 'ask'
          ? await askedRecord(parts, { ...known, quote }, decision)
          : { update: refusedRecord({ ...known, quote }, decision.problem), replaces: [] }
      if ((await ledger.record(update, seen)) !== 'recorded') continue
      for (const each of replaces)
        await ledger.record(replacedBy(each, update, known.view.now), each).catch(ifUnavailable(null))
      return { update, ours: false }
    }
    if (!mayBegin(parts, endsAt)) return { update: await queue(parts, known), ours: false }
    const quoteUntil = quote.at + estimateLastsMs
    if (clock.now() > quoteUntil) return 'stale'
    const update = runningRecord({ ...known, quote }, { ...decision, attempt, endsAt, options })
    const basis = { update: seen, works: known.asked.works, runs: decision.runs }
    const until = Math.min(quoteUntil, holdUntil(parts, known.view))
    if ((await ledger.hold(known.view, basis, update, until)) === 'held') return { update, ours: true }
  }
}

async function askedRecord(
  { ledger }: ExecutionParts,
  known: DecisionInput & { readonly quote: Quote },
  { reason, short }: Extract<Decision, { kind: 'ask' }>,
): Promise<{ readonly update: Update; readonly replaces: readonly Update[] }> {
  const [same] = await sameWorkWaiting(ledger, [known])
  const { problem = null, replaces = [], clauses = [] } = same ?? {}
  if (problem) return { update: refusedRecord(known, problem), replaces: [] }
  const { view, request } = known
  const no = noApproverClause(view.definitions, { ...request, short }, 'recorded')
  const note = [reason, ...clauses, ...(no === null ? [] : [no])].join('; ')
  return { update: awaitingRecord(known, note, short), replaces }
}

/** Keeps the reading from before the estimate, unless a new day or month has begun. */
async function bringUpToNow(parts: ExecutionParts, known: DecisionInput): Promise<DecisionInput> {
  const now = parts.clock.now()
  const { view } = known
  if (now >= Math.min(view.month.end, view.day.end)) return look(parts, known.request)
  return { ...known, view: { ...view, now } }
}

async function lookAgain(parts: ExecutionParts, request: UpdateRequest, round: number): Promise<DecisionInput> {
  const { clock, ids } = parts
  // The first retry does not wait, because the other write is done.
  if (round > 1) await clock.sleep(ids.fraction() * Math.min(maxDecisionPauseMs, 10 * 2 ** (round - 2)))
  return look(parts, request)
}

const refuse = async (parts: ExecutionParts, known: DecisionInput, problem: Problem, quote?: Quote): Promise<Update> =>
  takenUnder(known) ?? keep(parts, known, refusedRecord({ ...known, ...(quote && { quote }) }, problem))

const queue = async (parts: ExecutionParts, known: DecisionInput, note?: string): Promise<Update> =>
  known.asked.update ?? keep(parts, known, requestedRecord(known, note))

async function keep({ ledger }: ExecutionParts, { asked }: DecisionInput, update: Update): Promise<Update> {
  if ((await ledger.record(update, asked.update)) === 'recorded') return update
  const found = await ledger.update(update.id)
  if (!found) throw new LedgerUnavailable(`the record ${update.id} was neither written nor found`)
  return found
}

/** If the process stops here, the update stays `running`. The sweep moves it to doubt and never sends it. */
async function run(
  parts: ExecutionParts,
  { passed, unreadFigures }: { passed: WeakSet<Hold>; unreadFigures: UnreadFigures },
  held: Update,
  { token, names }: { token: string; names: readonly string[] },
): Promise<Update> {
  const { clock, options, log, tracking, kinds = productKinds } = parts
  const { hold } = held
  if (!hold || passed.has(hold)) throw new Error(`the fence of ${held.id} is not open`)
  passed.add(hold)
  // A clock that was set back does not extend the hold.
  const from = clock.now()
  const timeoutMs = Math.min(options.serviceTimeoutMs, hold.at + options.serviceTimeoutMs - from)
  const hasTimeToRun = timeoutMs >= Math.min(minRunMs, options.serviceTimeoutMs / 2)
  // If a restore goes back to before the hold, only this line says that the update may have run.
  if (hasTimeToRun) log.info('hold', { ...holdFields(held, hold) })
  const sent = { timeoutMs, token, place: hold.place }
  const result = hasTimeToRun ? await tracking.run(targetOfRequest(held, names), sent) : null
  const { runPointer } = kinds[held.kind].settings
  const rules = { held: hold.units, isZeroFree: options.isZeroFree, runPointer }
  const outcome = result ? runOutcomeOf(result, rules) : neverSent('the hold left too little time for it')
  const stated = result?.kind === 'ran' ? result.stated : null
  if (stated && stated.by !== 'none' && !isPlausible(stated.units)) {
    log.error('impossible-units', { update: held.id, stated: stated.units, source: stated.source })
  }
  const ms = clock.now() - from
  if (result) noteCount('RunMs', ms)
  log.info('run', { ...runFields(held, hold, { outcome, result, ms }) })
  const settled = await settleInTime(parts, held, outcome)
  if (result) await unreadFigures.note(settled, outcome, result)
  return settled
}

async function settleInTime(parts: ExecutionParts, held: Update, outcome: RunOutcome): Promise<Update> {
  const { clock, log } = parts
  const giveUpAt = clock.now() + settleMarginMs
  for (;;) {
    try {
      return (await settle(parts, held, outcome)).update
    } catch (cause) {
      log.error('not-settled', { update: held.id, cause })
      const mayPass = cause instanceof LedgerUnavailable && !(cause instanceof WrongLedger)
      if (!mayPass || clock.now() >= giveUpAt) return held
      await clock.sleep(settleAgainAfterMs)
    }
  }
}

const settleAgainAfterMs = 500

/** The stored record, if it is decided already or has other content. */
function takenUnder({ asked: { update }, request }: DecisionInput): Update | null {
  const isOurs = update?.state === 'requested' && update.content.digest === request.content.digest
  return isOurs ? null : update
}

const holdFields = ({ id, kind, project, budget, month, caller, via, plan }: Update, hold: Hold): HoldFields => ({
  update: id,
  kind,
  project,
  budget,
  budgets: hold.budgets,
  owners: hold.owners,
  month,
  day: hold.day,
  caller,
  via,
  plan,
  held: hold.units,
  heldAt: toRfc3339(hold.at),
  grants: hold.grants,
})

const runFields = (
  update: Update,
  hold: Hold,
  { outcome, result, ms }: { outcome: RunOutcome; result: RunResult | null; ms: number },
): RunFields => ({
  ...holdFields(update, hold),
  found: outcome.kind,
  charged: outcome.kind === 'ran' ? outcome.units : outcome.kind === 'did-not-run' ? 0 : null,
  stated: result?.kind === 'ran' ? result.stated?.units : undefined,
  status: (result?.kind === 'ran' ? result.answer.status : result?.status) ?? undefined,
  note: outcome.note,
  ms,
})
