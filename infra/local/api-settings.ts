import * as z from 'zod/mini'
import { isUsableToken } from '../../shared/tracking/service-token.ts'

/** Where a command finds the API, and the token that it shows. */
export const apiSettings = z.object({
  UNIT_GUARD_URL: z.url('takes the address of Unit Guard'),
  UNIT_GUARD_TOKEN: z
    .string('takes a bearer token')
    // What `fetch` says of any other shows it.
    .check(z.refine(isUsableToken, 'takes a bearer token alone, as npm run --silent token prints it')),
})
