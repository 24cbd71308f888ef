import * as z from 'zod/mini'
import { figuresOf } from '../guard/sentences.ts'
import type { NextStop } from '../guard/shown-budget.ts'
import type { View } from '../ledger/book/view.ts'
import {
  type Caller,
  type CallerDefaults,
  limitOf,
  limitsOfCaller,
  unlistedCallers,
  windowKinds,
} from '../ledger/definitions/definitions.ts'
import { callerMembers } from '../records/caller.ts'
import { requestShape } from '../records/record.ts'
import { reason } from './schemas.ts'
import { showFigures, showNextStop } from './to-json.ts'

export const callerRequest = z.lazy(() =>
  z.strictObject({ ...requestShape(callerMembers), reason: z.exactOptional(reason) }),
)

/** The entry of a caller without members that are `false`. */
export const callerAs = (members: Omit<z.output<typeof callerRequest>, 'reason'>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== false)) as Caller

export const showUnlisted = (rules: CallerDefaults, next?: NextStop) => ({
  sub: unlistedCallers,
  disabled: false,
  ...rules,
  ...(next && { next: showNextStop(next) }),
})

export const showCaller = (view: View, sub: string, caller: Caller, next?: NextStop) => {
  const [limitedCaller] = limitsOfCaller(view.definitions, sub)
  return {
    sub,
    ...caller,
    disabled: caller.disabled ?? false,
    ...(next && { next: showNextStop(next) }),
    ...(limitedCaller && {
      windows: windowKinds
        .filter((window) => limitOf(limitedCaller, window) !== 'unlimited')
        .map((window) => showFigures(figuresOf(view, limitedCaller, window))),
    }),
  }
}
