import * as z from 'zod/mini'
import type { Fault } from '../../../functions/sandbox/faults.ts'
import { rootBudget } from '../../../shared/ledger/book/definitions.ts'
import type { State } from '../../../shared/ledger/updates/update.ts'
import { dayMs, minuteMs } from '../../../shared/platform/clock.ts'
import type { Scope } from '../../../shared/platform/words.ts'
import type { Kind } from '../../../shared/tracking/kinds.ts'
import { workLastsMs } from '../background.ts'
import { signCallerToken } from '../caller-key.ts'
import type { Scenario } from './scenario.ts'

const tokenLastsMs = 90 * dayMs

/** The callers who have a token, with its scopes. */
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

const updates = z.object({ updates: z.array(z.object({ id: z.string(), state: z.string() })) })
const account = z.object({ windows: z.array(z.object({ window: z.string(), available: z.number() })) })

/** The month went another way than it is written, so the ledger shows something else than intended. */
class UnexpectedOutcome extends Error {
  override readonly name = 'UnexpectedOutcome'
}

/** Sends requests to the API as one of the callers. */
function createCalls({ clock, api, callerKey }: Scenario, callerScopes: CallerScopes) {
  const tokenOf = (sub: string) =>
    signCallerToken({
      ...{ key: callerKey, sub, scopes: callerScopes[sub] ?? [], budgets: '*' },
      ...{ now: clock.now(), lastsMs: tokenLastsMs },
    })

  async function request(who: string, method: string, path: string, body?: object, key?: string): Promise<Response> {
    return api.request(path, {
      method,
      headers: {
        authorization: `Bearer ${await tokenOf(who)}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
  }

  /** @throws UnexpectedOutcome unless it succeeds. */
  async function call(who: string, method: string, path: string, body?: object): Promise<unknown> {
    const response = await request(who, method, path, body)
    const text = await response.text()
    if (!response.ok) throw new UnexpectedOutcome(`${who}: ${method} ${path} was answered ${response.status}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }

  return { request, call }
}

/** What people, tools and the service do, through the same ways in as everyone. */
export function createActors(scenario: Scenario, callerScopes: CallerScopes) {
  const { clock, guard, triggers, service } = scenario
  const { request, call } = createCalls(scenario, callerScopes)
  let keys = 0
  /** Update ids derive from it: the same month has the same ids. */
  const nextKey = () => `month-${++keys}`

  /** @returns the update's id. */
  async function ask(who: string, asked: DemoRequest, becomes: State, key = nextKey()): Promise<string> {
    const response = await request(who, 'POST', '/updates', { kind: 'ranking', ...asked }, key)
    const text = await response.text()
    const update = updates.safeParse(JSON.parse(text)).data?.updates[0]
    if (update?.state !== becomes)
      throw new UnexpectedOutcome(`${who} and ${asked.project}: not ${becomes} but ${text}`)
    return update.id
  }

  /** As after Confirm in Slack. */
  async function askInSlack(user: string, { project, kind = 'ranking', reason }: DemoRequest, becomes: State) {
    const asker = { caller: `slack:${user}`, via: 'slack', route: 'slack', key: nextKey() } as const
    const answer = await guard.submit(
      asker,
      { kind, projects: [project], whenShort: 'fit', ...(reason !== undefined && { reason }) },
      { respondAsync: false, endsAt: endsAt() },
    )
    const update = answer.updates[0]
    if (update?.state !== becomes) {
      throw new UnexpectedOutcome(`${asker.caller} and ${project}: not ${becomes} but ${update?.state}`)
    }
    return update.id
  }

  /** For one call, as `PUT /sandbox/faults` does it. */
  const injectFault = (fault: Fault): Promise<void> => service.replaceFaults([{ ...fault, times: 1 }])

  const endsAt = () => clock.now() + workLastsMs

  return {
    request,
    call,
    ask,
    askInSlack,
    injectFault,
    sweep: () => triggers.sweep(endsAt()),
    /** Time passes within a scene. */
    wait: (minutes: number) => clock.moveTo(clock.now() + minutes * minuteMs),
    /** Units that are left to the account. */
    unitsLeft: async (): Promise<number> => {
      const { windows } = account.parse(await call('mira', 'GET', `/budgets/${rootBudget}`))
      return windows.find(({ window }) => window === 'month')?.available ?? 0
    },
  }
}
