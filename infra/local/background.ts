import { createStartReader, createTellReader } from '../../functions/outbox/readers.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import { createBackground } from '../../shared/background/background.ts'
import type { Plan } from '../../shared/guard/plans-file.ts'
import { setNote, sweptAt } from '../../shared/ledger/store/sqlite-file.ts'
import { minuteMs } from '../../shared/platform/clock.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { inLogContext } from '../../shared/platform/log.ts'
import type { Services } from '../../shared/services/services.ts'
import type { LocalLedger } from './database/open.ts'
import { createBackgroundTasks, workLastsMs } from './shutdown.ts'
import { createClockwork } from './ticker.ts'

const sweepEveryMs = minuteMs
const continueEveryMs = 10_000
const tickEveryMs = 10_000
/** As on AWS: a batch that waits for the service does not delay the others. */
const starts = { name: 'start', batchSize: 5, batchesAtOnce: 5 } as const
const tells = { batchSize: 10, batchesAtOnce: 1 } as const
/** The names under which the ledger's file keeps their places. */
const readerOf = { slack: 'people', events: 'systems' } as const
const sweepFailures = { slack: 'slack-sweep-failed', events: 'event-sweep-failed' } as const

export interface BackgroundParts extends Pick<LocalLedger, 'follow' | 'file'> {
  /** `null`: only commands start plans and the digest. */
  readonly plans: readonly Plan[] | null
}

/** Does the work of the stream's readers and of the rules on AWS. */
export async function startBackground(
  services: Services,
  { follow, file, plans }: BackgroundParts,
): Promise<{ stop(patience: Promise<void>): Promise<void> }> {
  const background = createBackground(services)
  const { guard, clock, log, channels, reports } = background
  const tasks = createBackgroundTasks()
  const endsAt = () => clock.now() + workLastsMs

  const start = createStartReader(background)
  const followings = await Promise.all([
    follow(services, { ...starts, read: (event) => start(event, endsAt()) }),
    ...channels.map((channel) => {
      const tell = createTellReader({ clock, log, channels: [channel] })
      return follow(services, { ...tells, name: readerOf[channel.name], read: (event) => tell(event, endsAt()) })
    }),
  ])

  /** Resolves to `true` if the work succeeded. */
  async function tried(failure: string, work: () => Promise<unknown>): Promise<boolean> {
    const outcome = work().then(
      () => true,
      (cause) => {
        log.error(failure, { cause })
        return false
      },
    )
    await tasks.add(outcome)
    return outcome
  }
  async function repeat(everyMs: number, failure: string, work: () => Promise<unknown>): Promise<void> {
    while (!tasks.isStopping()) {
      await asScheduled(() => tried(failure, work))
      await tasks.pause(everyMs)
    }
  }

  // Separate loops, so that neither a large plan nor a slow Slack delays the rest.
  void repeat(sweepEveryMs, 'sweep-failed', async () => {
    await (await guard.jobs()).sweep(endsAt())
    await file.write(() => setNote(file.db, sweptAt, String(clock.now())))
  })
  for (const channel of channels) void repeat(sweepEveryMs, sweepFailures[channel.name], () => channel.sweep(endsAt()))
  void repeat(sweepEveryMs, 'summary-failed', async () => {
    const { keepSummaries, checkOutlook } = await reports()
    await keepSummaries()
    // The outlook reads in the summaries how many units plans were charged.
    await checkOutlook()
  })
  void repeat(continueEveryMs, 'continue-failed', async () => (await guard.jobs()).advanceOccurrences(endsAt()))
  if (plans !== null) {
    const triggers = createTriggers(background)
    const tick = await createClockwork(plans, {
      file,
      clock,
      tasks,
      handle: (event) => triggers.handle(event, endsAt()),
      tried: (work) => asScheduled(() => tried('trigger-failed', work)),
    })
    void repeat(tickEveryMs, 'tick-failed', tick)
  }

  return {
    stop: async (patience) => {
      await Promise.all([...followings, tasks].map((part) => part.stop(patience)))
    },
  }
}

const asScheduled = <T>(work: () => Promise<T>): Promise<T> =>
  inLogContext({ function: 'scheduled', requestId: systemIds.random() }, work)

export function describePlans(plans: readonly Plan[], { areFired }: { areFired: boolean }): string {
  if (plans.length === 0) return 'none; set PLANS to a file of plans'
  const names = plans.map(({ name, enabled, schedule }) => `${name} ${enabled ? schedule.text : '(not enabled)'}`)
  return `${names.join(', ')}${areFired ? '' : '; fired by npm run plan alone'}`
}
