import { payerOf } from '../../ledger/updates/correctable.ts'
import { isUndelivered } from '../../ledger/updates/delivery.ts'
import { next, type Problem, type Update } from '../../ledger/updates/update.ts'
import { digest } from '../../platform/ids.ts'
import { type Scope, toUnits, type Units } from '../../platform/words.ts'
import { type GuardParts, withParts } from '../options.ts'
import type { Decider } from '../people/approvers.ts'
import { type DecisionOutcome, nameOf, stuck } from '../people/decisions.ts'
import { enter } from '../people/enter.ts'
import { notEntered, refused } from '../problems.ts'
import { units as inUnits } from '../sentences.ts'
import { decideOn, noUpdate } from './approvals.ts'

export const deliveryOutcomes = ['came', 'given-back'] as const
type DeliveryOutcome = (typeof deliveryOutcomes)[number]

export const deliveryScopes: Readonly<Record<DeliveryOutcome, readonly Scope[]>> = {
  came: ['approve'],
  'given-back': ['admin'],
}

interface DeliveryAnswer {
  readonly reason: string
  /** The units that the service gave back. Only for `given-back`. Default: all that were charged. */
  readonly units?: Units | undefined
}

type Parts = Pick<GuardParts, 'ledger' | 'log'>

export const createCloseDelivery = (parts: Parts) => withParts(parts, { closeDelivery })

/** A person says whether data that were paid came in the end, or units came back. */
async function closeDelivery(
  parts: Parts,
  outcome: DeliveryOutcome,
  id: string,
  { caller }: Pick<Decider, 'caller'>,
  { reason, units }: DeliveryAnswer,
): Promise<DecisionOutcome> {
  if (outcome === 'given-back') return giveBack(parts, id, { caller, reason, units })
  return decideOn(parts, id, (update, { now }) => {
    if (!isUndelivered(update)) return notLate(update)
    return next(
      update,
      update.state,
      { delivery: { state: 'came' } },
      { at: now, by: caller, note: `it came: ${reason}` },
    )
  })
}

/** Books a correction of the charge, which also closes the delivery. */
async function giveBack(
  parts: Parts,
  id: string,
  { caller, reason, units: wanted }: DeliveryAnswer & Pick<Decider, 'caller'>,
): Promise<DecisionOutcome> {
  const { ledger } = parts
  const view = await ledger.view([{ id }])
  const update = view.results[0]?.update
  if (!update) return refused(noUpdate(id))
  if (!isUndelivered(update)) return refused(notLate(update))
  const { charged = toUnits(0) } = update
  const units = wanted ?? charged
  if (units > charged) {
    return refused(stuck(update, `${nameOf(update, 'The')} was charged ${inUnits(charged)}, so no more can come back.`))
  }
  const correction = {
    type: 'correction',
    corrects: id,
    units: charged - units,
    budget: payerOf(update, view),
  } as const
  // A repeated answer is the same entry.
  const entry = `ent_${digest('given-back', id, String(update.version))}`
  const content = digest(JSON.stringify(correction))
  const request = { ...correction, id: entry, content, reason: `given back: ${reason}`, by: caller }
  const outcome = await enter(parts, request)
  if (outcome.kind !== 'entered') return refused(notEntered(outcome))
  const closed = await ledger.update(id)
  return closed ? { kind: 'done', update: closed } : refused(noUpdate(id))
}

const found = {
  late: 'its data are not late',
  came: 'its data came already',
  'given-back': 'its units came back already',
} as const

function notLate(update: Update): Problem {
  return stuck(
    update,
    `The delivery of ${nameOf(update)} cannot be closed: ${found[update.delivery?.state ?? 'late']}.`,
  )
}
