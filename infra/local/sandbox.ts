import { join } from 'node:path'
import { environment } from '../../shared/platform/settings.ts'
import { runUntilStopped } from './commands/command.ts'
import { withoutFound } from './data-directory.ts'
import { openDatabase, openSandbox } from './database/open.ts'
import { createListener } from './listener.ts'
import { readSettings, sandboxToken, sandboxUrl } from './settings.ts'

const usage = `Starts the stand-in of the tracking service alone, until it is stopped with Ctrl-C.

  npm run sandbox

It takes nothing but settings, from the environment: SANDBOX_PORT=9001 npm run sandbox. docs/settings.md lists them.`

await runUntilStopped('sandbox', usage, async (shutdown) => {
  // It is the service, whatever TRACKING_BASE_URL names.
  const local = readSettings({ ...withoutFound(environment()), TRACKING_BASE_URL: undefined })
  const listener = await createListener({ port: local.sandboxPort ?? 0, setting: 'SANDBOX_PORT' })
  // npm start may run beside it, and needs the directory of the ledger for itself.
  const keptIn = local.keptIn === null ? null : join(local.keptIn, 'sandbox')
  const database = await openDatabase({ endpoint: local.dynamoDb, accessKey: local.dynamoDbKey, keptIn, shutdown })
  const token = local.serviceToken ?? sandboxToken
  listener.open(await openSandbox(local, database, token))
  shutdown.onStop(listener.close)

  console.log('The sandbox, a stand-in for the tracking service')
  console.log(`  state    ${database?.where ?? 'IN MEMORY, nothing is kept (install Java 17 or newer to keep it)'}`)
  console.log('\nTry next, in another terminal:')
  console.log(`  export SANDBOX_URL=${sandboxUrl(listener.port)}`)
  // Any other token may be a secret.
  if (token === sandboxToken) console.log(`  export TRACKING_TOKEN=${token}`)
  console.log('  curl -sH "Authorization: Bearer $TRACKING_TOKEN" "$SANDBOX_URL/projects"\n')
  console.log(`ready ${listener.url}`)
})
