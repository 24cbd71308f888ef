import { readFile } from 'node:fs/promises'

/**
 * What is to be read about the API, made when it is built (infra/openapi) and fetched on request:
 * `openapi.json`, `docs.html`, `docs.css`, `problems/<slug>.html`. `null`: nothing has that name.
 */
export type Reference = (name: string) => Promise<string | null>

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

/** The OpenAPI document is the same on both hosts. */
export const documentHeaders = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'cache-control': 'public, max-age=300',
}
