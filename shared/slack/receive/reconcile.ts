import type { Guard } from '../../guard/guard.ts'
import { readAsOf } from '../../guard/people/as-of.ts'
import type { Permissions } from '../../guard/people/permissions.ts'
import { notEntered } from '../../guard/problems.ts'
import { units as inUnits, when, zoneOf } from '../../guard/sentences.ts'
import { nowLastsMs } from '../../ledger/book/reconcile.ts'
import { rootBudget } from '../../ledger/definitions/definitions.ts'
import { type Clock, hourMs } from '../../platform/clock.ts'
import { digest } from '../../platform/ids.ts'
import { inPlace } from '../blocks.ts'
import { reconcileMessage } from '../messages/estimate.ts'
import { doneMessage } from '../messages/help.ts'
import type { SlackEvent } from '../slack-events.ts'
import { callerOf, type EventAnswer, notTheirs, replaceWith, replyWith, whyNotAllowed } from '../tell/answer.ts'
import type { Command } from './command.ts'

type Reconcile = Command & { do: 'reconcile' }
type CommandEvent = SlackEvent & { kind: 'command' }
interface Parts {
  readonly guard: Guard
  readonly clock: Clock
}

const confirmedWithinMs = hourMs

/** Shows the difference and books nothing. */
export async function offerReconciliation(parts: Parts, typed: Reconcile, event: CommandEvent): Promise<EventAnswer> {
  const { clock, guard } = parts
  const { ledger } = guard
  const isLate = clock.now() - event.createdAt > nowLastsMs
  if (typed.asOf === undefined && isLate && event.quotes === undefined) {
    return replyWith(
      'This could not be answered within a minute, and units may have been spent since, so nothing was booked. Please type what the vendor’s screen shows now.',
    )
  }
  const zone = zoneOf(await ledger.view())
  const preview = await ledger.previewEntry(requestOf(typed, event, zone))
  if (preview.kind === 'entered') return replyWith('This was booked already.')
  if (preview.kind !== 'possible') return replyWith(notEntered(preview).detail)
  if (!preview.reconciliation) return replyWith('There is nothing to reconcile here.')
  const message = reconcileMessage({ askId: event.id, parts: preview.reconciliation, zone, reason: typed.reason })
  const { difference } = preview.reconciliation
  // An earlier answer that seemed lost may have arrived, and the difference of its button must still hold.
  const before = event.quotes?.[rootBudget]
  if (before !== undefined && before !== difference)
    return replyWith('The difference has moved while this was being answered. Please type the command again.')
  return { message, ...(before === undefined && { remember: { quotes: { [rootBudget]: difference } } }) }
}

/** Books the difference that the message showed. The id of the command is the key, so a second press books nothing. */
export async function confirmReconciliation(
  { clock, guard }: Parts,
  typed: Reconcile,
  { commandEvent, press, allowed }: { commandEvent: CommandEvent; press: SlackEvent; allowed: Permissions },
): Promise<EventAnswer> {
  const whyNot = whyNotAllowed(allowed, 'admin')
  if (whyNot !== null) return replyWith(whyNot)
  if (commandEvent.user !== press.user) return replyWith(notTheirs)
  const shown = commandEvent.quotes?.[rootBudget]
  if (shown === undefined || clock.now() - commandEvent.createdAt > confirmedWithinMs)
    return replaceWith('This was more than an hour ago. Please type what the vendor’s screen shows now.')
  const zone = zoneOf(await guard.ledger.view())
  const outcome = await guard.reconcile({ ...requestOf(typed, commandEvent, zone), shown }, allowed)
  if (outcome.kind === 'problem') return replaceWith(outcome.problem.detail)
  if (outcome.kind !== 'entered') return replaceWith(`${notEntered(outcome).detail} Please type the command again.`)
  const { units, asOf } = outcome.entry
  const effect = units === 0 ? 'the book agrees' : `booked ${inUnits(Math.abs(units))} ${units > 0 ? 'fewer' : 'more'}`
  const done = `Done: the vendor had ${inUnits(typed.unitsLeft)} left on ${when(asOf ?? commandEvent.createdAt, zone)}; ${effect}. /units shows the figures.`
  return { message: { ...doneMessage(done), ...inPlace } }
}

function requestOf({ unitsLeft, asOf, reason }: Reconcile, event: CommandEvent, zone: string) {
  const at = asOf === undefined ? undefined : readAsOf(asOf, { now: event.createdAt, zone })?.at
  return {
    id: `ent_${digest('slack', event.id)}`,
    content: event.id,
    type: 'reconcile' as const,
    unitsLeft,
    reason,
    budget: rootBudget,
    by: callerOf(event),
    // The message names the doubts that Confirm closes as ran.
    ...(at === undefined ? ({ enteredAt: event.createdAt, doubts: 'ran' } as const) : { asOf: at }),
  }
}
