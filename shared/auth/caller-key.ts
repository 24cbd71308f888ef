import type { Secret, SecretValue } from '../platform/secrets.ts'

/** Tries the previous key, too, because the key may have been rotated since the signature. */
async function withAnyOf<T>(
  { current, previous }: SecretValue,
  read: (key: string) => Promise<T | null>,
): Promise<T | null> {
  return (await read(current)) ?? (previous === null ? null : read(previous))
}

/** Tries the known keys, and reads the secret again if no key fits. */
export async function withAnyKey<T>(
  key: Secret,
  known: SecretValue,
  read: (key: string) => Promise<T | null>,
): Promise<T | null> {
  const found = await withAnyOf(known, read)
  if (found !== null) return found
  // `reread` asks Secrets Manager only now and then, however many wrong keys arrive.
  const renewed = await key.reread()
  const isKnown = renewed.current === known.current && renewed.previous === known.previous
  return isKnown ? null : withAnyOf(renewed, read)
}
