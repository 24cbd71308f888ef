import { createDynamoClient, createDynamoStore } from '../../shared/ledger/store/dynamo-store.ts'
import { systemClock } from '../../shared/platform/clock.ts'
import { streamAnswers } from '../../shared/platform/http.ts'
import { systemIds } from '../../shared/platform/ids.ts'
import { createLog } from '../../shared/platform/log.ts'
import { createSecret, createSecretsClient } from '../../shared/platform/secrets.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createSandbox } from './app.ts'
import { demonstrationProjects } from './demonstration.ts'
import { sandboxSettings } from './settings.ts'
import { createState } from './state.ts'

const settings = parseSettings(sandboxSettings, environment())
const log = createLog({ write: (line) => process.stdout.write(`${line}\n`), now: systemClock.now })

const secret = createSecret({
  client: createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY),
  id: settings.SERVICE_TOKEN_SECRET,
  keepsPrevious: true,
  clock: systemClock,
  log,
})

const store = createDynamoStore({
  client: createDynamoClient(settings.DYNAMODB_ENDPOINT, settings.DYNAMODB_ACCESS_KEY),
  table: settings.SANDBOX_TABLE,
  clock: systemClock,
  ids: systemIds,
})

/** Streams answers, because an export may be long. */
export const handler = streamAnswers(
  'sandbox',
  createSandbox({
    clock: systemClock,
    token: async () => Object.values(await secret.read()).filter((value) => value !== null),
    state: createState(demonstrationProjects(systemClock.now(), settings.SANDBOX_HABITS), store),
    unitsPerMonth: settings.SANDBOX_UNITS_PER_MONTH,
    habits: settings.SANDBOX_HABITS,
    log,
  }),
  log,
)
