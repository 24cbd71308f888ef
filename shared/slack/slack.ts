import type { Services } from '../guard/services.ts'
import { minuteMs } from '../platform/clock.ts'
import { createCommands } from './receive/commands.ts'
import { createAnswers } from './receive/events.ts'
import { createPresses } from './receive/presses.ts'
import { createSlackClient } from './tell/client.ts'
import { createComposer } from './tell/compose.ts'
import { createPoster } from './tell/post.ts'
import { createTeller } from './tell/tell.ts'

export type Slack = ReturnType<typeof createSlack>

/** What the stream begins at once is left to it for so long. */
const sweptAfterMs = 2 * minuteMs
/** So long one sweep may take for answers, and so long for announcements. */
const sweptForMs = 30_000

/** Slack's side of the guard: does and answers what people type and press, and tells them what they should know. */
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
      const sweeping = () => ({ olderThanMs: sweptAfterMs, endsAt: clock.now() + sweptForMs })
      await answers.sweep(sweeping())
      await teller.sweep(sweeping())
    },
  }
}
