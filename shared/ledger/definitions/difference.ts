import { isDeepStrictEqual } from 'node:util'
import { any, list, type Of, oneOf, record, recordOf, text } from '../store/stored.ts'
import { type Definitions, unlistedCallers } from './definitions.ts'

/** `from` or `to` is `null` if the member is not set. */
export interface Member {
  readonly member: string
  readonly from: unknown
  readonly to: unknown
}

export const storedDifference = record({
  kind: oneOf(['budget', 'caller', 'plan']),
  name: text,
  how: oneOf(['made', 'changed', 'removed']),
  members: list(recordOf<Member>({ member: text, from: any, to: any })),
})
export type Difference = Of<typeof storedDifference>

type Things = Readonly<Record<string, object>>

/** Leaves out freezes, which have entries of their own. */
export const differencesOf = (before: Definitions, after: Definitions): readonly Difference[] => [
  ...differencesIn('budget', before.budgets, after.budgets),
  ...differencesIn('caller', callersIn(before), callersIn(after)),
  ...differencesIn('plan', before.pausedPlans ?? {}, after.pausedPlans ?? {}),
]

const callersIn = ({ callers, unlisted }: Definitions): Things => ({
  ...callers,
  ...(unlisted && { [unlistedCallers]: unlisted }),
})

function differencesIn(kind: Difference['kind'], before: Things, after: Things): Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return names.flatMap((name): Difference[] => {
    const [from, to] = [own(before, name), own(after, name)]
    const members = kind === 'plan' ? [] : membersOf(from ?? {}, to ?? {})
    if (from && to) return members.length === 0 ? [] : [{ kind, name, how: 'changed', members }]
    return [{ kind, name, how: to ? 'made' : 'removed', members }]
  })
}

function membersOf(from: object, to: object): Member[] {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted()
  return names.flatMap((member) => {
    const [was, is]: unknown[] = [own(from, member) ?? null, own(to, member) ?? null]
    return member === 'name' || member === 'frozen' || isSame(was, is) ? [] : [{ member, from: was, to: is }]
  })
}

const own = <Of extends object>(things: Of, name: string): Of[keyof Of] | undefined =>
  Object.hasOwn(things, name) ? things[name as keyof Of] : undefined

/** The order of a list does not count. */
export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(unordered(a), unordered(b))

const unordered = (value: unknown): unknown => (Array.isArray(value) ? value.map(textOf).toSorted() : value)

const textOf = (row: unknown): string => JSON.stringify(row instanceof Object ? Object.entries(row).toSorted() : row)

/** A longer list names the changed budgets without their members, because a page shows many entries. */
const maxCharacters = 30_000

export function fittingDifferences(differences: readonly Difference[]): readonly Difference[] {
  if (JSON.stringify(differences).length <= maxCharacters) return differences
  return differences.map((difference) => ({ ...difference, members: [] }))
}
