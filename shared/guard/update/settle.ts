import type { RunOutcome } from '../../ledger/book/outcome.ts'
import type { SettleOutcome } from '../../ledger/book/settle.ts'
import { budgetNamed } from '../../ledger/definitions/definitions.ts'
import type { ServiceAnswer, Update } from '../../ledger/updates/update.ts'
import { aboutUpdate } from '../../platform/log.ts'
import { isUnits, maxUnits, type Units } from '../../platform/words.ts'
import type { RunResult, StatedUnits, StoredBody } from '../../tracking/tracking.ts'
import type { GuardParts } from '../options.ts'
import { problem, retryAfter, waitFor } from '../problems.ts'
import { count, units as inUnits } from '../sentences.ts'

type SettleParts = Pick<GuardParts, 'ledger' | 'log'>

export const settle = (parts: SettleParts, update: Update, outcome: RunOutcome): Promise<SettleOutcome> =>
  aboutUpdate(update, () => settleAndLog(parts, update, outcome))

async function settleAndLog(parts: SettleParts, update: Update, outcome: RunOutcome): Promise<SettleOutcome> {
  const { ledger, log } = parts
  const settled = await ledger.settle(update, outcome)
  const { state, charged, overrun, corrected, closedBy } = settled.update
  const seen = { update: update.id, state, found: outcome.kind }
  if (!settled.changed) log.info('nothing-to-close', seen)
  else if (corrected) log.error('late-correction', { ...seen, closedBy, charged })
  else if (state === 'in-doubt') log.error('in-doubt', { ...seen, note: outcome.note })
  else if (outcome.from !== 'sender') log.info('closed', { ...seen, closedBy, by: outcome.by, charged })
  // An earlier attempt may have booked the outcome and lost the answer.
  const isBooked = settled.changed || saysWhatIsCharged(outcome, settled.update)
  if (isBooked && overrun !== undefined) await afterOverrun(parts, settled.update, overrun)
  return settled
}

async function afterOverrun({ ledger, log }: SettleParts, update: Update, overrun: number): Promise<void> {
  log.error('overrun', { update: update.id, held: update.hold?.units, charged: update.charged, overrun })
  const reason = `${update.id} cost ${count(overrun)} more than were held`
  const { budgets = [], owners = [] } = update.hold ?? {}
  for (const name of [...owners, ...budgets]) {
    try {
      await ledger.change('guard', ({ definitions, now }) => {
        const budget = budgetNamed(definitions, name)
        if (!budget?.freezeOnOverrun || budget.frozen) return { refused: 'nothing to freeze' }
        const frozen = { ...budget, frozen: { reason, by: 'guard', at: now } }
        return {
          definitions: { ...definitions, budgets: { ...definitions.budgets, [name]: frozen } },
          note: { type: 'freeze', budget: name, reason },
        }
      })
    } catch (cause) {
      log.error('not-frozen', { budget: name, cause })
    }
  }
}

const saysWhatIsCharged = (outcome: RunOutcome, { charged }: Update): boolean =>
  outcome.kind === 'ran' && outcome.from === 'sender' && outcome.units === charged

export interface ChargeRules {
  readonly held: Units
  /** Whether a configured place may state a cost of 0. */
  readonly isZeroFree?: boolean | undefined
  /** The setting that names the place of the cost in a run's answer. */
  readonly runPointer: string
}

export function runOutcomeOf(result: RunResult, rules: ChargeRules): RunOutcome {
  const said = { from: 'sender', by: 'service' } as const
  if (result.kind === 'ran') {
    const { units, note } = charge(result.stated, rules)
    const ran = result.isSilent ? 'the answer does not say that it ran, so it counts as run' : 'ran'
    return { kind: 'ran', units, ...said, note: `${ran}; ${note}`, service: toAnswer(result.answer) }
  }
  const { reason } = result
  const service = result.answer && { service: toAnswer(result.answer) }
  if (result.kind === 'did-not-run') {
    return { kind: 'did-not-run', ...said, note: reason, ...service, problem: refusalOf(result) }
  }
  if (!result.sign) return { kind: 'unknown', ...said, note: reason, ...service }
  return { kind: 'unknown', ...said, note: `${reason}. ${howToDecide}`, ...service, sign: result.sign.text }
}

const howToDecide = 'If the update ran, say so here; the settings that decide such answers: npm run doctor.'

export const isPlausible = (stated: number): stated is Units => isUnits(stated) && stated <= maxUnits

export const neverSent = (reason: string): RunOutcome => ({
  kind: 'did-not-run',
  from: 'sender',
  by: 'guard',
  note: reason,
  problem: problem('service-unreachable', `Nothing was sent to the service: ${reason}. The units were given back.`),
})

/** A higher figure is more likely a balance. */
const maxGrowth = 10

/** Charges the hold, unless a configured place states the cost, or the estimate's own place states somewhat more. */
function charge(stated: StatedUnits | null, rules: ChargeRules): { units: Units; note: string } {
  const { held } = rules
  if (!stated) return { units: held, note: `the answer states no units, so the ${inUnits(held)} held were charged` }
  const { units, source } = stated
  // Short, because a record above 1 KB costs two write units more.
  if (units === held) return { units: held, note: `it cost ${inUnits(held)}` }
  if (isPlausible(units) && isCost(stated, rules)) {
    const more = units > held ? `, ${count(units - held)} more than were held` : ''
    return { units, note: `the answer states ${inUnits(units)} at ${source}${more}` }
  }
  return { units: held, note: `the ${inUnits(held)} held were charged. ${unread(stated, rules)}` }
}

function isCost({ units, by }: StatedUnits, { held, isZeroFree = false }: ChargeRules): boolean {
  if (by === 'pointer') return units > 0 || isZeroFree
  return by === 'estimate' && units > held && units <= held * maxGrowth
}

/** Why a figure that a run's answer states is not the cost, as a clause after its place. */
export function unreadReason({ units, by }: Pick<StatedUnits, 'units' | 'by'>, held: number): string {
  if (by !== 'estimate') return 'which is not read'
  const far = units < held ? 'below the hold' : 'above ten times the hold'
  return `where a figure ${far} is not read`
}

function unread(stated: StatedUnits, { held, runPointer }: ChargeRules): string {
  const { units, source, by } = stated
  const states = `The answer also states ${count(units)} at ${source}`
  if (by !== 'pointer')
    return `${states}, ${unreadReason(stated, held)}; if it is the cost, set ${runPointer}=${source}.`
  return units === 0 ? `${states}, which is a cost only with ZERO_PRICE=free.` : `${states}, which is no possible cost.`
}

function refusalOf({ status, reason, retryAfterMs }: Extract<RunResult, { kind: 'did-not-run' }>) {
  const [slug, what] =
    status === null
      ? (['service-unreachable', 'The service could not be reached, so the update'] as const)
      : (['service-refused', `The service refused the update${refusedHow(status)}, so it`] as const)
  const wait = retryAfterMs === undefined ? '' : ` ${waitFor(retryAfterMs)}`
  const detail = `${what} provably did not run: ${reason}. The units were given back.${wait}`
  return problem(slug, detail, { serviceStatus: status, ...retryAfter(retryAfterMs) })
}

/** A 2xx is a refusal only because a setting says so, and the reason names that setting. */
const refusedHow = (status: number): string => (status < 300 ? '' : ` with status ${status}`)

function toAnswer({ status, contentType, body, truncated, age }: StoredBody): ServiceAnswer {
  const answer = { status, contentType, body, truncated }
  return age === undefined ? answer : { ...answer, age }
}
