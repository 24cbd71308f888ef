import { expect, test } from 'vitest'
import { createMemoryStore } from '../../shared/ledger/store/memory-store.ts'
import { chanceOf, one } from '../simulation/workloads/chance.ts'
import { minutes } from '../support/clock.ts'
import { type Agent, listenForAgents, type Result } from '../support/mcp.ts'
import { startProduct } from '../support/product.ts'
import { mortal } from '../support/store/mortal-store.ts'

const agentCount = 100
const steps = 3
const price = 40

/** Two agents for each project, half of them at another process of the product. */
async function start() {
  const units: Record<string, number> = {}
  const { store, kill, heal } = mortal(createMemoryStore())
  const product = await startProduct({ store, units })
  const projects = Array.from({ length: agentCount / 2 }, (_, at) => ({ name: `project-${at}` }))
  const acme = { limits: [{ window: 'month', units: 1500 }], projects }
  expect((await product.call('PUT', '/budgets/acme', { body: acme })).status).toBe(201)
  const doors = [
    await listenForAgents(product),
    await listenForAgents({ ...product, mcp: product.startProcess().mcp }),
  ] as const
  const connect = async (at: number) => {
    const agent = await (at % 2 ? doors[0] : doors[1]).connect({ sub: `agent-${at}` })
    return { ...agent, project: `project-${Math.floor(at / 2)}`, quotes: [] as string[] }
  }
  const agents = await Promise.all(Array.from({ length: agentCount }, (_, at) => connect(at)))
  return { ...product, agents, units, kill, heal }
}

type Busy = Agent & { readonly project: string; readonly quotes: string[] }

/** Which call meets which is the sockets' choice; the rules hold in any order. More seeds find more meetings. */
test.each([1])('a hundred agents run no project twice, and the books are exact: seed %i', async (seed) => {
  const { agents, call, clock, guard, seen, figures, audit, units, kill, heal } = await start()
  const chance = chanceOf(seed)
  const answers = new Map<string, Set<string>>()
  const results: Result[] = []
  let isKilled = false

  async function request(agent: Busy, quote: string, signal?: AbortSignal): Promise<void> {
    const result = await agent.request(quote, `reason ${chance(1000)}`, signal ? { signal } : {}).catch(() => null)
    if (!result) return
    results.push(result)
    const id = result.data.updates?.[0]?.id ?? result.data.id
    if (id && !isEarlier(result)) answers.set(quote, (answers.get(quote) ?? new Set()).add(id))
  }

  async function killDuring(act: () => Promise<void>): Promise<void> {
    if (isKilled || chance(3) > 0) return act()
    isKilled = true
    kill(chance(3))
    await act()
    heal()
    isKilled = false
  }

  async function step(agent: Busy): Promise<void> {
    const { quote } = (await agent.call('estimate_update', { kind: 'ranking', project: agent.project })).data
    if (quote) agent.quotes.push(quote)
    if (agent.quotes.length === 0) return
    const own = one(chance, agent.quotes)
    const actions: (() => Promise<unknown>)[] = [
      () => request(agent, own),
      () => Promise.all([request(agent, own), request(agent, own), request(agent, own)]),
      () => request(agent, own, AbortSignal.timeout(1 + chance(20))),
      () => request(one(chance, agents), own),
      () => killDuring(() => request(agent, own)),
      async () => {
        units[agent.project] = price + 1 + chance(5)
        await request(agent, own)
      },
      async () => {
        // A frozen budget stops all others, so few agents find one.
        if (isKilled || chance(10) > 0) return request(agent, own)
        await call('POST', '/budgets/acme/freeze', { body: { reason: 'a rehearsal' } })
        await request(agent, own)
        await call('POST', '/budgets/acme/unfreeze', { body: { reason: 'a rehearsal' } })
      },
    ]
    await one(chance, actions)()
  }

  for (const isLast of [false, true]) {
    await Promise.all(
      agents.map(async (agent) => {
        for (let at = 0; at < steps; at++) await step(agent)
      }),
    )
    if (!isLast) clock.advance(minutes(11))
  }
  await call('POST', '/budgets/acme/unfreeze', { body: { reason: 'the end' } })
  const { sweep } = await guard.background()
  for (let times = 0; times < 3; times++) await sweep(clock.now() + minutes(15))

  const runs = seen('run').map(({ url }) => url)
  expect(runs.length).toBeGreaterThan(0)
  expect(new Set(runs).size).toBe(runs.length)
  expect([...answers.values()].filter((ids) => ids.size > 1)).toEqual([])
  for (const { isError, sentence, data } of results) {
    expect(data.next, sentence).toMatch(/\w{3}.*\.$/)
    if (isError) expect(data.type).toMatch(/^\/problems\//)
  }
  const { spent, held, inDoubt, available, limit } = await figures('acme')
  expect(spent + held + inDoubt + available).toBe(limit)
  expect(spent + held + inDoubt).toBeGreaterThanOrEqual(runs.length * price)
  expect(await audit()).toBe(true)
})

/** The cool-down answers with another quote's update. */
const isEarlier = ({ data }: Result): boolean => String(data.next).startsWith('It was done a short while ago')
