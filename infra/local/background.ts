import { createStartReader, createTellReader } from '../../functions/outbox/readers.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import { createEvents } from '../../shared/events/events.ts'
import type { Plan } from '../../shared/guard/plans/plans-file.ts'
import { type Schedule, timesOf } from '../../shared/guard/plans/schedule.ts'
import type { Services } from '../../shared/guard/services.ts'
import { dayMs, hourMs, minuteMs, toRfc3339 } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { inLogContext } from '../../shared/platform/log.ts'
import { createSlots } from '../../shared/platform/parallel.ts'
import { createSlack } from '../../shared/slack/slack.ts'
import type { Follow } from './database/changes.ts'
import { createBackgroundTasks } from './shutdown.ts'

/** Longer than a run and its settlement: unlike a function on AWS, this process has no known end. */
export const workLastsMs = 5 * minuteMs

const sweepEveryMs = minuteMs
const continueEveryMs = 10_000
const tickEveryMs = 10_000
/** As on AWS: a batch that waits for the service does not delay the others. */
const starts = { name: 'start', batchSize: 5, batchesAtOnce: 5 } as const
const tells = { batchSize: 10, batchesAtOnce: 1 } as const
const firesAtOnce = 3

/** Replaces the readers of the stream and the rules of AWS. @param plans `null` fires no plan and no digest. */
export async function startBackground(
  services: Services,
  { follow, plans }: { follow: Follow; plans: readonly Plan[] | null },
): Promise<{ stop(patience: Promise<void>): Promise<void> }> {
  const { guard, clock, log } = services
  const slack = createSlack(services)
  const events = createEvents(services)
  const triggers = createTriggers({ ...services, slack, events })
  const tasks = createBackgroundTasks()
  const endsAt = () => clock.now() + workLastsMs

  const start = createStartReader({ ...services, slack })
  const followings = await Promise.all([
    follow(services, { ...starts, read: (event) => start(event, endsAt()) }),
    ...(['people', 'systems'] as const).map((name) => {
      const tell = createTellReader({ ...services, slack, events }, name)
      return follow(services, { ...tells, name, read: (event) => tell(event, endsAt()) })
    }),
  ])

  const tried = (failure: string, work: () => Promise<unknown>): Promise<void> =>
    inLogContext({ function: 'scheduled', requestId: systemIds.random() }, () =>
      tasks.add(work().catch((cause) => log.error(failure, { cause }))),
    )

  async function repeat(everyMs: number, failure: string, work: () => Promise<unknown>): Promise<void> {
    while (!tasks.isStopping()) {
      await tried(failure, work)
      await tasks.pause(everyMs)
    }
  }

  // Separate loops, so that neither a large plan nor a slow Slack delays the rest.
  void repeat(sweepEveryMs, 'sweep-failed', async () => (await guard.background()).sweep(endsAt()))
  void repeat(sweepEveryMs, 'slack-sweep-failed', () => slack.sweep())
  void repeat(sweepEveryMs, 'event-sweep-failed', () => events.sweep(endsAt()))
  void repeat(sweepEveryMs, 'summary-failed', async () => (await guard.background()).keepSummaries())
  void repeat(continueEveryMs, 'continue-failed', async () => (await guard.background()).advanceOccurrences(endsAt()))

  if (plans !== null) {
    const due = createTicker(plans, clock.now())
    const slots = createSlots(firesAtOnce)
    void repeat(tickEveryMs, 'tick-failed', async () => {
      for (const event of due(clock.now())) {
        void tried('trigger-failed', () => slots.use(async () => triggers.handle(event, endsAt())))
      }
    })
  }

  return {
    stop: async (patience) => {
      await Promise.all([...followings, tasks].map((part) => part.stop(patience)))
    },
  }
}

const digest: Schedule = { kind: 'rate', text: 'rate(1 day)', everyMs: dayMs }
const digestAnchor = 6 * hourMs

/** The minutes of a week, for a machine that slept. */
const max = 10_080
const maxAtOnce = 60

/** The events that became due since the last call. Rates count from the epoch, so that a restart keeps their times. */
export function createTicker(plans: readonly Plan[], from: number): (now: number) => readonly object[] {
  let sentUntil = from
  const enabled = plans.filter((plan) => plan.enabled)

  return (now) => {
    const span = { from: sentUntil, until: now, max }
    // A clock that is set back sends no event twice.
    sentUntil = Math.max(sentUntil, now)
    const occurrences = enabled.flatMap(({ name, schedule }) =>
      timesOf(schedule, span)
        .slice(-maxAtOnce)
        .map((time) => ({ plan: name, time: toRfc3339(time) })),
    )
    const digests = timesOf(digest, { ...span, anchor: digestAnchor }).slice(-1)
    return [...occurrences, ...digests.map(() => ({ task: 'digest' }))]
  }
}

export function describePlans(plans: readonly Plan[], { areFired }: { areFired: boolean }): string {
  if (plans.length === 0) return 'none; PLANS names a file of them'
  const names = plans.map(({ name, enabled, schedule }) => `${name} ${enabled ? schedule.text : '(not enabled)'}`)
  return `${names.join(', ')}${areFired ? '' : '; fired by npm run plan alone'}`
}
