import type { Issuers, IssuersParts } from '../auth/issuers.ts'
import type { Issuer } from '../auth/issuers-file.ts'
import { issuerKeys } from '../auth/stored-keys.ts'
import { createGuard, type Guard } from '../guard/guard.ts'
import { unitPricesOf } from '../guard/money.ts'
import { type GuardOptions, type GuardSettings, toCooldown } from '../guard/options.ts'
import type { Machine } from '../guard/troubles/parts.ts'
import { createTroubles, type Troubles } from '../guard/troubles/troubles.ts'
import { openLedger } from '../ledger/open-ledger.ts'
import type { Store } from '../ledger/store/store.ts'
import { type Clock, hourMs, systemClock } from '../platform/clock.ts'
import { type EdgeCheck, edgeOf } from '../platform/edge.ts'
import { systemIds } from '../platform/ids.ts'
import { createLog, type Log } from '../platform/log.ts'
import { once } from '../platform/parallel.ts'
import { createSecret, createSecretsClient, type Secret } from '../platform/secrets.ts'
import type { AnswerRules } from '../tracking/conditions.ts'
import { eachKind, type Kind, type Kinds, productKinds } from '../tracking/kinds.ts'
import { createTracking, type Tracking } from '../tracking/tracking.ts'

export interface Services {
  readonly guard: Guard
  readonly troubles: Troubles
  readonly tracking: Pick<Tracking, 'open' | 'projects'>
  /** @throws WrongFile */
  readonly issuers: () => Promise<readonly Issuer[]>
  /** `null`: no issuer is trusted. @throws WrongFile */
  readonly identity: () => Promise<Issuers | null>
  readonly acceptsMinted: boolean
  /** Where people log in. */
  readonly login: LoginClient | null
  /** `null`: there is no edge. */
  readonly edge: EdgeCheck | null
  readonly callerKey: Secret
  readonly slackSecret: Secret
  /** The file of targets for events. */
  readonly eventSettings: Pick<GuardSettings, 'EVENT_TARGETS'>
  readonly secretNamed: (id: string) => Secret
  /** `undefined`: Slack's own Web API. */
  readonly slackApi: { readonly channel: string | null; readonly url?: string | undefined }
  readonly options: GuardOptions
  readonly kinds: Kinds
  /** Without a slash at its end. */
  readonly dashboardUrl: string | null
  /** Whether the endpoints are on this machine. Then Slack may be a stand-in. */
  readonly isLocal: boolean
  readonly metricNamespace: string
  readonly clock: Clock
  readonly log: Log
}

export interface LoginClient {
  /** The name of the issuer. */
  readonly issuer: string
  readonly clientId: string
  /** Empty: the client is public. */
  readonly secret: Secret
  /** The time limit of one request to the issuer. */
  readonly withinMs: number
}

const loginWithinMs = 5_000

/** What a process brings itself. */
interface OwnParts {
  store?: Store
  clock?: Clock
  log?: Log
  kinds?: Kinds
  /** Whether the ledger may be created. On AWS only an operator creates it. */
  begins?: boolean
  isStopping?: () => boolean
  machine?: Machine | undefined
  /** False: only commands start plans. */
  firesPlans?: boolean
  secretsWithinMs?: number
  issuersWithinMs?: number
}

