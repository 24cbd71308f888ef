import { settingsHere } from './commands/command.ts'
import type { Run } from './commands/table.ts'
import { openSandboxAlone } from './database/open.ts'
import { createListener } from './listener.ts'
import { readSettings, sandboxToken, sandboxUrl } from './settings.ts'
import { type Shutdown, untilStopped } from './shutdown.ts'

export const run: Run<'sandbox'> = () => untilStopped(startSandbox)

async function startSandbox(shutdown: Shutdown): Promise<void> {
  // The sandbox is itself the service, so TRACKING_BASE_URL is ignored.
  const local = settingsHere((env) => readSettings({ ...env, TRACKING_BASE_URL: undefined }))
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
  console.log(`  export SANDBOX_TOKEN=${token === sandboxToken ? token : '…     # the TRACKING_TOKEN of this start'}`)
  console.log('  curl -sH "Authorization: Bearer $SANDBOX_TOKEN" "$SANDBOX_URL/projects"\n')
  console.log(`ready ${listener.url}`)
}
