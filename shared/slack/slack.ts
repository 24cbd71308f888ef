import type { Services } from '../guard/services.ts'
import { minuteMs } from '../platform/clock.ts'
import { createCommands } from './receive/commands.ts'
import { createAnswers } from './receive/events.ts'
import { createPresses } from './receive/presses.ts'
import { createComposer } from './tell/compose.ts'
import { createPoster, createSlackClient } from './tell/post.ts'
import { createTeller } from './tell/tell.ts'

export type Slack = ReturnType<typeof createSlack>

/** The stream handles tasks at once, so the sweep leaves younger tasks to the stream. */
const sweepAfterMs = 2 * minuteMs
/** Answers and announcements each have this time. */
const sweepLastsMs = 30_000

/** Answers commands and presses, and sends announcements. */
export function createSlack(services: Services) {
  const { guard, options, kinds, dashboardUrl, slackSecret, clock, log } = services
  const client = createSlackClient({ clock, log, allowLoopback: services.isLocal })
  const poster = createPoster({ client, secret: slackSecret, clock, log })
  const answers = createAnswers({
    ...{ guard, poster, clock, log },
    commands: createCommands({ guard, dashboardUrl, clock, kinds }),
    presses: createPresses({ guard, clock, kinds }),
  })
  const teller = createTeller({ guard, composer: createComposer({ guard, options }), poster, clock, log })
  return {
    answer: answers.answer,
    tell: teller.tell,
    sweep: async () => {
      const sweepOptions = () => ({ olderThanMs: sweepAfterMs, endsAt: clock.now() + sweepLastsMs })
      await answers.sweep(sweepOptions())
      await teller.sweep(sweepOptions())
    },
  }
}
