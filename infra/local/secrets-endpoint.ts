import { randomUUID, timingSafeEqual } from 'node:crypto'
import { Hono } from 'hono'
import * as z from 'zod/mini'

export interface StoredSecret {
  readonly current: string
  readonly previous?: string | undefined
}

const getSecretValue = 'secretsmanager.GetSecretValue'
const input = z.object({
  SecretId: z.string(),
  VersionStage: z._default(z.enum(['AWSCURRENT', 'AWSPREVIOUS']), 'AWSCURRENT'),
})

/**
 * GetSecretValue of Secrets Manager, so that the same client code runs here and on AWS. Every user of this machine
 * reaches the port, so it wants the access key; it checks no signature.
 *
 * @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 */
export function createSecretsEndpoint(secrets: Readonly<Record<string, StoredSecret>>, accessKey: string): Hono {
  const app = new Hono()

  app.post('/', async (c) => {
    // A web page may point a name at this address (DNS rebinding), but it cannot send this Host.
    if (!/^127\.0\.0\.1(:\d+)?$/.test(c.req.header('host') ?? '')) return c.body(null, 403)
    if (!isCredential(c.req.header('authorization') ?? '', accessKey))
      return fault('UnrecognizedClientException', 'the access key of SECRETS_ACCESS_KEY is needed')
    if (c.req.header('x-amz-target') !== getSecretValue)
      return fault('UnknownOperationException', 'only GetSecretValue is known here')
    const parsed = input.safeParse(await c.req.json().catch(() => null))
    if (!parsed.success) return fault('InvalidParameterException', 'SecretId is needed; VersionStage may be given')

    const { SecretId: id, VersionStage: stage } = parsed.data
    const secret = Object.hasOwn(secrets, id) ? secrets[id] : undefined
    const value = stage === 'AWSCURRENT' ? secret?.current : secret?.previous
    if (value === undefined) {
      return fault('ResourceNotFoundException', `no value of ${id} here for the staging label ${stage}`)
    }
    return answer(200, {
      ARN: `arn:aws:secretsmanager:local:000000000000:secret:${id}`,
      Name: id,
      SecretString: value,
      VersionId: randomUUID(),
      VersionStages: [stage],
    })
  })

  return app
}

function isCredential(authorization: string, accessKey: string): boolean {
  const wanted = Buffer.from(`AWS4-HMAC-SHA256 Credential=${accessKey}/`)
  const given = Buffer.from(authorization).subarray(0, wanted.length)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

const fault = (type: string, message: string): Response => answer(400, { __type: type, Message: message })

const answer = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/x-amz-json-1.1' } })
