import * as z from 'zod/mini'
import { budgetName, units } from '../guard/fields.ts'
import { figuresOf } from '../guard/sentences.ts'
import {
  type Caller,
  type CallerDefaults,
  limitOf,
  limitsOfCaller,
  unlistedCallers,
  windowKinds,
} from '../ledger/book/definitions.ts'
import type { View } from '../ledger/views/views.ts'
import { scopes } from '../platform/words.ts'
import { limits } from './budgets.ts'
import { reason, subject, type Texts } from './schemas.ts'
import { showFigures } from './to-json.ts'

const scope = z.enum(scopes, `must be one of ${scopes.join(', ')}`)
const takesRate = 'must be a whole number of requests from 1 to 100000'
const rate = z.number(takesRate).check(z.int(takesRate), z.gte(1, takesRate), z.lte(100_000, takesRate))
const yesOrNo = z.boolean('must be true or false')

export const callerRequest = z.lazy(() =>
  z.strictObject({
    scopes: z.exactOptional(
      z.array(scope, 'must be a list of scopes').check(z.maxLength(scopes.length, 'names a scope twice')),
    ),
    budgets: z.exactOptional(
      z.union(
        [z.literal('*'), z.array(budgetName).check(z.maxLength(200))],
        'must be "*", or a list of at most 200 budgets',
      ),
    ),
    readsBudgets: z.exactOptional(
      z.array(budgetName, 'must be a list of budgets').check(z.maxLength(200, 'must have at most 200 budgets')),
    ),
    person: z.exactOptional(subject),
    disabled: z._default(yesOrNo, false),
    mayForce: z._default(yesOrNo, false),
    mayChargeAncestors: z._default(yesOrNo, false),
    limits: z.exactOptional(limits),
    perUpdate: z.exactOptional(units),
    ratePerMinute: z.exactOptional(rate),
    reason: z.exactOptional(reason),
  }),
)

export const callerTexts: Texts = {
  scopes: 'For a token: no more than these; for Slack: exactly these.',
  budgets: 'What may be charged, descendants included; `*`: all. For a token: no more than these.',
  readsBudgets: 'What may be read, descendants included; without it everything. Such a caller is no administrator.',
  disabled: 'Nothing any more: updates and changes at once, reads within two seconds.',
  mayForce: 'May force updates without `admin`; this and `mayChargeAncestors` alone widen a token.',
  mayChargeAncestors:
    'May name a budget above the one that owns a project, without `admin`. The rules of the owner hold, its limits do not.',
  limits:
    'Counted over all budgets, in the same condition of the same hold; refusals name the counter `caller:<sub>`. Not of `*`.',
  ratePerMinute: 'More requests in a minute are 429, counted by each process.',
}

/** Without rights that are false. */
export function callerAs({
  disabled,
  mayForce,
  mayChargeAncestors,
  ...members
}: Omit<z.output<typeof callerRequest>, 'reason'>): Caller {
  return {
    ...members,
    ...(disabled && { disabled }),
    ...(mayForce && { mayForce }),
    ...(mayChargeAncestors && { mayChargeAncestors }),
  }
}

/** The entry `*`. */
export const showUnlisted = ({ perUpdate, ratePerMinute }: CallerDefaults) => ({
  sub: unlistedCallers,
  disabled: false,
  ...(perUpdate !== undefined && { perUpdate }),
  ...(ratePerMinute !== undefined && { ratePerMinute }),
})

export const showCaller = (view: View, sub: string, caller: Caller) => {
  const { scopes, budgets, readsBudgets, person, disabled, mayForce, mayChargeAncestors } = caller
  const { limits, perUpdate, ratePerMinute } = caller
  const [limitedCaller] = limitsOfCaller(view.definitions, sub)
  return {
    sub,
    ...(scopes && { scopes }),
    ...(budgets !== undefined && { budgets }),
    ...(readsBudgets && { readsBudgets }),
    ...(person !== undefined && { person }),
    disabled: disabled ?? false,
    ...(mayForce && { mayForce }),
    ...(mayChargeAncestors && { mayChargeAncestors }),
    ...(limits && { limits }),
    ...(perUpdate !== undefined && { perUpdate }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    ...(limitedCaller && {
      windows: windowKinds
        .filter((window) => limitOf(limitedCaller, window) !== 'unlimited')
        .map((window) => showFigures(figuresOf(view, limitedCaller, window))),
    }),
  }
}
