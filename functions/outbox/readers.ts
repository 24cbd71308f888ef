import type { Guard } from '../../shared/guard/guard.ts'
import { idIn, readChanges } from '../../shared/ledger/stream.ts'
import { asJob, inTraceOf, type LineParts } from '../../shared/platform/log.ts'
import { inParallel } from '../../shared/platform/parallel.ts'
import type { Channel } from '../../shared/services/channel.ts'
import type { Slack } from '../../shared/slack/slack.ts'
import { slackEvents } from '../../shared/slack/slack-events.ts'

const maxParallel = 5

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

/** This reader is separate, so that a slow channel delays only messages. */
export function createTellReader(parts: LineParts & { channels: readonly Channel[] }): Reader {
  return (event) =>
    asJob(parts, 'tell', {}, async () => {
      const changes = readChanges(event)
      const failed = await Promise.all(parts.channels.map((channel) => channel.tell(changes)))
      return { batchItemFailures: [...new Set(failed.flat())].map((itemIdentifier) => ({ itemIdentifier })) }
    })
}
