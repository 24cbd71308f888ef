import type { Reference } from '../../shared/api/reference.ts'

let made: ReadonlyMap<string, string> | undefined

/** Made when it is read for the first time: on one machine nothing is built, and a start should not wait for it. */
export const localReference: Reference = async (name) => {
  const { makeReference } = await import('../openapi/reference.tsx')
  made ??= makeReference()
  return made.get(name) ?? null
}
