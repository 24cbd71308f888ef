import { createApi } from '../../functions/api/app.ts'
import { createDashboard } from '../../functions/dashboard/app.ts'
import { createMcp } from '../../functions/mcp/app.ts'
import { createSlackApp } from '../../functions/slack/app.ts'
import type { GuardSettings } from '../../shared/guard/options.ts'
import type { Plan } from '../../shared/guard/plans-file.ts'
import type { View } from '../../shared/ledger/book/view.ts'
import { ifUnavailable } from '../../shared/ledger/errors.ts'
import { WrongLedger } from '../../shared/ledger/identity.ts'
import type { Ledger } from '../../shared/ledger/ledger.ts'
import type { Log } from '../../shared/platform/log.ts'
import { createSecret, createSecretsClient } from '../../shared/platform/secrets.ts'
import { type Marker, toMarkerText } from '../../shared/platform/settings.ts'
import { createServices, type Services } from '../../shared/services/services.ts'
import { createSlackClientOf } from '../../shared/slack/tell/client.ts'
import { localReference } from '../openapi/local-reference.ts'
import { startBackground } from './background.ts'
import { createMachine } from './database/machine-facts.ts'
import { fileMarker } from './database/marker-store.ts'
import type { LocalLedger } from './database/open.ts'
import type { StoredKey } from './given-secrets.ts'
import { createListener, createRouter, type Listener } from './listener.ts'
import { withMetrics } from './metrics.ts'
import { createSecretsEndpoint, newAccessKey, readKeys } from './secrets.ts'
import { completeSettings, type Environment, type LocalSettings, ledgerFile } from './settings.ts'
import type { Shutdown } from './shutdown.ts'

interface Parts {
  readonly shutdown: Shutdown
  readonly main: Listener
  readonly ledger: LocalLedger
  readonly log: Log
  /** The plans that fire by their schedule. `null`: only `npm run plan` fires plans. */
  readonly fires: readonly Plan[] | null
  /** Whether an empty file becomes a ledger. */
  readonly begins: boolean
  /** Settings of the stand-ins. */
  readonly own?: Environment
}

/** All parts of Unit Guard on one machine, for `npm start` and `npm run serve`. */
export async function startServer(local: LocalSettings, parts: Parts) {
  const { shutdown, main, ledger, log, fires, begins, own } = parts
  const secrets = await createListener({ port: 0 })
  shutdown.onStop(secrets.close)
  const secretsKey = newAccessKey()

  const marker = local.keptIn === null ? null : fileMarker(local.keptIn)
  const known = await marker?.read()
  const found = {
    ...(known && { LEDGER_MARKER: toMarkerText(known) }),
    SECRETS_ENDPOINT: secrets.url,
    SECRETS_ACCESS_KEY: secretsKey,
    ...own,
    ...(local.guard.DASHBOARD_URL === undefined && { DASHBOARD_URL: local.publicUrl ?? main.url }),
  }
  const { settings, text } = completeSettings(local, found)
  const kept = await readKeys(local.callerKey ? null : local.keptIn)
  const keys = { callerKey: local.callerKey ?? kept.callerKey, quoteKey: local.quoteKey ?? kept.quoteKey }
  secrets.open(createSecretsEndpoint(secretsOf(local, settings, keys), secretsKey))

  const { isStopping } = shutdown
  const services = createServices(settings, {
    log,
    store: ledger.store,
    begins,
    isStopping,
    firesPlans: fires !== null,
    machine: createMachine(ledger.file, local.keptIn),
  })
  const first = await firstView(services.guard.ledger)
  const written = first && markerOf(first)
  if (written) await marker?.write(written)
  const background = await startBackground(services, { ...ledger, plans: fires })
  shutdown.onStop(background.stop)
  main.open(createRouter(appsOf(services, settings, { ...local, url: main.url })))
  shutdown.onStop(main.close)
  const { callerKey } = keys
  return { services, settings, first, callerKey: callerKey.current, secretsUrl: secrets.url, text, found }
}

/** `null` if the ledger does not answer now. The start continues, and requests are answered 503. */
async function firstView(ledger: Ledger): Promise<View | null> {
  try {
    return await ledger.view()
  } catch (error) {
    if (error instanceof WrongLedger) throw error
    return ifUnavailable(null)(error)
  }
}

/** `null` for a ledger in memory and a demonstration month, which record no file. */
function markerOf({ definitions: { identity } }: View): Marker | null {
  if (!identity?.table) return null
  return { ledger: identity.ledger, epoch: identity.epoch ?? 0, table: identity.table, tableName: ledgerFile }
}

function appsOf(services: Services, settings: GuardSettings, local: LocalSettings & { url: string }) {
  const { url, quoteKeySecret: id, publicUrl } = local
  const { guard, slackSecret, edge, clock, log } = services
  const client = createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY)
  const quoteKey = createSecret({ client, id, keepsPrevious: true, clock, log })
  return {
    api: withMetrics(createApi(services, localReference)),
    dashboard: createDashboard(services, localReference),
    slack: createSlackApp({
      ledger: guard.ledger,
      secret: slackSecret,
      edge,
      clock,
      log,
      client: createSlackClientOf(services),
    }),
    mcp: createMcp(services, { quoteKey, publicUrl: publicUrl ?? url }),
  }
}

const secretsOf = (
  local: LocalSettings,
  names: GuardSettings,
  keys: { callerKey: StoredKey; quoteKey: StoredKey },
) => ({
  [names.CALLER_KEY_SECRET]: keys.callerKey,
  [local.quoteKeySecret]: keys.quoteKey,
  ...(local.serviceToken !== null && { [names.SERVICE_TOKEN_SECRET]: { current: local.serviceToken } }),
  [names.SLACK_SECRET]: { current: JSON.stringify(local.slack) },
  ...local.events.secrets,
  ...(local.loginClient !== null && { [names.LOGIN_CLIENT_SECRET]: { current: local.loginClient } }),
})
