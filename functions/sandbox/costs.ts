import type { Context } from 'hono'
import { toUnits, type Units } from '../../shared/platform/words.ts'
import type { KindFacts } from '../../shared/tracking/kinds.ts'
import type { Project } from './project.ts'

export type Cost = { readonly project: string; readonly keyword_units: Units }

/** Made up: the service documents no prices. */
export const costOf = (kind: KindFacts, project: Project): Cost => ({
  project: project.name,
  keyword_units: toUnits(project.keywords.length * kind.standInCost(project)),
})

export const totalOf = (costs: readonly Cost[]): Units =>
  toUnits(costs.reduce((sum, cost) => sum + cost.keyword_units, 0))

export function costSummary(costs: readonly Cost[]): object {
  const [only, ...others] = costs
  return only && others.length === 0 ? only : { projects: costs, total_units: totalOf(costs) }
}

/** The service does not document its answer, so a guard must read some of these shapes and refuse the others. */
const shapes = {
  plain: (units) => ({ units }),
  string: (units) => ({ response_code: 0, data: { keyword_units: String(units) } }),
  rows: (_, rows) => ({ response_code: 0, data: rows }),
  'rows-with-total': (units, rows) => ({ response_code: 0, data: { projects: rows, total_units: units } }),
  'rows-wrong-total': (units, rows) => ({ response_code: 0, data: { projects: rows, total_units: units + 1 } }),
  nested: (units) => ({ result: { account: { on_demand: { required_units: units } } } }),
  text: (units) => `${units} keyword units\n`,
  html: (units) => `<!doctype html><title>Estimate</title><p>${units} keyword units</p>\n`,
  negative: (units) => ({ response_code: 0, data: { keyword_units: -units } }),
  fraction: (units) => ({ response_code: 0, data: { keyword_units: units + 0.5 } }),
  ambiguous: (units) => ({ response_code: 0, data: { keyword_units: units, cost: units + 1 } }),
  missing: (_, rows) => ({ response_code: 0, data: { projects: rows.map(({ project }) => project) } }),
} as const satisfies Record<string, (units: number, rows: readonly Cost[]) => object | string>

type EstimateShape = keyof typeof shapes
export const estimateShapes = Object.keys(shapes) as EstimateShape[]

export function answerShape(c: Context, shape: EstimateShape, costs: readonly Cost[]): Response {
  const body = shapes[shape](totalOf(costs), costs)
  if (typeof body !== 'string') return c.json(body)
  return shape === 'html' ? c.html(body) : c.text(body)
}
