import { isDeepStrictEqual } from 'node:util'
import { unseenBudget } from '../../ledger/book/definitions.ts'
import type { Difference } from '../../ledger/book/difference.ts'
import type { Entry } from '../../ledger/book/entry.ts'
import type { Value } from '../../ledger/store/store.ts'
import type { Occurrence } from '../../ledger/updates/tasks.ts'
import type { Problem, Tags, Update } from '../../ledger/updates/update.ts'
import type { SummaryRow } from '../../ledger/views/summary.ts'
import { describe } from '../problems.ts'
import { units as inUnits, list } from '../sentences.ts'
import { noProject, seesPayer, seesUpdate } from './sees.ts'
import { hiddenReason, picked, type Sight } from './sight.ts'

/**
 * Records as a narrowed reader sees them: a budget that they do not see is `unseenBudget` or left out, and a text that
 * names one is left out.
 */

/** What lists find it by. */
export function placedUpdate(sight: Sight, { budget, owner, tags, ...update }: Update): Update {
  const isPayer = seesPayer(sight.whole, sight.reads, { budget, ...update })
  return {
    ...update,
    budget: isPayer ? budget : unseenBudget,
    ...(owner && sight.seesBudget(owner) && { owner }),
    ...taggedAs(sight, update.caller, tags),
  }
}

/** @param isSeen whether the reader sees an update that a problem names. */
export function seenUpdate(sight: Sight, update: Update, isSeen: (id: string) => boolean): Update | null {
  if (!seesUpdate(sight.whole, sight.reads, update)) return null
  const {
    token: _token,
    hold,
    short,
    approval,
    takenBack,
    wouldHaveRefused,
    leave,
    reason,
    problem,
    ...rest
  } = placedUpdate(sight, update)
  const seen = problem && seenProblem(sight, problem, (id) => id === update.id || isSeen(id))
  return {
    ...rest,
    ...(hold && { hold: seenHold(sight, hold) }),
    ...(short && { short: seenCounters(sight, short) }),
    ...(approval && { approval: { ...approval, ...grantsIn(sight, approval) } }),
    ...(takenBack && { takenBack: seenCounters(sight, takenBack) }),
    ...(wouldHaveRefused && { wouldHaveRefused: seenCounters(sight, wouldHaveRefused) }),
    ...(leave !== undefined && { leave: typeof leave === 'number' ? leave : picked(leave, sight.seesBudget) }),
    ...(reason !== undefined && !sight.isTellingBy(update.caller, reason) && { reason }),
    ...(seen && { problem: seen }),
    history: update.history.map(({ note = '', ...line }) => {
      // The line of a refusal repeats its sentence.
      if (seen && note === problem.detail) return { ...line, note: seen.detail }
      if (!sight.isTellingBy(line.by, note)) return { ...line, ...(note && { note }) }
      return { ...line, ...(line.state === 'awaiting-approval' && { note: wantsApproval }) }
    }),
  }
}

export const wantsApproval = 'a budget above wants approval'

const seenCounters = <Of extends { readonly budget: string }>({ seesCounter }: Sight, of: readonly Of[]): Of[] =>
  of.filter(({ budget }) => seesCounter(budget))

const grantsIn = (sight: Sight, { grants }: Pick<NonNullable<Update['hold']>, 'grants'>) =>
  grants ? { grants: seenCounters(sight, grants) } : {}

function seenHold(sight: Sight, { previous: _previous, budgets, owners, ...hold }: NonNullable<Update['hold']>) {
  return {
    ...hold,
    ...grantsIn(sight, hold),
    budgets: budgets.filter(sight.seesCounter),
    ...(owners && { owners: owners.filter(sight.seesBudget) }),
  }
}

/** As with reasons: without those that name what the reader does not see. */
const taggedAs = (sight: Sight, by: string, tags: Tags | undefined): { readonly tags?: Tags } =>
  tags
    ? {
        tags: Object.fromEntries(
          Object.entries(tags).filter((tag) => !tag.some((text) => sight.isTellingBy(by, text))),
        ),
      }
    : {}

export const updateNamedIn = (problem: Problem | null | undefined): readonly string[] => {
  const named = problem?.members.update
  return typeof named === 'string' ? [named] : []
}

/**
 * An ancestor is `{budget: null, short}`; the sentence is replaced if it told more.
 * @param typed names that the request wrote itself, and a refusal may repeat.
 */
