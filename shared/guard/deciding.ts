import type { Ledger } from '../ledger/ledger.ts'
import { Contention } from '../ledger/store.ts'
import { next, type Problem, type Update } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import type { Units } from '../platform/words.ts'
import {
  barredFromApproving,
  barredFromCancelling,
  barredFromRejecting,
  barredFromResolving,
  outgrown,
  wrongState,
} from './barring.ts'
import type { Closing } from './closing.ts'
import { type GuardOptions, mostDecisions } from './options.ts'
import { problem } from './problems.ts'

/** What came of a person's decision about an update. */
export type Decided =
  | { readonly kind: 'done'; readonly update: Update }
  | { readonly kind: 'problem'; readonly problem: Problem }

export interface Approving {
  readonly reason?: string
  /** The event in Slack that waits for what becomes of it. */
  readonly replyTo?: string
  /**
   * The units that whoever agrees was shown: they agree to no more. `null`: nobody knows what they were shown, so that
   * they agree to nothing that was asked about again; absent: to what it needs now.
   */
  readonly shown?: Units | null
}

export interface Resolution {
  readonly outcome: 'ran' | 'did-not-run'
  /** What it cost; without it, what was held. */
  readonly units?: Units
  readonly reason: string
}

/** Approve, reject, cancel, resolve: each is one conditional write, so of two decisions one wins. */
export function createDeciding(parts: { ledger: Ledger; closing: Closing; options: GuardOptions }) {
  const { ledger, closing, options } = parts

  /** Recorded before anything starts: the update is `requested` from then on, and begun like any other. */
  const approve = (id: string, by: string, how: Approving = {}): Promise<Decided> =>
    decideOn(id, (update, view) => {
      const barred = barredFromApproving(update, view, by) ?? outgrown(update, how.shown)
      if (barred) return barred
      const { now } = view
      const { short, estimated, replyTo = [] } = update
      const approval = { by, at: now, units: estimated ?? (0 as Units), ...(short && { grants: short }) }
      // A press may be done again: it waits for the outcome once.
      const told = how.replyTo === undefined ? {} : { replyTo: [...new Set([...replyTo, how.replyTo])] }
      const line = { at: now, by, note: how.reason ?? 'approved' }
      return next(update, 'requested', { approval, requestedAt: now, queued: true, ...told }, line)
    })

  const reject = (id: string, by: string, reason?: string): Promise<Decided> =>
    decideOn(
      id,
      (update, view) => barredFromRejecting(update, view, by) ?? end(update, 'rejected', view.now, by, reason),
    )

  const cancel = (id: string, by: { caller: string; isAdmin: boolean }, reason?: string): Promise<Decided> =>
    decideOn(
      id,
      (update, view) => barredFromCancelling(update, view, by) ?? end(update, 'cancelled', view.now, by.caller, reason),
    )

  /** What nobody began or approved in time: only as it was when that was found, for it may have gone on since. */
  const expire = ({ id, version }: Pick<Update, 'id' | 'version'>, note: string): Promise<Decided> =>
    decideOn(id, (update, view) => {
      if (update.version !== version) return wrongState(view, update, 'expired')
      if (update.state !== 'awaiting-approval' && update.state !== 'requested')
        return wrongState(view, update, 'expired')
      return end(update, 'expired', view.now, 'sweep', note)
    })

  /**
   * Closes an update in doubt on a named person's word: "ran" at once, "did not run" only when nothing can still be
   * in flight. Later evidence against it is booked as a correction.
   */
  async function resolve(id: string, by: string, resolution: Resolution): Promise<Decided> {
    const { outcome, reason } = resolution
    const view = await ledger.view([{ id }])
    const found = view.asked[0]?.update
    if (!found) return { kind: 'problem', problem: noUpdate(id) }
    const barred = barredFromResolving(found, view, outcome, options)
    if (barred || !found.hold) return { kind: 'problem', problem: barred ?? wrongState(view, found, 'resolved') }
    const said = { from: 'person', by, note: reason } as const
    const { update, changed } = await closing.close(
      found,
      outcome === 'ran'
        ? { kind: 'ran', units: resolution.units ?? found.hold.units, ...said }
        : { kind: 'did-not-run', ...said },
    )
    return changed ? { kind: 'done', update } : { kind: 'problem', problem: wrongState(view, update, 'resolved') }
  }

  async function decideOn(id: string, change: (update: Update, view: View) => Update | Problem): Promise<Decided> {
    for (let round = 0; round < mostDecisions; round++) {
      const view = await ledger.view([{ id }])
      const seen = view.asked[0]?.update
      if (!seen) return { kind: 'problem', problem: noUpdate(id) }
      const changed = change(seen, view)
      if ('slug' in changed) return { kind: 'problem', problem: changed }
      if ((await ledger.record(changed, seen)) === 'recorded') return { kind: 'done', update: changed }
    }
    throw new Contention(`the record ${id} keeps changing`)
  }

  return { approve, reject, cancel, expire, resolve }
}

export type Deciding = ReturnType<typeof createDeciding>

export const noUpdate = (id: string): Problem => problem('not-found', `There is no update ${id}.`)

const end = (
  update: Update,
  state: 'rejected' | 'cancelled' | 'expired',
  at: number,
  by: string,
  note?: string,
): Update => next(update, state, { finishedAt: at }, { at, by, ...(note !== undefined && { note }) })
