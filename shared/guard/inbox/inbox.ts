import { doubtLastsMs } from '../../ledger/book/outcome.ts'
import type { View, ViewResult } from '../../ledger/book/view.ts'
import { budgetNamed, chainOf } from '../../ledger/definitions/definitions.ts'
import { isUndelivered } from '../../ledger/updates/delivery.ts'
import type { HistoryLine, Run, State, Update } from '../../ledger/updates/update.ts'
import { dayMs } from '../../platform/clock.ts'
import { type GuardParts, inFlightUntil, withParts } from '../options.ts'
import { type Decision, decisionOf, isResolution } from '../people/decisions.ts'
import { countersOf, enforced } from '../rules/counters.ts'
import { ownerPaidFor } from '../rules/projects.ts'
import type { Figures } from '../sentences.ts'
import { runsOf } from '../update/duplicate-work.ts'
import { type AnsweredDoubts, answeredAmong } from './answered-doubts.ts'

export interface Inbox {
  readonly view: View
  /** The entry with the nearest deadline comes first. */
  readonly entries: readonly InboxEntry[]
  readonly hasMore: boolean
  readonly answered: AnsweredDoubts
  /** Paid updates whose data did not come, the oldest first. */
  readonly undelivered: readonly Update[]
  /** The newest decision comes first. */
  readonly decided: readonly DecisionMade[]
}

type InboxEntry = ApprovalEntry | DoubtEntry

interface ApprovalEntry {
  readonly kind: 'approval'
  readonly deadline: number
  readonly units: number
  readonly rows: readonly ApprovalRow[]
}

export interface ApprovalRow {
  readonly update: Update
  /** The owner of the project, if another budget pays. */
  readonly owner: string | null
  readonly lastRun: Run | null
  readonly effect: Effect | null
  readonly sameWork: readonly Update[]
}

interface Effect {
  readonly figures: Figures
  readonly granted: number
  readonly after: number
}

export interface DoubtEntry {
  readonly kind: 'doubt'
  readonly deadline: number
  readonly units: number
  readonly update: Update
  readonly owner: string | null
  /** Before this time no one can say "did not run". */
  readonly didNotRunFrom: number
  readonly sameWork: readonly Update[]
}

export interface DecisionMade {
  readonly update: Update
  readonly what: Decision
  readonly at: number
  readonly by: string
  readonly note?: string
}

const maxShown = 100
const maxDecided = 10
/** The inbox shows the decisions of a week. The decided updates may be a week older. */
const decidedWithinMs = 7 * dayMs
const newest = { count: 100, ms: 2 * decidedWithinMs }

type InboxParts = Pick<GuardParts, 'ledger' | 'clock' | 'options' | 'tracking' | 'kinds'>

export const createInbox = (parts: InboxParts) => withParts(parts, { inbox })

/** The number of reads is fixed. One batch reads up to a hundred items. */
async function inbox(parts: InboxParts, limit = maxShown): Promise<Inbox> {
  const { ledger, clock, options } = parts
  const [approvals, doubts, undelivered, latest] = await Promise.all([
    ledger.oldestOpen('awaiting-approval', limit),
    ledger.oldestOpen('in-doubt', limit),
    ledger.oldestOpen('undelivered', limit),
    ledger.updates({ since: clock.now() - newest.ms }, newest.count),
  ])
  const open = [...approvals.rows, ...doubts.rows]
  const view = await ledger.view(open.map(({ kind, project }) => ({ work: { kind, project } })))
  const rows = open.flatMap((update, position) => {
    const seen = view.results[position]
    return seen ? [{ update, seen }] : []
  })
  const sameWork = sameWorkIn(rows)
  // A listed update may have changed its state since.
  const inState = (state: State) => rows.filter(({ update }) => update.state === state)
  const approvalRows = inState('awaiting-approval').map(
    (row): ApprovalRow => ({
      update: row.update,
      owner: ownerPaidFor(view.definitions, row.update),
      lastRun: runsOf(row.seen)[0] ?? null,
      effect: effectOf(view, row.update),
      sameWork: sameWork(row),
    }),
  )
  const doubtEntries = inState('in-doubt').map((row): DoubtEntry => {
    const { update } = row
    const { hold, doubt, createdAt } = update
    return {
      kind: 'doubt',
      deadline: (doubt?.at ?? createdAt) + doubtLastsMs,
      units: hold?.units ?? 0,
      update,
      owner: hold?.owners?.[0] ?? null,
      didNotRunFrom: inFlightUntil(update, options),
      sameWork: sameWork(row),
    }
  })
  return {
    view,
    entries: [...byRequest(approvalRows), ...doubtEntries].toSorted((one, other) => one.deadline - other.deadline),
    answered: answeredAmong(parts, view, doubts.rows),
    undelivered: undelivered.rows.filter(isUndelivered),
    hasMore: approvals.next !== undefined || doubts.next !== undefined,
    decided: decisionsIn([...open, ...latest.rows])
      .filter(({ at }) => at >= view.now - decidedWithinMs)
      .slice(0, maxDecided),
  }
}

