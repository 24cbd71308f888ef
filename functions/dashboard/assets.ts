import { readFileSync } from 'node:fs'
import type { Hono } from 'hono'
import type { FaceEnv } from '../../shared/api/accept-requests.ts'
import { digest } from '../../shared/platform/ids.ts'

/** The stylesheet is read from its file, because tsx cannot import CSS. */
const styles = readFileSync(new URL('./dashboard.css', import.meta.url), 'utf8')

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><path fill="#1d4f91" d="M16 2 4 6v9c0 8 5 13 12 15 7-2 12-7 12-15V6z"/><path fill="none" stroke="#fff" stroke-width="3" d="M9 20h14M9 15h9M9 10h14"/></svg>`

/** Each address has a hash of the content, so browsers may cache the file for a year. */
export const stylesheetPath = `/dashboard/${digest(styles).slice(0, 10)}.css`
export const iconPath = `/dashboard/${digest(icon).slice(0, 10)}.svg`

export function addAssets(app: Hono<FaceEnv>): void {
  const cacheHeaders = { 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' }
  app.get(stylesheetPath, (c) => c.body(styles, 200, { ...cacheHeaders, 'content-type': 'text/css; charset=utf-8' }))
  app.get(iconPath, (c) => c.body(icon, 200, { ...cacheHeaders, 'content-type': 'image/svg+xml' }))
}
