import { createTriggers } from '../../../functions/scheduled/triggers.ts'
import { guardSettings } from '../../../shared/guard/options.ts'
import { createServices } from '../../../shared/guard/services.ts'
import type { Clock } from '../../../shared/platform/clock.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { createSlack } from '../../../shared/slack/slack.ts'
import { CannotContinue } from '../failures.ts'
import { createQuietLog } from '../guard-log.ts'
import type { Environment } from '../settings.ts'
import { isInMemory } from './command.ts'

/** Opens the guard and its scheduled jobs in this process. @throws CannotContinue for a ledger in the memory of `npm start`. */
export function openGuard(env: Environment, clock: Clock) {
  const settings = parseSettings(guardSettings, env)
  if (isInMemory(env)) {
    throw new CannotContinue('The ledger is in the memory of npm start, where no other process can reach it.')
  }
  const services = createServices(settings, { clock, log: createQuietLog() })
  return { settings, services, triggers: createTriggers({ ...services, slack: createSlack(services) }) }
}
