import type { Context } from 'hono'
import type { FaceEnv } from '../../shared/api/face.ts'

/** Under which addresses the dashboard is opened: the one that was asked, and the one that was configured. */
export function createOrigins(dashboardUrl: string | null) {
  const configured = dashboardUrl === null ? null : new URL(dashboardUrl)

  /** Behind something that ends TLS, only the configuration knows that a browser sees https. */
  function isSecure({ req }: Context<FaceEnv>): boolean {
    const asked = new URL(req.url)
    return asked.protocol === 'https:' || (configured?.protocol === 'https:' && configured.host === asked.host)
  }

  /**
   * Whether a form was sent by a page of ours, as the browser says. Our pages send no referrer, with which browsers write
   * `Origin: null` for our own forms, too: then only `Sec-Fetch-Site` tells.
   *
   * @see https://www.w3.org/TR/fetch-metadata/
   * @see https://fetch.spec.whatwg.org/#append-a-request-origin-header
   */
  function isOurs({ req }: Context<FaceEnv>): boolean {
    const [site, origin] = [req.header('sec-fetch-site'), req.header('origin')]
    if (site !== undefined && site !== 'same-origin') return false
    if (origin === undefined || (origin === 'null' && site === 'same-origin')) return true
    return origin === new URL(req.url).origin || origin === configured?.origin
  }

  return { isSecure, isOurs }
}

export type Origins = ReturnType<typeof createOrigins>
