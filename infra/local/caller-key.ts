import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { makeDirectory } from './directory.ts'
import { CannotGoOn } from './failures.ts'
import type { StoredSecret } from './secrets-endpoint.ts'

/** 48 bytes: more than the 32 that HS256 wants of a key (RFC 7518, section 3.2). */
const keyBytes = 48
const visible = z.string().check(z.regex(/^[\x21-\x7e]{32,}$/))
const stored = z.object({ callerKey: z.object({ current: visible, previous: z.optional(visible) }) })

/**
 * The key that callers' tokens are signed with. It is kept, so that tokens survive a restart; whoever wants to rehearse
 * a rotation moves `current` to `previous` in the file and starts again.
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
    throw new CannotGoOn(`${file} holds no caller key; delete it to have a new one (old tokens end with it)`, { cause })
  }
}
