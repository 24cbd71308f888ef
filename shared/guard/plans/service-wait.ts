import { hourMs } from '../../platform/clock.ts'
import type { EstimateReading, RunResult, Tracking } from '../../tracking/tracking.ts'
import type { GuardParts } from '../options.ts'

/** `0`: the service asked for no wait. */
export type WaitUntil = () => number

/** Remembers, in this process, until when the service asked to wait. Plans ask for no estimate before that time. */
export function rememberWaits({ tracking, clock }: Pick<GuardParts, 'tracking' | 'clock'>) {
  let until = 0
  function heard<Answer extends EstimateReading | RunResult>(answer: Answer): Answer {
    if ('retryAfterMs' in answer) until = Math.max(until, clock.now() + (answer.retryAfterMs ?? 0))
    return answer
  }
  const listening: Tracking = {
    ...tracking,
    estimate: async (target) => heard(await tracking.estimate(target)),
    run: async (target, options) => heard(await tracking.run(target, options)),
  }
  /** A clock that was set back must not stop plans for longer than the service can ask. */
  const waitUntil: WaitUntil = () => (until - clock.now() > hourMs ? 0 : until)
  return { tracking: listening, waitUntil }
}
