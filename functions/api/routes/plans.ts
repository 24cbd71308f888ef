import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { mustBeCovered } from '../../../shared/api/permissions.ts'
import { showOccurrence, showPlan } from '../../../shared/api/plans.ts'
import { Refusal } from '../../../shared/api/refusal.ts'
import { instant, reasonBody } from '../../../shared/api/schemas.ts'
import type { Shown } from '../../../shared/api/shown.ts'
import type { Guard } from '../../../shared/guard/guard.ts'
import { problem } from '../../../shared/guard/problems.ts'
import { Contention, LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { planName } from '../../../shared/records/common-fields.ts'
import type { Services } from '../../../shared/services/services.ts'
import { type ApiEnv, mustHave } from '../context.ts'
import { prefersAsync, readBody } from '../input.ts'
import type { Operation } from '../operation.ts'
import { answerProblem, route } from '../route.ts'

const occurrenceSchema = z.lazy(() =>
  z.strictObject({ time: instant, only: z.exactOptional(z.enum(['unsent', 'refused'], 'must be unsent or refused')) }),
)

const contentionProblem = problem(
  'undecided',
  'Other requests changed the same records each time, so this could not be finished in time. Its progress is recorded, and the sweep continues it. You may send the same request again: nothing runs twice.',
)

const unavailableProblem = problem(
  'ledger-unavailable',
  'The ledger does not answer. The progress of this run is recorded, and the sweep continues it. You may send the same request again: nothing runs twice.',
)

export function addPlans(app: Hono<ApiEnv>, { clock, log }: Services): void {
  route(app, '/plans', {
    GET: async (c) => {
      const { guard } = await mustHave(c, 'read')
      const { plans, zone } = await guard.planStatuses()
      return c.json<Shown<'PlanList'>>({ plans: plans.map((status) => showPlan(status, zone)) })
    },
  })

  for (const action of ['pause', 'resume'] as const) {
    route(app, `/plans/:name/${action}`, {
      POST: async (c) => {
        const { sub, guard } = await mustHave(c, 'admin')
        const { reason } = await readBody(c, reasonBody)
        const name = await planNameOf(c, guard)
        const change = action === 'pause' ? guard.pausePlan : guard.resumePlan
        const result = await change(name, { caller: sub, reason })
        if (result.kind === 'problem') return answerProblem(c, result.problem)
        const { plans, zone } = await guard.planStatuses()
        return c.json(plans.filter(({ plan }) => plan.name === name).map((status) => showPlan(status, zone))[0])
      },
    })
  }

  route(app, '/plans/:name/run', {
    POST: async (c) => {
      const caller = await mustHave(c, 'run')
      const { guard } = caller
      const { time, only } = await readBody(c, occurrenceSchema)
      const name = await planNameOf(c, guard)
      await mustBeCovered(guard, name, caller)
      const endsAt = prefersAsync(c) ? clock.now() : c.var.endsAt
      try {
        const { fire, runAgain } = await guard.jobs()
        const result = await (only ? runAgain(name, time, only, endsAt) : fire(name, time, endsAt, true))
        if (result.kind === 'problem') return answerProblem(c, result.problem)
        return c.json(
          showOccurrence(await guard.report(result.occurrence)),
          result.occurrence.doneAt === undefined ? 202 : 200,
        )
      } catch (cause) {
        if (!(cause instanceof LedgerUnavailable)) throw cause
        log.error('failed', { cause })
        return answerProblem(c, cause instanceof Contention ? contentionProblem : unavailableProblem)
      }
    },
  })

  /** @throws Refusal 404 */
  async function planNameOf(c: Context<ApiEnv>, guard: Guard): Promise<string> {
    const parsed = planName.safeParse(c.req.param('name'))
    const { plans } = await guard.planStatuses()
    if (parsed.success && plans.some(({ plan }) => plan.name === parsed.data)) return parsed.data
    throw new Refusal(problem('not-found', 'There is no such plan.'))
  }
}

export const planOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/plans',
    id: 'listPlans',
    scopes: ['read'],
    summary: 'Lists the plans: what each requests, when it runs next, and how its last run ended',
    answers: { 200: { description: 'All plans of the plans file', body: 'PlanList' } },
    problems: [],
  },
  {
    method: 'POST',
    path: '/plans/{name}/pause',
    id: 'pausePlan',
    scopes: ['admin'],
    summary: 'Pauses a plan: its runs are recorded, but not started',
    body: { input: { name: 'Reason', schema: reasonBody }, example: { reason: 'the vendor is down' } },
    answers: { 200: { description: 'It is paused', body: 'Plan' } },
    problems: ['not-found', 'wrong-state'],
  },
  {
    method: 'POST',
    path: '/plans/{name}/resume',
    id: 'resumePlan',
    scopes: ['admin'],
    summary: 'Resumes a paused plan',
    body: { input: { name: 'Reason', schema: reasonBody }, example: { reason: 'back again' } },
    answers: { 200: { description: 'The plan is not paused any more', body: 'Plan' } },
    problems: ['not-found', 'wrong-state'],
  },
  {
    method: 'POST',
    path: '/plans/{name}/run',
    id: 'runPlan',
    scopes: ['run'],
    summary: 'Runs a plan for one of its scheduled times; the caller must be allowed to charge all budgets of the plan',
    headers: ['Prefer'],
    body: {
      input: {
        name: 'OccurrenceRequest',
        schema: occurrenceSchema,
        texts: {
          time: 'The scheduled time, or any time of the last hour for a run by hand. An older time that a `cron` never had is 400. For the same plan and time, no project runs twice.',
          only: '`unsent`: runs updates that never started, expired or provably did not run. `refused`: decides again about refused updates, with the present budgets. Both are possible at any later time.',
        },
      },
      example: { time: '2026-11-20T05:00:00Z', only: 'unsent' },
    },
    answers: {
      200: { description: 'The occurrence has ended', body: 'Occurrence' },
      202: { description: 'The occurrence is running', body: 'Occurrence' },
    },
    problems: ['plan-paused', 'wrong-state', 'not-found'],
  },
]
