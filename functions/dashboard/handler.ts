import { referenceBeside } from '../../shared/api/reference.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { streamAnswers } from '../../shared/platform/http.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createDashboard } from './app.ts'

const services = createServices(parseSettings(guardSettings, environment()))

/** Streams the responses, because an export may be long. */
export const handler = streamAnswers(
  'dashboard',
  createDashboard(services, referenceBeside(import.meta.url)),
  services.log,
)
