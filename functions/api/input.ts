import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { readBytes } from '../../shared/api/accept-requests.ts'
import { invalid, Refusal } from '../../shared/api/refusal.ts'
import { problem } from '../../shared/guard/problems.ts'
import { allFaults, type Fault, textFaults, toPath } from '../../shared/platform/faults.ts'
import { fromUtf8, type Json, parseStrictJson } from '../../shared/platform/json.ts'
import type { ApiEnv } from './context.ts'

/** An optional body that is missing counts as `{}`. @throws Refusal 400, 413 or 415 */
export async function readBody<Schema extends z.ZodMiniType>(
  c: Context<ApiEnv>,
  schema: Schema,
  { optional = false, faults = [] }: { optional?: boolean; faults?: readonly Fault[] } = {},
): Promise<z.output<Schema>> {
  const bytes = await readBytes(c)
  if (bytes.length === 0 && optional) return check(schema, {}, faults)
  requireJson(c)
  const parsed = parseBody(bytes)
  if ('fault' in parsed) throw invalid([...faults, { path: '', message: parsed.fault }])
  return check(schema, parsed.body, [...faults, ...textFaults(parsed.body)])
}

/** @throws Refusal 400, 413 or 415 */
export async function readBodyAndKey<Schema extends z.ZodMiniType>(c: Context<ApiEnv>, schema: Schema) {
  const key = c.req.header(keyHeader)
  return { key, body: await readBody(c, schema, { faults: keyFaults(key) }) }
}

/** @throws Refusal 413 or 415 */
export async function readJsonBytes(c: Context<ApiEnv>): Promise<Uint8Array> {
  const bytes = await readBytes(c)
  requireJson(c)
  return bytes
}

function requireJson(c: Context<ApiEnv>): void {
  const mediaType = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  const encoding = c.req.header('content-encoding')?.toLowerCase() ?? 'identity'
  if (mediaType !== 'application/json' || encoding !== 'identity') {
    throw new Refusal(
      problem(
        'unsupported-media-type',
        'The body must be JSON, sent with the header Content-Type: application/json and not compressed.',
      ),
    )
  }
}

function parseBody(bytes: Uint8Array): { readonly body: Json } | { readonly fault: string } {
  const text = fromUtf8(bytes, { keepsByteOrderMark: true })
  if (text === null) return { fault: 'the body is not UTF-8' }
  const parsed = parseStrictJson(text)
  if (parsed.ok) return { body: parsed.value }
  return { fault: `the body is not valid, unambiguous JSON (${parsed.reason})` }
}

/** Refuses unknown parameters. Only parameters in `lists` may be repeated. @throws Refusal 400 */
export function readQuery<Schema extends z.ZodMiniType>(
  c: Context<ApiEnv>,
  schema: Schema,
  lists: readonly string[] = [],
) {
  const valuesByName = new Map<string, string[]>()
  const faults: Fault[] = []
  for (const [name, value] of pairsOf(c)) {
    const path = toPath([name ?? ''])
    if (name === null || value === null) faults.push({ path, message: 'must be percent-encoded UTF-8' })
    if (name !== null) valuesByName.set(name, [...(valuesByName.get(name) ?? []), value ?? ''])
  }
  const members = [...valuesByName].map(([name, values]) => {
    if (lists.includes(name)) return [name, values] as const
    if (values.length > 1) faults.push({ path: toPath([name]), message: 'was given more than once' })
    return [name, values[0]] as const
  })
  return check(schema, Object.fromEntries(members), faults)
}

/** Returns `null` for a text that is not percent-encoded UTF-8: a lenient parser could read a different name. */
function pairsOf(c: Context<ApiEnv>): (readonly [name: string | null, value: string | null])[] {
  const pairs = new URL(c.req.url).search.slice(1).split('&')
  return pairs.flatMap((pair) => {
    if (pair === '') return []
    const [name = '', ...value] = pair.split('=')
    return [[decode(name), decode(value.join('='))] as const]
  })
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** @param faults Faults found before. They replace the schema's faults at the same path. */
function check<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  faults: readonly Fault[],
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success && faults.length === 0) return parsed.data
  throw invalid(allFaults(faults, parsed.error?.issues))
}

/** Defined in draft-ietf-httpapi-idempotency-key-header. */
const keyHeader = 'Idempotency-Key'

/** @throws Refusal 400 */
export function readIdempotencyKey(c: Context<ApiEnv>): string | undefined {
  const key = c.req.header(keyHeader)
  const faults = keyFaults(key)
  if (faults.length > 0) throw invalid(faults)
  return key
}

const keyFaults = (key: string | undefined): Fault[] =>
  key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)
    ? []
    : [{ path: keyHeader, message: 'must be 1 to 255 visible ASCII characters' }]

/** RFC 7240, section 4.1. */
export const prefersAsync = (c: Context<ApiEnv>): boolean =>
  /(^|[\s,])respond-async\b/i.test(c.req.header('prefer') ?? '')
