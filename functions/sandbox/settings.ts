import * as z from 'zod/mini'
import { accessKey } from '../../shared/platform/settings.ts'

export const sandboxTableKey = { partition: 'pk', sort: 'sk' } as const

const unitsTakes = 'must be a whole number of units'
const endpoint = z.optional(z.url('must be the address of an endpoint'))

/** The sandbox reads its token from the guard's secret. */
export const sandboxSettings = z.object({
  SANDBOX_TABLE: z._default(z.string(), 'unit-guard-sandbox'),
  SANDBOX_UNITS_PER_MONTH: z._default(
    z.pipe(z.string().check(z.regex(/^\d{1,12}$/, unitsTakes)), z.transform(Number)),
    100_000,
  ),
  SERVICE_TOKEN_SECRET: z._default(z.string(), 'unit-guard/service-token'),
  DYNAMODB_ENDPOINT: endpoint,
  DYNAMODB_ACCESS_KEY: accessKey,
  SECRETS_ENDPOINT: endpoint,
  SECRETS_ACCESS_KEY: accessKey,
})
