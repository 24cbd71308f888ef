import { isDeepStrictEqual } from 'node:util'
import { type Unowned, unownedRuleOf } from '../../ledger/book/definitions.ts'
import { ifUnavailable } from '../../ledger/errors.ts'
import {
  type Problem,
  type Tags,
  tagEntries,
  type Update,
  type UpdateRequest,
  type Via,
} from '../../ledger/updates/update.ts'
import type { View } from '../../ledger/views/views.ts'
import { digest } from '../../platform/ids.ts'
import { noteUpdate } from '../../platform/log.ts'
import type { Units } from '../../platform/words.ts'
import type { Kind } from '../../tracking/kinds.ts'
import { type GuardParts, withParts } from '../options.ts'
import {
  type CallerIdentity,
  keptOf,
  type Permissions,
  permissionsOf,
  whyNotCharge,
  whyNotSubmit,
} from '../people/permissions.ts'
import { invalidRequest, problem } from '../problems.ts'
import { seesUpdate, whyNotSeen } from '../reads/sees.ts'
import { type Answer, onlyProblem, toAnswer } from './answer.ts'
import type { Batch, Row, WhenShort } from './batch.ts'
import { decideEarly } from './decide.ts'
import { isOldKey } from './duplicate-work.ts'
import type { Execution } from './execute.ts'
import {
  budgetFor,
  ownedBy,
  type Payer,
  payerOf,
  spellingFaults,
  whyNear,
  whyNotPaid,
  wrongBudget,
} from './projects.ts'
import { type DecisionInput, resultAt } from './quote.ts'
import { type Repeats, repeatedIn } from './repeating-callers.ts'

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
  readonly tags?: Tags
  /** Byte for byte as received. */
  readonly target?: Target
  readonly targets?: readonly Target[]
  /** The payer that the user saw. No other payer is charged. */
  readonly shown?: Payer
  /** Identifies the request's content for its idempotency key. Absent: all members are the content. */
  readonly content?: string
  /** Returns a problem if the caller did not agree to this payer and these works. */
  readonly whyNotAgreed?: (
    project: string,
    charge: Payer & { readonly works: readonly string[]; readonly unowned: Unowned | null },
  ) => Problem | null
}

export interface Asker extends CallerIdentity {
  readonly via: Via
  readonly replyTo?: string
  readonly route: string
  readonly key?: string
  /** Already validated. */
  readonly traceparent?: string | undefined
}

interface SubmitParts extends Pick<GuardParts, 'ledger' | 'ids' | 'options'> {
  execution: Execution
  batch: Batch
  repeats: Repeats
}

export const createSubmit = (parts: SubmitParts) => withParts(parts, { submit })

