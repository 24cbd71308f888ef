import { isKnownToHaveRun, type Update } from '../../ledger/updates/update.ts'
import { list } from '../sentences.ts'
import { mayAttempt, type ProjectAttempts, type RoundStart } from './attempts.ts'

/** This many failures in a row mean the service is at fault, not the projects. */
export const maxFailuresInARow = 3

/** The doubts in a row, up to this update. A refusal says nothing about the service, so it neither counts nor ends the row. */
export function doubtsWith(row: readonly Update[], update: Update | undefined): readonly Update[] {
  if (update?.state === 'in-doubt') return [...row, update]
  return update && isKnownToHaveRun(update) ? [] : row
}

/** The doubts that would stop a new run of an occurrence before its last project. Empty: nothing stops it. */
export function blockingDoubts(tried: readonly ProjectAttempts[], begun: RoundStart): readonly Update[] {
  const isDue = (each: ProjectAttempts) => mayAttempt(each, { roundAt: begun.startedAt, ...begun })
  let row: readonly Update[] = []
  for (const [position, each] of tried.entries()) {
    // A project that is tried may end the row.
    row = isDue(each) ? [] : doubtsWith(row, each.updates.at(-1))
    if (row.length < maxFailuresInARow) continue
    const runsAll = tried.slice(0, position).some(isDue) && !tried.slice(position).some(isDue)
    return runsAll ? [] : row
  }
  return []
}

/** Doubts with the same sign in their answers can be decided for all days by one setting. */
export function stopReason(doubts: readonly Update[]): string {
  const why = `${doubts.length} updates in a row are in doubt; resolve them, then run what was not sent`
  const signs = doubts.flatMap(({ doubt }) => doubt?.sign ?? [])
  if (signs.length === 0) return why
  const whose = signs.length === doubts.length ? 'Their answers have' : 'Some of their answers have'
  return `${why}. ${whose} ${list([...new Set(signs)])}: RUN_STARTED or ANSWERS_WELL decide such answers (npm run doctor)`
}
