import { timingSafeEqual } from 'node:crypto'
import * as z from 'zod/mini'
import { type Platform, sourceIpOf } from './http.ts'
import { createSecret, SecretUnavailable } from './secrets.ts'

/**
 * The header that the edge adds to each request.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html#add-origin-custom-headers-denylist
 */
export const originHeader = 'x-origin-verify'

/**
 * The address of the edge's caller: the last address in `X-Forwarded-For`, without the edge's own, which Lambda may add. The
 * caller may have written the earlier addresses.
 */
const viewerOf = (forwardedFor = '', edgeIp = ''): string | undefined =>
  forwardedFor
    .split(/[\s,]+/)
    .filter((each) => each !== edgeIp)
    .at(-1) || undefined

/** `unknown`: the secret could not be read. */
export type CameFrom = 'edge' | 'elsewhere' | 'unknown'

/** @param given the value of the header. */
export type EdgeCheck = (given: string | undefined) => Promise<CameFrom>

interface Arrival {
  readonly env: Platform | undefined
  readonly req: { readonly raw: Request; header(name: string): string | undefined }
}

/** Says whether a request came through the edge, and from which address. Removes the edge's header, so that nothing else reads it. */
export async function arrivalOf({ env, req }: Arrival, edge: EdgeCheck | null) {
  const ip = sourceIpOf(env)
  if (!edge) return { cameFrom: 'edge', sourceIp: ip } as const
  const cameFrom = await edge(req.header(originHeader))
  req.raw.headers.delete(originHeader)
  return { cameFrom, sourceIp: cameFrom === 'edge' ? viewerOf(req.header('x-forwarded-for'), ip) : ip }
}

/** In seconds. An earlier retry would not read the secret again. */
export const edgeRetryAfter = 10

const value = z.string().check(z.regex(/^[\x21-\x7e]{32,}$/))
/** During a rotation there are two values. */
const secretSchema = z.strictObject({ current: value, previous: z.exactOptional(value) })

type SecretParts = Omit<Parameters<typeof createSecret>[0], 'id'>

/** `null`: there is no edge. */
export const edgeOf = (
  { ORIGIN_SECRET: id }: { readonly ORIGIN_SECRET?: string | undefined },
  parts: SecretParts,
): EdgeCheck | null => (id === undefined ? null : createEdgeCheck(id, parts))

/** A flood must not read the secret for each request, so a failed reading is remembered, too. */
function createEdgeCheck(id: string, parts: SecretParts): EdgeCheck {
  const { clock, log } = parts
  const secret = createSecret({ ...parts, id })
  let failedAt = Number.NEGATIVE_INFINITY
  let known = { text: '', values: [] as readonly Buffer[] }

  /** @throws Error */
  function valuesOf(text: string): readonly Buffer[] {
    if (text === known.text) return known.values
    const { current, previous = current } = parse(text)
    for (const each of [current, previous]) log.hide(each)
    known = { text, values: [Buffer.from(current), Buffer.from(previous)] }
    return known.values
  }

  return async (given) => {
    if (given === undefined) return 'elsewhere'
    if (clock.now() - failedAt < edgeRetryAfter * 1000) return 'unknown'
    const bytes = Buffer.from(given)
    const isAmong = (values: readonly Buffer[]) => values.filter((each) => isEqual(each, bytes)).length > 0
    try {
      const { current: text } = await secret.read()
      if (text === known.text && isAmong(known.values)) return 'edge'
      // The edge may have a value that is newer than ours.
      return isAmong(valuesOf((await secret.reread()).current)) ? 'edge' : 'elsewhere'
    } catch (cause) {
      failedAt = clock.now()
      if (!(cause instanceof SecretUnavailable)) log.error('secret-unavailable', { secret: id, cause })
      return 'unknown'
    }
  }
}

/** @throws Error whose message shows nothing of the secret. */
function parse(text: string): z.output<typeof secretSchema> {
  try {
    return secretSchema.parse(JSON.parse(text))
  } catch {
    throw new Error('it must be {"current":"…","previous":"…"}, with at least 32 characters each')
  }
}

const isEqual = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other)
