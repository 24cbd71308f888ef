import type { Finding } from '../ledger/finding.ts'
import type { ServiceAnswer } from '../ledger/update.ts'
import type { Units } from '../platform/words.ts'
import { isUnits, mostUnits } from '../platform/words.ts'
import type { RunResult, StatedUnits, StoredBody } from '../tracking/tracking.ts'
import { problem } from './problems.ts'
import { count, units as inUnits } from './sentences.ts'

/** What the sender makes of the service's answer to `run`, for an update that holds `held` units. */
export function findingOf(result: RunResult, held: Units): Finding {
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

/** Whether an answer can be believed at all; what cannot is charged as held, and an alarm. */
export const isPlausible = (stated: number): stated is Units => isUnits(stated) && stated <= mostUnits

/** The service was never asked: nothing can have been spent. */
export const neverSent = (reason: string): Finding => ({
  kind: 'did-not-run',
  from: 'sender',
  by: 'guard',
  note: reason,
  problem: problem('service-unreachable', `Nothing was sent to the service: ${reason}. The units were given back.`),
})

/**
 * The hold; or what the body states, if read by a configured pointer, or by a well-known name when it is not below
 * the hold. More than the hold is an overrun, and is booked whole.
 */
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
