import type { OccurrenceReport } from '../guard/plans/occurrences.ts'
import type { PlanStatus } from '../guard/plans/statuses.ts'
import type { Occurrence } from '../guard/plans/stored-occurrence.ts'
import { when } from '../guard/sentences.ts'
import { type Update, wasUpToDate } from '../ledger/updates/update.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { defined, type Shown } from './shown.ts'
import { seenName, showProblem, showTags, timeOrNull } from './to-json.ts'

export function showPlan({ plan, paused, next, last }: PlanStatus, zone: string): Shown<'Plan'> {
  const { name, kind, projects, budget, mayChargeAncestors, schedule, whenShort, query, leave, tags, enabled } = plan
  return defined({
    name,
    kind,
    projects,
    budget: seenName(budget),
    schedule: schedule.text,
    whenShort,
    query,
    mayChargeAncestors: mayChargeAncestors || undefined,
    leave,
    tags: showTags(tags),
    enabled,
    paused: paused ? { ...paused, at: toRfc3339(paused.at) } : false,
    next: timeOrNull(next),
    nextLocal: next === null ? null : when(next, zone),
    last: last && showLast(last),
  })
}

type ShownOccurrence = NonNullable<Shown<'Plan'>['last']>

export const showLast = (last: Occurrence): ShownOccurrence => defined({ ...showWhen(last), counts: last.counts })

const showWhen = ({ time, state, reason, doneAt }: Occurrence): Omit<ShownOccurrence, 'counts'> =>
  defined({ time: toRfc3339(time), state, reason, finishedAt: timeOrNull(doneAt) })

export const showOccurrence = ({ occurrence, counts, unitsCharged, rows }: OccurrenceReport): Shown<'Occurrence'> =>
  defined({
    plan: occurrence.plan,
    ...showWhen(occurrence),
    nextTryAt: occurrence.doneAt === undefined ? toRfc3339(occurrence.nextAt) : undefined,
    counts,
    unitsCharged,
    projects: rows.map(({ project, update }) =>
      defined({
        project,
        update: update?.id ?? null,
        state: occurrenceStateOf(update),
        problem: update?.problem && showProblem(update.problem),
      }),
    ),
  })

function occurrenceStateOf(update: Update | null): Update['state'] | 'up-to-date' | 'unsent' {
  if (!update) return 'unsent'
  return wasUpToDate(update) ? 'up-to-date' : update.state
}
