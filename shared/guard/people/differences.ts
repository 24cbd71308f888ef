import { folded, type ListOfCallers } from '../../ledger/definitions/definitions.ts'
import type { Difference, Member } from '../../ledger/definitions/difference.ts'
import { count, list, shownCaller } from '../sentences.ts'

const maxNamed = 3

type Limits = readonly { readonly window: string; readonly units: number | 'unlimited' }[]
type Projects = readonly { readonly name: string; readonly id?: string }[]

/**
 * @param known the list of callers, to show the persons of callers.
 * @param how.isFull names every project.
 */
export function differencesInWords(
  differences: readonly Difference[],
  known: ListOfCallers = {},
  { isFull = false }: { readonly isFull?: boolean } = {},
): readonly string[] {
  const moves = movesIn(differences.filter(({ kind }) => kind === 'budget'))
  return differences.map((difference) => inWords(difference, { moves, isFull }, known))
}

/** A clause for each move, by the folded name of the project. */
export type Moves = ReadonlyMap<string, string>

interface Wording {
  readonly moves: Moves
  readonly isFull?: boolean
}

interface ChangedBudget {
  readonly name: string
  readonly members: readonly Member[]
}

export function movesIn(budgets: readonly ChangedBudget[]): Moves {
  /** Rows that only this side has. */
  const rowsOf = (side: 'from' | 'to', other: 'from' | 'to') =>
    budgets.flatMap(({ name: budget, members }) => {
      const projects = members.find(({ member }) => member === 'projects')
      const stay = new Set(((projects?.[other] ?? []) as Projects).map(({ name }) => folded(name)))
      const rows = ((projects?.[side] ?? []) as Projects).map(({ name }) => [folded(name), { name, budget }] as const)
      return rows.filter(([key]) => !stay.has(key))
    })
  const left = new Map(rowsOf('from', 'to'))
  return new Map(
    rowsOf('to', 'from').flatMap(([key, { name, budget }]) => {
      const from = left.get(key)
      return from ? [[key, `${name} moves from ${from.budget} to ${budget}`]] : []
    }),
  )
}

function inWords({ kind, name, how, members }: Difference, wording: Wording, known: ListOfCallers): string {
  if (kind === 'plan') return `plan ${name}: ${pausesInWords[how]}`
  const told = how === 'removed' ? [] : membersInWords(members, how === 'made', wording)
  const changed = `${kind} ${kind === 'caller' ? shownCaller(known, name) : name}`
  if (told.length === 0) return `${changed}: ${changesInWords[how]}`
  return `${changed}: ${how === 'made' ? 'new: ' : ''}${told.join(', ')}`
}

const changesInWords = { made: 'new', changed: 'changed', removed: 'removed' } as const
/** The definitions list only paused plans, so `removed` means resumed. */
const pausesInWords = { made: 'paused', changed: 'still paused', removed: 'resumed' } as const

export const membersInWords = (members: readonly Member[], isNew: boolean, wording: Wording): string[] =>
  members.flatMap((member) => (isNew ? asNew(member, wording) : asChanged(member, wording)))

function asNew({ member, to }: Member, wording: Wording): string[] {
  if (Array.isArray(to) && to.length === 0) return []
  switch (member) {
    case 'enforce':
      return [observedOnly]
    case 'limits':
      return (to as Limits).map(({ window, units }) => `${shown(units)} a ${window}`)
    case 'projects':
      return [newProjects(to as Projects, wording)]
    case 'parent':
      return [`below ${to}`]
    default:
      return [to === true ? member : `${member} ${shown(to)}`]
  }
}

const observedOnly = 'limits observed, not enforced'

function asChanged({ member, from, to }: Member, wording: Wording): string[] {
  if (member === 'limits') return changedLimits((from ?? []) as Limits, (to ?? []) as Limits)
  if (member === 'projects') return [changedProjects((from ?? []) as Projects, (to ?? []) as Projects, wording)]
  if (member === 'unowned') return [`${member} ${shown(from ?? 'pay')} → ${shown(to ?? 'pay')}`]
  if (member === 'enforce') return [to === false ? observedOnly : 'limits enforced again']
  return [`${member} ${shown(from)} → ${shown(to)}`]
}

function changedLimits(from: Limits, to: Limits): string[] {
  return ['month', 'day'].flatMap((window) => {
    const unitsIn = (limits: Limits) => limits.find((limit) => limit.window === window)?.units ?? null
    const [before, after] = [unitsIn(from), unitsIn(to)]
    return before === after ? [] : [`${window} ${shown(before)} → ${shown(after)}`]
  })
}

function newProjects(to: Projects, { moves, isFull = false }: Wording): string {
  const told = to.flatMap(({ name }) => moves.get(folded(name)) ?? (isFull ? name : []))
  return told.length === 0 ? projectsOf(to) : `${projectsOf(to)} (${firstOf(told, isFull)})`
}

function changedProjects(from: Projects, to: Projects, { moves, isFull = false }: Wording): string {
  const named = (projects: Projects, name: string) => projects.find((project) => project.name === name)
  const all = [
    ...to.flatMap(({ name, id }) => {
      const before = named(from, name)
      if (!before) return [moves.get(folded(name)) ?? `+ ${name}`]
      return before.id === id ? [] : [`${name}: id ${shown(before.id)} → ${shown(id)}`]
    }),
    ...from.flatMap(({ name }) => (named(to, name) ? [] : (moves.get(folded(name)) ?? `− ${name}`))),
  ]
  const told = firstOf(all, isFull)
  return from.length === to.length
    ? `${projectsOf(to)} (${told})`
    : `${count(from.length)} → ${projectsOf(to)} (${told})`
}

function firstOf(changes: readonly string[], isFull: boolean): string {
  if (isFull) return changes.join(', ')
  const more = changes.length - maxNamed
  return `${changes.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const projectsOf = ({ length }: Projects): string => `${count(length)} ${length === 1 ? 'project' : 'projects'}`

export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'number') return count(value)
  if (Array.isArray(value)) return list(value.map(shown)) || 'none'
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([name, member]) => `${name} ${shown(member)}`)
    .join(', ')
}
