import type { GuardSettings } from '../../../shared/guard/settings.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { createSecret, createSecretsClient } from '../../../shared/platform/secrets.ts'
import { CannotContinue, hintFor, reasonOf } from '../failures.ts'

type SecretsAccess = Pick<GuardSettings, 'SECRETS_ENDPOINT' | 'SECRETS_ACCESS_KEY'>

/**
 * The value of a secret, for a command: from the local endpoint or, without one, from AWS.
 *
 * @throws CannotContinue saying where it was looked for, and what to do.
 */
export async function readSecret(id: string, from: SecretsAccess): Promise<string> {
  const endpoint = from.SECRETS_ENDPOINT
  const client = createSecretsClient(endpoint, from.SECRETS_ACCESS_KEY)
  // What goes wrong is thrown, and told once.
  const log = createLog({ write: () => {}, now: systemClock.now })
  try {
    return (await createSecret({ client, id, clock: systemClock, log }).read()).current
  } catch (error) {
    const where = endpoint === undefined ? 'AWS Secrets Manager' : `the local secrets endpoint ${endpoint}`
    const reason = reasonOf(error)
    throw new CannotContinue(
      `The secret ${id} could not be read from ${where}: ${reason}${hintFor(reason) || hintForAws(reason)}`,
      {
        cause: error,
      },
    )
  }
}

const hintForAws = (reason: string): string =>
  reason === 'Region is missing' ? '. Start Unit Guard first (npm start), or set AWS_REGION.' : '.'
