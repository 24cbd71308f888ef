import type { View } from '../../ledger/book/view.ts'
import { pauseOf, type Stop } from '../../ledger/definitions/definitions.ts'
import { dayMs } from '../../platform/clock.ts'
import { type PlannedParts, withParts } from '../options.ts'
import type { Plan } from '../plans-file.ts'
import { timesOf } from '../schedule.ts'
import { zoneOf } from '../sentences.ts'
import { payersOf } from './payers.ts'
import { lastOf } from './player.ts'
import type { Occurrence } from './stored-occurrence.ts'

export interface PlanStatus {
  readonly plan: Plan
  readonly paused: Stop | null
  /** `null`: never, or unknown, because only AWS knows when the rule of a rate began. */
  readonly next: number | null
  readonly last: Occurrence | null
}

/** A leap day may be years away. */
const lookedAheadMs = 9 * 366 * dayMs

export const createPlanStatuses = (parts: PlannedParts) => withParts(parts, { planStatuses, budgetsOf })

async function planStatuses(
  parts: PlannedParts,
  given?: Promise<View>,
): Promise<{ readonly plans: readonly PlanStatus[]; readonly zone: string }> {
  const { ledger, plans } = parts
  const [view, ...lasts] = await Promise.all([given ?? ledger.view(), ...plans.map((plan) => lastOf(parts, plan))])
  const rows = plans.map((plan, index): PlanStatus => {
    const last = lasts[index] ?? null
    const paused = pauseOf(view.definitions, plan.name) ?? null
    return { plan, paused, last, next: plan.enabled ? nextOf(plan, last?.time ?? null, view.now) : null }
  })
  return { plans: rows, zone: zoneOf(view) }
}

async function budgetsOf({ ledger, plans }: PlannedParts, name: string): Promise<readonly string[]> {
  const { definitions } = await ledger.view()
  const plan = plans.find((each) => each.name === name)
  return plan ? payersOf(definitions, plan) : []
}

export function nextOf({ schedule }: Plan, last: number | null, now: number): number | null {
  if (schedule.kind === 'rate' && last === null) return null
  return timesOf(schedule, { from: now, until: now + lookedAheadMs, max: 1, anchor: last ?? 0 })[0] ?? null
}
