import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Hono } from 'hono'
import { SignJWT } from 'jose'
import * as z from 'zod/mini'
import { logins } from '../../shared/auth/logins.ts'
import { audience } from '../../shared/auth/tokens.ts'
import type { GuardSettings } from '../../shared/guard/options.ts'
import { dayMs, systemClock } from '../../shared/platform/clock.ts'
import { createLog } from '../../shared/platform/log.ts'
import { createSecret, createSecretsClient } from '../../shared/platform/secrets.ts'
import { type Scope, scopes } from '../../shared/platform/words.ts'
import type { Services } from '../../shared/services/services.ts'
import { makeDirectory } from './data-directory.ts'
import { CannotContinue, hintFor, reasonOf } from './failures.ts'
import { type StoredKey, storedKey } from './given-secrets.ts'

const keyBytes = 48
/** The quote key signs the quotes of agents. */
const keysSchema = z.object({ callerKey: storedKey, quoteKey: storedKey })
type Keys = z.output<typeof keysSchema>

/** To rehearse a rotation of a key, move its `current` to `previous` in the file and start again. */
export async function readKeys(directory: string | null): Promise<Keys> {
  if (directory === null) return { callerKey: newKey(), quoteKey: newKey() }
  const file = join(directory, 'secrets.json')
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text !== null) return parse(text, file)
  const keys = { callerKey: newKey(), quoteKey: newKey() }
  await makeDirectory(directory)
  await writeFile(file, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 })
  return keys
}

/** An endpoint on this machine needs an access key, because every user of the machine can connect. */
export const newAccessKey = (): string => randomBytes(20).toString('hex')

const newKey = (): StoredKey => ({ current: randomBytes(keyBytes).toString('base64url') })

function parse(text: string, file: string): Keys {
  try {
    return keysSchema.parse(JSON.parse(text))
  } catch (cause) {
    const remedy = 'delete it to get new keys (old tokens and quotes then end)'
    throw new CannotContinue(`${file} does not hold both keys; ${remedy}`, { cause })
  }
}

export function signCallerToken(claims: {
  key: string
  sub: string
  scopes: readonly Scope[]
  budgets?: '*' | readonly string[]
  now: number
  lastsMs: number
}): Promise<string> {
  const { key, sub, budgets, now, lastsMs } = claims
  const issuedAt = Math.floor(now / 1000)
  return new SignJWT({ scope: claims.scopes.join(' '), ...(budgets !== undefined && { budgets }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(sub)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + Math.floor(lastsMs / 1000))
    .sign(new TextEncoder().encode(key))
}

const localAdmin = 'local-admin'

export const signAdminToken = (key: string, now: number): Promise<string> =>
  signCallerToken({ key, sub: localAdmin, scopes, budgets: '*', now, lastsMs: 30 * dayMs })

/** A link that logs in once, as the administrator. */
export async function createLoginLink({ guard, dashboardUrl, clock }: Services): Promise<string> {
  const code = await guard.ledger.item(logins).issue(localAdmin, clock.now(), { scopes, budgets: '*' })
  return `${dashboardUrl}/login?code=${code}`
}

const getSecretValue = 'secretsmanager.GetSecretValue'
const inputSchema = z.object({
  SecretId: z.string(),
  VersionStage: z._default(z.enum(['AWSCURRENT', 'AWSPREVIOUS']), 'AWSCURRENT'),
})

/** Answers GetSecretValue, only with the access key, because every user of this machine reaches the port. */
export function createSecretsEndpoint(secrets: Readonly<Record<string, StoredKey>>, accessKey: string): Hono {
  const app = new Hono()

  app.post('/', async (c) => {
    // A web page can point a name at this address (DNS rebinding), but cannot send this Host.
    if (!/^127\.0\.0\.1(:\d+)?$/.test(c.req.header('host') ?? '')) return c.body(null, 403)
    if (!isCredential(c.req.header('authorization') ?? '', accessKey))
      return fault('UnrecognizedClientException', 'the access key of SECRETS_ACCESS_KEY is needed')
    if (c.req.header('x-amz-target') !== getSecretValue)
      return fault('UnknownOperationException', 'only GetSecretValue is known here')
    const parsed = inputSchema.safeParse(await c.req.json().catch(() => null))
    if (!parsed.success) return fault('InvalidParameterException', 'SecretId is needed; VersionStage may be given')

    const { SecretId: id, VersionStage: stage } = parsed.data
    const secret = Object.hasOwn(secrets, id) ? secrets[id] : undefined
    const value = stage === 'AWSCURRENT' ? secret?.current : secret?.previous
    if (value === undefined) {
      return fault('ResourceNotFoundException', `no value of ${id} here for the staging label ${stage}`)
    }
    const ARN = `arn:aws:secretsmanager:local:000000000000:secret:${id}`
    return answer(200, { ARN, Name: id, SecretString: value, VersionId: randomUUID(), VersionStages: [stage] })
  })

  return app
}

function isCredential(authorization: string, accessKey: string): boolean {
  const expected = Buffer.from(`AWS4-HMAC-SHA256 Credential=${accessKey}/`)
  const actual = Buffer.from(authorization).subarray(0, expected.length)
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

const fault = (type: string, message: string): Response => answer(400, { __type: type, Message: message })

const answer = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/x-amz-json-1.1' } })

type SecretsAccess = Pick<GuardSettings, 'SECRETS_ENDPOINT' | 'SECRETS_ACCESS_KEY'>

/** Reads from the local endpoint if it is set, else from AWS. @throws CannotContinue */
export async function readSecret(id: string, from: SecretsAccess): Promise<string> {
  const endpoint = from.SECRETS_ENDPOINT
  const client = createSecretsClient(endpoint, from.SECRETS_ACCESS_KEY)
  const log = createLog({ write: () => {}, now: systemClock.now })
  try {
    return (await createSecret({ client, id, clock: systemClock, log }).read()).current
  } catch (error) {
    const where = endpoint === undefined ? 'AWS Secrets Manager' : `the local secrets endpoint ${endpoint}`
    const reason = reasonOf(error)
    const hint = hintFor(reason) || hintForAws(reason)
    throw new CannotContinue(`The secret ${id} could not be read from ${where}: ${reason}${hint}`, { cause: error })
  }
}

const hintForAws = (reason: string): string =>
  reason === 'Region is missing'
    ? '. Start Unit Guard here first (npm start or npm run serve), or set AWS_REGION.'
    : '.'
