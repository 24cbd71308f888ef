import * as z from 'zod/mini'
import { isOrigin } from '../../shared/guard/options.ts'

const takesOrigin = 'must be an http(s) address without a path, such as https://agents.example'

export const mcpSettings = z.object({
  /** Under which agents reach Unit Guard. Without it the address where it listens, or its function URL. */
  PUBLIC_URL: z.optional(z.string(takesOrigin).check(z.refine(isOrigin, takesOrigin))),
  QUOTE_KEY_SECRET: z._default(z.string(), 'unit-guard/quote-key'),
})