/** Answers a known key from the records, and submits again the updates that were not recorded. */
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
    id: updateIdOf({ ...asker, key }, position),
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
  if (conflict?.slug === 'in-progress' && recorded[0]) await parts.repeats.note(asker.caller, recorded[0])
  if (conflict) return onlyProblem(conflict, conflict.slug === 'in-progress' ? recorded : [])
  if (recorded.length < asks.length) {
    const unseen = whyNotSeen(view.definitions, allowed, wanted)
    if (unseen) return onlyProblem(unseen, recorded)
    const near = isAgreed(wanted) && wanted.projects.map((project) => whyNear(view.definitions, project)).find(Boolean)
    if (near) return onlyProblem(problem('wrong-state', near), recorded)
    const spelled = asks.map(({ work: { project } }, at) => ({ project, segment: targetAt(wanted, at)?.segment }))
    const faults = spellingFaults(view.definitions, spelled, options.separator)
    const refusal = faults.length > 0 ? invalidRequest(faults) : refusalOf(view, { ...asker, allowed }, wanted)
    if (refusal) return onlyProblem(refusal, recorded)
  }

  const knowns = asks.map(({ id, work: { project } }, position): DecisionInput => {
    const asked = resultAt(view, position)
    const budget = budgetFor(view.definitions, wanted, project)
    const owned = ownedBy(view.definitions, project, wanted.budget === undefined)
    const target = targetAt(wanted, position)
    const named = { id, project, budget, ...owned, content, createdAt: view.now, ...(target && { target }) }
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
  const sees = (update: Update) => seesUpdate(view.definitions, allowed, update)
  const answer = toAnswer(await withEarlier(parts, rows, sees), { replayed: missing.length === 0 })
  const repeated = repeatedIn({ replayed: answer.replayed, updates: updatesOf(rows) })
  if (repeated) await parts.repeats.note(asker.caller, repeated)
  return answer
}

/** Whether the caller saw an estimate. The names were clear in that estimate. */
const isAgreed = ({ shown, whyNotAgreed }: UpdatesRequest): boolean => shown !== undefined || whyNotAgreed !== undefined

/** The same id for each request with one key. */
export const updateIdOf = (asker: Pick<Asker, 'caller' | 'route'> & { readonly key: string }, position = 0): string =>
  `upd_${digest(asker.caller, asker.route, asker.key, String(position))}`

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

async function withEarlier(
  { ledger }: SubmitParts,
  rows: readonly Row[],
  sees: (update: Update) => boolean,
): Promise<Row[]> {
  return Promise.all(
    rows.map(async (row) => {
      if (!('update' in row) || row.update.problem?.slug !== 'already-updated') return row
      // Other updates of the request may have run, so a failure here must not say that nothing was sent.
      const earlier = await ledger.update(String(row.update.problem.members.update)).catch(ifUnavailable(null))
      if (!earlier || !sees(earlier)) return row
      noteUpdate(earlier.id)
      return { ...row, earlier }
    }),
  )
}

const targetAt = ({ target, targets }: UpdatesRequest, position: number): Target | undefined =>
  target ?? targets?.[position]

const updatesOf = (rows: readonly Row[]): Update[] => rows.flatMap((row) => ('update' in row ? [row.update] : []))

function contentOf({ query, content, tags, ...wanted }: UpdatesRequest): string {
  if (content !== undefined) return content
  return digest(JSON.stringify([wanted, query && Object.entries(query).toSorted(), tagEntries(tags)]))
}

function conflictOf(recorded: readonly Update[], content: string): Problem | null {
  const reused =
    'This idempotency key was used before, for a request with other content; use a new key for a new request.'
  if (recorded.some((update) => update.content.digest !== content)) return problem('key-reused', reused)
  const running = recorded.find(({ state, queued }) => state === 'running' && !queued)
  if (!running) return null
  const detail = `The first request with this key is still running as ${running.id}; ask again in a moment.`
  return problem('in-progress', detail, { update: running.id })
}

type AllowedAsker = Asker & { readonly allowed: Permissions }

function refusalOf({ definitions, results }: View, asker: AllowedAsker, wanted: UpdatesRequest): Problem | null {
  const wrong = wrongBudget(definitions, wanted, wanted.projects)
  if (wrong) return wrong
  const charges = wanted.projects.map((project) => ({ project, budget: budgetFor(definitions, wanted, project) }))
  const budgets = [...new Set(charges.map(({ budget }) => budget))]
  const refusal = whyNotCharge(asker, asker.allowed, { force: wanted.force, budgets })
  if (refusal) return refusal
  const { shown, whyNotAgreed } = wanted
  const moved = shown && charges.find((charge) => !isDeepStrictEqual(payerOf(definitions, charge), shown))
  if (moved)
    return problem('wrong-state', `The payer or owner of ${moved.project} has changed since it was shown. Ask again.`)
  const { caller, allowed } = asker
  const refusals = charges.map((charge, at) => {
    const works = results[at]?.works.map(({ key }) => key) ?? []
    const changed = whyNotAgreed?.(charge.project, {
      ...payerOf(definitions, charge),
      works,
      unowned: unownedRuleOf(definitions, charge.project),
    })
    return changed ?? whyNotPaid(definitions, { ...charge, caller }, allowed.mayChargeAncestors)
  })
  return refusals.find((problem) => problem !== null) ?? null
}

function toRequest(
  asker: AllowedAsker,
  wanted: UpdatesRequest,
  named: Pick<
    UpdateRequest,
    'id' | 'project' | 'budget' | 'byDefault' | 'owner' | 'content' | 'createdAt' | 'token' | 'target'
  >,
): UpdateRequest {
  return {
    ...named,
    kind: wanted.kind,
    caller: asker.caller,
    via: asker.via,
    ...(wanted.query && { query: wanted.query }),
    ...(tagEntries(wanted.tags).length > 0 && { tags: wanted.tags ?? {} }),
    ...(wanted.reason !== undefined && { reason: wanted.reason }),
    ...(wanted.force && { force: true }),
    ...(!asker.allowed.scopes.has('run') && { proposed: true }),
    ...(wanted.whenShort === 'ask' && { whenShort: 'ask' }),
    ...(asker.replyTo !== undefined && { replyTo: [asker.replyTo] }),
    ...(asker.traceparent !== undefined && { traceparent: asker.traceparent }),
    ...(wanted.maxUnits !== undefined && { maxUnits: wanted.maxUnits }),
  }
}
