import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { type Clock, minuteMs } from './clock.ts'
import type { Log } from './log.ts'
import { standIn } from './settings.ts'

export class SecretUnavailable extends Error {
  override readonly name = 'SecretUnavailable'
  constructor(
    readonly secret: string,
    cause: unknown,
  ) {
    super(`the secret ${secret} could not be read`, { cause })
  }
}

export interface SecretValue {
  readonly current: string
  readonly previous: string | null
}

export interface Secret {
  /** At most five minutes old, unless Secrets Manager does not answer. */
  read(): Promise<SecretValue>
  /** Asks Secrets Manager at most every ten seconds. */
  reread(): Promise<SecretValue>
}

const cachedForMs = 5 * minuteMs
const rereadAfterMs = 10_000
const defaultWithinMs = 3_000

/**
 * Sends one request at a time.
 * @param options.isOptional true: a missing secret counts as an empty one.
 * @throws SecretUnavailable if the secret is missing, empty, or would break a header.
 */
export function createSecret(options: {
  client: SecretsManagerClient
  id: string
  keepsPrevious?: boolean
  isOptional?: boolean
  withinMs?: number
  clock: Clock
  log: Log
}): Secret {
  const { client, id, clock, log, isOptional = false, withinMs = defaultWithinMs } = options
  let cached: { value: SecretValue; at: number } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let pending: Promise<SecretValue> | undefined

  const isYoungerThan = (at: number, ms: number) => clock.now() - at < ms
  const triedLately = () => isYoungerThan(triedAt, rereadAfterMs)

  async function stage(name: 'AWSCURRENT' | 'AWSPREVIOUS'): Promise<string> {
    const answer = await client
      .send(new GetSecretValueCommand({ SecretId: id, VersionStage: name }), {
        requestTimeout: withinMs,
        abortSignal: AbortSignal.timeout(withinMs),
      })
      .catch((cause) => {
        if (isOptional && cause.name === 'ResourceNotFoundException') return { SecretString: undefined }
        throw cause
      })
    const value = answer.SecretString ?? ''
    if (isOptional && value === '') return value
    if (!/^[\x21-\x7e]+$/.test(value)) throw new Error(`the ${name} value is empty or not visible ASCII`)
    log.hide(value)
    return value
  }

  async function fetch(): Promise<SecretValue> {
    triedAt = clock.now()
    const current = await stage('AWSCURRENT')
    const previous = options.keepsPrevious ? await stage('AWSPREVIOUS').catch((cause) => without(current, cause)) : null
    cached = { value: { current, previous }, at: clock.now() }
    return cached.value
  }

  /** If the secret was never rotated, there is no previous value. After other faults the known previous value stays. */
  function without(current: string, cause: Error): string | null {
    if (cause.name === 'ResourceNotFoundException' || !cached) return null
    return cached.value.current === current ? cached.value.previous : cached.value.current
  }

  function refresh(): Promise<SecretValue> {
    pending ??= fetch()
      .catch((cause) => {
        log.error('secret-unavailable', { secret: id, cause })
        if (cached) return cached.value
        throw new SecretUnavailable(id, cause)
      })
      .finally(() => {
        pending = undefined
      })
    return pending
  }

  return {
    read: async () => (cached && (isYoungerThan(cached.at, cachedForMs) || triedLately()) ? cached.value : refresh()),
    // Waits for a pending read, because the cached value may be the refused one.
    reread: async () => (cached && !pending && triedLately() ? cached.value : refresh()),
  }
}

export function createSecretsClient(
  endpoint: string | undefined,
  accessKey?: string,
  withinMs = defaultWithinMs,
): SecretsManagerClient {
  // Longer than a second, because the system repeats a lost SYN only after a second, and a busy machine later.
  const timeouts = { connectionTimeout: withinMs, requestTimeout: withinMs, throwOnRequestTimeout: true }
  return new SecretsManagerClient({
    maxAttempts: 2,
    requestHandler: timeouts,
    ...standIn(endpoint, accessKey),
  })
}
