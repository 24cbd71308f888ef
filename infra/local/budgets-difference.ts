import type { Difference } from '../../shared/guard/applying.ts'
import { count, list } from '../../shared/guard/sentences.ts'

const mostNamed = 3

/** What a file would change, for people: a line for each budget that is new or another, and how many are not. */
export function linesOf(differences: readonly Difference[], named: number): string[] {
  const unchanged = named - differences.length
  return [
    ...differences.map(({ budget, isNew, members }) => {
      const told = members.flatMap((member) => (isNew ? asNew(member) : asChanged(member)))
      return `${isNew ? '+' : '~'} ${budget}  ${isNew ? 'new: ' : ''}${told.join(', ')}`
    }),
    ...(unchanged > 0 ? [`= ${unchanged} unchanged`] : []),
  ]
}

type Member = Difference['members'][number]
type Limits = readonly { readonly window: string; readonly units: number | 'unlimited' }[]
type Projects = readonly { readonly name: string; readonly id?: string }[]

function asNew({ member, to }: Member): string[] {
  switch (member) {
    case 'limits':
      return (to as Limits).map(({ window, units }) => `${shown(units)} a ${window}`)
    case 'projects':
      return [projectsOf(to as Projects)]
    case 'parent':
      return [`below ${to}`]
    default:
      return [`${member} ${shown(to)}`]
  }
}

function asChanged({ member, from, to }: Member): string[] {
  if (member === 'limits') return changedLimits((from ?? []) as Limits, to as Limits)
  if (member === 'projects') return [changedProjects((from ?? []) as Projects, to as Projects)]
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
  const isIn = (projects: Projects, { name, id }: Projects[number]) =>
    projects.some((project) => project.name === name && project.id === id)
  const changes = [
    ...to.filter((project) => !isIn(from, project)).map(({ name }) => `+ ${name}`),
    ...from.filter((project) => !isIn(to, project)).map(({ name }) => `− ${name}`),
  ]
  const more = changes.length - mostNamed
  const named = `${changes.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return `${count(from.length)} → ${projectsOf(to)} (${named})`
}

const projectsOf = ({ length }: Projects): string => `${count(length)} ${length === 1 ? 'project' : 'projects'}`

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'number') return count(value)
  return Array.isArray(value) ? list(value.map(shown)) || 'none' : String(value)
}
