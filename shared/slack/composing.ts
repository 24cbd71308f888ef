import { ownerPaidFor } from '../guard/charging.ts'
import type { Guard } from '../guard/guard.ts'
import { landedBy } from '../guard/landing.ts'
import type { GuardOptions } from '../guard/options.ts'
import { zoneOf } from '../guard/sentences.ts'
import type { About } from '../ledger/announcement.ts'
import { frozenAbove } from '../ledger/definitions.ts'
import type { SlackEvent } from '../ledger/slack-event.ts'
import { isTerminal, type Update } from '../ledger/update.ts'
import { assertNever } from '../platform/words.ts'
import type { Message } from './blocks.ts'
import { callerOf } from './commanding.ts'
import { approvalMessage } from './messages/approval.ts'
import { correctionMessage, overrunMessage } from './messages/booked.ts'
import { digestMessage } from './messages/digest.ts'
import { doubtMessage } from './messages/doubt.ts'
import { occurrenceMessage } from './messages/occurrence.ts'
import { outcomeMessage, pressedMessage } from './messages/outcome.ts'
import { foreignDataMessage, tokenExpiresMessage } from './messages/vendor.ts'
import { frozenMessage, pausedMessage, refusalsMessage, thresholdMessage } from './messages/warnings.ts'

/** What is told to whoever waits for it, and the updates as they are told of. */
export interface Outcome {
  readonly message: Message
  readonly updates: readonly Update[]
}

/**
 * Makes the message of what is to be told, of what is true when it is told: an approval that was given meanwhile is not
 * asked for. `null`: there is nothing to tell any more.
 */
export function createComposing({ guard, options }: { guard: Guard; options: GuardOptions }) {
  const { ledger } = guard
  const zone = async () => zoneOf(await ledger.view())

  async function compose(about: Exclude<About, { kind: 'outcome' }>): Promise<Message | null> {
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
        return doubtMessage({ update, didNotRunFrom: landedBy(update, options), zone: await zone() })
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
        const { counts, unitsCharged, refusals } = await guard.report(occurrence)
        const { plan, time, state, reason } = occurrence
        return occurrenceMessage({
          ...{ plan, time, state, unitsCharged, zone: await zone() },
          counts: { ...counts, unsent: counts.unsent + counts.expired },
          // A missed one says so itself.
          ...(reason !== undefined && state !== 'missed' && { reason }),
          refusals: refusals.map(({ project, problem }) => ({ project, detail: problem.detail })),
        })
      }
      case 'threshold':
        return thresholdMessage({ ...about, zone: await zone() })
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
              isEnabled: about.isStopped || (await isEnabled(about.name)),
            })
      case 'foreign-data':
        return foreignDataMessage(about)
      case 'token-expires':
        return tokenExpiresMessage({ ...about, zone: await zone() })
      case 'digest':
        return digestMessage(await guard.digest(about.until))
      default:
        return assertNever(about)
    }
  }

  const isEnabled = async (name: string): Promise<boolean> =>
    (await guard.planned()).plans.some(({ plan }) => plan.name === name && plan.enabled)

  /** What became of what somebody confirmed or approved, once all of it has ended. */
  async function outcome(event: SlackEvent): Promise<Outcome | null> {
    const updates = (await ledger.updatesNamed(event.updates ?? [])).filter((update) => update !== null)
    const [first] = updates
    if (!first || !updates.every(hasEnded)) return null
    const isApproval = event.kind === 'press' && event.action !== 'confirm'
    const message = isApproval
      ? // It may have been put to people again since, and approved by somebody else.
        pressedMessage({ update: first, by: first.approval?.by ?? callerOf(event), zone: await zone() })
      : outcomeMessage({ updates, zone: await zone(), replaces: true })
    return { message, updates }
  }

  return { compose, outcome }
}

export type Composing = ReturnType<typeof createComposing>

/** Whatever comes next takes a person, and is announced by itself. */
const hasEnded = ({ state }: Update): boolean =>
  isTerminal(state) || state === 'in-doubt' || state === 'awaiting-approval'
