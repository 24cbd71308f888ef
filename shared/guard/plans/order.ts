import type { Ledger } from '../../ledger/ledger.ts'
import type { Plan } from '../plans-file.ts'
import { attemptsOf, type ProjectAttempts, wasNotReached } from './attempts.ts'
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
  return inOrder(tried, await notReachedBy(ledger, plan, before ?? null))
}

/** The projects that come first in the plan's next occurrence. */
export async function notReachedBy(ledger: Ledger, plan: Plan, last: Occurrence | null): Promise<readonly string[]> {
  if (last?.state !== 'stopped') return []
  return (await attemptsOf(ledger, plan, last)).filter(wasNotReached).map(({ project }) => project)
}

export function inOrder<Of extends { readonly project: string }>(all: readonly Of[], first: readonly string[]) {
  if (first.length === 0) return all
  const early = new Set(first)
  return [...all.filter(({ project }) => early.has(project)), ...all.filter(({ project }) => !early.has(project))]
}
