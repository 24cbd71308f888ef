import type { Hono } from 'hono'
import * as z from 'zod/mini'
import type { Services } from '../../shared/guard/services.ts'
import { type ApiEnv, mustHave } from './context.ts'
import { budgetName, kind, pageCursor, pageLimit, projectsOfRequest, readQuery } from './input.ts'
import { answerProblem } from './problem-answers.ts'
import { route } from './routing.ts'
import { showAudit, showEstimate, showProjectChange } from './showing.ts'

export const projectParameters = projectsOfRequest('takes the name of a project; repeat it for more')

export const estimateQuery = z.strictObject({
  kind,
  project: projectParameters,
  budget: z.exactOptional(budgetName),
})

export const pageQuery = z.strictObject({ limit: pageLimit, cursor: z.exactOptional(pageCursor) })

/** `GET /estimates`, `GET /changes` and `GET /audit`: questions that spend nothing. */
export function addQuestions(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/estimates', {
    GET: async (c) => {
      const { sub, token } = await mustHave(c, 'read')
      const { project: projects, budget, kind } = readQuery(c, estimateQuery, ['project'])
      const wanted = { kind, projects, ...(budget !== undefined && { budget }) }
      const estimate = await guard.estimate(wanted, { caller: sub, token, via: 'http' })
      return 'slug' in estimate ? answerProblem(c, estimate) : c.json(showEstimate(estimate))
    },
  })

  route(app, '/changes', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const { limit, cursor } = readQuery(c, pageQuery)
      const { rows, next } = await guard.ledger.projectChanges(limit, cursor)
      return c.json({ changes: rows.map(showProjectChange), ...(next !== undefined && { next }) })
    },
  })

  route(app, '/audit', {
    GET: async (c) => {
      await mustHave(c, 'read')
      const reads = c.get('expensiveReads')
      reads.admit(c)
      return c.json(showAudit(await reads.audit(guard.ledger.audit)))
    },
  })
}
