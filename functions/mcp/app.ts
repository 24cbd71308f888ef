import { createSignedQuotes } from '../../shared/auth/signed-quotes.ts'
import type { Ids } from '../../shared/platform/ids.ts'
import type { Secret } from '../../shared/platform/secrets.ts'
import type { Services } from '../../shared/services/services.ts'
import { createCalls } from './call.ts'
import { createEndpoint } from './endpoint.ts'
import { createServer } from './server.ts'
import { createListings, toolsOf } from './tools.ts'

/** The endpoint through which agents use the guard. */
export function createMcp(
  services: Services,
  own: { readonly quoteKey: Secret; readonly publicUrl?: string | undefined; readonly ids?: Ids },
) {
  const { clock, kinds } = services
  const publicUrl = own.publicUrl === undefined ? undefined : new URL(own.publicUrl).origin
  const parts = {
    ...services,
    quotes: createSignedQuotes({ key: own.quoteKey, clock, ...(own.ids && { ids: own.ids }) }),
  }
  const served = { ...parts, tools: toolsOf(kinds), listing: createListings(kinds), calls: createCalls(parts) }
  const toolNames = served.tools.map(({ name }) => name)
  return createEndpoint(services, { publicUrl, toolNames, serverFor: (request) => createServer(served, request) })
}
