import type { Services } from '../guard/services.ts'
import { minuteMs } from '../platform/clock.ts'
import { createCommands } from './receive/commands.ts'
import { createAnswers } from './receive/events.ts'
import { createPresses } from './receive/presses.ts'
import { createSlackClientOf, type SlackClient } from './tell/client.ts'
import { createComposer } from './tell/compose.ts'
import { createHome } from './tell/home.ts'
import { createPoster } from './tell/post.ts'
import { createTeller } from './tell/tell.ts'

export type Slack = ReturnType<typeof createSlack>

/** Younger tasks are left to the stream. */
const sweepAfterMs = 2 * minuteMs
const sweepLastsMs = 30_000

/** Answers commands and presses, sends announcements and keeps them current. */
export function createSlack(services: Services, client: SlackClient = createSlackClientOf(services)) {
  const { guard, options, kinds, dashboardUrl, slackSecret, slackApi, clock, log } = services
  const poster = createPoster({ client, secret: slackSecret, clock, log, channel: slackApi.channel })
  const composer = createComposer({ guard, options, dashboardUrl })
  const teller = createTeller({ guard, composer, poster, clock, log })
  const answers = createAnswers({
    ...{ guard, poster, clock, log },
    commands: createCommands({ guard, dashboardUrl, clock, kinds }),
    presses: createPresses({ guard, teller, dashboardUrl, clock, kinds }),
    home: createHome({ guard, options, poster, dashboardUrl }),
  })
  return {
    answer: answers.answer,
    tell: teller.tell,
    refresh: teller.refresh,
    sweep: async () => {
      const sweepOptions = () => ({ olderThanMs: sweepAfterMs, endsAt: clock.now() + sweepLastsMs })
      await answers.sweep(sweepOptions())
      await teller.sweep(sweepOptions())
    },
  }
}
