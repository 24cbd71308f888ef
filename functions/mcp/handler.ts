import { guardSettings, mcpSettings } from '../../shared/guard/options.ts'
import { streamAnswers } from '../../shared/platform/http.ts'
import { createSecret, createSecretsClient } from '../../shared/platform/secrets.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createMcp } from './app.ts'

const settings = parseSettings(guardSettings, environment())
const { PUBLIC_URL: publicUrl, QUOTE_KEY_SECRET: id } = parseSettings(mcpSettings, environment())
const services = createServices(settings)
const { clock, log } = services
const client = createSecretsClient(settings.SECRETS_ENDPOINT, settings.SECRETS_ACCESS_KEY)
const quoteKey = createSecret({ client, id, keepsPrevious: true, clock, log })

/** Streams answers, because clients of earlier revisions expect server-sent events. */
export const handler = streamAnswers('mcp', createMcp(services, { quoteKey, publicUrl }), log)
