import type { Context } from 'aws-lambda'
import { createEvents } from '../../shared/events/events.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { inInvocation } from '../../shared/platform/log.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createSlack } from '../../shared/slack/slack.ts'
import { createStartReader, createTellReader, type Reader } from './readers.ts'

const services = createServices(parseSettings(guardSettings, environment()))
const slack = createSlack(services)

const onLambda = (name: 'start' | 'tell', read: Reader) => (event: unknown, context: Context) =>
  inInvocation({ function: name, lambdaRequestId: context.awsRequestId }, () =>
    read(event, services.clock.now() + context.getRemainingTimeInMillis()),
  )

/** The two functions on the table's stream, each with its own filter. */
export const start = onLambda('start', createStartReader({ ...services, slack }))
export const tell = onLambda('tell', createTellReader({ ...services, slack, events: createEvents(services) }))
