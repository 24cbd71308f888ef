import * as z from 'zod/mini'
import type { Background } from '../../shared/background/background.ts'
import type { OccurrenceResult } from '../../shared/guard/plans/occurrences.ts'
import type { Occurrence } from '../../shared/guard/plans/stored-occurrence.ts'
import { createMetrics } from '../../shared/guard/sweep/alerts.ts'
import type { SweepResult } from '../../shared/guard/sweep/sweep.ts'
import { toRfc3339 } from '../../shared/platform/clock.ts'
import { asJob } from '../../shared/platform/log.ts'
import { type Measurements, metricFields } from '../../shared/platform/metrics.ts'

/** The input that a rule of EventBridge sends. */
export type Trigger = { readonly plan: string; readonly time: number } | { readonly task: 'sweep' | 'digest' }

const timeSchema = z.pipe(
  z.string().check(z.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/)),
  z.transform((text, context) => {
    const instant = Date.parse(text)
    // Date.parse reads 30 February as 2 March, and 24:00 as the next day.
    const isReal = !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text.slice(0, 16))
    if (isReal) return instant
    context.issues.push({ code: 'custom', message: 'is not a valid time', input: text })
    return z.NEVER
  }),
)
const triggerSchema = z.union([
  z.strictObject({ plan: z.string().check(z.minLength(1), z.maxLength(63)), time: timeSchema }),
  z.strictObject({ task: z.enum(['sweep', 'digest']) }),
])

/** No rule of Unit Guard sends such an event. Nothing was done. */
export class WrongTrigger extends Error {
  override readonly name = 'WrongTrigger'
}

/** @throws WrongTrigger */
export function readTrigger(event: unknown): Trigger {
  const parsed = triggerSchema.safeParse(event)
  if (parsed.success) return parsed.data
  throw new WrongTrigger(
    'must be {"plan": "<name>", "time": "<RFC 3339, UTC>"}, {"task": "sweep"} or {"task": "digest"}',
  )
}

/** Scheduled jobs. Each step runs even if others fail. The next sweep repeats the failed steps. */
export function createTriggers(background: Background) {
  const { guard, clock, log, channels, reports, metricNamespace } = background
  const report = (measurements: Measurements) =>
    log.info('vitals', metricFields(measurements, clock.now(), metricNamespace))

  /** Fails if the plans cannot be read. */
  const withJobs = <T>(work: (jobs: Awaited<ReturnType<typeof guard.jobs>>) => Promise<T>): Promise<T> =>
    guard.jobs().then(work)

  const checkOutlook = async () => (await reports()).checkOutlook()

  async function sweep(endsAt: number): Promise<{ swept: SweepResult | null; advanced: readonly Occurrence[] }> {
    const failures: unknown[] = []
    const attempt = <T>(step: () => Promise<T>): Promise<T | null> =>
      step().catch((cause) => {
        failures.push(cause)
        return null
      })
    const swept = await attempt(() => withJobs((jobs) => jobs.sweep(endsAt)))
    await Promise.all(channels.map((channel) => attempt(() => channel.sweep(endsAt))))
    await attempt(async () => report(await withJobs((jobs) => jobs.measure())))
    await attempt(async () => (await reports()).keepSummaries())
    // The outlook comes after the summaries, because it reads in them how many units plans were charged.
    await checkOutlook().catch((cause) => log.error('outlook-not-checked', { cause }))
    // Occurrences come last, because a plan may take all the time.
    const advanced = await attempt(() => withJobs((jobs) => jobs.advanceOccurrences(endsAt)))
    if (failures.length > 0) throw failures[0]
    return { swept, advanced: advanced ?? [] }
  }

  /** The audit needs no plans, so it also runs if they cannot be read. Prices come before the digest, which forecasts with them. */
  async function digest(endsAt: number): Promise<void> {
    await createMetrics({ ledger: guard.ledger, clock, log })
      .audit()
      .then(report)
      .catch((cause) => log.error('not-audited', { cause }))
    await withJobs((jobs) => jobs.readPrices(endsAt)).catch((cause) => log.error('prices-not-read', { cause }))
    await (await reports()).announceDigest()
    await withJobs((jobs) => jobs.checkTokenExpiry()).catch((cause) => log.error('token-not-read', { cause }))
    await withJobs((jobs) => jobs.findRunsOutside(endsAt)).catch((cause) => log.error('dates-not-read', { cause }))
  }

  /** A paused or unknown plan is not a failure, because a retry would not help. */
  async function fire(plan: string, time: number, endsAt: number, isByHand?: boolean): Promise<OccurrenceResult> {
    const result = await withJobs((jobs) => jobs.fire(plan, time, endsAt, isByHand))
    if (result.kind === 'problem') log.error('plan-not-run', { plan, time, detail: result.problem.detail })
    return result
  }

  const triggers = {
    sweep: (endsAt: number) => asJob(background, 'sweep', {}, () => sweep(endsAt)),
    digest: (endsAt: number) => asJob(background, 'digest', {}, () => digest(endsAt)),
    fire: (plan: string, time: number, endsAt: number, isByHand?: boolean) =>
      asJob(background, 'plan', { plan, time: toRfc3339(time) }, () => fire(plan, time, endsAt, isByHand)),
  }

  async function handle(event: unknown, endsAt: number): Promise<void> {
    const trigger = readTrigger(event)
    if ('plan' in trigger) await triggers.fire(trigger.plan, trigger.time, endsAt)
    else if (trigger.task === 'sweep') await triggers.sweep(endsAt)
    else await triggers.digest(endsAt)
  }

  return { handle, ...triggers }
}
