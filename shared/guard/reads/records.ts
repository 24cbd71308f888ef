import { isDeepStrictEqual } from 'node:util'
import { unseenBudget } from '../../ledger/book/definitions.ts'
import type { Difference } from '../../ledger/book/difference.ts'
import type { Entry } from '../../ledger/book/entry.ts'
import type { Value } from '../../ledger/store/store.ts'
import type { Occurrence } from '../../ledger/updates/tasks.ts'
import type { Grant, HistoryLine, Hold, Problem, Tags, Update } from '../../ledger/updates/update.ts'
import type { SummaryRow } from '../../ledger/views/summary.ts'
import { describe } from '../problems.ts'
import { units as inUnits, list } from '../sentences.ts'
import { noProject, seesAsOwner, seesPayer, seesUpdate } from './sees.ts'
import { hiddenReason, picked, type Sight } from './sight.ts'

/**
 * Records as a narrowed reader sees them: a budget that they do not see is `unseenBudget` or left out, and a text that
 * names one is left out.
 *
 * @param isSeen whether the reader sees an update that a problem names.
 */
export function seenUpdate(sight: Sight, update: Update, isSeen: (id: string) => boolean): Update | null {
  const { whole, reads } = sight
  if (!seesUpdate(whole, reads, update)) return null
  const { token: _token, budget, hold, short, approval, takenBack, wouldHaveRefused, ...others } = update
  const { leave, reason, tags, problem, ...rest } = others
  const grants = (of: readonly Grant[]) => of.filter((grant) => sight.seesCounter(grant.budget))
  const isShown = (id: string) => id === update.id || isSeen(id)
  const seen = problem && seenProblem(sight, problem, isShown)
  return {
    ...rest,
    budget: seesPayer(whole, reads, update) ? budget : unseenBudget,
    ...(hold && { hold: seenHold(sight, hold) }),
    ...(short && { short: grants(short) }),
    ...(approval && { approval: { ...approval, ...(approval.grants && { grants: grants(approval.grants) }) } }),
    ...(takenBack && { takenBack: grants(takenBack) }),
    ...(wouldHaveRefused && { wouldHaveRefused: grants(wouldHaveRefused) }),
    ...(leave !== undefined && { leave: typeof leave === 'number' ? leave : picked(leave, sight.seesBudget) }),
    ...(reason !== undefined && !sight.isTellingBy(update.caller, reason) && { reason }),
    ...taggedAs(sight, update.caller, tags),
    ...(seen && { problem: seen }),
    history: update.history.map((line) => {
      // The line of a refusal repeats its sentence.
      if (seen && line.note === problem.detail) return { ...line, note: seen.detail }
      return sight.isTellingBy(line.by, line.note ?? '') ? withoutNote(line) : line
    }),
  }
}

/** As with reasons: without those that name what the reader does not see. */
export function seenTags(sight: Sight, by: string, tags: Tags): Tags {
  const isShown = (tag: readonly [key: string, value: string]) => !tag.some((text) => sight.isTellingBy(by, text))
  return Object.fromEntries(Object.entries(tags).filter(isShown))
}

const taggedAs = (sight: Sight, by: string, tags: Tags | undefined): { readonly tags?: Tags } =>
  tags ? { tags: seenTags(sight, by, tags) } : {}

function withoutNote({ note: _note, ...line }: HistoryLine): HistoryLine {
  return line.state === 'awaiting-approval' ? { ...line, note: wantsApproval } : line
}

export const wantsApproval = 'a budget above wants approval'

function seenHold(sight: Sight, { previous: _previous, budgets, owners, grants, ...hold }: Hold): Hold {
  return {
    ...hold,
    budgets: budgets.filter(sight.seesCounter),
    ...(owners && { owners: owners.filter(sight.seesBudget) }),
    ...(grants && { grants: grants.filter(({ budget }) => sight.seesCounter(budget)) }),
  }
}

export const updateNamedIn = (problem: Problem | null | undefined): readonly string[] => {
  const named = problem?.members.update
  return typeof named === 'string' ? [named] : []
}

/** An ancestor is `{budget: null, short}`; the sentence is replaced if it told more. */
export function seenProblem(sight: Sight, problem: Problem, isSeen: (id: string) => boolean): Problem {
  const { slug, detail } = problem
  // Answered as a project that the reader does not see.
  if (slug === 'project-unowned') return noProject(String(problem.members.project))
  const members = seenMembers(sight, problem.members, isSeen)
  if (isDeepStrictEqual(members, problem.members) && !sight.isTelling(detail)) return problem
  return { slug, members, detail: slug === 'over-budget' ? overBudgetDetail(members) : otherDetail(slug) }
}

function seenMembers(sight: Sight, members: Problem['members'], isSeen: (id: string) => boolean): Problem['members'] {
  const hides = (value: unknown) => typeof value === 'string' && !sight.seesCounter(value)
  const isAbove = hides(members.budget) || rowsOf(members).some(({ budget }) => hides(budget))
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]): [string, Problem['members'][string]][] => {
      switch (name) {
        case 'budget':
          return [[name, hides(value) ? null : value]]
        case 'budgets':
          return [
            [
              name,
              rowsOf(members).map((row) => (hides(row.budget) ? { budget: null, short: row.short ?? null } : row)),
            ],
          ]
        case 'perUpdate':
        case 'wouldPass':
          return isAbove ? [] : [[name, value]]
        case 'update':
          return typeof value === 'string' && !isSeen(value) ? [] : [[name, value]]
        case 'plan':
          return sight.plans.some((plan) => plan.name === value) || value === null ? [[name, value]] : []
        case 'errors':
          return [[name, Array.isArray(value) ? value.map((each) => seenFault(sight, each)) : value]]
        default:
          return typeof value === 'string' && sight.isTelling(value) ? [] : [[name, value]]
      }
    }),
  )
}

