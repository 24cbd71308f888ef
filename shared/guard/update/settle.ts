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
  switch (result.kind) {
    case 'ran': {
      const { units, note } = charge(result.stated, held)
      return { kind: 'ran', units, ...said, note, service: toAnswer(result.answer) }
    }
    case 'did-not-run': {
      const service = result.answer ? { service: toAnswer(result.answer) } : {}
      return {
        kind: 'did-not-run',
        ...said,
        note: result.reason,
        problem: refusalOf(result.status, result.reason),
        ...service,
      }
    }
    case 'unknown': {
      const service = result.answer ? { service: toAnswer(result.answer) } : {}
      return { kind: 'unknown', ...said, note: result.reason, ...service }
    }
  }
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
  if (!stated)
    return { units: held, note: `ran; the answer states no units, so the ${inUnits(held)} held were charged` }
  const { units, source } = stated
  if (!isPlausible(units))
    return {
      units: held,
      note: `ran; the answer states ${units} at ${source}, which cannot be, so the ${inUnits(held)} held were charged`,
    }
  if (units > held)
    return {
      units,
      note: `ran; the answer states ${count(units)} at ${source}, ${count(units - held)} more than were held`,
    }
  if (units < held && !stated.byPointer)
    return {
      units: held,
      note: `ran; the answer states only ${count(units)} at ${source}, which is not configured to be believed, so the ${inUnits(held)} held were charged`,
    }
  return { units, note: `ran; the answer states ${inUnits(units)} at ${source}` }
}

function refusalOf(status: number | null, reason: string) {
  if (status === null)
    return problem(
      'service-unreachable',
      `The service could not be reached, so the update provably did not run: ${reason}. The units were given back.`,
      { serviceStatus: null },
    )
  return problem(
    'service-refused',
    `The service refused the update with status ${status}, so it provably did not run: ${reason}. The units were given back.`,
    { serviceStatus: status },
  )
}

const toAnswer = ({ status, contentType, body, truncated }: StoredBody): ServiceAnswer => ({
  status,
  contentType,
  body,
  truncated,
})
