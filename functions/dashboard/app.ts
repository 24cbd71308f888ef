import { Hono } from 'hono'
import { acceptRequests, type FaceEnv, refuseTwoHosts } from '../../shared/api/accept-requests.ts'
import type { Reference } from '../../shared/api/reference.ts'
import { Refusal } from '../../shared/api/refusal.ts'
import { problem } from '../../shared/guard/problems.ts'
import { rawPathOf } from '../../shared/platform/http.ts'
import type { Services } from '../../shared/services/services.ts'
import { addAssets } from './assets.ts'
import { createPageRoutes } from './kit/session.tsx'
import { addActivity } from './pages/activity/activity.tsx'
import { addAudit } from './pages/activity/audit.tsx'
import { addEntry } from './pages/activity/entry.tsx'
import { addAsk } from './pages/ask.tsx'
import { addBudgetPages } from './pages/budgets/budgets.tsx'
import { addCallerPages } from './pages/callers/callers.tsx'
import { addPerson } from './pages/callers/person.tsx'
import { addCharge } from './pages/charge.tsx'
import { addDecisions } from './pages/decisions.ts'
import { addEvents } from './pages/events.tsx'
import { addFind } from './pages/find.tsx'
import { addInbox } from './pages/inbox.tsx'
import { addLogin } from './pages/login.tsx'
import { addOverview } from './pages/overview.tsx'
import { addPlan } from './pages/plan.tsx'
import { addPlans } from './pages/plans.tsx'
import { addProject } from './pages/project.tsx'
import { addReference } from './pages/reference.ts'
import { addStatements } from './pages/statements.tsx'
import { addUpdate } from './pages/update.tsx'
import { addUpdateList } from './pages/updates.tsx'

/** The pages call the same guard as the API, so the same permissions apply. */
export function createDashboard(services: Services, reference: Reference = async () => null): Hono<FaceEnv> {
  const app = new Hono<FaceEnv>({ getPath: rawPathOf })
  app.use(acceptRequests('dashboard', services))
  const routes = createPageRoutes(app, services)
  app.use(refuseTwoHosts)
  addAssets(app)
  addReference(routes, reference)
  addLogin(routes, services)
  addOverview(routes)
  addUpdateList(routes, services)
  addUpdate(routes, services)
  addCharge(routes)
  addFind(routes)
  addAsk(routes, services)
  addInbox(routes, services)
  addDecisions(routes, services)
  addPlans(routes)
  addPlan(routes)
  addStatements(routes)
  addActivity(routes)
  addAudit(routes)
  addEntry(routes)
  addBudgetPages(routes, services)
  addCallerPages(routes, services)
  addPerson(routes)
  addProject(routes)
  addEvents(routes, services)
  routes.page('/dashboard/*', {
    GET: async ({ c }) => {
      if (c.req.path === '/dashboard') return c.redirect('/', 303)
      throw new Refusal(problem('not-found', 'There is no such page.'))
    },
  })
  app.notFound((c) => routes.showNotFound(c))
  app.onError((error, c) => routes.showFailure(c, error))
  return app
}
