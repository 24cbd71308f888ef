import { createApi } from '../../functions/api/app.ts'
import { createSandbox } from '../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../functions/sandbox/demonstration.ts'
import { createMemoryState } from '../../functions/sandbox/memory-state.ts'
import { createTriggers } from '../../functions/scheduled/triggers.ts'
import { readPlans } from '../../shared/guard/plans-file.ts'
import { createServices } from '../../shared/guard/services.ts'
import { accountOf, sandboxService } from '../../shared/ledger/identity.ts'
import { createMemoryStore } from '../../shared/ledger/memory-store.ts'
import type { Item } from '../../shared/ledger/store.ts'
import { monthAt, newCalendar } from '../../shared/ledger/windows.ts'
import { dayMs } from '../../shared/platform/clock.ts'
import { createLog } from '../../shared/platform/log.ts'
import { type GuardSettings, guardSettings, parseSettings } from '../../shared/platform/settings.ts'
import { createSlack } from '../../shared/slack/slack.ts'
import { newAccessKey } from './access-key.ts'
import { createStoryClock } from './demo-month-clock.ts'
import { createDoor } from './door.ts'
import { localReference } from './reference.ts'
import { sandboxToken } from './sandbox-token.ts'
import { createSecretsEndpoint } from './secrets-endpoint.ts'
import { type Environment, localSigningSecret, sandboxUrl } from './settings.ts'
import type { Shutdown } from './shutdown.ts'

/** Enough for the month; a ledger has its limit from whoever comes first. */
const unitsPerMonth = '50000'
/** Scenes are written for so many days; where the billing month is younger, the story begins in the one before. */
const shortestDays = 21

/** What a month is played on: everything that `npm start` has, in memory and under a clock that the story moves. */
export type Stage = Awaited<ReturnType<typeof openStage>>

/**
 * @param parts.end when the story ends, at which the clock stands still then.
 * @param parts.settings what `npm start` would be told, as text: when the month turns, and the plans.
 */
export async function openStage(parts: { end: number; settings: Environment; callerKey: string; shutdown: Shutdown }) {
  const { end, callerKey, shutdown } = parts
  const service = await createDoor({ port: 0 })
  shutdown.onStop(service.close)
  const secrets = await createDoor({ port: 0 })
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
  const clock = createStoryClock(first)
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
    /** What there is in the ledger, and at the service. */
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
