import { isDeepStrictEqual } from 'node:util'
import { unseenBudget } from '../../ledger/book/definitions.ts'
import type { Difference } from '../../ledger/book/difference.ts'
import type { Entry } from '../../ledger/book/entry.ts'
import type { Value } from '../../ledger/store/store.ts'
import type { Occurrence } from '../../ledger/updates/tasks.ts'
import type { Problem, Tags, Update } from '../../ledger/updates/update.ts'
import type { Summary, SummaryRow } from '../../ledger/views/summary.ts'
import { describe } from '../problem-types.ts'
import { spendersOf } from '../reports/summary.ts'
import { units as inUnits, list } from '../sentences.ts'
import { noProject, seesPayer, seesUpdate } from './sees.ts'
import { hiddenReason, pruned, type Sight } from './sight.ts'

/**
 * Records as a narrowed reader sees them. An unseen budget becomes `unseenBudget` or is left out. A text that names one
 * is left out.
 */

export interface Shown {
  /** Whether the reader sees an update that a problem names. */
  isSeen(id: string): boolean
  /** Names that the request itself contains. A refusal may repeat them. */
  readonly typed?: readonly string[]
}

const holders = ['update', 'updates', 'rows', 'projects', 'notRecorded', 'checks', 'problem']

/** Narrows all records in an answer of the guard. Each kind of record has a member that no other kind has. */
export function seenIn(sight: Sight, answer: unknown, shown: Shown): unknown {
  if (Array.isArray(answer)) return answer.flatMap((each) => seenIn(sight, each, shown) ?? [])
  if (typeof answer !== 'object' || answer === null) return answer
  if ('slug' in answer) return seenProblem(sight, answer as Problem, shown)
  if ('history' in answer) return seenUpdate(sight, answer as Update, shown)
  if ('moves' in answer) return seenEntry(sight, answer as Entry)
  if ('time' in answer) return seenOccurrence(sight, answer as Occurrence)
  const members = Object.entries(pruned(sight, answer)).map(([name, value]) => {
    if (holders.includes(name)) return [name, seenIn(sight, value, shown)]
    return [name, typeof value === 'string' && name === 'approval' && sight.isTelling(value) ? wantsApproval : value]
  })
  return Object.fromEntries(members)
}

const wantsApproval = 'a budget above wants approval'

export function seenUpdate(sight: Sight, update: Update, { isSeen }: Shown): Update | null {
  if (!seesUpdate(sight.whole, sight, update)) return null
  const { reason, problem, ...rest } = pruned(sight, update)
  const isOwn = (id: string) => id === update.id || isSeen(id)
  const seen = problem && seenProblem(sight, problem, { isSeen: isOwn })
  const { hold, approval } = rest
  return {
    ...rest,
    ...paidAndTagged(sight, update),
    ...(hold && { hold: pruned(sight, hold) }),
    ...(approval && { approval: pruned(sight, approval) }),
    ...(reason !== undefined && !sight.isTellingBy(update.caller, reason) && { reason }),
    ...(seen && { problem: seen }),
    history: update.history.map(({ note = '', ...line }) => {
      // The history line of a refusal repeats the problem's detail.
      if (seen && note === problem.detail) return { ...line, note: seen.detail }
      if (!sight.isTellingBy(line.by, note)) return { ...line, ...(note && { note }) }
      return { ...line, ...(line.state === 'awaiting-approval' && { note: wantsApproval }) }
    }),
  }
}

type Paid = Parameters<typeof seesPayer>[2] & { readonly caller: string; readonly tags?: Tags }

/** Leaves out tags that contain hidden names, as with reasons. */
function paidAndTagged(sight: Sight, paid: Paid): { readonly budget: string; readonly tags?: Tags } {
  const tags = Object.entries(paid.tags ?? {}).filter(
    (tag) => !tag.some((text) => sight.isTellingBy(paid.caller, text)),
  )
  return {
    budget: seesPayer(sight.whole, sight, paid) ? paid.budget : unseenBudget,
    ...(paid.tags && { tags: Object.fromEntries(tags) }),
  }
}

/** Shows an unseen budget as `{budget: null, short}`, and replaces a detail that says more. */
function seenProblem(sight: Sight, problem: Problem, { isSeen, typed = [] }: Shown): Problem {
  const { slug, detail } = problem
  // The same answer as for a project that the reader does not see.
  if (slug === 'project-unowned') return noProject(String(problem.members.project))
  const isTelling = (text: string) => sight.isTelling(typed.reduce((rest, name) => rest.replaceAll(name, ''), text))
  const hides = (value: unknown) => typeof value === 'string' && !sight.seesCounter(value)
  const rows = rowsOf(problem.members)
  const isAbove = hides(problem.members.budget) || rows.some(({ budget }) => hides(budget))
  const seenRows = rows.map((row) => (hides(row.budget) ? { budget: null, short: row.short ?? null } : row))
  const shown = (name: string, value: Value): Value | undefined => {
    if (name === 'budget') return hides(value) ? null : value
    if (name === 'budgets') return seenRows
    if (name === 'perUpdate' || name === 'wouldPass') return isAbove ? undefined : value
    if (name === 'update') return typeof value === 'string' && !isSeen(value) ? undefined : value
    if (name === 'plan') return value === null || sight.plans.some((plan) => plan.name === value) ? value : undefined
    if (name === 'errors' && Array.isArray(value))
      return value.map((each) => (isTelling(JSON.stringify(each)) ? { path: '', message: notYours } : each))
    return typeof value === 'string' && isTelling(value) ? undefined : value
  }
  const all = Object.entries(problem.members).map(([name, value]) => [name, shown(name, value)] as const)
  const members = Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  if (isDeepStrictEqual(members, problem.members) && !isTelling(detail)) return problem
  return { slug, members, detail: slug === 'over-budget' ? lackOf(seenRows) : decidedAbove(slug, isAbove) }
}

