import { setImmediate } from 'node:timers/promises'
import { createApi } from '../../../functions/api/app.ts'
import { createSandbox } from '../../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import { createMemoryState } from '../../../functions/sandbox/state/state.ts'
import { createTriggers } from '../../../functions/scheduled/triggers.ts'
import { readPlans } from '../../../shared/guard/plans/plans-file.ts'
import { createServices } from '../../../shared/guard/services.ts'
import { type GuardSettings, guardSettings } from '../../../shared/guard/settings.ts'
import { monthAt, newCalendar } from '../../../shared/ledger/book/windows.ts'
import { accountOf, sandboxService } from '../../../shared/ledger/identity.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import type { Item } from '../../../shared/ledger/store/store.ts'
import { type Clock, dayMs } from '../../../shared/platform/clock.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { createSlack } from '../../../shared/slack/slack.ts'
import { newAccessKey } from '../database/dynamodb.ts'
import { createListener } from '../listener.ts'
import { localReference } from '../reference.ts'
import { createSecretsEndpoint } from '../secrets-endpoint.ts'
import { type Environment, localSigningSecret, sandboxToken, sandboxUrl } from '../settings.ts'
import type { Shutdown } from '../shutdown.ts'

/** Enough for the month; a ledger keeps its first limit. */
const unitsPerMonth = '50000'
/** The scenes need so many days; where the billing month is younger, they begin in the one before. */
const shortestDays = 21

/** Everything that `npm start` has, in memory and under a clock that the scenes move. */
export type Scenario = Awaited<ReturnType<typeof openScenario>>

/**
 * @param parts.end the last scene's end, where the clock then stands still.
 * @param parts.settings those of `npm start`, as text: when the month turns, and the plans.
 */
export async function openScenario(parts: {
  end: number
  settings: Environment
  callerKey: string
  shutdown: Shutdown
}) {
  const { end, callerKey, shutdown } = parts
  const service = await createListener({ port: 0 })
  shutdown.onStop(service.close)
  const secrets = await createListener({ port: 0 })
  shutdown.onStop(secrets.close)
  const secretsKey = newAccessKey()

  const settings = parseSettings(guardSettings, {
    ...parts.settings,
    TABLE_NAME: 'in memory',
    ACCOUNT_UNITS_PER_MONTH: unitsPerMonth,
    SECRETS_ENDPOINT: secrets.url,
    SECRETS_ACCESS_KEY: secretsKey,
    LEDGER_SERVICE: sandboxService,
    TRACKING_BASE_URL: sandboxUrl(service.port),
  })
  const stored = {
    [settings.CALLER_KEY_SECRET]: { current: callerKey },
    [settings.SERVICE_TOKEN_SECRET]: { current: sandboxToken },
    // Without a webhook, whatever is announced counts as told.
    [settings.SLACK_SECRET]: { current: JSON.stringify({ signingSecret: localSigningSecret }) },
  }
  secrets.open(createSecretsEndpoint(stored, secretsKey))
  const first = firstDayOf(settings, end)
  const clock = createScenarioClock(first)
  const state = createMemoryState(demonstrationProjects(first))
  service.open(createSandbox({ clock, token: sandboxToken, state }))

  const items = new Map<string, Item>()
  const log = createLog({ write: () => {}, now: clock.now })
  const services = createServices(settings, { clock, log, store: createMemoryStore(items) })
  return {
    ...{ clock, first, end, settings, services, callerKey },
    guard: services.guard,
    plans: readPlans(settings.PLANS),
    api: createApi(services, localReference),
    triggers: createTriggers({ ...services, slack: createSlack(services) }),
    /** The items of the ledger. */
    items,
    service: state,
  }
}

/** Its midnight in UTC. */
function firstDayOf(settings: GuardSettings, end: number): number {
  const month = monthAt(newCalendar(accountOf(settings).renewal), end)
  const today = Math.floor(end / dayMs) * dayMs
  return Math.min(Math.ceil(month.start / dayMs) * dayMs, today - (shortestDays - 1) * dayMs)
}

/** Stands still until the next scene begins, and nothing waits. */
interface ScenarioClock extends Clock {
  /** Never back. */
  moveTo(instant: number): void
}

function createScenarioClock(start: number): ScenarioClock {
  let now = start
  return {
    now: () => now,
    moveTo: (instant) => {
      now = Math.max(now, instant)
    },
    sleep: async (ms) => {
      now += ms
      await setImmediate()
    },
  }
}
