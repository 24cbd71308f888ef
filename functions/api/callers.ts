import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { budgetName } from '../../shared/guard/names.ts'
import { problem } from '../../shared/guard/problems.ts'
import type { Services } from '../../shared/guard/services.ts'
import { type Caller, callerNamed } from '../../shared/ledger/definitions.ts'
import { scopes } from '../../shared/platform/words.ts'
import { limits } from './budget-body.ts'
import { revisionOf } from './budgets.ts'
import { type ApiEnv, mustHave } from './context.ts'
import { readBody, reason, units } from './input.ts'
import { answerProblem } from './problem-answers.ts'
import { invalid, Refusal } from './refusal.ts'
import { route } from './routing.ts'
import { showCaller } from './showing.ts'

export const subject = z
  .string('takes the name of a caller')
  .check(z.regex(/^(?!__proto__$)[\x21\x22\x24-\x7e]{1,200}$/, 'takes 1 to 200 visible characters without #'))
const scope = z.enum(scopes, `takes one of ${scopes.join(', ')}`)
const takesRate = 'takes a whole number of requests, 1 to 100000'
const rate = z.number(takesRate).check(z.int(takesRate), z.gte(1, takesRate), z.lte(100_000, takesRate))
const yesOrNo = z.boolean('takes true or false')

export const callerRequest = z.strictObject({
  scopes: z.exactOptional(
    z.array(scope, 'takes a list of scopes').check(z.maxLength(scopes.length, 'names a scope twice')),
  ),
  budgets: z.exactOptional(
    z.union(
      [z.literal('*'), z.array(budgetName).check(z.maxLength(200))],
      'takes "*", or a list of at most 200 budgets',
    ),
  ),
  person: z.exactOptional(subject),
  disabled: z._default(yesOrNo, false),
  mayForce: z._default(yesOrNo, false),
  mayChargeAncestors: z._default(yesOrNo, false),
  limits: z.exactOptional(limits),
  perUpdate: z.exactOptional(units),
  ratePerMinute: z.exactOptional(rate),
  reason: z.exactOptional(reason),
})

/** Rights that are not given are not stored. */
export function callerAs({
  disabled,
  mayForce,
  mayChargeAncestors,
  ...given
}: Omit<z.output<typeof callerRequest>, 'reason'>): Caller {
  return {
    ...given,
    ...(disabled && { disabled }),
    ...(mayForce && { mayForce }),
    ...(mayChargeAncestors && { mayChargeAncestors }),
  }
}

/** Contract, "Resources": who may do what, beside what their token says. */
export function addCallers(app: Hono<ApiEnv>, { guard }: Services): void {
  route(app, '/callers', {
    GET: async (c) => {
      await mustHave(c, 'admin')
      const view = await guard.ledger.view()
      const { definitions } = view
      c.header('ETag', `"${definitions.revision}"`)
      const callers = Object.entries(definitions.callers ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
      return c.json({ callers: callers.map(([sub, caller]) => showCaller(view, sub, caller)) })
    },
  })

  route(app, '/callers/:sub', {
    GET: async (c) => {
      await mustHave(c, 'admin')
      return answerCaller(c, 200)
    },

    PUT: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const { reason, ...wanted } = await readBody(c, callerRequest)
      const caller = callerAs(wanted)
      const by = { caller: sub, ...(reason !== undefined && { reason }), ...revisionOf(c) }
      const changed = await guard.putCaller(nameOf(c), caller, by)
      return changed.kind === 'changed'
        ? answerCaller(c, changed.created ? 201 : 200)
        : answerProblem(c, changed.problem)
    },

    DELETE: async (c) => {
      const { sub } = await mustHave(c, 'admin')
      const changed = await guard.deleteCaller(nameOf(c), { caller: sub, ...revisionOf(c) })
      return changed.kind === 'changed' ? c.body(null, 204) : answerProblem(c, changed.problem)
    },
  })

  async function answerCaller(c: Context<ApiEnv>, status: 200 | 201): Promise<Response> {
    const view = await guard.ledger.view()
    const { definitions } = view
    const caller = callerNamed(definitions, nameOf(c))
    if (!caller) throw notListed(nameOf(c))
    c.header('ETag', `"${definitions.revision}"`)
    return c.json(showCaller(view, nameOf(c), caller), status)
  }
}

/** @throws Refusal 404 when nobody can be called that, or 400 when somebody wants to list them. */
function nameOf(c: Context<ApiEnv>): string {
  const parsed = subject.safeParse(c.req.param('sub'))
  if (parsed.success) return parsed.data
  if (c.req.method === 'PUT') throw invalid([{ path: 'sub', message: parsed.error.issues[0]?.message ?? '' }])
  throw new Refusal(problem('not-found', 'There is no such caller.'))
}

const notListed = (name: string) =>
  new Refusal(problem('not-found', `${name} is not listed; a token's own scopes and budgets hold for them.`))
