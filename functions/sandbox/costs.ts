import { type Kind, toUnits, type Units } from '../../shared/platform/words.ts'
import type { Project } from './project.ts'

/** What one project costs; also a row of an answer, whose field names are the sandbox's own. */
export type Cost = { readonly project: string; readonly keyword_units: Units }

/** The sandbox's prices; the interface says only that an estimate reports keyword units. */
export function costOf(kind: Kind, project: Project): Cost {
  const places = kind === 'ranking' ? project.searchengines.length : countriesOf(project)
  return { project: project.name, keyword_units: toUnits(project.keywords.length * places) }
}

const countriesOf = (project: Project): number => new Set(project.searchengines.map(({ country }) => country)).size

export const totalOf = (costs: readonly Cost[]): Units =>
  toUnits(costs.reduce((sum, cost) => sum + cost.keyword_units, 0))

/** One project answers plainly, several as rows with their total. */
export function summed(costs: readonly Cost[]): object {
  const [only, ...others] = costs
  return only && others.length === 0 ? only : { projects: costs, total_units: totalOf(costs) }
}
