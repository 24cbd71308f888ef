import { type Kinds, productKinds } from '../../shared/tracking/kinds.ts'
import { costOf } from './costs.ts'
import { type Project, type Run, scheduledDays } from './project.ts'

/** What has been made at the stand-in: projects that may reserve units, and runs that took them. */
interface Contents {
  readonly projects: readonly Project[]
  readonly runs: readonly Run[]
}

export interface Terms {
  readonly unitsPerMonth: number
  readonly kinds: Kinds
}

/** The account in the UTC calendar month of an instant. `scheduled`: all scheduled dates of the month, also the coming ones. */
export function balanceOf({ projects, runs }: Contents, instant: number, { unitsPerMonth, kinds }: Terms) {
  const month = monthOf(instant)
  const used = sum(runs.filter(({ at }) => monthOf(at) === month).map(({ units }) => units))
  const scheduled = sum(projects.map((project) => reservedBy(project, month, kinds)))
  return { used, scheduled, left: Math.max(0, unitsPerMonth - used - scheduled) }
}

/** Whether the month of the instant still has the units that a changed project reserves. A smaller reservation always fits. */
export function canReserve(before: Contents, after: Contents, instant: number, terms: Terms): boolean {
  const [old, next] = [balanceOf(before, instant, terms), balanceOf(after, instant, terms)]
  return next.scheduled <= old.scheduled || next.scheduled - old.scheduled <= old.left
}

export const usualTerms = (unitsPerMonth: number): Terms => ({ unitsPerMonth, kinds: productKinds })

/** Each scheduled date of the month is reserved at the ranking cost of the project as it is now. */
function reservedBy(project: Project, month: string, kinds: Kinds): number {
  const days = scheduledDays(project, endOf(month)).filter((day) => day.startsWith(month))
  return days.length * costOf(kinds.ranking, project).keyword_units
}

const monthOf = (instant: number): string => new Date(instant).toISOString().slice(0, 7)

/** The last millisecond of a month such as `2026-11`. */
function endOf(month: string): number {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return Date.UTC(year, number) - 1
}

const sum = (units: readonly number[]): number => units.reduce((total, each) => total + each, 0)
