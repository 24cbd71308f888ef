import * as z from 'zod/mini'
import { described, text, time, units, whole } from './pieces.ts'

/** The parts of a reconciliation, before it is booked. */
export const reconciliationPreview = z.strictObject({
  asOf: described(z.nullable(time), '`null`: now.'),
  unitsLeft: units,
  available: described(whole, 'Units that the account has available in the book.'),
  since: described(units, 'Units spent after the figure, or too shortly before it to be included.'),
  held: described(units, 'Units held in this month.'),
  inDoubt: described(units, 'Units in doubt in this month, after `doubts` are closed.'),
  expected: described(
    whole,
    'What the book expects on the vendor’s screen: `available` + `since` + `held` + `inDoubt`.',
  ),
  difference: described(whole, '`expected` − `unitsLeft`.'),
  after: described(whole, 'Units that the account would have available after the booking.'),
  sentence: text,
  open: described(z.array(text), 'Updates open at that time; the figure may include them.'),
  doubts: described(
    z.array(
      z.strictObject({
        id: text,
        project: text,
        units,
        outcome: z.exactOptional(z.enum(['ran', 'did-not-run'])),
      }),
    ),
    'Updates in doubt that the figure has if they ran. The booking closes them first; the other members count them as closed.',
  ),
  young: described(z.array(text), 'Running updates and updates in doubt that are too new for this figure.'),
  again: described(z.exactOptional(time), 'A figure of this time or later has all of `young`.'),
  monthBefore: described(
    z.strictObject({ held: units, inDoubt: units, open: z.array(text) }),
    'What is still open in the month before. It is no part of the difference.',
  ),
})
