import { join } from 'node:path'
import { environment, WrongSettings } from '../../shared/platform/settings.ts'
import { takeNothing } from './commands/command.ts'
import { withoutFound } from './data-directory.ts'
import { openDatabase, openSandbox } from './database/open.ts'
import { CannotContinue } from './failures.ts'
import { createListener } from './listener.ts'
import { type LocalSettings, readSettings, sandboxToken, sandboxUrl } from './settings.ts'
import { createShutdown, type Shutdown } from './shutdown.ts'

const usage = `Starts the stand-in of the tracking service alone, until it is stopped with Ctrl-C.

  npm run sandbox

It takes nothing but settings, from the environment: SANDBOX_PORT=9001 npm run sandbox. docs/settings.md lists them.`

/** `npm run sandbox`: the stand-in for the service alone, until it is stopped. */
async function start(local: LocalSettings, shutdown: Shutdown): Promise<void> {
  const listener = await createListener({ port: local.sandboxPort ?? 0, setting: 'SANDBOX_PORT' })
  // Not in the directory of the ledger: `npm start` may run beside it, and one database is not for two.
  const keptIn = local.keptIn === null ? null : join(local.keptIn, 'sandbox')
  const database = await openDatabase({ endpoint: local.dynamoDb, accessKey: local.dynamoDbKey, keptIn, shutdown })
  const token = local.serviceToken ?? sandboxToken
  listener.open(await openSandbox(local, database, token))
  shutdown.onStop(listener.close)

  console.log('The sandbox, a stand-in for the tracking service')
  console.log(`  state    ${database?.where ?? 'IN MEMORY, nothing is kept (install Java 17 or newer to keep it)'}`)
  console.log('\nTry next, in another terminal:')
  console.log(`  export SANDBOX_URL=${sandboxUrl(listener.port)}`)
  // One that was given may be a secret.
  if (token === sandboxToken) console.log(`  export TRACKING_TOKEN=${token}`)
  console.log('  curl -sH "Authorization: Bearer $TRACKING_TOKEN" "$SANDBOX_URL/projects"\n')
  console.log(`ready ${listener.url}`)
}

takeNothing(usage)
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const shutdown = createShutdown()
shutdown.onSignal(() => console.log('\nstopping …'))
try {
  // It is the service, whatever other one the guard's settings name.
  await start(readSettings({ ...withoutFound(environment()), TRACKING_BASE_URL: undefined }), shutdown)
} catch (error) {
  const isPlain = error instanceof WrongSettings || error instanceof CannotContinue
  console.error('sandbox:', isPlain ? error.message : error)
  await shutdown.stop()
  process.exit(1)
}
