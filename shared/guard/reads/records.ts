import type { Entry } from '../../ledger/book/entry.ts'
import { unseenBudget } from '../../ledger/definitions/definitions.ts'
import type { Difference } from '../../ledger/definitions/difference.ts'
import type { Problem, Update } from '../../ledger/updates/update.ts'
import { seesPayer, seesUpdate } from '../people/sees.ts'
import type { Occurrence } from '../plans/stored-occurrence.ts'
import { type Shown, seenProblem } from './problems.ts'
import { hiddenReason, pruned, type Sight } from './sight.ts'

/**
 * Records as a narrowed reader sees them. An unseen budget becomes `unseenBudget` or is left out. A text that
 * names an unseen budget is left out or replaced.
 */

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

type Paid = Parameters<typeof seesPayer>[2] &
  Pick<Update, 'listed' | 'tags' | 'caller'> & { readonly owner?: string | null }

/** Leaves out tags that contain hidden names, and how an unseen budget lists the project. */
export function paidAndTagged(sight: Sight, paid: Paid): Pick<Update, 'budget' | 'listed' | 'tags'> {
  const tags = Object.entries(paid.tags ?? {}).filter(
    (tag) => !tag.some((text) => sight.isTellingBy(paid.caller, text)),
  )
  return {
    budget: seesPayer(sight.whole, sight, paid) ? paid.budget : unseenBudget,
    ...(paid.listed && sight.seesBudget(paid.owner ?? paid.budget) && { listed: paid.listed }),
    ...(paid.tags && { tags: Object.fromEntries(tags) }),
  }
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

/** Narrows an occurrence or a rerun. Leaves out counts, because they include projects that the reader does not see. */
function seenOccurrence(sight: Sight, occurrence: Occurrence): Occurrence | null {
  const { charged: _charged, reason, ...rest } = pruned(sight, occurrence)
  if (!sight.plans.some(({ name }) => name === rest.plan)) return null
  return { ...rest, ...(reason !== undefined && !sight.isTelling(reason) && { reason }) }
}
