import { hourMs } from '../../platform/clock.ts'
import type { EstimateReading, RunResult, Tracking } from '../../tracking/tracking.ts'
import type { GuardParts } from '../options.ts'
import { maxWaitMs, toWait } from '../problems.ts'
import { when } from '../sentences.ts'

/** An answer with status 429 and `Retry-After`. */
interface ServiceWait {
  readonly call: 'estimate' | 'run'
  readonly at: number
  readonly askedMs: number
  /** Plans wait at most an hour, until this time. */
  readonly until: number
}

/** `null`: the service asks for no wait now. */
export type CurrentWait = () => ServiceWait | null

/** Remembers, in this process, until when the service asked to wait. Plans ask for no estimate before that time. */
export function rememberWaits({ tracking, clock }: Pick<GuardParts, 'tracking' | 'clock'>) {
  let last: ServiceWait | null = null
  function heard<Answer extends EstimateReading | RunResult>(call: ServiceWait['call'], answer: Answer): Answer {
    const askedMs = 'retryAfterMs' in answer ? answer.retryAfterMs : undefined
    if (askedMs === undefined) return answer
    const at = clock.now()
    const until = at + Math.min(askedMs, maxWaitMs)
    if (until > (last?.until ?? 0)) last = { call, at, askedMs, until }
    return answer
  }
  const listening: Tracking = {
    ...tracking,
    estimate: async (target) => heard('estimate', await tracking.estimate(target)),
    run: async (target, options) => heard('run', await tracking.run(target, options)),
  }
  /** A clock that was set back must not stop plans for longer than the service can ask. */
  const currentWait: CurrentWait = () => {
    const leftMs = (last?.until ?? 0) - clock.now()
    return leftMs > 0 && leftMs <= hourMs ? last : null
  }
  return { tracking: listening, currentWait }
}

/** Names no project, because the answer may be about one that a reader of the plan does not see. */
export const waitReason = ({ call, at, askedMs }: ServiceWait, zone: string): string =>
  `the service answered ${articles[call]} ${call} at ${when(at, zone)} with status 429 and asked ${toWait(askedMs)}`

const articles = { estimate: 'an', run: 'a' } as const
