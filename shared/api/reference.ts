import { readFile } from 'node:fs/promises'

/** `openapi.json`, `docs.html`, `docs.css` or `problems/<slug>.html`. `null`: there is no such file. */
export type Reference = (name: string) => Promise<string | null>

/** Reads files on request, so that they do not delay a cold start. */
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

export const documentHeaders = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'cache-control': 'public, max-age=300',
}
