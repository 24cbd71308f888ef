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
import { defined, type Shown } from './shown.ts'
import { showFigures, showNextStop } from './to-json.ts'

export const callerRequest = z.lazy(() =>
  z.strictObject({ ...requestShape(callerMembers), reason: z.exactOptional(reason) }),
)

/** The entry of a caller without members that are `false`. */
export const callerAs = (members: Omit<z.output<typeof callerRequest>, 'reason'>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== false)) as Caller

export const showUnlisted = (rules: CallerDefaults, next?: NextStop): Shown<'Caller'> =>
  defined({ sub: unlistedCallers, disabled: false, ...rules, next: showNextStop(next) })

export function showCaller(view: View, sub: string, caller: Caller, next?: NextStop): Shown<'Caller'> {
  const [limited] = limitsOfCaller(view.definitions, sub)
  const windows = windowKinds.filter((window) => limited && limitOf(limited, window) !== 'unlimited')
  return defined({
    sub,
    ...caller,
    disabled: caller.disabled ?? false,
    next: showNextStop(next),
    windows: limited && windows.map((window) => showFigures(figuresOf(view, limited, window))),
  })
}
