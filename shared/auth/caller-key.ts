import type { Secret, SecretValue } from '../platform/secrets.ts'

/** What was signed with the callers' key may carry the current signature or the one before the last rotation. */
async function withAnyOf<T>(
  { current, previous }: SecretValue,
  read: (key: string) => Promise<T | null>,
): Promise<T | null> {
  return (await read(current)) ?? (previous === null ? null : read(previous))
}

/** Tries the keys as they are known; and, as they may have been rotated a moment ago, as they are now. */
export async function withAnyKey<T>(
  key: Secret,
  known: SecretValue,
  read: (key: string) => Promise<T | null>,
): Promise<T | null> {
  const found = await withAnyOf(known, read)
  if (found !== null) return found
  // Asking again is limited by the secret itself.
  const renewed = await key.reread()
  const isKnown = renewed.current === known.current && renewed.previous === known.previous
  return isKnown ? null : withAnyOf(renewed, read)
}
