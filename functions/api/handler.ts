import { referenceBeside } from '../../shared/api/reference.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { streamAnswers } from '../../shared/platform/http.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createApi } from './app.ts'

const services = createServices(parseSettings(guardSettings, environment()))

/** Streams answers, because an export may be long. */
export const handler = streamAnswers('api', createApi(services, referenceBeside(import.meta.url)), services.log)
