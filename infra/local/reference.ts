import type { Reference } from '../../functions/api/reference/reference.ts'

let made: ReadonlyMap<string, string> | undefined

/** Made when somebody reads it for the first time: on one machine nothing is built, and a start should not wait for it. */
export const localReference: Reference = async (name) => {
  const { makeReference } = await import('../reference/reference.tsx')
  made ??= makeReference()
  return made.get(name) ?? null
}
