import type { Problem } from '../../ledger/updates/update.ts'
import { once } from '../../platform/parallel.ts'
import { type Background, createBackground } from '../background.ts'
import type { GuardParts } from '../options.ts'
import { type DecisionOutcome, noUpdate } from '../people/approvals.ts'
import type { OccurrenceResult } from '../plans/occurrences.ts'
import type { Plan } from '../plans/plans-file.ts'
import { problem } from '../problems.ts'
import type { Answer } from '../update/answer.ts'
import type { Estimate } from '../update/estimate.ts'
import type { Guard } from '../whole-guard.ts'
import { createNarrowedLedger, refused, seenAmong, seenUpdates } from './narrowed-ledger.ts'
import { seenOccurrence, seenProblem, updateNamedIn, wantsApproval } from './records.ts'
import { createSights, type Reader, type Sight } from './sight.ts'

type Whole = Omit<Guard, 'readAs'>

/**
 * The guard as a caller sees it whose reads are narrowed (`Permissions.readsBudgets`). A face gets it from
 * `guard.readAs(caller, permissions)` and uses it in place of the guard for all that the caller reads and decides:
 *
 * - `ledger` and `background()` know the reader's budgets alone, each top with `parent: null`; there may be several
 *   tops, or none, and no `account`. A budget that the reader does not see is `unseenBudget` in an update, entry or plan.
 * - `approve`, `reject`, `cancel`, `resolve`, `start` and running plans write through the whole ledger, once the reader
 *   sees the target. Their outcomes, problems included, are narrowed.
 * - The reader is no administrator, so nothing else is written.
 */
export function createReader(whole: Whole, given: GuardParts, reader: Reader): Guard {
  // The file is read once for each reader.
  const parts = { ...given, plans: once(given.plans) }
  const ledger = createNarrowedLedger(parts, reader)
  const sightNow = createSights(parts, reader)

  async function decided(id: string, decide: () => Promise<DecisionOutcome>): Promise<DecisionOutcome> {
    if (!(await ledger.update(id))) return { kind: 'problem', problem: noUpdate(id) }
    return seenOutcome(parts, await sightNow(), await decide())
  }

  const background = once(async (): Promise<Background> => {
    const { plans } = await sightNow()
    // Plans are started by the whole guard.
    const resume = { start: whole.start, begin: refused }
    const own = createBackground({ ...parts, ledger, plans, approvals: whole, resume })
    return { ...own, ...narrowedPlans(await whole.background(), { parts, sightNow }) }
  })

  const guard: Guard = {
    ...whole,
    ...notAdministrator,
    ledger,
    background,
    approve: (id, ...how) => decided(id, () => whole.approve(id, ...how)),
    reject: (id, ...how) => decided(id, () => whole.reject(id, ...how)),
    cancel: (id, ...how) => decided(id, () => whole.cancel(id, ...how)),
    resolve: (id, ...how) => decided(id, () => whole.resolve(id, ...how)),
    start: async (id, endsAt) => {
      if (!(await ledger.update(id))) return null
      const update = await whole.start(id, endsAt)
      return update && ((await seenUpdates(parts.ledger, await sightNow(), [update]))[0] ?? null)
    },
    readAs: async () => guard,
  }
  return guard
}

const barred = async () =>
  ({
    kind: 'problem',
    problem: problem('forbidden', 'This needs an administrator who reads all budgets.'),
  }) as const

const notAdministrator = {
  ...{ putBudget: barred, previewBudget: barred, deleteBudget: barred, freeze: barred, unfreeze: barred },
  ...{ applyBudgets: barred, putCaller: barred, previewCaller: barred, disableCaller: barred, deleteCaller: barred },
  ...{ pausePlan: barred, resumePlan: barred, expire: barred },
}

interface PlansParts {
  readonly parts: GuardParts
  readonly sightNow: () => Promise<Sight>
}

