import * as z from 'zod/mini'
import type { Fault } from '../../functions/sandbox/faults.ts'
import { rootBudget } from '../../shared/ledger/definitions.ts'
import type { State } from '../../shared/ledger/update.ts'
import { dayMs, minuteMs } from '../../shared/platform/clock.ts'
import type { Kind, Scope } from '../../shared/platform/words.ts'
import { workLastsMs } from './background.ts'
import { signCallerToken } from './caller-token.ts'
import type { Stage } from './demo-month-stage.ts'

const tokenLastsMs = 90 * dayMs

/** Whoever has a token, and what it says. */
export type Cast = Readonly<Record<string, readonly Scope[]>>

export interface Asked {
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

/** The month did not go as it is written, so what it left behind is not what it is meant to show. */
class OutOfRole extends Error {
  override readonly name = 'OutOfRole'
}

/** What people, tools and the service do, each through the door that they use in earnest. */
export function createActors(stage: Stage, cast: Cast) {
  const { clock, api, guard, triggers, service, callerKey } = stage
  let keys = 0
  /** Updates are named after it: the same month has the same names. */
  const nextKey = () => `month-${++keys}`

  const tokenOf = (sub: string) =>
    signCallerToken({
      ...{ key: callerKey, sub, scopes: cast[sub] ?? [], budgets: '*' },
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

  /** Something that has to succeed. */
  async function call(who: string, method: string, path: string, body?: object): Promise<unknown> {
    const response = await request(who, method, path, body)
    const text = await response.text()
    if (!response.ok) throw new OutOfRole(`${who}: ${method} ${path} was answered ${response.status}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }

  /** @returns the update's id. */
  async function ask(who: string, asked: Asked, becomes: State, key = nextKey()): Promise<string> {
    const response = await request(who, 'POST', '/updates', { kind: 'ranking', ...asked }, key)
    const text = await response.text()
    const update = updates.safeParse(JSON.parse(text)).data?.updates[0]
    if (update?.state !== becomes) throw new OutOfRole(`${who} and ${asked.project}: not ${becomes} but ${text}`)
    return update.id
  }

  /** As after Confirm in Slack. */
  async function askInSlack(user: string, { project, kind = 'ranking', reason }: Asked, becomes: State) {
    const asker = { caller: `slack:${user}`, via: 'slack', route: 'slack', key: nextKey() } as const
    const answer = await guard.ask(
      asker,
      { kind, projects: [project], whenShort: 'fit', ...(reason !== undefined && { reason }) },
      { respondAsync: false, endsAt: endsAt() },
    )
    const update = answer.updates[0]
    if (update?.state !== becomes) {
      throw new OutOfRole(`${asker.caller} and ${project}: not ${becomes} but ${update?.state}`)
    }
    return update.id
  }

  /** The service behaves so, once: as `PUT /sandbox/faults` would have it. */
  const trouble = (fault: Fault): Promise<void> => service.replaceFaults([{ ...fault, times: 1 }])

  const endsAt = () => clock.now() + workLastsMs

  return {
    request,
    call,
    ask,
    askInSlack,
    trouble,
    sweep: () => triggers.sweep(endsAt()),
    /** Time passes within a scene. */
    wait: (minutes: number) => clock.moveTo(clock.now() + minutes * minuteMs),
    /** Units of the account that the guard takes for left. */
    unitsLeft: async (): Promise<number> => {
      const { windows } = account.parse(await call('mira', 'GET', `/budgets/${rootBudget}`))
      return windows.find(({ window }) => window === 'month')?.available ?? 0
    },
  }
}
