import * as z from 'zod/mini'
import { differencesInWords } from '../guard/people/differences.ts'
import type { Entry } from '../ledger/book/entry.ts'
import { toRfc3339 } from '../platform/clock.ts'
import { digest } from '../platform/ids.ts'
import { budgetName, someUnits, units, wholeUnits } from '../records/common-fields.ts'
import type { Columns } from './csv.ts'
import { instant, reason, type Texts } from './schemas.ts'
import { showEntry } from './to-json.ts'

const month = z._default(z.enum(['month', 'day', 'next-month'], 'must be month, day or next-month'), 'month')

const givenBack = 'for units that the vendor gave back, book a grant with wholeChain'
const takesId = 'must be the id of an entry or of an update'

export const spentOutside = wholeUnits(1, givenBack)

export const entryRequest = z.lazy(() =>
  z.discriminatedUnion(
    'type',
    [
      z.strictObject({
        type: z.literal('grant'),
        units: someUnits,
        window: month,
        wholeChain: z._default(z.boolean('must be true or false'), false),
        reason,
      }),
      z.strictObject({
        type: z.literal('transfer'),
        units: someUnits,
        window: z._default(z.enum(['month', 'day'], 'must be month or day'), 'month'),
        to: budgetName,
        reason,
      }),
      z.strictObject({ type: z.literal('external-spend'), units: spentOutside, reason }),
      z.strictObject({
        type: z.literal('correction'),
        units,
        corrects: z.string(takesId).check(z.regex(/^(ent|upd)_[0-9a-z]{1,64}$/, takesId)),
        reason,
      }),
    ],
    'must be grant, transfer, external-spend or correction',
  ),
)

const takesAnswers = 'must be "ran", or an object with "ran" or "did-not-run" for each update'
const doubtAnswers = z.union(
  [z.literal('ran'), z.record(z.string(), z.enum(['ran', 'did-not-run'], 'must be ran or did-not-run'))],
  takesAnswers,
)

export const reconciliation = z.lazy(() =>
  z.strictObject({
    unitsLeft: units,
    reason,
    asOf: z.exactOptional(instant),
    difference: z.exactOptional(z.int('must be a whole number')),
    doubts: z.exactOptional(doubtAnswers),
    closing: z.exactOptional(z.boolean('must be true or false')),
  }),
)

export const reconcileQuery = z.lazy(() =>
  z.strictObject({ 'dry-run': z.exactOptional(z.enum(['true', 'false'], 'must be true or false')) }),
)

export const reconcileQueryTexts: Texts = { 'dry-run': '`true`: only show the parts and the difference.' }

export const entryTexts: Texts = {
  type: 'The type of the entry.',
  units:
    'How many units. In a correction: the right figure of the entry, 0 if it was wrong altogether, or what the update cost.',
  window: 'The counter that changes.',
  wholeChain: 'Grants the same units to all ancestors, in one transaction.',
  to: 'The budget that gets the units. Ancestors that both budgets share do not change.',
  corrects:
    'The entry or the settled update to correct. Each entry has one correction; to change it again, correct the correction. An update may be corrected again, on the budget that paid, until 60 days after its month.',
}

export const reconciliationTexts: Texts = {
  unitsLeft: 'The figure on the vendor’s screen. It is assumed to exclude running updates and new doubts.',
  doubts:
    'Whether the updates in doubt that the figure has ran: `"ran"` for all, or an answer for each. The booking closes them first, with the same reason, and needs the scope `approve` for that.',
  closing: 'The figure closes the month: 409 while any update, or a restore, is too new for it.',
  asOf: 'When the vendor showed it: at most 48 hours ago, in the open month. Default: now. Only a figure of now can give units back.',
  difference:
    'The difference that the preview showed. If it is missing or has changed, the answer is 409, and nothing is booked.',
}

/** @param request The ledger refuses the same key with another request. */
export const entryIdentity = (caller: string, key: string, request: object): { id: string; content: string } => ({
  id: `ent_${digest(caller, 'POST /budgets/entries', key)}`,
  content: digest(JSON.stringify(request)),
})

export const entryColumns: Columns<Entry> = {
  id: ({ id }) => id,
  at: ({ at }) => toRfc3339(at),
  type: ({ type }) => type,
  budget: ({ budget }) => budget,
  units: ({ units }) => units,
  window: (entry) => showEntry(entry).window,
  by: ({ by }) => by,
  reason: ({ reason }) => reason,
  to: ({ to }) => to ?? '',
  corrects: ({ corrects }) => corrects ?? '',
  changed: ({ changed }) => differencesInWords(changed ?? []).join('; '),
}