const seenFault = (sight: Sight, fault: Value): Value =>
  sight.isTelling(JSON.stringify(fault)) ? { path: '', message: 'is not among the budgets that you read' } : fault

interface Row {
  readonly [name: string]: string | number | null
}

const rowsOf = ({ budgets }: Problem['members']): readonly Row[] =>
  Array.isArray(budgets) ? (budgets as readonly Row[]) : []

function overBudgetDetail(members: Problem['members']): string {
  const lacks = rowsOf(members).map(({ budget, short }) => {
    const name = budget ?? 'a budget above'
    return typeof short === 'number' ? `${name} is ${inUnits(short)} short` : `${name} has nothing left`
  })
  return `There are not enough units for this: ${list([...new Set(lacks)])}.`
}

function otherDetail(slug: string): string {
  switch (slug) {
    case 'budget-frozen':
      return 'A budget above is frozen.'
    case 'kind-not-allowed':
      return 'A budget above does not allow this kind of update.'
    case 'over-update-limit':
      return 'A budget above, or the caller, allows fewer units for one update.'
    default:
      return `${describe(slug).title}. What decided this is not among the budgets that you read.`
  }
}

export function seesEntry({ seesBudget, seesCounter }: Sight, { budget, moves, changed = [] }: Entry): boolean {
  return (
    seesBudget(budget) ||
    moves.some((move) => seesCounter(move.budget)) ||
    changed.some(({ kind, name }) => kind === 'budget' && seesBudget(name))
  )
}

export function seenEntry(sight: Sight, entry: Entry): Entry {
  const { budget, to, units, moves, changed, signs, giver, binds, reason, ...rest } = entry
  const { seesBudget, seesCounter } = sight
  const counters = <Of extends { readonly budget: string }>(of: readonly Of[]) =>
    of.filter((one) => seesCounter(one.budget))
  const isOwn = seesBudget(budget)
  const isTo = to !== undefined && seesBudget(to)
  const isOnlyOwn = isOwn && (to === undefined || isTo)
  return {
    ...rest,
    budget: isOwn ? budget : unseenBudget,
    units: isOwn || isTo ? units : 0,
    ...(isTo && { to }),
    reason: isOnlyOwn && !sight.isTellingBy(entry.by, reason) ? reason : hiddenReason,
    moves: counters(moves),
    ...(changed && { changed: changed.flatMap((difference) => seenDifference(sight, difference) ?? []) }),
    ...(signs && { signs: counters(signs) }),
    ...(giver && seesCounter(giver.budget) && { giver }),
    ...(binds && seesCounter(binds.budget) && { binds }),
  }
}

function seenDifference(sight: Sight, difference: Difference): Difference | null {
  if (difference.kind !== 'budget' || !sight.seesBudget(difference.name)) return null
  const shown = (value: unknown) => (sight.isTelling(JSON.stringify(value)) ? null : value)
  const parent = (value: unknown) => (typeof value === 'string' && sight.seesBudget(value) ? value : null)
  return {
    ...difference,
    members: difference.members.flatMap(({ member, from, to }) => {
      if (member !== 'parent') return [{ member, from: shown(from), to: shown(to) }]
      const parents = { member, from: parent(from), to: parent(to) }
      return parents.from === parents.to ? [] : [parents]
    }),
  }
}

/** What ends without a hold. */
const withoutHold = ['refused', 'upToDate', 'rejected', 'cancelled', 'expired', 'duplicates', 'saved'] as const

/** As `seenUpdate` for the updates that the row sums up. */
export function seenRow(sight: Sight, { wouldHaveRefused, person: _person, ...row }: SummaryRow): SummaryRow | null {
  const seen = withoutUnseen(sight, row)
  const budgets = wouldHaveRefused?.filter(sight.seesBudget) ?? []
  return seen && (budgets.length > 0 ? { ...seen, wouldHaveRefused: budgets } : seen)
}

function withoutUnseen(sight: Sight, row: SummaryRow): SummaryRow | null {
  const { whole, reads, seesBudget } = sight
  const { project, caller, kind, via, plan, month, owner } = row
  const tagged = taggedAs(sight, caller, row.tags)
  if (seesBudget(row.budget)) return { ...row, ...tagged }
  if (owner !== undefined) return seesBudget(owner) ? { ...row, ...tagged, budget: unseenBudget } : null
  if (!seesAsOwner(whole, reads, row)) return null
  return {
    ...{ budget: unseenBudget, project, caller, kind, via },
    ...(plan !== undefined && { plan }),
    ...(month !== undefined && { month }),
    ...tagged,
    ...Object.fromEntries(withoutHold.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]]))),
  }
}

/** Its counts may be of other projects too, and the records tell the reader's own. */
export function seenOccurrence(sight: Sight, occurrence: Occurrence): Occurrence | null {
  const { plan, counts: _counts, charged: _charged, lease: _lease, reason, ...rest } = occurrence
  if (!sight.plans.some(({ name }) => name === plan)) return null
  return { ...rest, plan, ...(reason !== undefined && !sight.isTelling(reason) && { reason }) }
}
