import { DamagedItem, ifUnavailable, LedgerUnavailable } from '../../ledger/errors.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { noteUpdate } from '../../platform/log.ts'
import { type GuardParts, withParts } from '../options.ts'
import { permissionsOf, whyNotSubmit } from '../people/permissions.ts'
import { seesUpdate } from '../people/sees.ts'
import { problem } from '../problems.ts'
import { type Answer, onlyProblem, toAnswer } from './answer.ts'
import { type Batch, notRecorded, type Row } from './batch.ts'
import { decideEarly } from './decide.ts'
import type { Execution } from './execute.ts'
import type { DecisionInput } from './quote.ts'
import { type Repeats, repeatedIn } from './repeating-callers.ts'
import {
  type Asker,
  contentOf,
  decisionsOf,
  type ReadRequest,
  type UpdatesRequest,
  updateIdOf,
  whyNotAdmitted,
} from './request.ts'

interface SubmitParts extends Pick<GuardParts, 'ledger' | 'ids' | 'options' | 'log'> {
  execution: Execution
  batch: Batch
  repeats: Repeats
}

interface SubmitOptions {
  readonly respondAsync: boolean
  readonly endsAt: number
}

export const createSubmit = (parts: SubmitParts) => withParts(parts, { submit })

/** Answers a known key from the records, and submits again the updates that were not recorded. */
async function submit(parts: SubmitParts, asker: Asker, wanted: UpdatesRequest, how: SubmitOptions): Promise<Answer> {
  const { ids, ledger, options } = parts
  const key = asker.key ?? ids.random()
  const content = { digest: contentOf(wanted), count: wanted.projects.length }
  const view = await ledger.view(
    wanted.projects.map((project, position) => ({
      id: updateIdOf({ ...asker, key }, position),
      work: { kind: wanted.kind, project },
    })),
  )
  const request = { view, asker, wanted, allowed: permissionsOf(view.definitions, asker) }
  // Checked before a replay too: the caller may have lost the right to submit.
  const stopped = whyNotSubmit(asker.caller, request.allowed)
  if (stopped) return onlyProblem(stopped)
  const recorded = view.results.flatMap(({ update }) => update ?? [])
  for (const { id } of recorded) noteUpdate(id)
  const conflict = conflictOf(recorded, content.digest)
  if (conflict?.slug === 'in-progress' && recorded[0]) await parts.repeats.note(asker.caller, recorded[0])
  if (conflict) return onlyProblem(conflict, conflict.slug === 'in-progress' ? recorded : [])
  const isNew = recorded.length < wanted.projects.length
  const refusal = isNew ? whyNotAdmitted({ ...request, options }) : null
  if (refusal) return onlyProblem(refusal, recorded)
  const decisions = decisionsOf(request, key, content)
  const rows = await rowsOf(parts, decisions, wanted, how)
  // Another delivery of the key may have been faster.
  const overtaken = conflictOf(
    rows.flatMap((row) => ('update' in row && !row.ours ? row.update : [])),
    content.digest,
  )
  if (overtaken) return onlyProblem(overtaken, overtaken.slug === 'in-progress' ? updatesOf(rows) : [])
  return answerOf(parts, request, rows, { replayed: !isNew })
}

/** The outcome for each project, in their order. A recorded update is its own outcome. */
async function rowsOf(
  parts: SubmitParts,
  decisions: readonly DecisionInput[],
  { whenShort }: UpdatesRequest,
  { respondAsync, endsAt }: SubmitOptions,
): Promise<Row[]> {
  const missing = decisions.filter(({ asked }) => !asked.update)
  const made = respondAsync ? await queueAll(parts, missing) : await parts.batch.perform(missing, whenShort, endsAt)
  return decisions.flatMap(({ asked, request }) =>
    asked.update ? { update: asked.update } : (made.get(request.id) ?? []),
  )
}

async function answerOf(
  parts: SubmitParts,
  { view, asker, allowed }: ReadRequest,
  rows: readonly Row[],
  how: { readonly replayed: boolean },
): Promise<Answer> {
  const sees = (update: Update) => seesUpdate(view.definitions, allowed, update)
  const answer = toAnswer(await withEarlier(parts, rows, sees), { ...how, now: view.now })
  const repeated = repeatedIn({ replayed: answer.replayed, updates: updatesOf(rows) })
  if (repeated) await parts.repeats.note(asker.caller, repeated)
  return answer
}

async function queueAll(parts: SubmitParts, knowns: readonly DecisionInput[]): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>()
  for (const [position, known] of knowns.entries()) {
    try {
      rows.set(known.request.id, { update: await queueOne(parts, known) })
    } catch (cause) {
      const isRecorded = rows.size > 0 || knowns.length < known.request.content.count
      if (!isRecorded || !(cause instanceof LedgerUnavailable || cause instanceof DamagedItem)) throw cause
      parts.log.error('not-admitted', { update: known.request.id, cause })
      // The others are not tried, because each may wait for the ledger as long.
      for (const each of knowns.slice(position)) rows.set(each.request.id, notRecorded(each, cause))
      return rows
    }
  }
  return rows
}

function queueOne({ options, execution }: SubmitParts, known: DecisionInput): Promise<Update> {
  const early = decideEarly(known, options)
  return early.kind === 'refuse' ? execution.refuse(known, early.problem) : execution.queue(known)
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

const updatesOf = (rows: readonly Row[]): Update[] => rows.flatMap((row) => ('update' in row ? row.update : []))

function conflictOf(recorded: readonly Update[], content: string): Problem | null {
  const reused =
    'This idempotency key was used before, for a request with other content; use a new key for a new request.'
  if (recorded.some((update) => update.content.digest !== content)) return problem('key-reused', reused)
  const running = recorded.find(({ state, queued }) => state === 'running' && !queued)
  if (!running) return null
  const detail = `The first request with this key is still running as ${running.id}; ask again in a moment.`
  return problem('in-progress', detail, { update: running.id })
}
