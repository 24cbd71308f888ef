import type { Problem } from '../../ledger/updates/update.ts'
import { type Clock, minuteMs } from '../../platform/clock.ts'
import type { EstimateReading, RunResult, Tracking } from '../../tracking/tracking.ts'
import { whyWrongClock } from '../update/quote.ts'

export const serviceTroubles = ['service-token', 'service-unreachable', 'service-busy'] as const
export type ServiceTrouble = (typeof serviceTroubles)[number]

/** Another process may have ended the trouble that this one noted. */
const notedForMs = 10 * minuteMs

/** A gateway in front of the service says that the service does not answer. */
const unreachable: ReadonlySet<number | null> = new Set([null, 502, 503, 504])

/** What an answer says about the service. `undefined`: nothing. */
function healthIn(answer: EstimateReading | RunResult): ServiceTrouble | null | undefined {
  if (answer.kind === 'units' || answer.kind === 'ran' || answer.kind === 'unreadable') return null
  // One lost answer is in doubt, and says nothing about the next one.
  if (answer.kind === 'unknown') return undefined
  const { status } = answer
  if (status === 401 || status === 403) return 'service-token'
  if (status === 429) return 'service-busy'
  if (unreachable.has(status)) return 'service-unreachable'
  return status !== null && status < 500 ? null : undefined
}

/** Listens to the answers of the service, and notes only what changes. */
export function listenTo(parts: {
  readonly tracking: Tracking
  readonly clock: Clock
  readonly note: (trouble: ServiceTrouble | null, now: number) => Promise<void>
}) {
  const { tracking, clock, note } = parts
  // `undefined`: this process does not know what is noted.
  let known: { readonly trouble: ServiceTrouble | null; readonly at: number } | undefined
  /** How far this clock was ahead of the service's clock, and of a clock that no one sets. */
  let wrongClock: { readonly aheadOfService: number; readonly aheadOfTicks: number } | null = null
  const aheadOfTicks = () => clock.now() - performance.now()

  async function heard(trouble: ServiceTrouble | null): Promise<void> {
    const now = clock.now()
    const isKnown = known?.trouble === trouble && (trouble === null || now - known.at < notedForMs)
    if (isKnown) return
    // A process that never saw a trouble writes nothing: the sweep ends troubles that others noted.
    const isNews = trouble !== null || known !== undefined
    known = { trouble, at: now }
    if (isNews) await note(trouble, now)
  }

  function heardAnswer(answer: EstimateReading | RunResult): Promise<void> | undefined {
    if (answer.kind === 'units') {
      const now = clock.now()
      const { sentAt = now } = answer
      wrongClock = whyWrongClock(answer, now) && { aheadOfService: now - sentAt, aheadOfTicks: aheadOfTicks() }
    }
    const health = healthIn(answer)
    return health === undefined ? undefined : heard(health)
  }

  /** `null`: the clock is right. A clock that was set since is right, although no later answer has shown it. */
  function clockProblem(): Problem | null {
    if (wrongClock === null) return null
    const now = clock.now()
    const ahead = wrongClock.aheadOfService + aheadOfTicks() - wrongClock.aheadOfTicks
    return whyWrongClock({ sentAt: now - ahead }, now)
  }

  const listening: Tracking = {
    ...tracking,
    estimate: async (target) => {
      const answer = await tracking.estimate(target)
      // Lambda may stop the process after the request.
      await heardAnswer(answer)
      return answer
    },
    run: async (target, options) => {
      const answer = await tracking.run(target, options)
      // Not awaited, because the outcome must be written first.
      void heardAnswer(answer)
      return answer
    },
    projects: async () => {
      const lists = await tracking.projects()
      if (lists !== null) await heard(null)
      return lists
    },
  }
  return {
    tracking: listening,
    clockProblem,
    /** What the sweep has read in the ledger. */
    know: (trouble: ServiceTrouble | null) => {
      known ??= { trouble, at: clock.now() }
    },
  }
}
