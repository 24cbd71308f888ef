import type { ListOfCallers } from '../../ledger/book/definitions.ts'
import type { Difference, Member } from '../../ledger/book/difference.ts'
import { count, list, shownCaller } from '../sentences.ts'

const maxNamed = 3

type Limits = readonly { readonly window: string; readonly units: number | 'unlimited' }[]
type Projects = readonly { readonly name: string; readonly id?: string }[]

/** @param known the names of callers, where people read it. */
export function differenceInWords({ kind, name, how, members }: Difference, known: ListOfCallers = {}): string {
  if (kind === 'plan') return `plan ${name}: ${pausesInWords[how]}`
  const told = how === 'removed' ? [] : membersInWords(members, how === 'made')
  const changed = `${kind} ${kind === 'caller' ? shownCaller(known, name) : name}`
  if (told.length === 0) return `${changed}: ${inWords[how]}`
  return `${changed}: ${how === 'made' ? 'new: ' : ''}${told.join(', ')}`
}

const inWords = { made: 'new', changed: 'changed', removed: 'removed' } as const
/** The definitions list only paused plans. */
const pausesInWords = { made: 'paused', changed: 'still paused', removed: 'resumed' } as const

export const membersInWords = (members: readonly Member[], isNew: boolean): string[] =>
  members.flatMap((member) => (isNew ? asNew(member) : asChanged(member)))

function asNew({ member, to }: Member): string[] {
  if (Array.isArray(to) && to.length === 0) return []
  switch (member) {
    case 'enforce':
      return [observedOnly]
    case 'limits':
      return (to as Limits).map(({ window, units }) => `${shown(units)} a ${window}`)
    case 'projects':
      return [projectsOf(to as Projects)]
    case 'parent':
      return [`below ${to}`]
    default:
      return [to === true ? member : `${member} ${shown(to)}`]
  }
}

const observedOnly = 'limits observed, not enforced'

function asChanged({ member, from, to }: Member): string[] {
  if (member === 'limits') return changedLimits((from ?? []) as Limits, (to ?? []) as Limits)
  if (member === 'projects') return [changedProjects((from ?? []) as Projects, (to ?? []) as Projects)]
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

function changedProjects(from: Projects, to: Projects): string {
  const named = (projects: Projects, name: string) => projects.find((project) => project.name === name)
  const changes = [
    ...to.flatMap(({ name, id }) => {
      const before = named(from, name)
      if (!before) return [`+ ${name}`]
      return before.id === id ? [] : [`${name}: id ${shown(before.id)} → ${shown(id)}`]
    }),
    ...from.filter(({ name }) => !named(to, name)).map(({ name }) => `− ${name}`),
  ]
  const more = changes.length - maxNamed
  const told = `${changes.slice(0, maxNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return from.length === to.length
    ? `${projectsOf(to)} (${told})`
    : `${count(from.length)} → ${projectsOf(to)} (${told})`
}

const projectsOf = ({ length }: Projects): string => `${count(length)} ${length === 1 ? 'project' : 'projects'}`

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'number') return count(value)
  return Array.isArray(value) ? list(value.map(shown)) || 'none' : String(value)
}
