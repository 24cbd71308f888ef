import './quiet-sdk.ts'
import { createApi } from '../../functions/api/app.ts'
import { createSlackApp } from '../../functions/slack/app.ts'
import { WrongPlans } from '../../shared/guard/plan.ts'
import { readPlans } from '../../shared/guard/plans-file.ts'
import { createServices } from '../../shared/guard/services.ts'
import { rootBudget } from '../../shared/ledger/definitions.ts'
import { sandboxService, WrongLedger } from '../../shared/ledger/identity.ts'
import type { Ledger } from '../../shared/ledger/ledger.ts'
import { LedgerUnavailable } from '../../shared/ledger/store.ts'
import type { View } from '../../shared/ledger/views.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { type Marker, toMarkerText } from '../../shared/platform/marker.ts'
import { environment, type GuardSettings, WrongSettings } from '../../shared/platform/settings.ts'
import { newAccessKey } from './access-key.ts'
import { startBackground } from './background.ts'
import { readCallerKey } from './caller-key.ts'
import { signAdminToken } from './caller-token.ts'
import { takeNothing } from './command.ts'
import { demonstrate, demonstration } from './demonstration.ts'
import { createDoor, type Door } from './door.ts'
import { mustNotBeginAgain } from './earlier-ledger.ts'
import { withoutFound, writeEnvFile } from './env-file.ts'
import { CannotGoOn } from './failures.ts'
import { createFront } from './front.ts'
import { createGuardLog } from './guard-log.ts'
import { type LocalLedger, openLedger } from './local-ledger.ts'
import { openSandbox } from './local-sandbox.ts'
import { fileMarker } from './marker-store.ts'
import { localReference } from './reference.ts'
import { sandboxToken } from './sandbox-token.ts'
import { createSecretsEndpoint, type StoredSecret } from './secrets-endpoint.ts'
import { completeSettings, type LocalSettings, localSigningSecret, readSettings, sandboxUrl } from './settings.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'
import { describePlans, describeSlack, tellParts, tellWhatToTry } from './telling.ts'

const usage = `Starts Unit Guard on this machine, with a stand-in of the service, until it is stopped with Ctrl-C.

  npm start

It takes nothing but settings, from the environment: PORT=9000 npm start. README.md lists them.`

/** `npm start`: the whole of Unit Guard on one machine, until it is stopped. */
async function start(local: LocalSettings, shutdown: Shutdown): Promise<void> {
  const plans = readPlans(local.ownPlans ?? local.guard.PLANS)
  const front = await createDoor({ port: local.port, setting: 'PORT' })
  const sandboxDoor =
    local.sandboxPort === null ? null : await createDoor({ port: local.sandboxPort, setting: 'SANDBOX_PORT' })
  const { log, file, close } = await createGuardLog(local.directory)
  shutdown.onStop(close)
  const ledger = await openLedger({ ...local, endpoint: local.dynamoDb, accessKey: local.dynamoDbKey, shutdown })
  const sandbox = sandboxDoor && (await startSandbox(local, { door: sandboxDoor, ledger, shutdown }))
  const secrets = await createDoor({ port: 0 })
  shutdown.onStop(secrets.close)
  const secretsKey = newAccessKey()

  const marker = local.keptIn === null ? null : fileMarker(local.keptIn)
  const known = (ledger.kind === 'dynamodb' && (await marker?.read())) || null
  const found = {
    ...(known && { LEDGER_MARKER: toMarkerText(known) }),
    SECRETS_ENDPOINT: secrets.url,
    SECRETS_ACCESS_KEY: secretsKey,
    ...(sandbox !== null && { TRACKING_BASE_URL: sandbox, LEDGER_SERVICE: sandboxService }),
    ...(ledger.kind === 'dynamodb' &&
      !local.dynamoDb && { DYNAMODB_ENDPOINT: ledger.endpoint, DYNAMODB_ACCESS_KEY: ledger.accessKey }),
    ...(local.ownPlans !== null && { PLANS: local.ownPlans }),
    ...(local.guard.DASHBOARD_URL === undefined && { DASHBOARD_URL: front.url }),
  }
  const { settings, text } = completeSettings(local, found)
  const callerKey = await readCallerKey(local.keptIn)
  secrets.open(createSecretsEndpoint(secretsOf(local, settings, callerKey), secretsKey))

  const services = createServices(settings, { log, ...(ledger.kind === 'memory' && { store: ledger.store }) })
  const first = await firstView(services.guard.ledger)
  const written = first && markerOf(first, local.table)
  if (written) await marker?.write(written)
  // Somebody's own service is left alone: nothing is spent there that was not asked for.
  const background = await startBackground(services, { follow: ledger.follow, plans: sandbox === null ? null : plans })
  shutdown.onStop(background.stop)
  const { guard, slackSecret, clock } = services
  const slack = createSlackApp({ ledger: guard.ledger, secret: slackSecret, clock, log })
  front.open(createFront({ api: createApi(services, localReference), slack }))
  shutdown.onStop(front.close)

  const token = await signAdminToken(callerKey.current, systemClock.now())
  const own = {
    DATA_DIR: local.directory,
    UNIT_GUARD_URL: front.url,
    UNIT_GUARD_TOKEN: token,
    UNIT_GUARD_PID: String(process.pid),
    ...(sandbox !== null && { SANDBOX_URL: sandbox }),
    // What everybody has here is no secret; what was given may be.
    ...(sandbox !== null && local.serviceToken === sandboxToken && { SANDBOX_TOKEN: sandboxToken }),
    ...(local.slack.signingSecret === localSigningSecret && { SLACK_SIGNING_SECRET: localSigningSecret }),
    ...(ledger.kind === 'memory' && { LEDGER: 'memory' }),
  }
  const env = await writeEnvFile(local.directory, { ...own, ...text }, found)

  const service = sandbox === null ? settings.TRACKING_BASE_URL : `${sandbox} (the sandbox)`
  tellParts({
    ...{ service, ledger: ledger.where, secrets: secrets.url },
    slack: describeSlack(local.slack),
    plans: describePlans(plans, { areFired: sandbox !== null }),
    log: file,
  })
  if (local.serviceToken === null) {
    console.log('There is no token for the service: every update answers 503 until TRACKING_TOKEN is set.\n')
  }
  if (local.demonstrates) await demonstrate({ url: front.url, token })
  const isKept = ledger.kind === 'dynamodb'
  const hasLittle = isKept && sandbox !== null && first !== null && hasNoBudgetOfItsOwn(first)
  tellWhatToTry(env, { url: front.url, hasSandbox: sandbox !== null, hasLittle, plans: isKept ? plans : [] })
  console.log(`ready ${front.url}`)
}

