import type { Context } from 'aws-lambda'
import { createBackground } from '../../shared/background/background.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { inInvocation } from '../../shared/platform/log.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createTriggers } from './triggers.ts'

const background = createBackground(createServices(parseSettings(guardSettings, environment())))
const { handle } = createTriggers(background)

export const handler = (event: unknown, context: Context): Promise<void> =>
  inInvocation({ function: 'scheduled', lambdaRequestId: context.awsRequestId }, () =>
    handle(event, background.clock.now() + context.getRemainingTimeInMillis()),
  )
