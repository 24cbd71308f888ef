import type { Occurrence } from '../ledger/occurrence.ts'
import { isKnownToHaveRun, type Problem, type Update } from '../ledger/update.ts'

/** A project of an occurrence, with every update that was tried for it: none, or one after the other was released. */
export interface Tried {
  readonly project: string
  readonly updates: readonly Update[]
}

/** Whether something is left to try, now or in a later round. */
export function isUnfinished({ updates }: Tried, { startedAt }: Pick<Occurrence, 'startedAt'>): boolean {
  const last = updates.at(-1)
  if (!last) return true
  return last.state === 'requested' || last.state === 'running' || mayBeTriedAnew(updates, startedAt)
}

/**
 * Whether to try it in this round, which may take several processes: what was tried since it was due has had its turn.
 *
 * @param roundAt when the round was due.
 */
export function mayTry(
  { updates }: Tried,
  { roundAt, startedAt }: Pick<Occurrence, 'startedAt'> & { roundAt: number },
): boolean {
  const last = updates.at(-1)
  if (!last || last.state === 'requested') return true
  return triedAt(last) < roundAt && mayBeTriedAnew(updates, startedAt)
}

/**
 * What provably did not run is tried anew: by itself where the sender has the proof, and everything of that kind from
 * before somebody asked for the unsent. What one of the tries is known to have done is done, whatever came of the others.
 */
function mayBeTriedAnew(updates: readonly Update[], startedAt: number): boolean {
  const last = updates.at(-1)
  if (!last || updates.some(isKnownToHaveRun)) return false
  return triedAt(last) < startedAt ? mayHaveMore(last) : last.state === 'released' && last.closedBy === 'sender'
}

/** What was held or refused may have been requested long before. */
function triedAt(update: Update): number {
  const { hold, finishedAt, createdAt } = update
  return hold?.at ?? (wasStoppedByPause(update) ? (finishedAt ?? createdAt) : createdAt)
}

/** Whether another update of the project may have followed this one, also before it turned out that this one ran. */
export const mayHaveMore = (update: Update | undefined): boolean =>
  !update ||
  update.state === 'released' ||
  update.state === 'expired' ||
  (update.state === 'settled' && !isKnownToHaveRun(update)) ||
  wasStoppedByPause(update)

/** Of an occurrence that is over: whether running the unsent would try this project again. */
export const isUnsent = (update: Update | null): boolean =>
  !update || (mayHaveMore(update) && !isKnownToHaveRun(update)) || (update.state === 'requested' && !update.approval)

/** The plan was paused when its turn came: nothing was decided about the project itself. */
const wasStoppedByPause = ({ problem }: Update): boolean => problem?.slug === 'plan-paused'

/** Why the occurrence, since it was begun, is not to go on, where the plan was paused meanwhile. */
export const pausedSince = (update: Update | undefined, startedAt: number): string | null =>
  update && wasStoppedByPause(update) && triedAt(update) >= startedAt ? (update.problem?.detail ?? '') : null

export interface Results {
  readonly counts: Readonly<Record<Counted, number>>
  readonly unitsCharged: number
  /** What was refused, and why. */
  readonly refusals: readonly { readonly project: string; readonly problem: Problem }[]
  readonly rows: readonly { readonly project: string; readonly update: Update | null }[]
}

const counted = [
  'settled',
  'refused',
  'released',
  'inDoubt',
  'awaitingApproval',
  'requested',
  'expired',
  'unsent',
] as const
export type Counted = (typeof counted)[number]

/** What became of each project. Once an occurrence is over, nobody begins any more what it has left requested. */
export function resultsOf(tried: readonly Tried[], { doneAt }: Pick<Occurrence, 'doneAt'>): Results {
  const rows = tried.map(({ project, updates }) => ({ project, update: updates.at(-1) ?? null }))
  const isOver = doneAt !== undefined
  const counts = Object.fromEntries(
    counted.map((name) => [name, rows.filter(({ update }) => countedAs(update, isOver) === name).length]),
  ) as Record<Counted, number>
  return {
    counts,
    unitsCharged: tried.flatMap(({ updates }) => updates).reduce((sum, { charged }) => sum + (charged ?? 0), 0),
    refusals: rows.flatMap(({ project, update }) =>
      update?.state === 'refused' && update.problem ? [{ project, problem: update.problem }] : [],
    ),
    rows,
  }
}

function countedAs(update: Update | null, isOver: boolean): Counted {
  switch (update?.state) {
    case undefined:
      return 'unsent'
    case 'settled':
    case 'refused':
    case 'released':
    case 'expired':
      return update.state
    case 'rejected':
    case 'cancelled':
      return 'refused'
    case 'awaiting-approval':
      return 'awaitingApproval'
    case 'in-doubt':
      return 'inDoubt'
    case 'running':
      return 'requested'
    case 'requested':
      // What a person has agreed to is begun like any other.
      return isOver && !update.approval ? 'unsent' : 'requested'
  }
}