/** `null`: the ledger does not answer right now, which ends no start: until it does, requests are answered 503. */
async function firstView(ledger: Ledger): Promise<View | null> {
  try {
    return await ledger.view()
  } catch (error) {
    if (error instanceof LedgerUnavailable && !(error instanceof WrongLedger)) return null
    throw error
  }
}

/** `null`: in memory, and for a month that was made up, there is no table to know. */
function markerOf({ definitions: { identity } }: View, tableName: string): Marker | null {
  if (!identity?.table) return null
  return { ledger: identity.ledger, epoch: identity.epoch ?? 0, table: identity.table, tableName }
}

const hasNoBudgetOfItsOwn = ({ definitions }: View): boolean =>
  Object.keys(definitions.budgets).every((name) => [rootBudget, demonstration.budget].includes(name))

const secretsOf = (local: LocalSettings, names: GuardSettings, callerKey: StoredSecret) => ({
  [names.CALLER_KEY_SECRET]: callerKey,
  ...(local.serviceToken !== null && { [names.SERVICE_TOKEN_SECRET]: { current: local.serviceToken } }),
  [names.SLACK_SECRET]: { current: JSON.stringify(local.slack) },
})

/** Its state is on the ledger's database, so it stops before that and after everything that asks it. */
async function startSandbox(
  local: LocalSettings,
  { door, ledger, shutdown }: { door: Door; ledger: LocalLedger; shutdown: Shutdown },
): Promise<string> {
  door.open(await openSandbox(local, ledger.kind === 'dynamodb' ? ledger : null, local.serviceToken ?? sandboxToken))
  shutdown.onStop(door.close)
  return sandboxUrl(door.port)
}

takeNothing(usage)
// A terminal that is gone must not take updates under way with it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const shutdown = createShutdown()
shutdown.onSignal(() => console.log('\nstopping …'))
try {
  const env = withoutFound(environment())
  const settings = readSettings(env)
  mustNotBeginAgain(env)
  await start(settings, shutdown)
} catch (error) {
  const isPlain = [WrongSettings, WrongPlans, WrongLedger, CannotGoOn].some((plain) => error instanceof plain)
  console.error('unit-guard:', isPlain && error instanceof Error ? error.message : error)
  await shutdown.stop()
  process.exit(1)
}
