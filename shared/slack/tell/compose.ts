import type { Guard } from '../../guard/guard.ts'
import type { GuardOptions } from '../../guard/options.ts'
import { zoneOf } from '../../guard/sentences.ts'
import { inFlightUntil } from '../../guard/update/duplicate-work.ts'
import { ownerPaidFor } from '../../guard/update/projects.ts'
import { frozenAbove } from '../../ledger/book/definitions.ts'
import type { About, SlackEvent } from '../../ledger/updates/tasks.ts'
import { isTerminal, type Update } from '../../ledger/updates/update.ts'
import { assertNever } from '../../platform/words.ts'
import type { Message } from '../blocks.ts'
import {
  foreignDataMessage,
  frozenMessage,
  occurrenceMessage,
  pausedMessage,
  refusalsMessage,
  thresholdMessage,
  tokenExpiresMessage,
  willRunOutMessage,
} from '../messages/announcements.ts'
import { approvalMessage, correctionMessage, doubtMessage, overrunMessage } from '../messages/decisions.ts'
import { digestMessage } from '../messages/figures.ts'
import { outcomeMessage, pressedMessage } from '../messages/updates.ts'
import { callerOf } from '../receive/answer.ts'

export interface Outcome {
  readonly message: Message
  readonly updates: readonly Update[]
}

export interface ComposerParts {
  guard: Guard
  options: GuardOptions
}

/** Composes messages from the current state; `null` if there is no longer anything to announce. */
export const createComposer = (parts: ComposerParts) => ({
  compose: (about: Exclude<About, { kind: 'outcome' }>) => compose(parts, about),
  outcome: (event: SlackEvent) => outcome(parts, event),
})

async function zone({ guard: { ledger } }: ComposerParts) {
  return zoneOf(await ledger.view())
}

async function compose(parts: ComposerParts, about: Exclude<About, { kind: 'outcome' }>): Promise<Message | null> {
  const { options, guard } = parts
  const { ledger } = guard
  switch (about.kind) {
    case 'approval-wanted':
    case 'approval-reminder': {
      const update = await ledger.update(about.update)
      if (update?.state !== 'awaiting-approval') return null
      const isReminder = about.kind === 'approval-reminder'
      const view = await ledger.view()
      return approvalMessage({
        update,
        owner: ownerPaidFor(view.definitions, update),
        until: update.approvableUntil ?? update.createdAt,
        isReminder,
        zone: zoneOf(view),
      })
    }
    case 'in-doubt': {
      const update = await ledger.update(about.update)
      if (update?.state !== 'in-doubt') return null
      return doubtMessage({ update, didNotRunFrom: inFlightUntil(update, options), zone: await zone(parts) })
    }
    case 'overrun':
    case 'correction': {
      const update = await ledger.update(about.update)
      if (!update) return null
      return about.kind === 'overrun' ? overrunMessage(update) : correctionMessage(update)
    }
    case 'occurrence': {
      const occurrence = await ledger.occurrences.get(about.occurrence)
      if (!occurrence || occurrence.state === 'running') return null
      const { report } = await guard.background()
      const { counts, unitsCharged, refusals } = await report(occurrence)
      const { plan, time, state, reason } = occurrence
      return occurrenceMessage({
        ...{ plan, time, state, unitsCharged, zone: await zone(parts) },
        counts: { ...counts, unsent: counts.unsent + counts.expired },
        // The message of a missed occurrence already gives the reason.
        ...(reason !== undefined && state !== 'missed' && { reason }),
        refusals: refusals.map(({ project, problem }) => ({ project, detail: problem.detail })),
      })
    }
    case 'threshold':
      return thresholdMessage({ ...about, zone: await zone(parts) })
    case 'will-run-out':
      return willRunOutMessage({ ...about, zone: await zone(parts) })
    case 'refusals':
      return refusalsMessage({ ...about, sinceMinutes: 10 })
    case 'stopped':
      return about.what === 'budget'
        ? frozenMessage({
            ...{ budget: about.name, frozen: about.isStopped, by: about.by, reason: about.reason },
            frozenAbove: about.isStopped ? null : frozenAbove((await ledger.view()).definitions, about.name),
          })
        : pausedMessage({
            ...{ plan: about.name, paused: about.isStopped, by: about.by, reason: about.reason },
            isEnabled: about.isStopped || (await isEnabled(parts, about.name)),
          })
    case 'foreign-data':
      return foreignDataMessage(about)
    case 'token-expires':
      return tokenExpiresMessage({ ...about, zone: await zone(parts) })
    case 'digest':
      return digestMessage(await (await guard.background()).digest(about.until))
    default:
      return assertNever(about)
  }
}

async function isEnabled({ guard }: ComposerParts, name: string): Promise<boolean> {
  const { planStatuses } = await guard.background()
  return (await planStatuses()).plans.some(({ plan }) => plan.name === name && plan.enabled)
}

/** Composes the outcome of confirmed or approved updates after all have ended. */
async function outcome(parts: ComposerParts, event: SlackEvent): Promise<Outcome | null> {
  const { guard } = parts
  const { ledger } = guard
  const updates = (await ledger.updatesNamed(event.updates ?? [])).filter((update) => update !== null)
  const [first] = updates
  if (!first || !updates.every(hasEnded)) return null
  const isApproval = event.kind === 'press' && event.action !== 'confirm'
  const message = isApproval
    ? // Another person may have approved the update since.
      pressedMessage({ update: first, by: first.approval?.by ?? callerOf(event), zone: await zone(parts) })
    : outcomeMessage({ updates, zone: await zone(parts), replaces: true })
  return { message, updates }
}

export type Composer = ReturnType<typeof createComposer>

/** Doubts and approvals have announcements of their own. */
const hasEnded = ({ state }: Update): boolean =>
  isTerminal(state) || state === 'in-doubt' || state === 'awaiting-approval'
