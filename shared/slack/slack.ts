import { minuteMs } from '../platform/clock.ts'
import type { Channel } from '../services/channel.ts'
import type { Services } from '../services/services.ts'
import { runCommand } from './receive/commands.ts'
import { createAnswers } from './receive/events.ts'
import { handlePress } from './receive/presses.ts'
import { digestOf } from './reports/digest.ts'
import * as reports from './reports/figures.ts'
import { publishHome } from './reports/home.ts'
import { tellChanges } from './tell/changes.ts'
import { createSlackClientOf, type SlackClient } from './tell/client.ts'
import { createComposer } from './tell/compose.ts'
import { createPoster } from './tell/post.ts'
import { createTeller } from './tell/tell.ts'

/** The channel to people, who also ask in it. */
export interface Slack extends Channel {
  /** Does what a stored command or press asks for. */
  answer(slackEvent: string): Promise<void>
}

/** The stream handles younger tasks. */
const sweepAfterMs = 2 * minuteMs
const sweepLastsMs = 30_000

/** Answers commands and presses, sends announcements and keeps them current. */
export function createSlack(services: Services, client: SlackClient = createSlackClientOf(services)): Slack {
  const { guard, troubles, options, kinds, dashboardUrl, slackSecret, slackApi, clock, log } = services
  const poster = createPoster({ client, secret: slackSecret, clock, log, channel: slackApi.channel })
  const digest = (until: number) => digestOf({ guard, troubles, dashboardUrl }, until)
  const composer = createComposer({ guard, troubles, options, kinds, dashboardUrl, digest })
  const teller = createTeller({ guard, troubles, composer, poster, clock, log })
  const answers = createAnswers({
    guard,
    poster,
    clock,
    log,
    runCommand: (event) => runCommand({ guard, dashboardUrl, clock, kinds, reports }, event),
    handlePress: (event) => handlePress({ guard, teller, dashboardUrl, clock, kinds }, event),
    publishHome: (user, notice) => publishHome({ guard, troubles, options, poster, dashboardUrl }, user, notice),
  })
  return {
    name: 'slack',
    answer: answers.answer,
    tell: (changes) => tellChanges({ guard, teller, log }, changes),
    sweep: async () => {
      const sweepOptions = () => ({ olderThanMs: sweepAfterMs, endsAt: clock.now() + sweepLastsMs })
      await answers.sweep(sweepOptions())
      await teller.sweep(sweepOptions())
    },
  }
}
