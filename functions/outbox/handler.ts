import type { Context } from 'aws-lambda'
import { createBackground } from '../../shared/background/background.ts'
import { guardSettings } from '../../shared/guard/options.ts'
import { inInvocation } from '../../shared/platform/log.ts'
import { environment, parseSettings } from '../../shared/platform/settings.ts'
import { createServices } from '../../shared/services/services.ts'
import { createStartReader, createTellReader, type Reader } from './readers.ts'

const background = createBackground(createServices(parseSettings(guardSettings, environment())))

const onLambda = (name: 'start' | 'tell', read: Reader) => (event: unknown, context: Context) =>
  inInvocation({ function: name, lambdaRequestId: context.awsRequestId }, () =>
    read(event, background.clock.now() + context.getRemainingTimeInMillis()),
  )

/** The two functions on the table's stream, each with its own filter. */
export const start = onLambda('start', createStartReader(background))
export const tell = onLambda('tell', createTellReader(background))
