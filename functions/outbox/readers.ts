import type { Guard } from '../../shared/guard/guard.ts'
import { announcements } from '../../shared/ledger/updates/tasks.ts'
import { asJob, inTraceOf, type LineParts } from '../../shared/platform/log.ts'
import { inParallel } from '../../shared/platform/parallel.ts'
import type { Slack } from '../../shared/slack/slack.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'
import { type Change, idIn, readChanges } from './stream-event.ts'

const maxParallel = 5

/** What a change is about, for systems outside. */
type Reference =
  | { readonly kind: 'update'; readonly update: string; readonly version: number }
  | { readonly kind: 'announcement'; readonly id: string }
  | { readonly kind: 'entry'; readonly id: string; readonly subject: string }

interface Systems {
  /** @returns references that must be delivered again. */
  tell(references: readonly Reference[]): Promise<ReadonlySet<Reference>>
}

/** The records that the stream must deliver again. */
export interface BatchAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[]
}

export type Reader = (event: unknown, endsAt: number) => Promise<BatchAnswer>

const noFailures: BatchAnswer = { batchItemFailures: [] }

/**
 * Starts queued and approved updates, and answers Slack's commands and presses. This reader never asks for a record
 * again, because a repeated record delays the records behind it. The sweep retries instead. Changes of a stored Slack
 * event are skipped, because they follow a failed attempt.
 */
export function createStartReader(parts: LineParts & { guard: Guard; slack: Slack }): Reader {
  const { guard, slack, log } = parts
  return async (event, endsAt) => {
    const changes = readChanges(event).map(({ pk, state, isNew, ...change }) => ({
      ...change,
      pk,
      starts: state === 'requested' ? idIn(pk, 'update') : null,
      slackEvent: isNew ? idIn(pk, slackEvents.name) : null,
    }))
    const asked = changes.flatMap(({ slackEvent }) => slackEvent ?? [])
    await asJob(parts, 'start', { slackEvents: asked.length > 0 ? asked : undefined }, () =>
      inParallel(changes, maxParallel, ({ pk, starts, slackEvent, ...change }) =>
        inTraceOf(change, async () => {
          try {
            if (starts !== null) await guard.start(starts, endsAt)
            if (slackEvent !== null) await slack.answer(slackEvent)
          } catch (cause) {
            log.error('not-begun', { item: pk, cause })
          }
        }),
      ),
    )
    return noFailures
  }
}

/**
 * Sends announcements, edits them when their updates change, sends events to other systems, and checks thresholds. This
 * reader is separate, so that a slow Slack delays only messages.
 *
 * @param only is set if people and systems each have their own reader, so that neither waits for the other.
 */
export function createTellReader(
  parts: LineParts & { guard: Guard; slack: Slack; events: Systems },
  only?: 'people' | 'systems',
): Reader {
  const { guard, slack, events, log } = parts
  return (event) => asJob(parts, 'tell', {}, () => tellAll(readChanges(event)))

  async function tellAll(changes: readonly Change[]): Promise<BatchAnswer> {
    const failed = await Promise.all([
      only === 'systems' ? [] : tellPeople(changes),
      only === 'people' ? [] : tellTargets(changes),
    ])
    return { batchItemFailures: [...new Set(failed.flat())].map((itemIdentifier) => ({ itemIdentifier })) }
  }

  async function tellTargets(changes: readonly Change[]): Promise<readonly string[]> {
    const told = changes.flatMap((change) =>
      referencesOf(change).map((reference) => ({ reference, sequenceNumber: change.sequenceNumber })),
    )
    const lost = await events.tell(told.map(({ reference }) => reference))
    return told.filter(({ reference }) => lost.has(reference)).map(({ sequenceNumber }) => sequenceNumber)
  }

  async function tellPeople(changes: readonly Change[]): Promise<readonly string[]> {
    const failed: string[] = []
    for (const change of changes) if (!(await inTraceOf(change, () => tell(change)))) failed.push(change.sequenceNumber)
    if (changes.some(({ pk }) => pk === 'book')) {
      // The sweep also checks thresholds, so the stream need not repeat the records.
      await guard.checkThresholds().catch((cause) => log.error('thresholds-not-watched', { cause }))
    }
    return failed
  }

  /** `false`: the stream must deliver the change again. */
  async function tell({ pk, isNew, wasAnnounced }: Change): Promise<boolean> {
    let isTold = true
    const update = !isNew && wasAnnounced ? idIn(pk, 'update') : null
    if (update !== null) {
      await slack.refresh(update).catch((cause) => {
        log.error('not-refreshed', { update, cause })
        isTold = false
      })
    }
    const announcement = isNew ? idIn(pk, announcements.name) : null
    if (announcement !== null) {
      await slack.tell(announcement).catch((cause) => {
        log.error('not-told', { announcement, cause })
        isTold = false
      })
    }
    return isTold
  }
}

/** A version of an update, an announcement and each subject of an entry may be events. */
function referencesOf({ pk, version, isNew, subjects }: Change): Reference[] {
  const update = idIn(pk, 'update')
  if (update !== null) return version === undefined ? [] : [{ kind: 'update', update, version }]
  const announcement = isNew ? idIn(pk, announcements.name) : null
  if (announcement !== null) return [{ kind: 'announcement', id: announcement }]
  const entry = isNew ? idIn(pk, 'entry') : null
  return entry === null ? [] : subjects.map((subject) => ({ kind: 'entry', id: entry, subject }))
}
