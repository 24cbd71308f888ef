import { createTriggers } from '../../../functions/scheduled/triggers.ts'
import { guardSettings } from '../../../shared/guard/options.ts'
import { createServices } from '../../../shared/guard/services.ts'
import { LedgerUnavailable } from '../../../shared/ledger/errors.ts'
import { WrongLedger } from '../../../shared/ledger/identity.ts'
import type { Clock } from '../../../shared/platform/clock.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { createSlack } from '../../../shared/slack/slack.ts'
import { CannotContinue, hintFor, reasonOf } from '../failures.ts'
import { createQuietLog } from '../guard-log.ts'
import type { Environment } from '../settings.ts'
import { isInMemory } from './command.ts'

/** Opens the scheduled function in this process. @throws CannotContinue for a ledger in the memory of `npm start`. */
export function openTriggers(env: Environment, clock: Clock) {
  const settings = parseSettings(guardSettings, env)
  if (isInMemory(env)) {
    throw new CannotContinue('The ledger is in the memory of npm start, where no other process can reach it.')
  }
  const services = createServices(settings, { clock, log: createQuietLog() })
  const triggers = createTriggers({ ...services, slack: createSlack(services) })

  async function reached<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof LedgerUnavailable) || error instanceof WrongLedger) throw error
      const where = settings.DYNAMODB_ENDPOINT ?? 'AWS'
      const message = `The ledger ${settings.TABLE_NAME} at ${where} does not answer: ${reasonOf(error)}${hintFor(reasonOf(error))}`
      throw new CannotContinue(message, { cause: error })
    }
  }

  return { settings, guard: services.guard, triggers, reached }
}
