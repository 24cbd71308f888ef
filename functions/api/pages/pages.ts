import type { Hono } from 'hono'
import { problem } from '../../../shared/guard/problems.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { ApiEnv } from '../context.ts'
import { Refusal } from '../refusal.ts'
import type { createTokens } from '../tokens.ts'
import { addAssets } from './assets.ts'
import { addAudit } from './audit.tsx'
import { addBudgetPages } from './budgets/budgets.tsx'
import { addCallerPages } from './callers/callers.tsx'
import { addDecisions } from './decisions.tsx'
import { addLedger } from './ledger.tsx'
import { addLogin } from './login.tsx'
import { addNeedsYou } from './needs-you.tsx'
import { addOverview } from './overview.tsx'
import { addPlan } from './plan.tsx'
import { addPlans } from './plans.tsx'
import { addStatements } from './statements.tsx'
import { addUpdate } from './update.tsx'
import { addUpdateList } from './updates.tsx'
import { createVisiting } from './visiting.tsx'

/**
 * The dashboard: pages made here, which work without scripts. They take a cookie of their own, and nothing else does; they
 * ask the same guard as the API, so nobody may do here what they may not do there.
 */
export function addPages(app: Hono<ApiEnv>, services: Services & { tokens: ReturnType<typeof createTokens> }): void {
  addAssets(app)
  const visiting = createVisiting(app, services)
  addLogin(visiting, services)
  addOverview(visiting, services)
  addUpdateList(visiting, services)
  addUpdate(visiting, services)
  addNeedsYou(visiting, services)
  addDecisions(visiting, services)
  addPlans(visiting, services)
  addPlan(visiting, services)
  addStatements(visiting, services)
  addLedger(visiting, services)
  addAudit(visiting, services)
  addBudgetPages(visiting, services)
  addCallerPages(visiting, services)
  visiting.page('/dashboard/*', {
    GET: async ({ c }) => {
      if (c.req.path === '/dashboard') return c.redirect('/', 303)
      throw new Refusal(problem('not-found', 'There is no such page.'))
    },
  })
}
