import { environment } from '../../shared/platform/settings.ts'
import { runUntilStopped } from './commands/command.ts'
import { withoutFound } from './data-directory.ts'
import { mustBeHere, openSandboxAlone } from './database/open.ts'
import { createListener } from './listener.ts'
import { readSettings, sandboxToken, sandboxUrl } from './settings.ts'

const usage = `Starts the stand-in of the tracking service alone, until it is stopped with Ctrl-C.

  npm run sandbox

It takes nothing but settings, from the environment: SANDBOX_PORT=9001 npm run sandbox. docs/settings.md lists them.`

await runUntilStopped('sandbox', usage, async (shutdown) => {
  // It is the service, whatever TRACKING_BASE_URL names.
  const env = withoutFound(environment())
  mustBeHere(env)
  const local = readSettings({ ...env, TRACKING_BASE_URL: undefined })
  const listener = await createListener({ port: local.sandboxPort ?? 0, setting: 'SANDBOX_PORT' })
  const token = local.serviceToken ?? sandboxToken
  const { app, where } = await openSandboxAlone(local, token, shutdown)
  listener.open(app)
  shutdown.onStop(listener.close)

  console.log('The sandbox, a stand-in for the tracking service')
  console.log(`  state    ${where}`)
  console.log('\nTry next, in another terminal:')
  console.log(`  export SANDBOX_URL=${sandboxUrl(listener.port)}`)
  // Any other token may be a secret.
  if (token === sandboxToken) console.log(`  export TRACKING_TOKEN=${token}`)
  console.log('  curl -sH "Authorization: Bearer $TRACKING_TOKEN" "$SANDBOX_URL/projects"\n')
  console.log(`ready ${listener.url}`)
})
