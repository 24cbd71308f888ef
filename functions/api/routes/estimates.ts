import type { Hono } from 'hono'
import * as z from 'zod/mini'
import { projectsOfRequest } from '../../../shared/api/schemas.ts'
import { showEstimate } from '../../../shared/api/to-json.ts'
import { budgetName, kindOf } from '../../../shared/guard/fields.ts'
import type { Services } from '../../../shared/guard/services.ts'
import type { Kinds } from '../../../shared/tracking/kinds.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readQuery } from '../input.ts'
import { answerProblem, route } from '../route.ts'

export const projectParameters = projectsOfRequest('takes the name of a project; repeat it for more')

export const estimateQueryOf = (kinds: Kinds) =>
  z.strictObject({
    kind: kindOf(kinds),
    project: projectParameters,
    budget: z.exactOptional(budgetName),
  })

/** `GET /estimates`: what an update would cost. It spends nothing. */
export function addEstimates(app: Hono<ApiEnv>, { guard, kinds }: Services): void {
  const estimateQuery = estimateQueryOf(kinds)

  route(app, '/estimates', {
    GET: async (c) => {
      const { sub, token } = await mustHave(c, 'read')
      const { project: projects, budget, kind } = readQuery(c, estimateQuery, ['project'])
      const wanted = { kind, projects, ...(budget !== undefined && { budget }) }
      const estimate = await guard.estimate(wanted, { caller: sub, token, via: 'http' })
      return 'slug' in estimate ? answerProblem(c, estimate) : c.json(showEstimate(estimate))
    },
  })
}
