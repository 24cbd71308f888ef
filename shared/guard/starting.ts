import type { Ledger } from '../ledger/ledger.ts'
import type { Request, Update } from '../ledger/update.ts'
import type { Log } from '../platform/log.ts'
import { decideEarly } from './decide.ts'
import { type GuardOptions, requestLastsMs } from './options.ts'
import type { Performing } from './performing.ts'
import type { Quoting } from './quoting.ts'

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
    if (found?.state !== 'requested') return found
    const known = await performing.look(toRequest(found))
    const { update } = known.asked
    if (update?.state !== 'requested') return update
    if (known.view.now - (update.requestedAt ?? update.createdAt) >= requestLastsMs) return update
    const early = decideEarly(known, options)
    if (early.say === 'refuse') return performing.refuse(known, early.problem)
    const token = await parts.serviceToken()
    const quoted = await quoting.quote(update)
    if (quoted.kind === 'problem') {
      log.info('not-begun', { update: id, problem: quoted.problem.slug })
      return update
    }
    const admitted = await performing.admit(known, quoted, endsAt)
    return admitted.ours ? performing.run(admitted.update, token) : admitted.update
  }

  return { start }
}

/** What was asked for, as the record keeps it. */
function toRequest(update: Update): Request {
  const {
    id,
    kind,
    project,
    query,
    target,
    budget,
    caller,
    via,
    plan,
    reason,
    force,
    proposed,
    maxUnits,
    content,
    createdAt,
  } = update
  return {
    ...{ id, kind, project, budget, caller, via, content, createdAt },
    ...(query && { query }),
    ...(target && { target }),
    ...(plan !== undefined && { plan }),
    ...(reason !== undefined && { reason }),
    ...(force && { force }),
    ...(proposed && { proposed }),
    ...(maxUnits !== undefined && { maxUnits }),
  }
}