/** All parts connect at the first request. */
export function createServices(settings: GuardSettings, own: OwnParts = {}): Services {
  const { kinds = productKinds } = own
  const unitPrices = unitPricesOf(settings)
  const clock = own.clock ?? systemClock
  const log = own.log ?? createLog({ write: (line) => process.stdout.write(`${line}\n`), now: clock.now })
  const withinMs = own.secretsWithinMs
  const client = createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY, withinMs)
  const secrets = { client, clock, log, ...(withinMs !== undefined && { withinMs }) }
  const token = createSecret({ ...secrets, id: settings.SERVICE_TOKEN_SECRET })
  const callerKey = createSecret({ ...secrets, id: settings.CALLER_KEY_SECRET, keepsPrevious: true })
  const acceptsMinted = settings.MINTED_TOKENS === 'on'
  const serviceToken = async () => (await token.read()).current
  const ledger = openLedger(settings, { ...own, clock })
  const identity = identityOf(settings, { keys: ledger.item(issuerKeys), clock, log, withinMs: own.issuersWithinMs })
  const plans = once(async () =>
    settings.PLANS ? (await import('../guard/plans-file.ts')).readPlans(settings.PLANS, kinds) : [],
  )
  const options = optionsOf(settings, kinds, own.isStopping)
  const { troubles, tracking } = createTroubles({
    ledger,
    clock,
    log,
    plans,
    machine: own.machine,
    firesPlans: own.firesPlans ?? true,
    deployedOptions: settings.DEPLOYED_OPTIONS,
    tracking: trackingOf(settings, { token, log, kinds }),
    secrets: [token, callerKey],
  })
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
      unitPrices,
      mapToken: async (kept) => (await identity.identity())?.map(kept) ?? null,
      checkTroubles: troubles.check,
      narrowedKinds: async () => [(await import('../reports/narrowed-summaries.ts')).narrowedSummaries],
    }),
    troubles,
    tracking,
    ...identity,
    acceptsMinted,
    login: loginOf(settings, secrets, own.issuersWithinMs),
    edge: edgeOf(settings, secrets),
    callerKey,
    slackSecret: createSecret({ ...secrets, id: settings.SLACK_SECRET }),
    eventSettings: { EVENT_TARGETS: settings.EVENT_TARGETS },
    secretNamed: (id) => createSecret({ ...secrets, id }),
    slackApi: { channel: settings.SLACK_CHANNEL ?? null, url: settings.SLACK_API_URL },
    options,
    kinds,
    dashboardUrl: settings.DASHBOARD_URL === undefined ? null : new URL(settings.DASHBOARD_URL).origin,
    isLocal: settings.SECRETS_ENDPOINT !== undefined,
    metricNamespace: settings.METRIC_NAMESPACE,
    clock,
    log,
  }
}

const optionsOf = (settings: GuardSettings, kinds: Kinds, isStopping?: () => boolean): GuardOptions => ({
  serviceTimeoutMs: settings.SERVICE_TIMEOUT_MS,
  serviceFlightMs: settings.SERVICE_FLIGHT_MS,
  deliveryMs: settings.DELIVERY_HOURS * hourMs,
  cooldown: eachKind(kinds, (kind) => settings[kind.settings.cooldown] ?? toCooldown(kind.cooldown)),
  ...(settings.ZERO_PRICE === 'free' && { isZeroFree: true }),
  ...(settings.PROJECT_SEPARATOR !== undefined && { separator: settings.PROJECT_SEPARATOR }),
  ...(isStopping && { isStopping }),
})

function trackingOf(
  settings: GuardSettings,
  { token, log, kinds }: { token: Secret; log: Log; kinds: Kinds },
): Tracking {
  return createTracking({
    baseUrl: settings.TRACKING_BASE_URL,
    token: {
      read: async () => (await token.read()).current,
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
    rules: answerRulesOf(settings, kinds),
    kinds,
  })
}

/** The conditions for all kinds, and those of each kind. */
export const answerRulesOf = (settings: GuardSettings, kinds: Kinds): Readonly<Record<Kind, AnswerRules>> =>
  eachKind(kinds, ({ settings: { refused, started, well } }) => ({
    refused: [settings.RUN_REFUSED, settings[refused]].flatMap((conditions) => conditions ?? []),
    started: [settings.RUN_STARTED, settings[started]].flatMap((conditions) => conditions ?? []),
    well: [settings.ANSWERS_WELL, settings[well]].flatMap((conditions) => conditions ?? []),
  }))

function loginOf(
  { LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: clientId, LOGIN_CLIENT_SECRET: id }: GuardSettings,
  secrets: Omit<Parameters<typeof createSecret>[0], 'id'>,
  withinMs = loginWithinMs,
): LoginClient | null {
  if (issuer === undefined || clientId === undefined) return null
  return { issuer, clientId, secret: createSecret({ ...secrets, id, isOptional: true }), withinMs }
}

/** Issuers load at the first token that names an issuer, and at the first login. */
function identityOf(
  settings: GuardSettings,
  parts: Omit<IssuersParts, 'issuers' | 'login'>,
): Pick<Services, 'issuers' | 'identity'> {
  const { LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: clientId } = settings
  const issuers = once(async () => (await import('../auth/issuers-file.ts')).readTrustedIssuers(settings))
  const login = issuer === undefined || clientId === undefined ? undefined : { issuer, clientId }
  const identity = once(async () => {
    const { createIssuers } = await import('../auth/issuers.ts')
    return createIssuers({ ...parts, issuers: await issuers(), login })
  })
  return settings.TRUSTED_ISSUERS === undefined && issuer === undefined
    ? { issuers: async () => [], identity: async () => null }
    : { issuers, identity }
}
