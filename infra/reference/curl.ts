import type { Operation } from './operation.ts'
import { pathParameters } from './path-parameters.ts'

/** A command that asks this, after `auth` and `json` have been set. */
export function curlOf({ method, path, example, scopes, body }: Operation): string {
  const target = example ?? path.replace(/\{(\w+)\}/g, (_, name) => pathParameters(path, name).example ?? name)
  const asked = method === 'GET' ? 'curl -s' : `curl -s -X ${method}`
  const auth = scopes ? ' -H "$auth"' : ''
  const sent = body ? ` -H "$json" \\\n  -d '${JSON.stringify(body.example)}'` : ''
  return `${asked} "$UNIT_GUARD_URL${target}"${auth}${sent}`
}
