import type { Definitions } from '../../ledger/definitions/definitions.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { next, type Problem, type Update } from '../../ledger/updates/update.ts'
import { workKeysOf } from '../../ledger/updates/work.ts'
import { toRfc3339 } from '../../platform/clock.ts'
import { approversNow, noApproverNow } from '../people/approvers.ts'
import { permissionsNow } from '../people/permissions.ts'
import { type Reads, seesUpdate } from '../people/sees.ts'
import { problem } from '../problems.ts'
import { list, when, zoneOf } from '../sentences.ts'
import type { DecisionInput } from './quote.ts'

const maxRead = 200
const maxNamed = 3

/** What other updates of the same work that wait for an approval mean for a request that would wait too. */
export interface SameWork {
  /** One work of one payer waits once. `null`: the request may wait too. */
  readonly problem: Problem | null
  /** The earlier request of the same plan. The new request takes its place. */
  readonly replaces: readonly Update[]
  /** About requests of other payers that the caller may see. */
  readonly clauses: readonly string[]
}

const nothing: SameWork = { problem: null, replaces: [], clauses: [] }

/** Best effort: the list lags a moment, so two requests at the same time may both wait. The inbox shows such requests together. */
export async function sameWorkWaiting(
  { oldestOpen }: Pick<Ledger, 'oldestOpen'>,
  knowns: readonly DecisionInput[],
  reads: Reads | null = null,
): Promise<readonly SameWork[]> {
  if (knowns.length === 0) return []
  const { rows } = await oldestOpen('awaiting-approval', maxRead)
  const waiting = rows.filter(({ state }) => state === 'awaiting-approval')
  return knowns.map((known) => meaningOf(known, waiting, reads))
}

function meaningOf(known: DecisionInput, waiting: readonly Update[], reads: Reads | null): SameWork {
  const { view, asked, request } = known
  const { definitions } = view
  const keys = asked.works.map(({ key }) => key)
  const others = waiting.filter(
    (other) =>
      other.id !== request.id && workKeysOf(definitions, other.kind, other.project).some((key) => keys.includes(key)),
  )
  if (others.length === 0) return nothing
  const ofCaller = reads ?? permissionsNow(definitions, request)
  const sees = (other: Update) => !ofCaller || seesUpdate(definitions, ofCaller, other)
  const isOfSamePlan = ({ plan }: Update) => plan !== undefined && plan === request.plan
  const ofPayer = others.filter(({ budget }) => budget === request.budget)
  const first = ofPayer.find((other) => !isOfSamePlan(other))
  // What was approved before is not refused, although another request has come since.
  const blocks = asked.update?.approval ? undefined : first
  return {
    problem: blocks ? waitsAlready(known, blocks, sees(blocks)) : null,
    replaces: ofPayer.filter(isOfSamePlan),
    clauses: namedIn(
      request.project,
      others.filter((other) => sees(other) && !isOfSamePlan(other)),
    ),
  }
}

function waitsAlready({ view, request }: DecisionInput, other: Update, isSeen: boolean): Problem {
  const { definitions } = view
  const waits = `The ${request.kind} update of ${request.project} waits for approval already`
  if (!isSeen) return problem('duplicate-work', `${waits}.`)
  const { approvableUntil = view.now } = other
  const until = when(approvableUntil, zoneOf(view))
  const no = noApproverNow(definitions, other)
  const may = no === null ? `; ${mayDecide(definitions, other)} may decide until ${until}.` : `, until ${until}. ${no}`
  return problem('duplicate-work', `${waits} as ${other.id}${may}`, {
    update: other.id,
    until: toRfc3339(approvableUntil),
  })
}

function mayDecide(definitions: Definitions, update: Update): string {
  const names = approversNow(definitions, update)
  if (names === null) return 'an approver'
  return names.length > maxNamed ? `one of ${names.length} approvers` : list(names)
}

function namedIn(project: string, others: readonly Update[]): readonly string[] {
  if (others.length === 0) return []
  const ids = others.slice(0, maxNamed).map((other) => other.id)
  const wait = others.length === 1 ? `another request for ${project} waits` : `other requests for ${project} wait`
  return [`${wait} for approval already: ${list(ids)}`]
}

/** The earlier request of a plan ends when its next request waits. */
export const replacedBy = (earlier: Update, { id, caller }: Pick<Update, 'id' | 'caller'>, at: number): Update =>
  next(earlier, 'cancelled', { finishedAt: at }, { at, by: caller, note: `the plan asks again with ${id}` })
