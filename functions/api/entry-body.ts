import * as z from 'zod/mini'
import { wholeUnits } from '../../shared/guard/names.ts'
import { digest } from '../../shared/platform/ids.ts'
import { budgetName, reason, someUnits, units } from './input.ts'

/** What somebody books: bodies of `/budgets/{name}/entries` and of `/budgets/account/reconcile`, and the forms of pages. */

const month = z._default(z.enum(['month', 'day', 'next-month'], 'takes month, day or next-month'), 'month')

const givenBack = 'for units that the vendor gave back, book a grant with wholeChain'
const takesEntry = `takes the id of an entry; what an update was charged is not corrected: ${givenBack}`

export const spentOutside = wholeUnits(1, givenBack)

export const entryRequest = z.discriminatedUnion(
  'type',
  [
    z.strictObject({
      type: z.literal('grant'),
      units: someUnits,
      window: month,
      wholeChain: z._default(z.boolean('takes true or false'), false),
      reason,
    }),
    z.strictObject({
      type: z.literal('transfer'),
      units: someUnits,
      window: z._default(z.enum(['month', 'day'], 'takes month or day'), 'month'),
      to: budgetName,
      reason,
    }),
    // It always counts in the month and the day of the whole chain.
    z.strictObject({ type: z.literal('external-spend'), units: spentOutside, reason }),
    z.strictObject({
      type: z.literal('correction'),
      units,
      corrects: z.string(takesEntry).check(z.regex(/^ent_[0-9a-z]{1,64}$/, takesEntry)),
      reason,
    }),
  ],
  'takes grant, transfer, external-spend or correction',
)

export const reconciliation = z.strictObject({ unitsLeft: units, reason })

/**
 * The same key of the same caller is the same entry, whichever budget it names.
 *
 * @param asked what the key stands for: other content under it is refused.
 */
export const entryIdentity = (caller: string, key: string, asked: object): { id: string; content: string } => ({
  id: `ent_${digest(caller, 'POST /budgets/entries', key)}`,
  content: digest(JSON.stringify(asked)),
})
