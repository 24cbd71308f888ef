import * as z from 'zod/mini'
import { ledgerOnlySettings, wholeNumber } from '../../shared/platform/settings.ts'
import { maxUnits } from '../../shared/platform/words.ts'
import { habits } from './project.ts'

export const sandboxTableKey = { partition: 'pk', sort: 'sk' } as const

const { SERVICE_TOKEN_SECRET, DYNAMODB_ENDPOINT, DYNAMODB_ACCESS_KEY, SECRETS_ENDPOINT, SECRETS_ACCESS_KEY } =
  ledgerOnlySettings.shape

/** The sandbox reads its token from the guard's secret. */
export const sandboxSettings = z.object({
  SANDBOX_TABLE: z._default(z.string(), 'unit-guard-sandbox'),
  SANDBOX_UNITS_PER_MONTH: z._default(wholeNumber('must be a whole number of units', 0, maxUnits), 100_000),
  SANDBOX_HABITS: z._default(z.enum(habits, 'must be usual or strange'), 'usual'),
  SERVICE_TOKEN_SECRET,
  DYNAMODB_ENDPOINT,
  DYNAMODB_ACCESS_KEY,
  SECRETS_ENDPOINT,
  SECRETS_ACCESS_KEY,
})
