import type { Problem, Update } from '../../ledger/updates/update.ts'
import { describe, type Slug } from '../problem-types.ts'
import { retryAfter, waitFor } from '../problems.ts'
import { stateTexts } from '../states.ts'
import type { Row } from './batch.ts'

/** The answer to a request for updates. It is the same for all faces. */
export interface Answer {
  readonly status: number
  readonly updates: readonly Update[]
  readonly problem: Problem | null
  readonly notRecorded: readonly { readonly project: string; readonly problem: Problem }[]
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

/** The answer takes the first of these statuses that one of its updates has. */
const precedence = [202, 201, 200, 502, 409, 402] as const

export function toAnswer(found: readonly Row[], { replayed, now }: { replayed: boolean; now: number }): Answer {
  const rows = found.map((row) =>
    'update' in row && !row.ours ? { ...row, update: withTimeLeft(row.update, now) } : row,
  )
  const recorded = rows.filter((row) => 'update' in row)
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
  if (state === 'refused' && problem?.slug === 'already-updated') return 200
  const isConflict = problem?.slug === 'duplicate-work' || problem?.slug === 'ledger-restored'
  return state === 'refused' && isConflict ? 409 : stateTexts[state].status
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

/** A replay says how long the service's wait still lasts, or nothing once it is over. */
function withTimeLeft(update: Update, now: number): Update {
  const { problem, finishedAt = now } = update
  const { retryAfter: seconds, ...members } = problem?.members ?? {}
  if (!problem || typeof seconds !== 'number') return update
  const leftMs = Math.max(0, finishedAt + seconds * 1000 - now)
  const sentence = leftMs === 0 ? '' : ` ${waitFor(leftMs)}`
  const detail = problem.detail.replace(` ${waitFor(seconds * 1000)}`, sentence)
  return { ...update, problem: { ...problem, detail, members: { ...members, ...retryAfter(leftMs || undefined) } } }
}
