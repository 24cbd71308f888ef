import { chainOf } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem, Via } from '../../ledger/updates/update.ts'
import { inParallel } from '../../platform/parallel.ts'
import type { Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type GuardOptions, runsAtOnce } from '../options.ts'
import { type CallerIdentity, keptOf, permissionsOf, whyNotSubmit } from '../people/permissions.ts'
import { invalidRequest, problem } from '../problems.ts'
import { type Figures, figuresOfChain } from '../sentences.ts'
import { allOrNothing } from './batch.ts'
import { decide } from './decide.ts'
import { countersOf } from './limits.ts'
import { budgetFor, type Payer, payerOf, spellingFaults, wrongBudget } from './projects.ts'
import type { DecisionInput, Quotes } from './quote.ts'

export interface Estimate {
  readonly kind: Kind
  readonly units: number
  readonly projects: readonly EstimatedProject[]
  /** Whether the same request would now be admitted, or need approval. */
  readonly allowed: boolean
  readonly problem: Problem | null
  readonly approval: string | null
  /** Ancestors are left out. */
  readonly budgets: readonly string[]
  readonly payers: Readonly<Record<string, Payer>>
  readonly figures: readonly Figures[]
}

interface EstimatedProject {
  readonly project: string
  readonly units: Units | null
  readonly problem?: Problem
}

export interface EstimatesParts {
  ledger: Ledger
  quotes: Quotes
  options: GuardOptions
}

export const createEstimates = (parts: EstimatesParts) => ({
  estimate: (
    wanted: { kind: Kind; projects: readonly string[]; budget?: string },
    asker: CallerIdentity & { readonly via: Via },
  ) => estimate(parts, wanted, asker),
})

/** Spends and records nothing. */
async function estimate(
  parts: EstimatesParts,
  wanted: { kind: Kind; projects: readonly string[]; budget?: string },
  asker: CallerIdentity & { readonly via: Via },
): Promise<Estimate | Problem> {
  const { ledger, options, quotes } = parts
  const view = await ledger.view(wanted.projects.map((project) => ({ work: { kind: wanted.kind, project } })))
  const faults = spellingFaults(
    view.definitions,
    wanted.projects.map((project) => ({ project })),
    options.separator,
  )
  if (faults.length > 0) return invalidRequest(faults)
  const wrong = wrongBudget(view.definitions, wanted, wanted.projects)
  if (wrong) return wrong
  const mayAsk = whyNotSubmit(asker.caller, permissionsOf(view.definitions, asker)) === null
  const { via, token } = mayAsk ? asker : ({ via: 'http', token: null } as const)
  const quoted = await inParallel(wanted.projects, runsAtOnce, (project) =>
    quotes.quote({ kind: wanted.kind, project }),
  )
  const known = wanted.projects.map((project, position): DecisionInput => {
    const asked = view.results[position]
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
    const quote = quoted[position] ?? { kind: 'problem', problem: problem('internal', 'An estimate is missing.') }
    if (quote.kind === 'problem') {
      projects.push({ project, units: null, problem: quote.problem })
      continue
    }
    rows.push({ known: each, quote })
    const decision = decide(each, quote, options)
    projects.push({ project, units: quote.units, ...(decision.kind === 'refuse' && { problem: decision.problem }) })
    if (decision.kind === 'ask') approval ??= decision.reason
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
