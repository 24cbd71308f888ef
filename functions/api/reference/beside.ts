import { readFile } from 'node:fs/promises'
import type { Reference } from './reference.ts'

/** What the bundler put beside the code: read when it is asked for, so that it costs a start nothing. */
export const referenceBeside =
  (code: string): Reference =>
  async (name) => {
    try {
      return await readFile(new URL(`./reference/${name}`, code), 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
      throw error
    }
  }
