import './quiet-sdk.ts'
import { createApi } from '../../functions/api/app.ts'
import { createServices } from '../../shared/guard/services.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { environment, WrongSettings } from '../../shared/platform/settings.ts'
import { createBackground } from './background.ts'
import { readCallerKey } from './caller-key.ts'
import { signAdminToken } from './caller-token.ts'
import { demonstrate } from './demonstration.ts'
import { createDoor, type Door } from './door.ts'
import { withoutFound, writeEnvFile } from './env-file.ts'
import { CannotGoOn } from './failures.ts'
import { createGuardLog } from './guard-log.ts'
import { type LocalLedger, openLedger } from './local-ledger.ts'
import { openSandbox } from './local-sandbox.ts'
import { sandboxToken } from './sandbox-token.ts'
import { createSecretsEndpoint } from './secrets-endpoint.ts'
import { completeSettings, type LocalSettings, readSettings, sandboxUrl } from './settings.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'
import { tellParts, tellWhatToTry } from './telling.ts'

/** `npm start`: the whole of Unit Guard on one machine, until it is stopped. */
async function start(local: LocalSettings, shutdown: Shutdown): Promise<void> {
  const api = await createDoor({ port: local.port, setting: 'PORT' })
  const sandboxDoor =
    local.sandboxPort === null ? null : await createDoor({ port: local.sandboxPort, setting: 'SANDBOX_PORT' })
  const { log, file, close } = await createGuardLog(local.directory)
  shutdown.onStop(close)
  const ledger = await openLedger({ ...local, endpoint: local.dynamoDb, shutdown })
  const sandbox = sandboxDoor && (await startSandbox(local, { door: sandboxDoor, ledger, shutdown }))
  const secrets = await createDoor({ port: 0 })
  shutdown.onStop(secrets.close)

  const found = {
    SECRETS_ENDPOINT: secrets.url,
    ...(sandbox !== null && { TRACKING_BASE_URL: sandbox }),
    ...(ledger.kind === 'dynamodb' && !local.dynamoDb && { DYNAMODB_ENDPOINT: ledger.endpoint }),
  }
  const { settings, text } = completeSettings(local, found)
  const callerKey = await readCallerKey(local.keptIn)
  secrets.open(
    createSecretsEndpoint({
      [settings.CALLER_KEY_SECRET]: callerKey,
      ...(local.serviceToken !== null && { [settings.SERVICE_TOKEN_SECRET]: { current: local.serviceToken } }),
    }),
  )

  const background = createBackground(log)
  const inMemory = ledger.kind === 'memory' && { store: ledger.store }
  const services = createServices(settings, { log, begin: background.begin, ...inMemory })
  shutdown.onStop(background.stop)
  api.open(createApi(services))
  shutdown.onStop(api.close)
  background.run(services)

  const token = await signAdminToken(callerKey.current, systemClock.now())
  const own = {
    UNIT_GUARD_URL: api.url,
    UNIT_GUARD_TOKEN: token,
    UNIT_GUARD_PID: String(process.pid),
    ...(sandbox !== null && { SANDBOX_URL: sandbox }),
    // The sandbox's own token is no secret; one that was given may be.
    ...(sandbox !== null && local.serviceToken === sandboxToken && { SANDBOX_TOKEN: sandboxToken }),
    ...(ledger.kind === 'memory' && { LEDGER: 'memory' }),
  }
  const env = await writeEnvFile(local.directory, { ...own, ...text }, found)

  const service = sandbox === null ? settings.TRACKING_BASE_URL : `${sandbox} (the sandbox)`
  tellParts({ service, ledger: ledger.where, secrets: secrets.url, log: file })
  if (local.serviceToken === null) {
    console.log('There is no token for the service: every update answers 503 until TRACKING_TOKEN is set.\n')
  }
  if (local.demonstrates) await demonstrate({ url: api.url, token })
  tellWhatToTry(env, { hasSandbox: sandbox !== null })
  console.log(`ready ${api.url}`)
}

/** Its state is on the ledger's database, so it stops before that and after everything that asks it. */
async function startSandbox(
  local: LocalSettings,
  { door, ledger, shutdown }: { door: Door; ledger: LocalLedger; shutdown: Shutdown },
): Promise<string> {
  const endpoint = ledger.kind === 'dynamodb' ? ledger.endpoint : null
  door.open(await openSandbox(local, endpoint, local.serviceToken ?? sandboxToken))
  shutdown.onStop(door.close)
  return sandboxUrl(door.port)
}

// A terminal that is gone must not take updates under way with it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const shutdown = createShutdown()
shutdown.onSignal(() => console.log('\nstopping …'))
try {
  await start(readSettings(withoutFound(environment())), shutdown)
} catch (error) {
  const isPlain = error instanceof WrongSettings || error instanceof CannotGoOn
  console.error('unit-guard:', isPlain ? error.message : error)
  await shutdown.stop()
  process.exit(1)
}
