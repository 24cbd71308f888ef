import type { Choose } from '../simulation/step.ts'

export interface Heard {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: clients look into answers without knowing our types.
  readonly body: any
}

/** A client repeats the request under the same key until the answer is final. */
export interface Ask {
  /** The name is in the query of the request to the service, so that both sides use the same name. */
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
  /** The number of updates in the request. Its answer must not change after all are recorded. 0: no such promise. */
  readonly updates: number
  /** The answers in order, without those lost with the process. */
  readonly heard: Heard[]
}

export interface Tokens {
  readonly admin: string
  /** Another person, because callers cannot approve their own requests. */
  readonly approver: string
}

/** `small` has so few units that it refuses some requests, and expensive ones of `careful` need approval. */
const budgets = {
  small: { limits: [{ window: 'month', units: 1_000 }] },
  careful: { limits: [{ window: 'month', units: 'unlimited' }], approvalAbove: 500 },
} as const

export async function makeBudgets({ url, tokens }: { url: string; tokens: Tokens }): Promise<void> {
  for (const [name, body] of Object.entries(budgets)) {
    const heard = await call(url, 'PUT', `/budgets/${name}`, tokens.admin, isJson, body)
    if (heard?.status !== 201) throw new Error(`the budget ${name} was not made: ${JSON.stringify(heard)}`)
  }
}

const isJson = { 'content-type': 'application/json' }
/** The last plans are for the command `npm run plan`. */
const planCount = 200
export const plans = Array.from({ length: planCount }, (_, index) => ({
  name: `plan-${index}`,
  kind: 'ranking',
  projects: [`night-${index}-a`, `night-${index}-b`],
  query: { ask: `plan-${index}` },
  schedule: 'rate(1 day)',
}))

interface Wanted {
  readonly kind?: 'keyword-difficulty'
  readonly project?: string
  readonly projects?: readonly string[]
  readonly budget?: keyof typeof budgets
  readonly whenShort?: 'fit'
}

/** Every request is about its own work, except intended duplicates. */
export function createAsks(chance: Choose) {
  const asks: Ask[] = []
  let plansUsed = 0

  const add = (ask: Omit<Ask, 'heard' | 'name' | 'updates'> & { updates?: number }, name: string): Ask => {
    const added = { updates: 0, ...ask, name, heard: [] }
    asks.push(added)
    return added
  }
  const update = (body: Wanted, headers: Record<string, string> = {}): Ask => {
    const name = `ask-${asks.length}`
    return add(
      {
        method: 'POST',
        path: '/updates',
        headers: { 'idempotency-key': name, ...isJson, ...headers },
        body: { kind: 'ranking', query: { ask: name }, ...body },
        updates: body.projects?.length ?? 1,
      },
      name,
    )
  }
  const project = (prefix: string) => `${prefix}-${asks.length}`

  const viaGateway = (): Ask => {
    const name = `gateway-${asks.length}`
    const path = `/v3/on-demand/${name}/run?ask=${name}`
    // The body comes from the service, without our records.
    return add({ method: 'GET', path, headers: { 'idempotency-key': name } }, name)
  }
  const occurrence = (): readonly Ask[] => {
    const plan = plans[plansUsed++]?.name
    if (plan === undefined) return []
    const body = { time: new Date().toISOString() }
    return [add({ method: 'POST', path: `/plans/${plan}/run`, headers: isJson, body }, plan)]
  }
  const duplicates = (): readonly Ask[] => {
    const shared = project('shared')
    return [update({ project: shared }), update({ project: shared })]
  }
  const kinds: readonly (() => readonly Ask[])[] = [
    () => [update({ project: project('one') })],
    () => [update({ project: project('seven'), kind: 'keyword-difficulty' })],
    () => [update({ project: project('over') })],
    duplicates,
    () => [update({ projects: [1, 2, 3].map((each) => project(`batch-${each}`)), whenShort: 'fit' })],
    () => [update({ project: project('queued') }, { prefer: 'respond-async' })],
    () => [update({ project: project('dear'), budget: 'careful' })],
    () => [update({ project: project('small'), budget: 'small' })],
    () => [viaGateway()],
    occurrence,
  ]

  return {
    asks: asks as readonly Ask[],
    more: ({ withPlan }: { withPlan: boolean }): readonly Ask[] =>
      kinds.flatMap((make) => (chance(2) === 0 || (withPlan && make === occurrence) ? make() : [])),
    open: (): readonly Ask[] => asks.filter((ask) => !isFinal(ask, ask.heard.at(-1))),
  }
}

const states = ['settled', 'released', 'refused', 'rejected', 'cancelled', 'expired']

/** The answer will not change: every update of the request is recorded and has ended. */
export function isFinal({ updates }: Ask, heard: Heard | undefined): boolean {
  if (!heard || heard.status === 503 || heard.body?.type === '/problems/in-progress') return false
  const recorded: readonly { state: string }[] = heard.body?.updates ?? []
  const isDone = recorded.length > 0 && recorded.every(({ state }) => states.includes(state))
  if (updates > 0) return isDone && recorded.length === updates
  return isDone || (heard.status !== 202 && heard.status !== 502)
}

/** `null`: the process died before its answer. */
export async function send(ask: Ask, url: string, tokens: Tokens): Promise<Heard | null> {
  const heard = await call(url, ask.method, ask.path, tokens.admin, ask.headers, ask.body)
  if (!heard) return null
  ask.heard.push(heard)
  for (const { id, state } of heard.body?.updates ?? [])
    if (state === 'awaiting-approval') await call(url, 'POST', `/updates/${id}/approve`, tokens.approver, {})
  return heard
}

/** @throws unless the answer is 200. */
export async function get(path: string, { url, tokens }: { url: string; tokens: Tokens }): Promise<Heard['body']> {
  const heard = await call(url, 'GET', path, tokens.admin, {})
  if (heard?.status !== 200) throw new Error(`${path} answers ${heard?.status}: ${JSON.stringify(heard?.body)}`)
  return heard.body
}

async function call(
  url: string,
  method: string,
  path: string,
  token: string,
  headers: Readonly<Record<string, string>>,
  body?: object,
): Promise<Heard | null> {
  try {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    const isJson = /json/.test(answer.headers.get('content-type') ?? '') && text !== ''
    return { status: answer.status, body: isJson ? JSON.parse(text) : text }
  } catch {
    return null
  }
}
