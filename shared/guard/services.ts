import { openLedger } from '../ledger/open-ledger.ts'
import type { Store } from '../ledger/store.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { systemIds } from '../platform/ids.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createSecret, createSecretsClient, type Secret } from '../platform/secrets.ts'
import type { GuardSettings } from '../platform/settings.ts'
import { createTracking, type Tracking } from '../tracking/tracking.ts'
import { createGuard, type Guard } from './guard.ts'
import type { GuardOptions } from './options.ts'

export interface Services {
  readonly guard: Guard
  /** For what anyone may ask of the service without spending. */
  readonly tracking: Pick<Tracking, 'open'>
  /** The key that callers' tokens are signed with. */
  readonly callerKey: Secret
  /** What Slack and the guard share. */
  readonly slackSecret: Secret
  readonly options: GuardOptions
  /** Where people find the dashboard, without a slash at its end; `null`: nobody has said. */
  readonly dashboardUrl: string | null
  /** Endpoints are on this machine, and so may be whoever plays Slack. */
  readonly isLocal: boolean
  readonly clock: Clock
  readonly log: Log
}

/**
 * Puts the guard together from the settings of one process: the same parts on AWS and on one machine, where only
 * endpoints differ. Nothing is read or connected before the first request.
 */
export function createServices(
  settings: GuardSettings,
  own: { store?: Store; clock?: Clock; log?: Log } = {},
): Services {
  const clock = own.clock ?? systemClock
  const log = own.log ?? createLog({ write: (line) => process.stdout.write(`${line}\n`), now: clock.now })
  const secrets = createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY)
  const token = createSecret({ client: secrets, id: settings.SERVICE_TOKEN_SECRET, clock, log })
  const callerKey = createSecret({ client: secrets, id: settings.CALLER_KEY_SECRET, keepsPrevious: true, clock, log })
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
      estimate: pointers(settings.ESTIMATE_POINTER_RANKING, settings.ESTIMATE_POINTER_DIFFICULTY),
      run: pointers(settings.RUN_POINTER_RANKING, settings.RUN_POINTER_DIFFICULTY),
    },
  })
  const ledger = openLedger(settings, { clock, ...(own.store && { store: own.store }) })
  const plans = async () => (settings.PLANS ? (await import('./plans-file.ts')).readPlans(settings.PLANS) : [])
  const options = {
    serviceTimeoutMs: settings.SERVICE_TIMEOUT_MS,
    serviceFlightMs: settings.SERVICE_FLIGHT_MS,
    cooldown: { ranking: settings.COOLDOWN_RANKING, 'keyword-difficulty': settings.COOLDOWN_DIFFICULTY },
    ...(settings.PROJECT_SEPARATOR !== undefined && { separator: settings.PROJECT_SEPARATOR }),
  }
  return {
    guard: createGuard({ ledger, tracking, serviceToken, clock, ids: systemIds, log, options, plans }),
    tracking,
    callerKey,
    slackSecret: createSecret({ client: secrets, id: settings.SLACK_SECRET, clock, log }),
    options,
    dashboardUrl: settings.DASHBOARD_URL === undefined ? null : new URL(settings.DASHBOARD_URL).origin,
    isLocal: settings.SECRETS_ENDPOINT !== undefined,
    clock,
    log,
  }
}

const pointers = (ranking: string | undefined, difficulty: string | undefined) => ({
  ...(ranking !== undefined && { ranking }),
  ...(difficulty !== undefined && { 'keyword-difficulty': difficulty }),
})
