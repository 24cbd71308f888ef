import type { Hono } from 'hono'
import type { ApiEnv } from '../../context.ts'
import { addForecast, forecastOperations } from './forecast.ts'
import { addStatements, statementOperations } from './statements.ts'

export function addReports(app: Hono<ApiEnv>): void {
  addForecast(app)
  addStatements(app)
}

/** By the groups of the documentation. */
export const reportOperations = {
  Budgets: forecastOperations,
  'Entries and statements': statementOperations,
}
