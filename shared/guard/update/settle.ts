import { budgetNamed } from '../../ledger/book/definitions.ts'
import type { RunOutcome } from '../../ledger/book/outcome.ts'
import type { SettleOutcome } from '../../ledger/book/settle.ts'
import type { ServiceAnswer, Update } from '../../ledger/updates/update.ts'
import { aboutUpdate } from '../../platform/log.ts'
import { isUnits, maxUnits, type Units } from '../../platform/words.ts'
import type { RunResult, StatedUnits, StoredBody } from '../../tracking/tracking.ts'
import type { GuardParts } from '../options.ts'
import { problem } from '../problems.ts'
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

export function runOutcomeOf(result: RunResult, held: Units): RunOutcome {
  const said = { from: 'sender', by: 'service' } as const
  if (result.kind === 'ran') {
    const { units, note } = charge(result.stated, held)
    return { kind: 'ran', units, ...said, note, service: toAnswer(result.answer) }
  }
  const seen = { ...said, note: result.reason, ...(result.answer && { service: toAnswer(result.answer) }) }
  if (result.kind === 'unknown') return { kind: 'unknown', ...seen }
  return { kind: 'did-not-run', ...seen, problem: refusalOf(result.status, result.reason) }
}

export const isPlausible = (stated: number): stated is Units => isUnits(stated) && stated <= maxUnits

export const neverSent = (reason: string): RunOutcome => ({
  kind: 'did-not-run',
  from: 'sender',
  by: 'guard',
  note: reason,
  problem: problem('service-unreachable', `Nothing was sent to the service: ${reason}. The units were given back.`),
})

/** Charges the hold, unless the answer states more, or a configured pointer names the units. */
function charge(stated: StatedUnits | null, held: Units): { units: Units; note: string } {
  const asHeld = (states: string) => {
    const note = `ran; the answer states ${states}, so the ${inUnits(held)} held were charged`
    return { units: held, note }
  }
  if (!stated) return asHeld('no units')
  const { units, source, byPointer } = stated
  if (!isPlausible(units)) return asHeld(`${units} at ${source}, which is not a possible number`)
  if (units < held && !byPointer)
    return asHeld(`only ${count(units)} at ${source}, which is not configured to be believed`)
  const over = `${count(units)} at ${source}, ${count(units - held)} more than were held`
  return { units, note: `ran; the answer states ${units > held ? over : `${inUnits(units)} at ${source}`}` }
}

function refusalOf(status: number | null, reason: string) {
  const [slug, what] =
    status === null
      ? (['service-unreachable', 'The service could not be reached, so the update'] as const)
      : (['service-refused', `The service refused the update with status ${status}, so it`] as const)
  const detail = `${what} provably did not run: ${reason}. The units were given back.`
  return problem(slug, detail, { serviceStatus: status })
}

const toAnswer = ({ status, contentType, body, truncated }: StoredBody): ServiceAnswer => ({
  status,
  contentType,
  body,
  truncated,
})
