import type { Finding } from '../ledger/finding.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { Contention, LedgerUnavailable } from '../ledger/store.ts'
import type { Hold, Problem, Request, Update } from '../ledger/update.ts'
import type { AskedView, View } from '../ledger/views.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Tracking } from '../tracking/tracking.ts'
import type { Closing } from './closing.ts'
import { decide, type Known, type Quote } from './decide.ts'
import { findingOf, isPlausible, neverSent } from './findings.ts'
import { estimateLastsMs, type GuardOptions, maxDecisionPauseMs, minRunMs, settleMarginMs } from './options.ts'
import type { Plan } from './plan.ts'
import { type TimedQuote, targetOfRequest } from './quoting.ts'
import { awaitingRecord, refusedRecord, requestedRecord, runningRecord } from './records.ts'
import { holdFields, runFields } from './run-lines.ts'

export interface PerformingParts {
  readonly ledger: Ledger
  readonly tracking: Tracking
  readonly closing: Closing
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly options: GuardOptions
  /** As their file is now: what a plan may charge is looked up at each decision. */
  readonly plans: () => Promise<readonly Plan[]>
}

interface Admitted {
  readonly update: Update
  /** This process created the fence: it, and nobody else, may run the update. */
  readonly ours: boolean
}

export type Performing = ReturnType<typeof createPerforming>

