import type { Hono } from 'hono'
import * as z from 'zod/mini'
import { invalid } from '../../../shared/api/refusal.ts'
import { projectsOfRequest } from '../../../shared/api/schemas.ts'
import { showEstimate } from '../../../shared/api/to-json.ts'
import { budgetName, kindOf, subject } from '../../../shared/records/common-fields.ts'
import type { Services } from '../../../shared/services/services.ts'
import type { Kinds } from '../../../shared/tracking/kinds.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { readQuery } from '../input.ts'
import type { Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'

export const projectParameters = projectsOfRequest('must be the name of a project; repeat it for more')

const querySchemaOf = (kinds: Kinds) =>
  z.lazy(() =>
    z.strictObject({
      kind: kindOf(kinds),
      project: projectParameters,
      budget: z.exactOptional(budgetName),
      explain: z.exactOptional(z.literal('true', 'must be true, or absent')),
      as: z.exactOptional(subject),
    }),
  )

export function addEstimates(app: Hono<ApiEnv>, { guard, kinds }: Services): void {
  const querySchema = querySchemaOf(kinds)

  route(app, '/estimates', {
    GET: async (c) => {
      const { sub, token } = await mustHave(c, 'read')
      const { project: projects, explain, ...wanted } = readQuery(c, querySchema, ['project'])
      if (wanted.as !== undefined && !explain) throw invalid([{ path: 'as', message: 'needs explain=true' }])
      if (wanted.as !== undefined) await mustHave(c, 'admin')
      const request = { ...wanted, projects, ...(explain && { explain: true }) }
      const estimate = await guard.estimate(request, { caller: sub, token, via: 'http' })
      return 'slug' in estimate ? answerProblem(c, estimate) : c.json(showEstimate(estimate))
    },
  })
}

export const estimateOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/estimates',
    id: 'getEstimate',
    scopes: ['read'],
    summary: 'Estimates what updates would cost and whether they would be admitted; spends nothing',
    query: {
      schema: querySchemaOf,
      texts: {
        project: 'Repeat the parameter for up to 20 projects.',
        budget: 'Who would pay. Default: each project’s owner, else `account`.',
        explain: 'Adds `checks` to each project, also without an estimate.',
        as: 'Estimates for this caller, with the rights in the list of callers. Needs `explain` and the scope `admin`.',
      },
    },
    example: '/estimates?kind=ranking&project=initech&project=globex',
    answers: { 200: { description: 'The units, and every counter that would change', body: 'Estimate' } },
    problems: ['not-found', 'estimate-unreadable', 'service-refused', 'service-unreachable', 'wrong-clock'],
  },
]
