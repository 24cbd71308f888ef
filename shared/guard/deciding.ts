import { budgetNamed, chainOf, personOf } from '../ledger/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { LedgerUnavailable } from '../ledger/store.ts'
import { next, type Problem, type Update } from '../ledger/update.ts'
import type { View } from '../ledger/views.ts'
import { toRfc3339 } from '../platform/clock.ts'
import type { Units } from '../platform/words.ts'
import type { Closing } from './closing.ts'
import { zoneOf } from './decide.ts'
import { type GuardOptions, mostDecisions } from './options.ts'
import { problem } from './problems.ts'
import { when } from './sentences.ts'

/** What came of a person's decision about an update. */
export type Decided =
  | { readonly kind: 'done'; readonly update: Update }
  | { readonly kind: 'problem'; readonly problem: Problem }

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
  const approve = (id: string, by: string, how: { reason?: string; replyTo?: string } = {}): Promise<Decided> =>
    decide(id, (update, view) => {
      const { now } = view
      if (update.state !== 'awaiting-approval') return wrongState(view, update, 'approved')
      if (isPast(update, now)) {
        const detail = `${id} could be approved until ${when(update.approvableUntil ?? now, zoneOf(view))}; ask for the update again.`
        return problem('wrong-state', detail, { update: id, state: update.state })
      }
      if (!budgetNamed(view.definitions, update.budget)) {
        const detail = `${id} cannot be approved: its budget ${update.budget} was deleted; make it again, or reject the update.`
        return problem('wrong-state', detail, { update: id, state: update.state })
      }
      const own = ownership(by, update, view)
      if (own) return problem('forbidden', `${own} asked for ${id}, so somebody else has to approve it.`)
      if (isBarred(by, update, view))
        return problem('forbidden', `${by} is not among the approvers of ${update.budget}.`)
      const { short, estimated, replyTo = [] } = update
      const approval = { by, at: now, units: estimated ?? (0 as Units), ...(short && { grants: short }) }
      const told = how.replyTo === undefined ? {} : { replyTo: [...replyTo, how.replyTo] }
      const line = { at: now, by, note: how.reason ?? 'approved' }
      return next(update, 'requested', { approval, requestedAt: now, queued: true, ...told }, line)
    })

  const reject = (id: string, by: string, reason?: string): Promise<Decided> =>
    decide(id, (update, view) => {
      if (update.state !== 'awaiting-approval') return wrongState(view, update, 'rejected')
      const own = ownership(by, update, view)
      if (own) return problem('forbidden', `${own} asked for ${id}; cancel it instead.`)
      return end(update, 'rejected', view.now, by, reason)
    })

  const cancel = (id: string, by: { caller: string; isAdmin: boolean }, reason?: string): Promise<Decided> =>
    decide(id, (update, view) => {
      if (update.caller !== by.caller && !by.isAdmin)
        return problem(
          'forbidden',
          `${id} was asked for by ${update.caller}; only they or an administrator may cancel it.`,
        )
      if (update.state !== 'awaiting-approval' && update.state !== 'requested')
        return wrongState(view, update, 'cancelled')
      return end(update, 'cancelled', view.now, by.caller, reason)
    })

  /** What nobody began or approved in time. */
  const expire = (id: string, note: string): Promise<Decided> =>
    decide(id, (update, view) => {
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
    if (found.state !== 'in-doubt' || !found.hold)
      return { kind: 'problem', problem: wrongState(view, found, 'resolved') }
    const retryAt = landedBy(found, options)
    if (outcome === 'did-not-run' && view.now < retryAt) {
      const detail = `The request for ${id} may still take effect; that it did not run can be said from ${when(retryAt, zoneOf(view))} on. That it ran can be said now.`
      const members = { update: id, state: found.state, retryAt: toRfc3339(retryAt) }
      return { kind: 'problem', problem: problem('wrong-state', detail, members) }
    }
    const said = { from: 'person', by, note: reason } as const
    const { update, changed } = await closing.close(
      found,
      outcome === 'ran'
        ? { kind: 'ran', units: resolution.units ?? found.hold.units, ...said }
        : { kind: 'did-not-run', ...said },
    )
    return changed ? { kind: 'done', update } : { kind: 'problem', problem: wrongState(view, update, 'resolved') }
  }

  async function decide(id: string, change: (update: Update, view: View) => Update | Problem): Promise<Decided> {
    for (let round = 0; round < mostDecisions; round++) {
      const view = await ledger.view([{ id }])
      const seen = view.asked[0]?.update
      if (!seen) return { kind: 'problem', problem: noUpdate(id) }
      const changed = change(seen, view)
      if ('slug' in changed) return { kind: 'problem', problem: changed }
      if ((await ledger.record(changed, seen)) === 'recorded') return { kind: 'done', update: changed }
    }
    throw new LedgerUnavailable(`the record ${id} keeps changing`)
  }

  return { approve, reject, cancel, expire, resolve }
}

export type Deciding = ReturnType<typeof createDeciding>

/** From when on nothing that was sent for this update can still take effect. */
export function landedBy({ hold, doubt }: Update, options: GuardOptions): number {
  const silentFrom = doubt?.by === 'sender' ? doubt.at : (hold?.senderUntil ?? 0)
  return silentFrom + options.serviceFlightMs
}

export const noUpdate = (id: string): Problem => problem('not-found', `There is no update ${id}.`)

const isPast = (update: Update, now: number): boolean =>
  update.approvableUntil !== undefined && update.approvableUntil <= now

const end = (
  update: Update,
  state: 'rejected' | 'cancelled' | 'expired',
  at: number,
  by: string,
  note?: string,
): Update => next(update, state, { finishedAt: at }, { at, by, ...(note !== undefined && { note }) })

function wrongState(view: View, { id, state, history }: Update, wanted: string): Problem {
  const last = history.at(-1)
  const since = last ? ` since ${when(last.at, zoneOf(view))} (${last.by})` : ''
  return problem('wrong-state', `${id} cannot be ${wanted}: it has been ${state}${since}.`, { update: id, state })
}

/** Four eyes: who asked under another name is the same person. `null`: somebody else asked. */
function ownership(by: string, { caller }: Update, { definitions }: View): string | null {
  if (caller === by) return by
  return personOf(definitions, caller) === personOf(definitions, by) ? `${by}, who is also ${caller},` : null
}

/** The nearest budget that names approvers decides who they are; an empty list names nobody in particular. */
function isBarred(by: string, update: Update, { definitions }: View): boolean {
  const named = chainOf(definitions, update.budget).find(({ approvers = [] }) => approvers.length > 0)
  if (named?.approvers === undefined) return false
  return !named.approvers.includes(by) && !named.approvers.includes(personOf(definitions, by))
}
