import * as z from 'zod/mini'
import { troubleSlugs } from '../../guard/troubles/table.ts'
import { described, text, time, whole } from './pieces.ts'

export const restored = described(
  z.exactOptional(z.strictObject({ at: time, to: z.exactOptional(time) })),
  '`at`: when the table was last accepted after a restore. `to`: the time to which it was restored.',
)

export const status = z.strictObject({
  version: described(text, 'The version of Unit Guard.'),
  troubles: described(
    z.array(
      z.strictObject({
        slug: z.enum(troubleSlugs),
        since: described(z.nullable(time), 'When it began, or when this process first saw it.'),
        sentence: text,
        remedy: described(text, 'What an operator does.'),
      }),
    ),
    'What is wrong now. Empty: nothing that this process can see.',
  ),
  sweptAt: described(z.nullable(time), 'When the last sweep ended; `null` before the first one, and on AWS.'),
  backedUpAt: described(z.nullable(time), 'When the last backup ended; `null` if none is known, and on AWS.'),
  waiting: described(
    z.strictObject({ requested: whole, awaitingApproval: whole, inDoubt: whole }),
    'How many updates wait for a process, for an approval and for the outcome of their run. 1000: at least 1000.',
  ),
  setAside: described(
    z.nullable(whole),
    'How many changes could not be passed on. Above 0, updates may wait and messages may be missing; run `npm run sweep`. `null` on AWS.',
  ),
  restored,
})