/** A plan is run whole, so only a reader of all that it charges runs it. */
function narrowedPlans(
  whole: Background,
  { parts, sightNow }: PlansParts,
): Pick<Background, 'fire' | 'runAgain' | 'askToRunAgain' | 'runAsked' | 'advance'> {
  type Refused = { readonly kind: 'problem'; readonly problem: Problem }

  async function ifWhole<Result extends { readonly kind: string }>(
    name: string,
    act: () => Promise<Result | Refused>,
  ): Promise<Result | Refused> {
    const [{ plans }, all] = await Promise.all([sightNow(), parts.plans()])
    const [seen, plan] = [plans, all].map((each) => each.find((one) => one.name === name))
    if (!seen || !plan) return { kind: 'problem', problem: problem('not-found', `There is no plan ${name}.`) }
    if (!isWhole(seen, plan)) return { kind: 'problem', problem: problem('forbidden', notWhole(name)) }
    const result = await act()
    return 'problem' in result
      ? { kind: 'problem', problem: seenProblem(await sightNow(), result.problem, () => false) }
      : result
  }

  async function run(name: string, fire: () => Promise<OccurrenceResult>): Promise<OccurrenceResult> {
    const result = await ifWhole(name, fire)
    if (result.kind === 'problem') return result
    const occurrence = seenOccurrence(await sightNow(), result.occurrence)
    return occurrence
      ? { kind: 'fired', occurrence }
      : { kind: 'problem', problem: problem('not-found', `There is no plan ${name}.`) }
  }
  return {
    fire: (name, ...how) => run(name, () => whole.fire(name, ...how)),
    runAgain: (name, ...how) => run(name, () => whole.runAgain(name, ...how)),
    askToRunAgain: (name, ...how) => ifWhole(name, () => whole.askToRunAgain(name, ...how)),
    ...{ runAsked: async () => null, advance: async () => null },
  }
}

const notWhole = (plan: string): string =>
  `The plan ${plan} also updates projects of budgets that you do not read, so you cannot run it.`

const isWhole = (seen: Plan, plan: Plan): boolean =>
  seen.projects.length === plan.projects.length && seen.budget === plan.budget

async function seenOutcome({ ledger }: GuardParts, sight: Sight, outcome: DecisionOutcome): Promise<DecisionOutcome> {
  if (outcome.kind === 'problem') {
    const isSeen = await seenAmong(ledger, sight, updateNamedIn(outcome.problem))
    return { kind: 'problem', problem: seenProblem(sight, outcome.problem, isSeen) }
  }
  const [update] = await seenUpdates(ledger, sight, [outcome.update])
  return update ? { kind: 'done', update } : { kind: 'problem', problem: noUpdate(outcome.update.id) }
}

/** A request is refused for what it names before another's names are read (`whyNotSeen`), so the refusal repeats it. */
const seenRefusal: typeof seenProblem = (sight, one, isSeen) =>
  one.slug === 'invalid-request' || one.slug === 'not-found' ? one : seenProblem(sight, one, isSeen)

/** What a request of a narrowed reader is answered. */
export async function seenAnswer(parts: GuardParts, reader: Reader, answer: Answer): Promise<Answer> {
  const { ledger } = parts
  const sight = await createSights(parts, reader)()
  const problems = [answer.problem, ...answer.notRecorded.map((each) => each.problem)]
  const isSeen = await seenAmong(ledger, sight, problems.flatMap(updateNamedIn))
  const shown = (one: Problem) => seenRefusal(sight, one, isSeen)
  const updates = (await seenUpdates(ledger, sight, answer.updates)).filter((update) => update !== null)
  return {
    ...answer,
    updates,
    problem: answer.problem && shown(answer.problem),
    notRecorded: answer.notRecorded.map((each) => ({ ...each, problem: shown(each.problem) })),
    earlier: answer.earlier.filter((id) => updates.some((update) => update.id === id)),
  }
}

export async function seenEstimate(
  parts: GuardParts,
  reader: Reader,
  estimate: Estimate | Problem,
): Promise<Estimate | Problem> {
  const { ledger } = parts
  const sight = await createSights(parts, reader)()
  const all = 'slug' in estimate ? [estimate] : [estimate.problem, ...estimate.projects.map((each) => each.problem)]
  const isSeen = await seenAmong(ledger, sight, all.flatMap(updateNamedIn))
  const shown = (one: Problem) => seenRefusal(sight, one, isSeen)
  if ('slug' in estimate) return shown(estimate)
  const { approval } = estimate
  return {
    ...estimate,
    projects: estimate.projects.map(({ problem: own, ...each }) => ({ ...each, ...(own && { problem: shown(own) }) })),
    problem: estimate.problem && shown(estimate.problem),
    approval: approval !== null && sight.isTelling(approval) ? wantsApproval : approval,
    wouldHaveRefused: estimate.wouldHaveRefused.filter(({ budget }) => sight.seesCounter(budget)),
    figures: estimate.figures.filter(({ budget }) => sight.seesCounter(budget)),
  }
}
