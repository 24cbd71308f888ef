import type { Ledger } from '../../ledger/ledger.ts'
import { attemptsOf, type ProjectAttempts, wasNotReached } from './attempts.ts'
import type { Plan } from './plans-file.ts'
import { type Occurrence, occurrences, occurrencesOf } from './stored-occurrence.ts'

/**
 * The attempts in the order in which an occurrence tries its projects. Projects that a stopped occurrence did not reach
 * come first in the next one; otherwise the same projects could stop the plan every night.
 */
export async function attemptsInOrder(
  ledger: Ledger,
  plan: Plan,
  occurrence: Occurrence,
): Promise<readonly ProjectAttempts[]> {
  const [tried, latest] = await Promise.all([
    attemptsOf(ledger, plan, occurrence),
    ledger.queue(occurrences).latest(occurrencesOf(plan.name), 2),
  ])
  const before = latest.find(({ time }) => time < occurrence.time)
  if (before?.state !== 'stopped') return tried
  const projects = (await attemptsOf(ledger, plan, before)).filter(wasNotReached).map(({ project }) => project)
  const first = new Set(projects)
  return [...tried.filter(({ project }) => first.has(project)), ...tried.filter(({ project }) => !first.has(project))]
}
