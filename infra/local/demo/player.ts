import type { Budget } from '../../../shared/client/answers.ts'
import { rootBudget } from '../../../shared/ledger/definitions/definitions.ts'
import type { State, Update } from '../../../shared/ledger/updates/update.ts'
import { dayMs, minuteMs } from '../../../shared/platform/clock.ts'
import type { Kind } from '../../../shared/tracking/kinds.ts'
import { createSend } from '../api-client.ts'
import { signCallerToken } from '../secrets.ts'
import { workLastsMs } from '../shutdown.ts'
import { type Call, callerScopes } from './calls.ts'
import type { Scenario } from './scenario.ts'

const tokenLastsMs = 90 * dayMs

type Shown = Pick<Update, 'id' | 'state'>

interface DemoRequest {
  readonly kind?: Kind
  readonly project: string
  readonly reason: string
}

export function createRequest({ clock, api, callerKey }: Scenario) {
  const claimsOf = (sub: string) => ({ sub, scopes: callerScopes[sub] ?? [], budgets: '*' }) as const
  const tokenOf = (sub: string) =>
    signCallerToken({ ...claimsOf(sub), key: callerKey, now: clock.now(), lastsMs: tokenLastsMs })

  return async <T>(sub: string, call: string, body?: object, key?: string): Promise<T> => {
    const [method = '', path = ''] = call.split(' ')
    const send = createSend({ url: '', token: await tokenOf(sub), ask: async (...asked) => api.request(...asked) })
    const response = await send(method, path, { ...(body && { body }), key })
    const text = await response.text()
    // A refused update is an outcome.
    if (!response.ok && key === undefined) throw new Error(`${sub}: ${call} returned ${response.status}: ${text}`)
    return (text === '' ? null : JSON.parse(text)) as T
  }
}

/** Replays calls in their order. @throws Error if the outcome of a call is not the expected one. */
export function createPlayer(scenario: Scenario) {
  const { clock, guard, triggers, sandbox } = scenario
  const request = createRequest(scenario)
  const endsAt = () => clock.now() + workLastsMs
  let keys = 0
  /** Update ids derive from these keys, so each run makes the same ids. */
  const nextKey = () => `month-${++keys}`

  async function askInSlack(caller: string, { project, kind = 'ranking', reason }: DemoRequest) {
    const who = { caller, via: 'slack', route: 'slack', key: nextKey() } as const
    const asked = { kind, projects: [project], whenShort: 'fit', reason } as const
    return guard.submit(who, asked, { respondAsync: false, endsAt: endsAt() })
  }

  async function ask(caller: string, body: object, expected: State, key?: string): Promise<string> {
    const answer: { updates?: readonly Shown[] } = caller.startsWith('slack:')
      ? await askInSlack(caller, body as DemoRequest)
      : await request(caller, 'POST /updates', { kind: 'ranking', ...body }, key ?? nextKey())
    const [update] = answer.updates ?? []
    if (update?.state === expected) return update.id
    throw new Error(`${caller}: expected ${expected} of ${JSON.stringify(body)}, got ${JSON.stringify(answer)}`)
  }

  /** The vendor's figure, with units that were used outside the guard. */
  async function reconcile(caller: string, { usedElsewhere, reason }: { usedElsewhere: number; reason: string }) {
    const { windows } = await request<Budget>(caller, `GET /budgets/${rootBudget}`)
    const available = windows.find(({ window }) => window === 'month')?.available ?? 0
    const figure = { unitsLeft: available - usedElsewhere, reason }
    const path = `POST /budgets/${rootBudget}/reconcile`
    const { units: difference } = await request<{ units: number }>(caller, `${path}?dry-run=true`, figure)
    await request(caller, path, { ...figure, difference })
  }

  return async function play(calls: readonly Call[]): Promise<void> {
    let update = ''
    for (const [at, caller, ...made] of calls) {
      if (at.startsWith('+')) clock.moveTo(clock.now() + Number(at) * minuteMs)
      const [call] = made
      if (call === 'sweep') await triggers.handle({ task: 'sweep' }, endsAt())
      else if (call === 'fault') await sandbox.replaceFaults([{ ...made[1], times: 1 }])
      else if (call === 'reconcile') await reconcile(caller, made[1])
      else {
        const [, body, expected, key] = made
        if (body && expected) update = await ask(caller, body, expected, key)
        else await request(caller, call.replace('{update}', update), body)
      }
    }
  }
}
