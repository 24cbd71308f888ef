import { isDeepStrictEqual } from 'node:util'
import type { Definitions } from '../../ledger/book/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Problem, Update, UpdateRequest, Via } from '../../ledger/updates/update.ts'
import { digest, type Ids } from '../../platform/ids.ts'
import { noteUpdate } from '../../platform/log.ts'
import type { Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import type { GuardOptions } from '../options.ts'
import {
  type CallerIdentity,
  keptOf,
  type Permissions,
  permissionsOf,
  whyNotCharge,
  whyNotSubmit,
} from '../people/permissions.ts'
import { describe, invalidRequest, problem, type Slug } from '../problems.ts'
import type { Batch, Row, WhenShort } from './batch.ts'
import { decideEarly } from './decide.ts'
import { isOldKey } from './duplicate-work.ts'
import type { Execution } from './execute.ts'
import { budgetFor, type Payer, payerOf, spellingFaults, whyNotPaid, wrongBudget } from './projects.ts'
import type { DecisionInput } from './quote.ts'

interface Target {
  readonly segment: string
  readonly search: string
}

export interface UpdatesRequest {
  readonly kind: Kind
  readonly projects: readonly string[]
  readonly budget?: string
  readonly reason?: string
  readonly maxUnits?: Units
  readonly force?: boolean
  readonly whenShort: WhenShort
  readonly query?: Readonly<Record<string, string>>
  /** Byte for byte as received. */
  readonly target?: Target
  readonly targets?: readonly Target[]
  /** The payer that the user saw and confirmed. No other payer is charged. */
  readonly shown?: Payer
}

export interface Asker extends CallerIdentity {
  readonly via: Via
  /** The Slack event that waits for the outcome. */
  readonly replyTo?: string
  readonly route: string
  readonly key?: string
}

export interface SubmitParts {
  ledger: Ledger
  execution: Execution
  batch: Batch
  ids: Ids
  options: GuardOptions
}

export const createSubmit = (parts: SubmitParts) => ({
  submit: (asker: Asker, wanted: UpdatesRequest, how: { respondAsync: boolean; endsAt: number }) =>
    submit(parts, asker, wanted, how),
})

/** Handles one request. A known key gets its answer from the records, and retries updates that were not recorded. */
async function submit(
  parts: SubmitParts,
  asker: Asker,
  wanted: UpdatesRequest,
  how: { respondAsync: boolean; endsAt: number },
): Promise<Answer> {
  const { ids, ledger, options, batch } = parts
  const key = asker.key ?? ids.random()
  const content = { digest: contentOf(wanted), count: wanted.projects.length }
  const asks = wanted.projects.map((project, position) => ({
    id: `upd_${digest(asker.caller, asker.route, key, String(position))}`,
    work: { kind: wanted.kind, project },
  }))
  const view = await ledger.view(asks)
  const allowed = permissionsOf(view.definitions, asker)
  // Checked before a replay too: the caller may have lost the right to submit.
  const refusal = whyNotSubmit(asker.caller, allowed)
  if (refusal) return onlyProblem(refusal)
  const recorded = view.results.flatMap(({ update }) => (update ? [update] : []))
  for (const { id } of recorded) noteUpdate(id)
  const conflict = conflictOf(recorded, content.digest)
  if (conflict) return onlyProblem(conflict, conflict.slug === 'in-progress' ? recorded : [])
  if (recorded.length < asks.length) {
    const spelled = asks.map(({ work: { project } }, at) => ({ project, segment: targetAt(wanted, at)?.segment }))
    const faults = spellingFaults(view.definitions, spelled, options.separator)
    const refusal =
      faults.length > 0 ? invalidRequest(faults) : refusalOf(view.definitions, { ...asker, allowed }, wanted)
    if (refusal) return onlyProblem(refusal, recorded)
  }

  const knowns = asks.map(({ id, work: { project } }, position): DecisionInput => {
    const asked = view.results[position]
    if (!asked) throw new Error('a view shows all that was asked for')
    const budget = budgetFor(view.definitions, wanted, project)
    const byDefault = wanted.budget === undefined && ({ byDefault: true } as const)
    const target = targetAt(wanted, position)
    const named = { id, project, budget, ...byDefault, content, createdAt: view.now, ...(target && { target }) }
    // A recorded update keeps its own token, because its budget may be deleted now.
    const token = asked.update || !asker.token ? null : keptOf(view.definitions, asker.token, named.budget)
    return {
      view,
      asked,
      isOldKey: isOldKey(view, asker.key),
      request: toRequest({ ...asker, allowed }, wanted, { ...named, ...(token && { token }) }),
    }
  })
  const missing = knowns.filter(({ asked }) => !asked.update)
  const made = how.respondAsync
    ? await queueAll(parts, missing)
    : await batch.perform(missing, wanted.whenShort, how.endsAt)
  const rows = knowns.flatMap(({ asked, request }) =>
    asked.update ? { update: asked.update } : (made.get(request.id) ?? []),
  )
  // Another delivery of the key may have been faster.
  const overtaken = conflictOf(
    rows.flatMap((row) => ('update' in row && !row.ours ? [row.update] : [])),
    content.digest,
  )
  if (overtaken) return onlyProblem(overtaken, overtaken.slug === 'in-progress' ? updatesOf(rows) : [])
  return toAnswer(await withEarlier(parts, rows), { replayed: missing.length === 0 })
}

async function queueAll(parts: SubmitParts, knowns: readonly DecisionInput[]): Promise<ReadonlyMap<string, Row>> {
  const { options, execution } = parts
  const rows = new Map<string, Row>()
  for (const known of knowns) {
    const early = decideEarly(known, options)
    const update = early.kind === 'refuse' ? await execution.refuse(known, early.problem) : await execution.queue(known)
    rows.set(known.request.id, { update })
  }
  return rows
}

async function withEarlier(parts: SubmitParts, rows: readonly Row[]): Promise<Row[]> {
  const { ledger } = parts
  return Promise.all(
    rows.map(async (row) => {
      if (!('update' in row) || row.update.problem?.slug !== 'already-updated') return row
      const earlier = await ledger.update(String(row.update.problem.members.update))
      if (!earlier) return row
      noteUpdate(earlier.id)
      return { ...row, earlier }
    }),
  )
}

const targetAt = ({ target, targets }: UpdatesRequest, position: number): Target | undefined =>
  target ?? targets?.[position]

const updatesOf = (rows: readonly Row[]): Update[] => rows.flatMap((row) => ('update' in row ? [row.update] : []))

const contentOf = ({ query, ...wanted }: UpdatesRequest): string =>
  digest(JSON.stringify([wanted, query && Object.entries(query).toSorted()]))

function conflictOf(recorded: readonly Update[], content: string): Problem | null {
  if (recorded.some((update) => update.content.digest !== content)) {
    return problem(
      'key-reused',
      'This idempotency key was used before, for a request with other content; use a new key for a new request.',
    )
  }
  const running = recorded.find(({ state, queued }) => state === 'running' && !queued)
  if (!running) return null
  return problem(
    'in-progress',
    `The first request with this key is still running as ${running.id}; ask again in a moment.`,
    { update: running.id },
  )
}

type AllowedAsker = Asker & { readonly allowed: Permissions }

function refusalOf(definitions: Definitions, asker: AllowedAsker, wanted: UpdatesRequest): Problem | null {
  const wrong = wrongBudget(definitions, wanted, wanted.projects)
  if (wrong) return wrong
  const charges = wanted.projects.map((project) => ({ project, budget: budgetFor(definitions, wanted, project) }))
  const budgets = [...new Set(charges.map(({ budget }) => budget))]
  const refusal = whyNotCharge(asker, asker.allowed, { force: wanted.force, budgets })
  if (refusal) return refusal
  const { shown } = wanted
  const moved = shown && charges.find((charge) => !isDeepStrictEqual(payerOf(definitions, charge), shown))
  if (moved) return problem('wrong-state', `Who pays for ${moved.project} has changed since it was shown. Ask again.`)
  const { caller, allowed } = asker
  const unpaid = charges.map((charge) => whyNotPaid(definitions, { ...charge, caller }, allowed.mayChargeAncestors))
  return unpaid.find((problem) => problem !== null) ?? null
}

function toRequest(
  asker: AllowedAsker,
  wanted: UpdatesRequest,
  named: Pick<UpdateRequest, 'id' | 'project' | 'budget' | 'byDefault' | 'content' | 'createdAt' | 'token' | 'target'>,
): UpdateRequest {
  return {
    ...named,
    kind: wanted.kind,
    caller: asker.caller,
    via: asker.via,
    ...(wanted.query && { query: wanted.query }),
    ...(wanted.reason !== undefined && { reason: wanted.reason }),
    ...(wanted.force && { force: true }),
    ...(!asker.allowed.scopes.has('run') && { proposed: true }),
    ...(wanted.whenShort === 'ask' && { whenShort: 'ask' }),
    ...(asker.replyTo !== undefined && { replyTo: [asker.replyTo] }),
    ...(wanted.maxUnits !== undefined && { maxUnits: wanted.maxUnits }),
  }
}

export interface Answer {
  readonly status: number
  readonly updates: readonly Update[]
  readonly problem: Problem | null
  readonly notRecorded: readonly { readonly project: string; readonly problem: Problem }[]
  /** From the records of the first request with this key. */
  readonly replayed: boolean
  readonly earlier: readonly string[]
}

export const onlyProblem = (problem: Problem, updates: readonly Update[] = []): Answer => ({
  status: describe(problem.slug).status,
  updates,
  problem,
  notRecorded: [],
  replayed: false,
  earlier: [],
})

/** The first status that occurs becomes the answer's status. */
const precedence = [202, 201, 200, 502, 409, 402] as const

export function toAnswer(rows: readonly Row[], { replayed }: { replayed: boolean }): Answer {
  const recorded = rows.flatMap((row) => ('update' in row ? [row] : []))
  const notRecorded = rows.flatMap((row) => ('update' in row ? [] : [row]))
  const [first] = notRecorded
  if (recorded.length === 0 && first)
    return { ...onlyProblem(first.problem), notRecorded: rows.length > 1 ? notRecorded : [] }
  const statuses = rows.map((row) => ('update' in row ? statusOf(row.update) : 502))
  const status = precedence.find((each) => statuses.includes(each)) ?? 402
  const decisive = rows[statuses.indexOf(status)]
  return {
    status,
    updates: recorded.map(({ update, earlier }) => earlier ?? update),
    problem: status >= 400 && decisive ? problemOf(decisive) : null,
    notRecorded,
    replayed,
    earlier: recorded.flatMap(({ earlier }) => (earlier ? [earlier.id] : [])),
  }
}

function statusOf({ state, problem }: Update): (typeof precedence)[number] {
  switch (state) {
    case 'awaiting-approval':
    case 'requested':
    case 'running':
    case 'in-doubt':
      return 202
    case 'settled':
      return 201
    case 'released':
      return 502
    case 'refused':
      if (problem?.slug === 'already-updated') return 200
      return problem?.slug === 'duplicate-work' || problem?.slug === 'ledger-restored' ? 409 : 402
    case 'rejected':
    case 'cancelled':
    case 'expired':
      return 402
  }
}

function problemOf(row: Row): Problem {
  if (!('update' in row)) return row.problem
  const { state, problem, id, history } = row.update
  if (problem) return problem
  const last = history.at(-1)
  return {
    slug: (state === 'released' ? 'service-refused' : state) satisfies string as Slug,
    detail: `The update ${id} was ${state} by ${last?.by}${last?.note ? `: ${last.note}` : ''}.`,
    members: state === 'released' ? { serviceStatus: row.update.service?.status ?? null } : {},
  }
}
