import type { Services } from '../guard/services.ts'
import { minuteMs } from '../platform/clock.ts'
import { createAnswering } from './answering.ts'
import { createSlackClient } from './client.ts'
import { createCommands } from './commanding.ts'
import { createComposing } from './composing.ts'
import { createPosting } from './posting.ts'
import { createPresses } from './pressing.ts'
import { createTelling } from './telling.ts'

export type Slack = ReturnType<typeof createSlack>

/** What the stream begins at once is left to it for so long. */
const sweptAfterMs = 2 * minuteMs
/** So long one sweep may take for answers, and so long for announcements. */
const sweptForMs = 30_000

/** Slack's side of the guard: what people type and press there is done and answered, and what they should know is told. */
export function createSlack(services: Services) {
  const { guard, options, dashboardUrl, slackSecret, clock, log } = services
  const client = createSlackClient({ clock, log, allowLoopback: services.isLocal })
  const posting = createPosting({ client, secret: slackSecret, clock, log })
  const answering = createAnswering({
    ...{ guard, posting, clock, log },
    commands: createCommands({ guard, dashboardUrl, clock }),
    presses: createPresses({ guard, clock }),
  })
  const telling = createTelling({ guard, composing: createComposing({ guard, options }), posting, clock, log })
  return {
    answer: answering.answer,
    tell: telling.tell,
    sweep: async () => {
      const sweeping = () => ({ olderThanMs: sweptAfterMs, endsAt: clock.now() + sweptForMs })
      await answering.sweep(sweeping())
      await telling.sweep(sweeping())
    },
  }
}