type SeenRow = { readonly update: Update; readonly seen: ViewResult }

/** Matches updates under any name of the same project. */
function sameWorkIn(rows: readonly SeenRow[]): (row: SeenRow) => readonly Update[] {
  const byKey = new Map<string, readonly Update[]>()
  for (const { update, seen } of rows) {
    const running = [...seen.records.values()].filter(({ state }) => state === 'running')
    for (const { key } of seen.works) byKey.set(key, [...(byKey.get(key) ?? []), update, ...running])
  }
  return ({ update, seen }) => {
    const found = seen.works.flatMap(({ key }) => byKey.get(key) ?? [])
    const others = found.filter(({ id }) => id !== update.id)
    return [...new Map(others.map((other) => [other.id, other])).values()]
  }
}

function effectOf(view: View, update: Update): Effect | null {
  const { budget, estimated, short = [] } = update
  if (estimated === undefined || !budgetNamed(view.definitions, budget)) return null
  const counters = countersOf(view, chainOf(view.definitions, budget), update)
  const effects = enforced(view, counters).map((figures): Effect => {
    const grant = short.find((each) => each.budget === figures.budget && each.window === figures.window)
    const granted = grant?.units ?? 0
    return { figures, granted, after: figures.available + granted - estimated }
  })
  return effects.toSorted((one, other) => one.after - other.after)[0] ?? null
}

function byRequest(rows: readonly ApprovalRow[]): readonly ApprovalEntry[] {
  const requests = new Map<string, ApprovalRow[]>()
  for (const row of rows) {
    const { id, caller, content, createdAt } = row.update
    const request = content.count === 1 ? id : `${caller} ${createdAt} ${content.digest}`
    requests.set(request, [...(requests.get(request) ?? []), row])
  }
  return [...requests.values()].map((rows) => ({
    kind: 'approval',
    deadline: Math.min(...rows.map(({ update }) => update.approvableUntil ?? update.createdAt)),
    units: rows.reduce((sum, { update }) => sum + (update.estimated ?? 0), 0),
    rows,
  }))
}

/** The newest decision comes first. */
export function decisionsIn(updates: readonly Update[]): readonly DecisionMade[] {
  const unique = [...new Map(updates.map((update) => [update.id, update])).values()]
  const made = unique.flatMap((update) =>
    update.history.flatMap((line, position): DecisionMade[] => {
      const what = decisionIn(update, line, update.history[position - 1])
      const { at, by, note } = line
      return what ? [{ update, what, at, by, ...(note !== undefined && { note }) }] : []
    }),
  )
  return made.toSorted((one, other) => other.at - one.at)
}

function decisionIn({ closedBy }: Update, line: HistoryLine, before: HistoryLine | undefined): Decision | null {
  const made = decisionOf(line, before)
  return made === undefined || (isResolution(made) && closedBy !== 'person') ? null : made
}
