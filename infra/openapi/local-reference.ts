import type { Reference } from '../../shared/api/reference.ts'

let files: ReadonlyMap<string, string> | undefined

/** Builds the reference at the first read, so that the start does not wait for it. */
export const localReference: Reference = async (name) => {
  const { makeReference } = await import('./reference.tsx')
  files ??= makeReference()
  return files.get(name) ?? null
}