const notYours = 'is not among the budgets that you read'

const rowsOf = ({ budgets }: Problem['members']) =>
  (Array.isArray(budgets) ? budgets : []) as readonly { readonly budget?: string | null; readonly short?: Value }[]

function lackOf(rows: ReturnType<typeof rowsOf>): string {
  const lacks = rows.map(({ budget, short }) => {
    const name = budget ?? unseenBudget
    return typeof short === 'number' ? `${name} is ${inUnits(short)} short` : `${name} has nothing left`
  })
  return `There are not enough units for this: ${list([...new Set(lacks)])}. Ask an administrator for more.`
}

function decidedAbove(slug: string, isAbove: boolean): string {
  const { title } = describe(slug)
  if (!isAbove) return `${title}. What decided this is not among the budgets that you read; ask an administrator.`
  return `A budget above decides this: ${title.charAt(0).toLowerCase()}${title.slice(1)}. Ask an administrator.`
}

export const seesEntry = ({ seesBudget, seesCounter }: Sight, { budget, moves, changed = [] }: Entry): boolean =>
  seesBudget(budget) ||
  moves.some((move) => seesCounter(move.budget)) ||
  changed.some(({ kind, name }) => kind === 'budget' && seesBudget(name))

function seenEntry(sight: Sight, { budget, units, reason, changed, ...entry }: Entry): Entry {
  const seen = pruned(sight, entry)
  const isFrom = sight.seesBudget(budget)
  const isOnlyOwn = isFrom && seen.to === entry.to
  return {
    ...seen,
    budget: isFrom ? budget : unseenBudget,
    units: isFrom || seen.to !== undefined ? units : 0,
    reason: isOnlyOwn && !sight.isTellingBy(entry.by, reason) ? reason : hiddenReason,
    ...(changed && { changed: changed.flatMap((difference) => seenDifference(sight, difference) ?? []) }),
  }
}

function seenDifference(sight: Sight, difference: Difference): Difference | null {
  if (difference.kind !== 'budget' || !sight.seesBudget(difference.name)) return null
  const isTelling = (value: unknown) => sight.isTelling(JSON.stringify(value ?? null))
  const members = difference.members.flatMap(({ member, from, to }) => {
    const [before, after] = [from, to].map((value) => {
      if (member === 'parent') return sight.seesBudget(String(value)) ? value : null
      return Array.isArray(value) ? value.filter((each) => !isTelling(each)) : value
    })
    const isSame = JSON.stringify(before) === JSON.stringify(after) && JSON.stringify(from) !== JSON.stringify(to)
    return isSame || isTelling(before) || isTelling(after) ? [] : [{ member, from: before, to: after }]
  })
  return members.length === 0 && difference.how === 'changed' ? null : { ...difference, members }
}

/** Applies the rules of `seenUpdate` to a row that sums up updates. */
function seenRow(sight: Sight, { above = [], person: _person, ...row }: SummaryRow): SummaryRow | null {
  const charged = { ...row, hold: { budgets: above } }
  return seesUpdate(sight.whole, sight, charged) ? { ...pruned(sight, row), ...paidAndTagged(sight, charged) } : null
}

export function seenSummary(sight: Sight, summary: Summary): Summary {
  const rows = summary.rows.flatMap((row) => seenRow(sight, row) ?? [])
  const seen = pruned(sight, summary)
  const sum = (of: 'duplicates' | 'saved') => rows.reduce((total, row) => total + (row[of] ?? 0), 0)
  return {
    ...{ ...seen, mark: 'narrowed', rows },
    // As in `seenProblem`, an unseen budget that refused is left out.
    lastRefused: Object.fromEntries(Object.entries(seen.lastRefused).map(([of, each]) => [of, pruned(sight, each)])),
    ...{ spenders: spendersOf(rows, summary.day), unlisted: [], duplicates: sum('duplicates'), saved: sum('saved') },
  }
}

/** Also for reruns. Leaves out counts, which include other projects; the update records show the reader's own. */
function seenOccurrence(sight: Sight, occurrence: Occurrence): Occurrence | null {
  const { charged: _charged, reason, ...rest } = pruned(sight, occurrence)
  if (!sight.plans.some(({ name }) => name === rest.plan)) return null
  return { ...rest, ...(reason !== undefined && !sight.isTelling(reason) && { reason }) }
}
