import { setImmediate } from 'node:timers/promises'
import { createApi } from '../../../functions/api/app.ts'
import { createSandbox } from '../../../functions/sandbox/app.ts'
import { demonstrationProjects } from '../../../functions/sandbox/demonstration.ts'
import type { Fault } from '../../../functions/sandbox/faults.ts'
import { createState } from '../../../functions/sandbox/state.ts'
import { createTriggers } from '../../../functions/scheduled/triggers.ts'
import { createBackground } from '../../../shared/background/background.ts'
import type { Budget } from '../../../shared/client/answers.ts'
import { type GuardSettings, guardSettings } from '../../../shared/guard/options.ts'
import { readPlans } from '../../../shared/guard/plans-file.ts'
import { rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import { monthAt, newCalendar } from '../../../shared/ledger/definitions/windows.ts'
import { accountOf, sandboxService } from '../../../shared/ledger/identity.ts'
import type { State, Update } from '../../../shared/ledger/updates/update.ts'
import { type Clock, dayMs, minuteMs } from '../../../shared/platform/clock.ts'
import { createLog } from '../../../shared/platform/log.ts'
import { parseSettings } from '../../../shared/platform/settings.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import { createServices } from '../../../shared/services/services.ts'
import type { Kind } from '../../../shared/tracking/kinds.ts'
import { localReference } from '../../openapi/local-reference.ts'
import { createSend } from '../api-client.ts'
import { workLastsMs } from '../background.ts'
import { openScratch } from '../database/open.ts'
import { createListener } from '../listener.ts'
import { createSecretsEndpoint, newAccessKey, signCallerToken } from '../secrets.ts'
import { type Environment, localSigningSecret, sandboxToken, sandboxUrl } from '../settings.ts'
import type { Shutdown } from '../shutdown.ts'

const unitsPerMonth = '50000'
/** If the month is younger, the scenario starts in the previous month. */
const minDays = 21

/** The parts of `npm start`, in memory and with a clock that the scenes move. */
export type Scenario = Awaited<ReturnType<typeof openScenario>>

/**
 * @param parts.end the time at which the clock stops after the last scene.
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

const tokenLastsMs = 90 * dayMs

export type CallerScopes = Readonly<Record<string, readonly Scope[]>>

export interface DemoRequest {
  readonly project: string
  readonly kind?: Kind
  readonly budget?: string
  readonly reason?: string
  readonly force?: true
  readonly whenShort?: 'ask'
}

export type Actors = ReturnType<typeof createActors>

type Shown = Pick<Update, 'id' | 'state'>

function idOf(update: Shown | undefined, expected: State, of: string): string {
  if (update?.state !== expected) throw new Error(`${of}: expected ${expected}, got ${update?.state}`)
  return update.id
}

function createCall({ clock, api, callerKey }: Scenario, callerScopes: CallerScopes) {
  const claimsOf = (sub: string) => ({ sub, scopes: callerScopes[sub] ?? [], budgets: '*' }) as const
  const tokenOf = (sub: string) =>
    signCallerToken({ ...claimsOf(sub), key: callerKey, now: clock.now(), lastsMs: tokenLastsMs })

  return async <T>(sub: string, method: string, path: string, body?: object, key?: string): Promise<T> => {
    const send = createSend({ url: '', token: await tokenOf(sub), ask: async (...asked) => api.request(...asked) })
    const response = await send(method, path, { ...(body && { body }), key })
    const text = await response.text()
    // A refused update is an outcome.
    if (!response.ok && key === undefined)
      throw new Error(`${sub}: ${method} ${path} returned ${response.status}: ${text}`)
    return (text === '' ? null : JSON.parse(text)) as T
  }
}

export function createActors(scenario: Scenario, callerScopes: CallerScopes) {
  const { clock, guard, triggers, sandbox } = scenario
  const call = createCall(scenario, callerScopes)
  let keys = 0
  /** Update ids derive from these keys, so each run makes the same ids. */
  const nextKey = () => `month-${++keys}`

  async function submit(sub: string, update: DemoRequest, expected: State, key = nextKey()): Promise<string> {
    const body = { kind: 'ranking', ...update }
    const answer = await call<{ updates?: readonly Shown[] }>(sub, 'POST', '/updates', body, key)
    const of = `${sub} and ${update.project} (${JSON.stringify(answer)})`
    return idOf(answer.updates?.[0], expected, of)
  }

  async function submitInSlack(user: string, { project, kind = 'ranking', reason }: DemoRequest, expected: State) {
    const slackCaller = { caller: `slack:${user}`, via: 'slack', route: 'slack', key: nextKey() } as const
    const answer = await guard.submit(
      slackCaller,
      { kind, projects: [project], whenShort: 'fit', ...(reason !== undefined && { reason }) },
      { respondAsync: false, endsAt: endsAt() },
    )
    return idOf(answer.updates[0], expected, `${slackCaller.caller} and ${project}`)
  }

  const injectFault = (fault: Fault): Promise<void> => sandbox.replaceFaults([{ ...fault, times: 1 }])

  const endsAt = () => clock.now() + workLastsMs

  return {
    call,
    submit,
    submitInSlack,
    injectFault,
    sweep: () => triggers.sweep(endsAt()),
    wait: (minutes: number) => clock.moveTo(clock.now() + minutes * minuteMs),
    unitsLeft: async (): Promise<number> => {
      const { windows } = await call<Budget>('mira', 'GET', `/budgets/${rootBudget}`)
      return windows.find(({ window }) => window === 'month')?.available ?? 0
    },
  }
}
