import type { Hono } from 'hono'
import type { Services } from '../../shared/guard/services.ts'
import { addBudgets } from './budgets.ts'
import { addCallers } from './callers.ts'
import type { ApiEnv } from './context.ts'
import { addEntries } from './entries.ts'
import { addPlans } from './plans.ts'
import { addStatements } from './statements.ts'

/** What people manage and look up now and then, beside what tools ask for all day. */
export function addManaging(app: Hono<ApiEnv>, services: Services): void {
  addBudgets(app, services)
  addEntries(app, services)
  addCallers(app, services)
  addPlans(app, services)
  addStatements(app, services)
}
