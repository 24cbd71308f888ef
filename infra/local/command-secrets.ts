import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { systemClock } from '../../shared/platform/clock.ts'
import { createLog } from '../../shared/platform/log.ts'
import { createSecret, type Secret } from '../../shared/platform/secrets.ts'
import { CannotGoOn, reasonOf } from './failures.ts'

/** A secret for a command, from the local endpoint or, without one, from AWS. */
export function secretNamed(id: string, endpoint: string | undefined): Secret {
  const local = { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }
  const client = new SecretsManagerClient({ maxAttempts: 2, ...(endpoint !== undefined && local) })
  // What goes wrong is thrown, and told once.
  const log = createLog({ write: () => {}, now: systemClock.now })
  return createSecret({ client, id, clock: systemClock, log })
}

/** @throws CannotGoOn saying where it was looked for, and what to do. */
export async function readSecret(id: string, endpoint: string | undefined): Promise<string> {
  try {
    return (await secretNamed(id, endpoint).read()).current
  } catch (error) {
    const where = endpoint === undefined ? 'AWS Secrets Manager' : `the local secrets endpoint ${endpoint}`
    const hint = endpoint === undefined ? '' : ' Is `npm start` running? After a restart, `source` its env file again.'
    throw new CannotGoOn(`The secret ${id} could not be read from ${where}: ${reasonOf(error)}.${hint}`, {
      cause: error,
    })
  }
}