export function seenProblem(
  sight: Sight,
  problem: Problem,
  isSeen: (id: string) => boolean,
  typed: readonly string[] = [],
): Problem {
  const { slug, detail } = problem
  // Answered as a project that the reader does not see.
  if (slug === 'project-unowned') return noProject(String(problem.members.project))
  const isTelling = (text: string) => sight.isTelling(typed.reduce((rest, name) => rest.replaceAll(name, ''), text))
  const hides = (value: unknown) => typeof value === 'string' && !sight.seesCounter(value)
  const rows = rowsOf(problem.members)
  const isAbove = hides(problem.members.budget) || rows.some(({ budget }) => hides(budget))
  const seenRows = rows.map((row) => (hides(row.budget) ? { budget: null, short: row.short ?? null } : row))
  const shown = ([name, value]: [string, Value]): Value | undefined => {
    if (name === 'budget') return hides(value) ? null : value
    if (name === 'budgets') return seenRows
    if (name === 'perUpdate' || name === 'wouldPass') return isAbove ? undefined : value
    if (name === 'update') return typeof value === 'string' && !isSeen(value) ? undefined : value
    if (name === 'plan') return value === null || sight.plans.some((plan) => plan.name === value) ? value : undefined
    if (name === 'errors' && Array.isArray(value))
      return value.map((each) => (isTelling(JSON.stringify(each)) ? { path: '', message: notYours } : each))
    return typeof value === 'string' && isTelling(value) ? undefined : value
  }
  const members = Object.fromEntries(
    Object.entries(problem.members).flatMap((member) => {
      const value = shown(member)
      return value === undefined ? [] : [[member[0], value]]
    }),
  )
  if (isDeepStrictEqual(members, problem.members) && !isTelling(detail)) return problem
  return { slug, members, detail: slug === 'over-budget' ? lackOf(seenRows) : decidedAbove(slug, isAbove) }
}

const notYours = 'is not among the budgets that you read'

const rowsOf = ({ budgets }: Problem['members']) =>
  (Array.isArray(budgets) ? budgets : []) as readonly { readonly budget?: string | null; readonly short?: Value }[]

function lackOf(rows: ReturnType<typeof rowsOf>): string {
  const lacks = rows.map(({ budget, short }) => {
    const name = budget ?? 'a budget above'
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

export function seenEntry(sight: Sight, entry: Entry): Entry {
  const { budget, to, units, moves, changed, signs, giver, binds, reason, ...rest } = entry
  const { seesBudget, seesCounter } = sight
  const [isFrom, isTo] = [seesBudget(budget), to !== undefined && seesBudget(to)]
  const isOnlyOwn = isFrom && (to === undefined || isTo)
  return {
    ...rest,
    budget: isFrom ? budget : unseenBudget,
    units: isFrom || isTo ? units : 0,
    ...(isTo && { to }),
    reason: isOnlyOwn && !sight.isTellingBy(entry.by, reason) ? reason : hiddenReason,
    moves: seenCounters(sight, moves),
    ...(changed && { changed: changed.flatMap((difference) => seenDifference(sight, difference) ?? []) }),
    ...(signs && { signs: seenCounters(sight, signs) }),
    ...(giver && seesCounter(giver.budget) && { giver }),
    ...(binds && seesCounter(binds.budget) && { binds }),
  }
}

function seenDifference(sight: Sight, difference: Difference): Difference | null {
  if (difference.kind !== 'budget' || !sight.seesBudget(difference.name)) return null
  const shown = (value: unknown) => (sight.isTelling(JSON.stringify(value)) ? null : value)
  const parent = (value: unknown) => (typeof value === 'string' && sight.seesBudget(value) ? value : null)
  const members = difference.members.map(({ member, from, to }) =>
    member === 'parent' ? { member, from: parent(from), to: parent(to) } : { member, from: shown(from), to: shown(to) },
  )
  return { ...difference, members: members.filter(({ member, from, to }) => member !== 'parent' || from !== to) }
}

/** As `seenUpdate` for the updates that the row sums up. */
export function seenRow(
  sight: Sight,
  { above = [], wouldHaveRefused = [], person: _person, ...row }: SummaryRow,
): SummaryRow | null {
  const charged = { ...row, hold: { budgets: above } }
  if (!seesUpdate(sight.whole, sight.reads, charged)) return null
  const refused = wouldHaveRefused.filter(sight.seesBudget)
  return {
    ...row,
    budget: seesPayer(sight.whole, sight.reads, charged) ? row.budget : unseenBudget,
    ...taggedAs(sight, row.caller, row.tags),
    ...(refused.length > 0 && { wouldHaveRefused: refused }),
  }
}

/** Its counts may be of other projects too, and the records tell the reader's own. */
export function seenOccurrence(sight: Sight, occurrence: Occurrence): Occurrence | null {
  const { plan, counts: _counts, charged: _charged, lease: _lease, reason, ...rest } = occurrence
  if (!sight.plans.some(({ name }) => name === plan)) return null
  return { ...rest, plan, ...(reason !== undefined && !sight.isTelling(reason) && { reason }) }
}
