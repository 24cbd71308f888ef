import { createStartReader, createTellReader } from '../../functions/outbox/readers.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import type { Plan } from '../../shared/guard/plan.ts'
import type { Services } from '../../shared/guard/services.ts'
import { minuteMs } from '../../shared/platform/clock.ts'
import { createSlots } from '../../shared/platform/parallel.ts'
import { createSlack } from '../../shared/slack/slack.ts'
import { createDelivery } from './stream-delivery.ts'
import type { Follow } from './stream-event.ts'
import { createTicker } from './ticker.ts'
import { createUnderWay } from './under-way.ts'

/**
 * More than an estimate, a run and its settlement may take together, each at the longest deadline that can be set. The
 * process itself has no end that is known, unlike a function on AWS.
 */
export const workLastsMs = 5 * minuteMs

const sweepEveryMs = minuteMs
/** An occurrence that was only recorded, or has run out of time, is gone on with soon. */
const goOnEveryMs = 10_000
const tickEveryMs = 10_000
/** Batches of what has just been asked for: one that waits for the service holds up no other. */
const startedAtOnce = 5
const toldAtOnce = 1
const firedAtOnce = 3

/**
 * What the table's stream and the schedule do on AWS. The two readers of the stream follow it when this resolves, and
 * slow telling never delays starting; sweeps are made at once and then every minute, and never overlap.
 *
 * @param plans are fired at their times, and the digest is; `null`: by nobody here.
 */
export async function startBackground(
  services: Services,
  { follow, plans }: { follow: Follow; plans: readonly Plan[] | null },
): Promise<{ stop(patience: Promise<void>): Promise<void> }> {
  const { guard, clock, log } = services
  const slack = createSlack(services)
  const triggers = createTriggers({ ...services, slack })
  const underWay = createUnderWay()
  const endsAt = () => clock.now() + workLastsMs

  const start = createStartReader({ guard, slack, clock, log })
  const tell = createTellReader({ guard, slack, clock, log })
  const deliveries = [
    createDelivery({ name: 'start', read: (event) => start(event, endsAt()), batchesAtOnce: startedAtOnce, log }),
    createDelivery({ name: 'tell', read: (event) => tell(event, endsAt()), batchesAtOnce: toldAtOnce, log }),
  ]
  const followings = await Promise.all(deliveries.map(({ take }) => follow({ take, log })))

  const tried = (failure: string, work: () => Promise<unknown>): Promise<void> =>
    underWay.add(work().catch((cause) => log.error(failure, { cause })))

  async function repeat(everyMs: number, failure: string, work: () => Promise<unknown>): Promise<void> {
    while (!underWay.isStopping()) {
      await tried(failure, work)
      await underWay.pause(everyMs)
    }
  }

  // Each by itself: neither a plan of many projects nor a slow Slack keeps the others waiting.
  void repeat(sweepEveryMs, 'sweep-failed', () => guard.sweep(endsAt()))
  void repeat(sweepEveryMs, 'slack-sweep-failed', () => slack.sweep())
  void repeat(sweepEveryMs, 'picture-failed', () => guard.keepPicture())
  void repeat(sweepEveryMs, 'tally-failed', () => guard.keepTallies())
  void repeat(goOnEveryMs, 'going-on-failed', () => guard.goOn(endsAt()))

  if (plans !== null) {
    const due = createTicker(plans, clock.now())
    const slots = createSlots(firedAtOnce)
    void repeat(tickEveryMs, 'tick-failed', async () => {
      for (const event of due(clock.now())) {
        void tried('trigger-failed', () => slots.use(async () => triggers.handle(event, endsAt())))
      }
    })
  }

  return {
    /** What is cut off stays as it is in the ledger, and is found by a later sweep. */
    stop: async (patience) => {
      const parts = [...followings, ...deliveries, underWay]
      await Promise.all(parts.map((part) => part.stop(patience)))
    },
  }
}
