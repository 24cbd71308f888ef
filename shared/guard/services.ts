import { openLedger } from '../ledger/open-ledger.ts'
import type { Store } from '../ledger/store/store.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { systemIds } from '../platform/ids.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createSecret, createSecretsClient, type Secret } from '../platform/secrets.ts'
import { eachKind, type Kinds, productKinds } from '../tracking/kinds.ts'
import { createTracking, type Tracking } from '../tracking/tracking.ts'
import { createGuard, type Guard } from './guard.ts'
import { type UnitPrice, unitPriceOf } from './money.ts'
import { type GuardOptions, type GuardSettings, toCooldown } from './options.ts'

export interface Services {
  readonly guard: Guard
  readonly tracking: Pick<Tracking, 'open'>
  readonly callerKey: Secret
  readonly slackSecret: Secret
  /** Where announcements go with a bot token, and where the Web API is; `undefined`: Slack's. */
  readonly slackApi: { readonly channel: string | null; readonly url?: string | undefined }
  readonly options: GuardOptions
  readonly kinds: Kinds
  /** The URL has no slash at its end; `null`: unknown. */
  readonly dashboardUrl: string | null
  /** `null`: units have no price. */
  readonly unitPrice: UnitPrice | null
  /** Endpoints are on this machine; Slack may be a stand-in. */
  readonly isLocal: boolean
  readonly clock: Clock
  readonly log: Log
}

/** Creates a process's parts, on AWS or on one machine. They connect with the first request. */
export function createServices(
  settings: GuardSettings,
  own: { store?: Store; clock?: Clock; log?: Log; kinds?: Kinds; secretsWithinMs?: number } = {},
): Services {
  const { kinds = productKinds } = own
  const unitPrice = unitPriceOf(settings)
  const clock = own.clock ?? systemClock
  const log = own.log ?? createLog({ write: (line) => process.stdout.write(`${line}\n`), now: clock.now })
  const withinMs = own.secretsWithinMs
  const client = createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY, withinMs)
  const secrets = { client, clock, log, ...(withinMs !== undefined && { withinMs }) }
  const token = createSecret({ ...secrets, id: settings.SERVICE_TOKEN_SECRET })
  const callerKey = createSecret({ ...secrets, id: settings.CALLER_KEY_SECRET, keepsPrevious: true })
  const serviceToken = async () => (await token.read()).current
  const tracking = createTracking({
    baseUrl: settings.TRACKING_BASE_URL,
    token: {
      read: serviceToken,
      reread: async (refused) => {
        const { current } = await token.reread()
        if (current === refused) log.error('token-refused', { secret: settings.SERVICE_TOKEN_SECRET })
        return current
      },
    },
    timeoutMs: settings.SERVICE_TIMEOUT_MS,
    pointers: {
      estimate: eachKind(kinds, (kind) => settings[kind.settings.estimatePointer]),
      run: eachKind(kinds, (kind) => settings[kind.settings.runPointer]),
    },
    kinds,
  })
  const ledger = openLedger(settings, { clock, ...(own.store && { store: own.store }) })
  const plans = async () =>
    settings.PLANS ? (await import('./plans/plans-file.ts')).readPlans(settings.PLANS, kinds) : []
  const options = {
    serviceTimeoutMs: settings.SERVICE_TIMEOUT_MS,
    serviceFlightMs: settings.SERVICE_FLIGHT_MS,
    cooldown: eachKind(kinds, (kind) => settings[kind.settings.cooldown] ?? toCooldown(kind.cooldown)),
    ...(settings.PROJECT_SEPARATOR !== undefined && { separator: settings.PROJECT_SEPARATOR }),
  }
  return {
    guard: createGuard({
      ledger,
      tracking,
      serviceToken,
      clock,
      ids: systemIds,
      log,
      options,
      kinds,
      plans,
      unitPrice,
    }),
    tracking,
    callerKey,
    slackSecret: createSecret({ ...secrets, id: settings.SLACK_SECRET }),
    slackApi: { channel: settings.SLACK_CHANNEL ?? null, url: settings.SLACK_API_URL },
    options,
    kinds,
    dashboardUrl: settings.DASHBOARD_URL === undefined ? null : new URL(settings.DASHBOARD_URL).origin,
    unitPrice,
    isLocal: settings.SECRETS_ENDPOINT !== undefined,
    clock,
    log,
  }
}
