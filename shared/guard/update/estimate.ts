import type { View } from '../../ledger/book/view.ts'
import {
  type CounterOwner,
  callerNamed,
  chainOf,
  type Definitions,
  type Unowned,
  unownedRuleOf,
} from '../../ledger/definitions/definitions.ts'
import type { Grant, Problem, UpdateRequest, Via } from '../../ledger/updates/update.ts'
import { inParallel } from '../../platform/parallel.ts'
import type { Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type GuardParts, runsAtOnce, withParts } from '../options.ts'
import { noApproverClause } from '../people/approvers.ts'
import { type CallerIdentity, keptOf, type Permissions, permissionsOf, whyNotSubmit } from '../people/permissions.ts'
import { whyNotSeen } from '../people/sees.ts'
import { invalidRequest } from '../problems.ts'
import { countersOf, observed } from '../rules/counters.ts'
import { budgetFor, namesOfProject, type Payer, payerOf, spellingFaults, wrongBudget } from '../rules/projects.ts'
import { type Figures, figuresOfChain } from '../sentences.ts'
import { allOrNothing, neededTogether } from './batch.ts'
import { type Decision, decide } from './decide.ts'
import { type Check, explain } from './explain.ts'
import { lackedBy } from './over-budget.ts'
import { type DecisionInput, type Quotes, resultAt } from './quote.ts'
import { sameWorkWaiting } from './waiting-work.ts'

export interface Estimate {
  readonly kind: Kind
  readonly units: number
  readonly projects: readonly EstimatedProject[]
  readonly allowed: boolean
  readonly problem: Problem | null
  readonly approval: string | null
  /** The largest grant that an approval would make. */
  readonly lacks: number
  /** The units that observed limits lack for all projects together. */
  readonly wouldHaveRefused: readonly Grant[]
  readonly budgets: readonly string[]
  readonly payers: Readonly<Record<string, Payer>>
  /** The rule of `account` for each project. `null`: a budget lists the project. */
  readonly unowned: Readonly<Record<string, Unowned | null>>
  /** For each project, the keys of the work that its update would do. */
  readonly works: Readonly<Record<string, readonly string[]>>
  readonly figures: readonly Figures[]
}

interface EstimatedProject {
  readonly project: string
  readonly units: Units | null
  readonly problem?: Problem
  readonly checks?: readonly Check[]
}

interface EstimateRequest {
  readonly kind: Kind
  readonly projects: readonly string[]
  readonly budget?: string
  readonly query?: Readonly<Record<string, string>>
  /** Estimates a request that asks approvers for missing units. */
  readonly whenShort?: 'ask'
  /** Returns every check, even without an estimate, and checks the asker's own scopes too. */
  readonly explain?: boolean
  /** Estimates for this caller, by the list of callers alone. The asker must be an administrator. */
  readonly as?: string
}

type Asker = CallerIdentity & { readonly via: Via }

interface EstimatesParts extends Pick<GuardParts, 'ledger' | 'options'> {
  quotes: Quotes
}

export const createEstimates = (parts: EstimatesParts) => withParts(parts, { estimate })

/** Spends and records nothing. */
async function estimate(
  { ledger, options, quotes }: EstimatesParts,
  wanted: EstimateRequest,
  reader: Asker,
): Promise<Estimate | Problem> {
  const view = await ledger.view(wanted.projects.map((project) => ({ work: { kind: wanted.kind, project } })))
  const asker = wanted.as === undefined ? reader : assumed(view.definitions, wanted.as)
  const allowed = permissionsOf(view.definitions, asker)
  const unseen = whyNotSeen(view.definitions, allowed, wanted)
  if (unseen) return asker === reader ? unseen : { ...unseen, detail: `${asker.caller} is told: ${unseen.detail}` }
  const misnamed = whyMisnamed(view.definitions, wanted, options.separator)
  if (misnamed) return misnamed
  const mayAsk = wanted.explain || whyNotSubmit(asker.caller, allowed) === null
  const { via, token } = mayAsk ? asker : ({ via: 'http', token: null } as const)
  const knownOf = (project: string, position: number): DecisionInput => {
    const asked = resultAt(view, position)
    const budget = budgetFor(view.definitions, wanted, project)
    const kept = token && keptOf(view.definitions, token, budget)
    return {
      view,
      asked,
      request: requestOf(wanted, { project, budget, caller: asker.caller, via, kept, now: view.now }),
    }
  }
  const quoted = await inParallel(wanted.projects.map(knownOf), runsAtOnce, async (known) => ({
    known,
    quote: await quotes.quote(known.request, namesOfProject(view.definitions, known.request.project)),
  }))
  const rows = []
  const projects: EstimatedProject[] = []
  const asked: Asked[] = []
  for (const { known, quote } of quoted) {
    const { project } = known.request
    const checks = wanted.explain && { checks: explain(known, quote, options, wanted.as !== undefined) }
    if (quote.kind === 'problem') {
      projects.push({ project, units: null, problem: quote.problem, ...checks })
      continue
    }
    const decision = decide(known, quote, options)
    rows.push({ known, quote, isDone: decision.kind === 'refuse' && isDone(decision.problem) })
    const problem = decision.kind === 'refuse' && { problem: decision.problem }
    projects.push({ project, units: quote.units, ...problem, ...checks })
    if (decision.kind === 'ask') asked.push({ ...known, ...decision, at: projects.length - 1 })
  }
  const { asks, clauses } = await waitingNow(ledger, asked, { projects, allowed })
  const first = worstOf(projects)
  if (first && !wanted.explain && quoted.every(({ quote }) => quote.kind === 'problem')) return first
  const open = rows.filter((row) => !row.isDone)
  const charged = open.length > 0 ? open : rows
  const isOnlyDone = first !== null && isDone(first) && open.length > 0
  const refusal = first && !isOnlyDone ? first : wanted.whenShort ? null : allOrNothing(charged)
  const requests = quoted.map(({ known }) => known.request)
  return {
    kind: wanted.kind,
    units: charged.reduce((sum, { quote }) => sum + quote.units, 0),
    projects,
    allowed: refusal === null,
    problem: refusal,
    approval: asks[0] ? [asks[0].reason, ...clauses, ...noApproverIn(asks[0])].join('; ') : null,
    lacks: lackOf(asks),
    wouldHaveRefused: refusal === null ? lackedBy(neededTogether(charged, observed)) : [],
    budgets: [...new Set(requests.map(({ budget }) => budget))],
    payers: Object.fromEntries(requests.map((request) => [request.project, payerOf(view.definitions, request)])),
    unowned: Object.fromEntries(wanted.projects.map((each) => [each, unownedRuleOf(view.definitions, each)])),
    works: Object.fromEntries(quoted.map(({ known }) => [known.request.project, worksOf(known)])),
    figures: figuresOfChain(view, countersOfAll(view, requests)),
  }
}

