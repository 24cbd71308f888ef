import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import * as z from 'zod/mini'
import { audience } from '../../shared/auth/tokens.ts'
import { dayMs } from '../../shared/platform/clock.ts'
import { type Scope, scopes } from '../../shared/platform/words.ts'
import { makeDirectory } from './directory.ts'
import { CannotContinue } from './failures.ts'
import type { StoredSecret } from './secrets-endpoint.ts'

/** 48 bytes: more than the 32 that HS256 wants of a key (RFC 7518, section 3.2). */
const keyBytes = 48
const visible = z.string().check(z.regex(/^[\x21-\x7e]{32,}$/))
const stored = z.object({ callerKey: z.object({ current: visible, previous: z.optional(visible) }) })

/**
 * The key that signs callers' tokens, kept so that they survive a restart. To rehearse a rotation, move `current` to
 * `previous` in the file and start again.
 *
 * @param directory `null` keeps nothing: the key is new each time.
 */
export async function readCallerKey(directory: string | null): Promise<StoredSecret> {
  if (directory === null) return newKey()
  const file = join(directory, 'secrets.json')
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text !== null) return parse(text, file)
  const callerKey = newKey()
  await makeDirectory(directory)
  await writeFile(file, `${JSON.stringify({ callerKey }, null, 2)}\n`, { mode: 0o600 })
  return callerKey
}

const newKey = (): StoredSecret => ({ current: randomBytes(keyBytes).toString('base64url') })

function parse(text: string, file: string): StoredSecret {
  try {
    return stored.parse(JSON.parse(text)).callerKey
  } catch (cause) {
    throw new CannotContinue(`${file} holds no caller key; delete it to have a new one (old tokens end with it)`, {
      cause,
    })
  }
}

/** A bearer token as docs/api.md describes it. */
export function signCallerToken(claims: {
  key: string
  sub: string
  scopes: readonly Scope[]
  /** Absent: it may charge none, but with `admin`. */
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

/** Allows everything for a month. */
export const signAdminToken = (key: string, now: number): Promise<string> =>
  signCallerToken({ key, sub: 'local-admin', scopes, budgets: '*', now, lastsMs: 30 * dayMs })
