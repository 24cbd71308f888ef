import type { Context, Hono } from 'hono'
import * as z from 'zod/mini'
import { mustBePermitted } from '../../../shared/api/permissions.ts'
import { reason } from '../../../shared/api/schemas.ts'
import { deliveryOutcomes, deliveryScopes } from '../../../shared/guard/inbox/close-delivery.ts'
import { someUnits } from '../../../shared/records/common-fields.ts'
import { type ApiEnv, mustHave, tokenMustHave } from '../context.ts'
import { readBody } from '../input.ts'
import type { Operation } from '../operation.ts'
import { route } from '../route.ts'
import { answerDecided } from './decisions.ts'
import { updateIdOf } from './updates.ts'

export function addLateData(app: Hono<ApiEnv>): void {
  route(app, '/updates/:id/delivery', { POST: (c) => closeDelivery(c) })
}

async function closeDelivery(c: Context<ApiEnv>): Promise<Response> {
  const by = await mustHave(c, 'approve', 'admin')
  const { outcome, ...how } = await readBody(c, deliverySchema)
  tokenMustHave(c, ...deliveryScopes[outcome])
  mustBePermitted(by, deliveryScopes[outcome])
  return answerDecided(c, await by.guard.closeDelivery(outcome, updateIdOf(c), by, how))
}

const deliverySchema = z.lazy(() =>
  z
    .strictObject({
      outcome: z.enum(deliveryOutcomes, 'must be came or given-back'),
      units: z.exactOptional(someUnits),
      reason,
    })
    .check(
      z.refine(({ outcome, units }) => units === undefined || outcome === 'given-back', {
        path: ['units'],
        message: 'is only for the outcome given-back',
      }),
    ),
)

const unitsOnlyIfGivenBackRule = {
  if: { required: ['units'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { outcome: { const: 'given-back' } } },
}

export const lateDataOperations: readonly Operation[] = [
  {
    method: 'POST',
    path: '/updates/{id}/delivery',
    id: 'closeDelivery',
    scopes: ['approve', 'admin'],
    summary: 'Closes the delivery of an update that was paid and whose data are late',
    details: '`came` needs the scope `approve`, and `given-back` the scope `admin`.',
    body: {
      input: {
        name: 'DeliveryAnswer',
        schema: deliverySchema,
        extraRules: unitsOnlyIfGivenBackRule,
        texts: {
          outcome:
            '`came`: the service has the data. `given-back`: it gave units back, and a correction takes them from the charge.',
          units: 'The units that came back, only with `given-back`. Default: all that were charged.',
        },
      },
      example: { outcome: 'given-back', units: 40, reason: 'the vendor credited it, ticket 4711' },
    },
    answers: { 200: { description: 'The delivery is closed', body: 'Update' } },
    problems: ['wrong-state', 'not-found'],
  },
]
