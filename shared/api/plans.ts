import type { OccurrenceReport } from '../guard/plans/occurrences.ts'
import type { PlanStatus } from '../guard/plans/statuses.ts'
import type { Occurrence } from '../guard/plans/stored-occurrence.ts'
import { when } from '../guard/sentences.ts'
import { type Update, wasUpToDate } from '../ledger/updates/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { seenName, showProblem, showTags } from './to-json.ts'

export function showPlan({ plan, paused, next, last }: PlanStatus, zone: string) {
  const { name, kind, projects, budget, mayChargeAncestors, schedule, whenShort, query, leave, tags, enabled } = plan
  return {
    name,
    kind,
    projects,
    budget: seenName(budget),
    schedule: schedule.text,
    whenShort,
    ...(query && { query }),
    ...(mayChargeAncestors && { mayChargeAncestors: true }),
    ...(leave !== undefined && { leave }),
    ...showTags(tags),
    enabled,
    paused: paused ? { ...paused, at: toRfc3339(paused.at) } : false,
    next: next === null ? null : toRfc3339(next),
    nextLocal: next === null ? null : when(next, zone),
    last: last && showLast(last),
  }
}

export const showLast = (last: Occurrence) => ({ ...showWhen(last), ...(last.counts && { counts: last.counts }) })

const showWhen = ({ time, state, reason, doneAt }: Occurrence) => ({
  time: toRfc3339(time),
  state,
  ...(reason !== undefined && { reason }),
  finishedAt: doneAt === undefined ? null : toRfc3339(doneAt),
})

export function showOccurrence({ occurrence, counts, unitsCharged, rows }: OccurrenceReport) {
  return {
    plan: occurrence.plan,
    ...showWhen(occurrence),
    ...(occurrence.doneAt === undefined && { nextTryAt: toRfc3339(occurrence.nextAt) }),
    counts,
    unitsCharged,
    projects: rows.map(({ project, update }) => ({
      project,
      update: update?.id ?? null,
      state: occurrenceStateOf(update),
      ...(update?.problem && { problem: showProblem(update.problem) }),
    })),
  }
}

function occurrenceStateOf(update: Update | null): Update['state'] | 'up-to-date' | 'unsent' {
  if (!update) return 'unsent'
  return wasUpToDate(update) ? 'up-to-date' : update.state
}
