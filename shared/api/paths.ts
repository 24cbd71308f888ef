type AppName = 'api' | 'dashboard' | 'mcp' | 'slack'

/** The paths of each app on a shared address; the API answers all others. `*` matches any text, as in CloudFront. */
export const pathsOf: Readonly<Record<Exclude<AppName, 'api'>, readonly string[]>> = {
  slack: ['/slack/*'],
  mcp: ['/mcp', '/.well-known/*'],
  dashboard: [
    '/',
    '/docs',
    '/docs.css',
    '/login',
    '/login/start',
    '/login/callback',
    '/logout',
    '/dashboard',
    '/dashboard/*',
    '/problems/*',
  ],
}

/** @param path as it was sent. */
export function appAt(path: string): AppName {
  const isAt = (pattern: string) => (pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern)
  const names = Object.keys(pathsOf) as (keyof typeof pathsOf)[]
  return names.find((name) => pathsOf[name].some(isAt)) ?? 'api'
}