/** One update, from a known estimate to its end: decide, hold and fence, run, settle. */
export function createPerforming(parts: PerformingParts) {
  const { ledger, tracking, closing, clock, ids, log, options } = parts
  const passed = new WeakSet<Hold>()

  /** Whether an update can still be run, and its outcome written down, before this process ends. */
  const hasTime = (endsAt: number) => clock.now() + options.serviceTimeoutMs + settleMarginMs <= endsAt

  /** A hold that comes later leaves `run` too little of its deadline, which begins with the decision to hold. */
  const holdUntil = ({ now }: View) => now + options.serviceTimeoutMs / 4

  async function look(request: Request): Promise<Known> {
    const plans = request.plan === undefined ? [] : await parts.plans()
    const plan = plans.find(({ name }) => name === request.plan)
    const view = await ledger.view([askFor(request)])
    return { view, asked: onlyOf(view), request, ...(plan && { plan }) }
  }

  /**
   * Decides with what is known, writes the decision down, and decides again when what it was made on has moved. What
   * comes back is the record as it now is, whoever wrote it; `stale`: nothing was written, and the estimate is too old.
   * Others can move it again and again: it is decided until the time is over, never only so many times.
   *
   * @throws Contention when the time is over; nothing was written.
   */
  async function admit(first: Known, quote: TimedQuote, endsAt: number): Promise<Admitted | 'stale'> {
    const attempt = ids.random()
    for (let round = 0; ; round++) {
      const now = round === 0 ? await bringUpToNow(first) : await lookAgain(first.request, round)
      const known = { ...first, ...now }
      const seen = known.asked.update
      if (seen && seen.state !== 'requested') return { update: seen, ours: false }
      if (round > 1 && !hasTime(endsAt)) throw new Contention(`gave up on ${first.request.id} after ${round} decisions`)
      const decision = decide(known, quote, options)
      // A refusal gives numbers, so it is made on numbers of now, not of before the estimate.
      if (decision.say === 'refuse' && round === 0) continue
      if (decision.say !== 'hold') {
        const update =
          decision.say === 'ask'
            ? awaitingRecord({ ...known, quote }, decision.reason, decision.short)
            : refusedRecord({ ...known, quote }, decision.problem)
        if ((await ledger.record(update, seen)) === 'recorded') return { update, ours: false }
        continue
      }
      if (!hasTime(endsAt)) return { update: await queue(known), ours: false }
      const quoteUntil = quote.at + estimateLastsMs
      if (clock.now() > quoteUntil) return 'stale'
      const { counters, owners, grants } = decision
      const update = runningRecord({ ...known, quote }, { counters, owners, grants, attempt, endsAt, options })
      const basis = { update: seen, works: known.asked.works, runs: decision.runs }
      const until = Math.min(quoteUntil, holdUntil(known.view))
      if ((await ledger.hold(known.view, basis, update, until)) === 'held') return { update, ours: true }
    }
  }

  /** The estimate took its time: what was read before it still counts, unless a window has turned meanwhile. */
  async function bringUpToNow(known: Known): Promise<Known> {
    const now = clock.now()
    const { view } = known
    if (now >= Math.min(view.month.end, view.day.end)) return look(known.request)
    return { ...known, view: { ...view, now } }
  }

  async function lookAgain(request: Request, round: number): Promise<Known> {
    // Whatever moved it is done by now: the second decision need not wait.
    if (round > 1) await clock.sleep(ids.fraction() * Math.min(maxDecisionPauseMs, 10 * 2 ** (round - 2)))
    return look(request)
  }

  const refuse = (known: Known, problem: Problem, quote?: Quote): Promise<Update> =>
    keep(known, refusedRecord({ ...known, ...(quote && { quote }) }, problem))

  const queue = async (known: Known, note?: string): Promise<Update> =>
    known.asked.update ?? keep(known, requestedRecord(known, note))

  /** Writes a record, or finds what somebody else has written under the same id. */
  async function keep({ asked }: Known, update: Update): Promise<Update> {
    if ((await ledger.record(update, asked.update)) === 'recorded') return update
    const found = await ledger.update(update.id)
    if (!found) throw new LedgerUnavailable(`the record ${update.id} was neither written nor found`)
    return found
  }

  /**
   * ```
   * fence ─► run ─► settle, release or doubt
   *   └─ whatever stops in here leaves the update running: the sweep puts it in doubt, and it is never sent again
   * ```
   */
  async function run(held: Update, token: string): Promise<Update> {
    const { hold } = held
    if (!hold || passed.has(hold)) throw new Error(`the fence of ${held.id} is not open`)
    passed.add(hold)
    // A clock that was set back since the hold does not make it longer.
    const from = clock.now()
    const timeoutMs = Math.min(options.serviceTimeoutMs, hold.at + options.serviceTimeoutMs - from)
    const hasTimeToRun = timeoutMs >= Math.min(minRunMs, options.serviceTimeoutMs / 2)
    // Before it is sent: a ledger restored to before the hold has nothing but this line to say that it may have run.
    if (hasTimeToRun) log.info('hold', { ...holdFields(held, hold) })
    const result = hasTimeToRun ? await tracking.run(targetOfRequest(held), { timeoutMs, token }) : null
    const finding = result ? findingOf(result, hold.units) : neverSent('the hold left too little time for it')
    if (result?.kind === 'ran' && result.stated && !isPlausible(result.stated.units)) {
      log.error('impossible-units', { update: held.id, stated: result.stated.units, source: result.stated.source })
    }
    log.info('run', { ...runFields(held, hold, { finding, result, ms: clock.now() - from }) })
    return settle(held, finding)
  }

  /** Where the ledger does not take it in time, the update stays `running`, which is what the caller is told. */
  async function settle(held: Update, finding: Finding): Promise<Update> {
    const giveUpAt = clock.now() + settleMarginMs
    for (;;) {
      try {
        return (await closing.close(held, finding)).update
      } catch (cause) {
        log.error('not-settled', { update: held.id, cause })
        if (!(cause instanceof LedgerUnavailable) || clock.now() >= giveUpAt) return held
        await clock.sleep(settleAgainAfterMs)
      }
    }
  }

  return { look, admit, refuse, queue, run }
}

const settleAgainAfterMs = 500

const askFor = (request: Request) => ({
  id: request.id,
  work: { kind: request.kind, project: request.project },
})

function onlyOf(view: View): AskedView {
  const [asked] = view.asked
  if (!asked) throw new Error('a view of one thing shows one thing')
  return asked
}
