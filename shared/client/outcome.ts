import type { Problem, Update } from './answers.ts'

export type Outcome =
  /** `earlier`: an earlier request was charged for the same work, and this one spent nothing. */
  | { kind: 'settled'; update: Update; units: number; earlier: boolean }
  /** The update provably did not run; its units were given back. */
  | { kind: 'released'; update: Update; problem: Problem | null }
  /** The update may have run. Its units stay counted; it is never sent again until a person or evidence decides. */
  | { kind: 'in-doubt'; update: Update }
  | { kind: 'awaiting-approval'; update: Update }
  /** Nothing was spent. */
  | { kind: 'refused'; update: Update; problem: Problem }
  | { kind: 'rejected' | 'cancelled' | 'expired'; update: Update }
  /** The deadline passed first; `wait` waits again. */
  | { kind: 'pending'; update: Update }
  /** Nothing was recorded or spent; the request may be repeated with `key`. */
  | { kind: 'problem'; problem: Problem; key: string }
  /** It is unknown whether anything was recorded. The same request with `key` finds out. */
  | { kind: 'unanswered'; why: string; key: string }

/** @param earlier the update belongs to an earlier request for the same work. */
export function outcomeOf(update: Update, earlier: boolean): Outcome {
  const { state, problem } = update
  switch (state) {
    case 'settled':
      return { kind: state, update, units: update.units.charged ?? 0, earlier }
    case 'released':
      return { kind: state, update, problem: problem ?? null }
    case 'refused':
      if (problem) return { kind: state, update, problem }
      throw new Error(`the update ${update.id} was refused without a reason`)
    case 'in-doubt':
    case 'awaiting-approval':
      return { kind: state, update }
    case 'rejected':
    case 'cancelled':
    case 'expired':
      return { kind: state, update }
    case 'requested':
    case 'running':
      return { kind: 'pending', update }
  }
}
