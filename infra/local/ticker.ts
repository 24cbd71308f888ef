import type { Plan } from '../../shared/guard/plan.ts'
import { type Schedule, timesOf } from '../../shared/guard/schedule.ts'
import { dayMs, hourMs, toRfc3339 } from '../../shared/platform/clock.ts'

/** Daily at 06:00 UTC. */
const digest: Schedule = { kind: 'rate', text: 'rate(1 day)', everyMs: dayMs }
const digestAnchor = 6 * hourMs

/** A machine that has slept for a week has missed so many minutes. */
const most = 10_080
/** Of one plan, the latest: what is much older is nobody's news. */
const mostAtOnce = 60

/**
 * What the rules of EventBridge send, as they send it. Nothing that was due before `from` is sent: that was for whoever
 * ran then. A rate counts from the beginning of the epoch, so that its times survive a restart.
 *
 * @returns what has become due since the last time that it was called.
 */
export function createTicker(plans: readonly Plan[], from: number): (now: number) => readonly object[] {
  let sentUntil = from
  const enabled = plans.filter((plan) => plan.enabled)

  return (now) => {
    const span = { from: sentUntil, until: now, most }
    // A clock that was set back sends nothing twice.
    sentUntil = Math.max(sentUntil, now)
    const occurrences = enabled.flatMap(({ name, schedule }) =>
      timesOf(schedule, span)
        .slice(-mostAtOnce)
        .map((time) => ({ plan: name, time: toRfc3339(time) })),
    )
    const digests = timesOf(digest, { ...span, anchor: digestAnchor }).slice(-1)
    return [...occurrences, ...digests.map(() => ({ task: 'digest' }))]
  }
}
