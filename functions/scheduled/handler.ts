import type { Context } from 'aws-lambda'
import { createEvents } from '../../shared/events/events.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { inInvocation } from '../../shared/platform/log.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createSlack } from '../../shared/slack/slack.ts'
import { createTriggers } from './triggers.ts'

const services = createServices(parseSettings(guardSettings, environment()))
const { handle } = createTriggers({ ...services, slack: createSlack(services), events: createEvents(services) })

export const handler = (event: unknown, context: Context): Promise<void> =>
  inInvocation({ function: 'scheduled', lambdaRequestId: context.awsRequestId }, () =>
    handle(event, services.clock.now() + context.getRemainingTimeInMillis()),
  )
