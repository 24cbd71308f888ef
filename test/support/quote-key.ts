import type { GuardSettings } from '../../shared/guard/options.ts'
import type { Clock } from '../../shared/platform/clock.ts'
import type { Log } from '../../shared/platform/log.ts'
import { createSecret, createSecretsClient } from '../../shared/platform/secrets.ts'
import { patienceMs } from './store/stores.ts'

export const quoteKey = 'canary-quote-key-0123456789abcdefghijklmnopq'

/** The address of agents; tests listen elsewhere. */
export const publicUrl = 'https://agents.example'

export function mcpPartsOf(settings: GuardSettings, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
  const client = createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY, patienceMs)
  const id = 'unit-guard/quote-key'
  return { quoteKey: createSecret({ client, id, keepsPrevious: true, clock, log, withinMs: patienceMs }), publicUrl }
}
