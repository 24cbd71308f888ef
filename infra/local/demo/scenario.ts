import { setImmediate } from 'node:timers/promises'
import { createApi } from '../../../functions/api/app.ts'
import { createSandbox } from '../../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import { createState } from '../../../functions/sandbox/state.ts'
import { createTriggers } from '../../../functions/scheduled/triggers.ts'
import { createBackground } from '../../../shared/background/background.ts'
import { type GuardSettings, guardSettings } from '../../../shared/guard/options.ts'
import { readPlans } from '../../../shared/guard/plans-file.ts'
import { monthAt, newCalendar } from '../../../shared/ledger/definitions/windows.ts'
import { accountOf, sandboxService } from '../../../shared/ledger/identity.ts'
import { type Clock, dayMs } from '../../../shared/platform/clock.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import { createServices } from '../../../shared/services/services.ts'
import { localReference } from '../../openapi/local-reference.ts'
import { openScratch } from '../database/open.ts'
import { createListener } from '../listener.ts'
import { createSecretsEndpoint, newAccessKey } from '../secrets.ts'
import { type Environment, localSigningSecret, sandboxToken, sandboxUrl } from '../settings.ts'
import type { Shutdown } from '../shutdown.ts'

const unitsPerMonth = '50000'
/** If the month is younger, the scenario starts in the previous month. */
const minDays = 21

/** The parts of `npm start`, in memory and with a clock that the calls move. */
export type Scenario = Awaited<ReturnType<typeof openScenario>>

/**
 * @param parts.end the time at which the clock stops after the last call.
 * @param parts.settings the settings of `npm start`, as text.
 */
export async function openScenario(parts: {
  end: number
  settings: Environment
  callerKey: string
  shutdown: Shutdown
}) {
  const { end, callerKey, shutdown } = parts
  const sandboxListener = await createListener({ port: 0 })
  shutdown.onStop(sandboxListener.close)
  const secretsListener = await createListener({ port: 0 })
  shutdown.onStop(secretsListener.close)
  const secretsKey = newAccessKey()

  const settings = parseSettings(guardSettings, {
    ...parts.settings,
    TABLE_NAME: 'in memory',
    ACCOUNT_UNITS_PER_MONTH: unitsPerMonth,
    SECRETS_ENDPOINT: secretsListener.url,
    SECRETS_ACCESS_KEY: secretsKey,
    LEDGER_SERVICE: sandboxService,
    TRACKING_BASE_URL: sandboxUrl(sandboxListener.port),
  })
  const secretValues = {
    [settings.CALLER_KEY_SECRET]: { current: callerKey },
    [settings.SERVICE_TOKEN_SECRET]: { current: sandboxToken },
    // Without a webhook, announcements count as sent.
    [settings.SLACK_SECRET]: { current: JSON.stringify({ signingSecret: localSigningSecret }) },
  }
  secretsListener.open(createSecretsEndpoint(secretValues, secretsKey))
  const startAt = firstDayOf(settings, end)
  const clock = createScenarioClock(startAt)
  const sandbox = createState(demonstrationProjects(startAt))
  sandboxListener.open(createSandbox({ clock, token: sandboxToken, state: sandbox }))

  const { store, items } = openScratch(clock)
  const log = createLog({ write: () => {}, now: clock.now })
  const services = createServices(settings, { clock, log, store })
  return {
    clock,
    startAt,
    end,
    settings,
    services,
    callerKey,
    guard: services.guard,
    plans: readPlans(settings.PLANS),
    api: createApi(services, localReference),
    triggers: createTriggers(createBackground({ ...services, eventSettings: {} })),
    items,
    sandbox,
  }
}

function firstDayOf(settings: GuardSettings, end: number): number {
  const month = monthAt(newCalendar(accountOf(settings).renewal), end)
  const today = Math.floor(end / dayMs) * dayMs
  return Math.min(Math.ceil(month.start / dayMs) * dayMs, today - (minDays - 1) * dayMs)
}

function createScenarioClock(start: number): Clock & { moveTo(instant: number): void } {
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
