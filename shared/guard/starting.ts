import type { Ledger } from '../ledger/ledger.ts'
import type { Problem, Request, Update } from '../ledger/update.ts'
import type { Log } from '../platform/log.ts'
import { decideEarly } from './decide.ts'
import { type GuardOptions, requestLastsMs } from './options.ts'
import type { Performing } from './performing.ts'
import type { Quoting } from './quoting.ts'

/** The record as it is by then, and why it could not be begun, where there was no estimate. */
export interface Begun {
  readonly update: Update
  readonly failure?: Problem
}

export type Starting = ReturnType<typeof createStarting>

/** Begins updates that are `requested`: queued, approved, or left over by whoever ran out of time. */
export function createStarting(parts: {
  ledger: Ledger
  performing: Performing
  quoting: Quoting
  serviceToken: () => Promise<string>
  log: Log
  options: GuardOptions
}) {
  const { ledger, performing, quoting, log, options } = parts

  /**
   * The record as it is afterwards; `null`: there is none. Without an estimate it stays `requested`, for the sweep to
   * try again.
   */
  async function start(id: string, endsAt: number): Promise<Update | null> {
    const found = await ledger.update(id)
    // What a plan asks for is begun by its occurrence, in order; once a person has agreed to it, it is like any other.
    const isOfOccurrence = found?.plan !== undefined && !found.approval
    return found?.state !== 'requested' || isOfOccurrence ? found : (await begin(found, endsAt)).update
  }

  /** The same for what may not be recorded yet: without an estimate, it is queued. */
  async function begin(request: Request, endsAt: number): Promise<Begun> {
    const known = await performing.look(request)
    const { update } = known.asked
    if (update && (update.state !== 'requested' || isTooOld(update, known.view.now))) return { update }
    const early = decideEarly(known, options)
    if (early.say === 'refuse') return { update: await performing.refuse(known, early.problem) }
    await parts.serviceToken() // before the estimate, whose time is short
    for (;;) {
      const quoted = await quoting.quote(request)
      if (quoted.kind === 'problem') {
        log.info('stays-queued', { update: request.id, problem: quoted.problem.slug })
        return { update: await performing.queue(known, quoted.problem.detail), failure: quoted.problem }
      }
      // From memory: if it was rotated, the estimate has found that out, and has had the new one read.
      const token = await parts.serviceToken()
      const admitted = await performing.admit(known, quoted, endsAt)
      if (admitted === 'stale') continue
      return { update: admitted.ours ? await performing.run(admitted.update, token) : admitted.update }
    }
  }

  return { start, begin }
}

const isTooOld = ({ requestedAt, createdAt }: Update, now: number): boolean =>
  now - (requestedAt ?? createdAt) >= requestLastsMs
