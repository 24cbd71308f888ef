import { chainOf } from '../ledger/definitions.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Problem, Via } from '../ledger/update.ts'
import { inParallel } from '../platform/parallel.ts'
import type { Kind, Units } from '../platform/words.ts'
import { allOrNothing } from './batch.ts'
import { allowedTo, barredFromAsking, keptOf, type Named } from './callers.ts'
import { budgetFor, type Payer, payerOf, wrongBudget } from './charging.ts'
import { countersOf, decide, type Known } from './decide.ts'
import { type Figures, figuresOfChain } from './figures.ts'
import { type GuardOptions, runsAtOnce } from './options.ts'
import { invalidRequest, problem } from './problems.ts'
import type { Quoting } from './quoting.ts'
import { spellingFaults } from './spelling.ts'

export interface Estimate {
  readonly kind: Kind
  /** The sum of what is known. */
  readonly units: number
  readonly projects: readonly EstimatedProject[]
  /** Whether an update asked for now, under no key seen before, would be admitted or put to a person. */
  readonly allowed: boolean
  readonly problem: Problem | null
  /** Why a person would have to agree; `null`: nobody would. */
  readonly approval: string | null
  /** The budgets that would be charged, without their ancestors. */
  readonly budgets: readonly string[]
  /** Who would pay for each project, and which budget owns it. */
  readonly payers: Readonly<Record<string, Payer>>
  /** Every counter that the updates would move. */
  readonly figures: readonly Figures[]
}

interface EstimatedProject {
  readonly project: string
  /** `null`: the service gave no estimate, and `problem` says why. */
  readonly units: Units | null
  /** Why this update by itself would not pass. */
  readonly problem?: Problem
}

export function createEstimating({
  ledger,
  quoting,
  options,
}: {
  ledger: Ledger
  quoting: Quoting
  options: GuardOptions
}) {
  /**
   * What updates would cost and whether they would pass; spends and records nothing. A caller who may not ask for updates
   * is shown what the budgets say, and no right to charge the ancestors of an owner.
   */
  async function estimate(
    wanted: { kind: Kind; projects: readonly string[]; budget?: string },
    asker: Named & { readonly via: Via },
  ): Promise<Estimate | Problem> {
    const view = await ledger.view(wanted.projects.map((project) => ({ work: { kind: wanted.kind, project } })))
    const faults = spellingFaults(
      view.definitions,
      wanted.projects.map((project) => ({ project })),
      options.separator,
    )
    if (faults.length > 0) return invalidRequest(faults)
    const wrong = wrongBudget(view.definitions, wanted, wanted.projects)
    if (wrong) return wrong
    const mayAsk = barredFromAsking(asker.caller, allowedTo(view.definitions, asker)) === null
    const { via, token } = mayAsk ? asker : ({ via: 'http', token: null } as const)
    const quotes = await inParallel(wanted.projects, runsAtOnce, (project) =>
      quoting.quote({ kind: wanted.kind, project }),
    )
    const known = wanted.projects.map((project, position): Known => {
      const asked = view.asked[position]
      if (!asked) throw new Error('a view shows all that was asked for')
      const budget = budgetFor(view.definitions, wanted, project)
      const request = {
        ...{ id: '', kind: wanted.kind, project, budget, caller: asker.caller, via },
        ...(token && { token: keptOf(view.definitions, token, budget) }),
        ...{ content: { digest: '', count: 0 }, createdAt: view.now },
      }
      return { view, asked, request }
    })
    const rows = []
    const projects: EstimatedProject[] = []
    let approval: string | null = null
    for (const [position, each] of known.entries()) {
      const { project } = each.request
      const quote = quotes[position] ?? { kind: 'problem', problem: problem('internal', 'An estimate is missing.') }
      if (quote.kind === 'problem') {
        projects.push({ project, units: null, problem: quote.problem })
        continue
      }
      rows.push({ known: each, quote })
      const decision = decide(each, quote, options)
      projects.push({ project, units: quote.units, ...(decision.say === 'refuse' && { problem: decision.problem }) })
      if (decision.say === 'ask') approval ??= decision.reason
    }
    const first = projects.find((each) => each.problem)?.problem ?? null
    if (rows.length === 0 && first) return first
    const refusal = first ?? allOrNothing(rows)
    const chains = new Map(
      known
        .flatMap(({ request }) => countersOf(view, chainOf(view.definitions, request.budget), request))
        .map((counter) => [counter.name, counter]),
    )
    return {
      kind: wanted.kind,
      units: rows.reduce((sum, { quote }) => sum + quote.units, 0),
      projects,
      allowed: refusal === null,
      problem: refusal,
      approval,
      budgets: [...new Set(known.map(({ request }) => request.budget))],
      payers: Object.fromEntries(known.map(({ request }) => [request.project, payerOf(view.definitions, request)])),
      figures: figuresOfChain(view, [...chains.values()]),
    }
  }

  return { estimate }
}