interface RequestParts extends Pick<UpdateRequest, 'project' | 'budget' | 'caller' | 'via'> {
  readonly kept: UpdateRequest['token'] | null
  readonly now: number
}

/** The request as it would be recorded. */
const requestOf = (
  { kind, query, whenShort }: EstimateRequest,
  { kept, now, ...parts }: RequestParts,
): DecisionInput['request'] => ({
  id: '',
  kind,
  ...parts,
  ...(kept && { token: kept }),
  ...(query && { query }),
  ...(whenShort && { whenShort }),
  content: { digest: '', count: 0 },
  createdAt: now,
})

type Asked = DecisionInput & Omit<Extract<Decision, { kind: 'ask' }>, 'kind'> & { readonly at: number }

function noApproverIn({ view, request, short }: Asked): readonly string[] {
  const no = noApproverClause(view.definitions, { ...request, short }, 'now')
  return no === null ? [] : [no]
}

/** The updates that would wait for an approval. The others wait already, which is their problem. */
async function waitingNow(
  ledger: EstimatesParts['ledger'],
  asked: readonly Asked[],
  { projects, allowed }: { readonly projects: EstimatedProject[]; readonly allowed: Permissions },
) {
  const same = await sameWorkWaiting(ledger, asked, allowed)
  for (const [position, { at }] of asked.entries()) {
    const problem = same[position]?.problem
    const project = projects[at]
    if (problem && project) projects[at] = { ...project, problem }
  }
  const asks = asked.filter((_, position) => !same[position]?.problem)
  return { asks, clauses: same.flatMap(({ problem, clauses }) => (problem ? [] : clauses)) }
}

function whyMisnamed(
  definitions: Definitions,
  wanted: EstimateRequest,
  separator: EstimatesParts['options']['separator'],
): Problem | null {
  const faults = spellingFaults(
    definitions,
    wanted.projects.map((project) => ({ project })),
    separator,
  )
  return faults.length > 0 ? invalidRequest(faults) : wrongBudget(definitions, wanted, wanted.projects)
}

/** The caller's token is not known here, so only the list of callers limits the caller. */
function assumed(definitions: Definitions, caller: string): Asker {
  if (caller.startsWith('slack:')) return { caller, via: 'slack' }
  const scopes = new Set(callerNamed(definitions, caller)?.scopes ?? (['run'] as const))
  return { caller, via: 'http', token: { scopes, budgets: '*' } }
}

const lackOf = (asks: readonly { readonly lacks: number }[]): number => Math.max(0, ...asks.map(({ lacks }) => lacks))

const worksOf = ({ asked }: DecisionInput): readonly string[] => asked.works.map(({ key }) => key)

/** The first problem. `already-updated` comes last, because it does not stop the other projects. */
const worstOf = (projects: readonly EstimatedProject[]): Problem | null => {
  const problems = projects.flatMap(({ problem }) => problem ?? [])
  return problems.find((each) => !isDone(each)) ?? problems[0] ?? null
}

const isDone = ({ slug }: Problem): boolean => slug === 'already-updated'

/** The counters of all requests, without repeats. */
function countersOfAll(view: View, requests: readonly UpdateRequest[]): CounterOwner[] {
  const counters = requests.flatMap((request) => countersOf(view, chainOf(view.definitions, request.budget), request))
  return [...new Map(counters.map((counter) => [counter.name, counter])).values()]
}
