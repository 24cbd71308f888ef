import { createApi } from '../../functions/api/app.ts'
import { createSandbox } from '../../functions/sandbox/app.ts'
import { createServices } from '../../shared/guard/services.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { environment, WrongSettings } from '../../shared/platform/settings.ts'
import { createBackground } from './background.ts'
import { readCallerKey } from './caller-key.ts'
import { signCallerToken } from './caller-token.ts'
import { demonstrate } from './demonstration.ts'
import { createDoor } from './door.ts'
import { writeEnvFile } from './env-file.ts'
import { CannotGoOn } from './failures.ts'
import { createGuardLog } from './guard-log.ts'
import { openLedger } from './local-ledger.ts'
import { createSecretsEndpoint } from './secrets-endpoint.ts'
import { completeSettings, type LocalSettings, readSettings, sandboxUrl } from './settings.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'
import { tellParts, tellWhatNext } from './telling.ts'

/** `npm start`: the whole of Unit Guard on one machine, until it is stopped. */

const adminToken = { sub: 'local-admin', budgets: '*', lastsMs: 30 * 24 * 3600_000 } as const

async function start(local: LocalSettings, shutdown: Shutdown): Promise<void> {
  const api = await createDoor({ port: local.port, setting: 'PORT' })
  const service = await startSandbox(local, shutdown)
  const { log, file, close } = await createGuardLog(local.directory)
  shutdown.onStop(close)

  const { TABLE_NAME: table = '', DYNAMODB_ENDPOINT: endpoint } = local.guard
  const ledger = await openLedger({ endpoint, table, keptIn: local.keptIn, shutdown })
  const callerKey = await readCallerKey(local.keptIn)
  const secrets = await startSecrets(local, callerKey.current, shutdown)

  const { settings, text } = completeSettings(local, {
    SECRETS_ENDPOINT: secrets,
    ...(service !== null && { TRACKING_BASE_URL: service }),
    ...(ledger.kind === 'dynamodb' && { DYNAMODB_ENDPOINT: ledger.endpoint }),
  })
}
