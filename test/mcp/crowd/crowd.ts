import { readQuote } from '../../../shared/auth/signed-quotes.ts'
import { createMemoryStore } from '../../../shared/ledger/store/memory-store.ts'
import { toRfc3339 } from '../../../shared/platform/clock.ts'
import { chanceOf, one } from '../../simulation/workloads/chance.ts'
import { createTestClock, minutes } from '../../support/clock.ts'
import { listenForAgents, type Result } from '../../support/mcp.ts'
import { json, startProduct } from '../../support/product.ts'
import { mortal } from '../../support/store/mortal-store.ts'
import { type Charge, type Crowd, hostile, type Member } from './members.ts'
import { brokenPromises, type Figures, figuresOf } from './promises.ts'

const price = 40

/** What goes wrong in a step of an agent. */
const faults = [
  'retry',
  'break',
  'cancel',
  'duplicate',
  'parallel',
  'stale',
  'foreign',
  'altered',
  'grow',
  'freeze',
  'kill',
] as const
type Fault = (typeof faults)[number]

/** Agents at two processes of the product, two for each project, and everything that goes wrong with them. */
export async function runCrowd(options: {
  seed: number
  agents: number
  steps: number
}): Promise<Figures & { broken: string[] }> {
  const crowd = await gather(options)
  const { product, members } = crowd
  for (const isLast of [false, true]) {
    // Each fault once by itself, so that none depends on chance.
    for (const [at, fault] of faults.entries()) {
      const member = members[at]
      if (member) await takeStep(crowd, member, fault, { isAlone: true })
    }
    await Promise.all(
      members.slice(faults.length).map(async (member, at) => {
        for (let step = 0; step < options.steps; step++) {
          const fault = faults[(at + step * 5 + options.seed) % faults.length] ?? 'retry'
          await takeStep(crowd, member, fault)
        }
      }),
    )
    // Over midnight, so that a second run of the same work would be possible.
    if (!isLast) product.clock.advance(minutes(15 * 60))
  }
  await product.call('POST', '/budgets/acme/unfreeze', { body: { reason: 'the end' } })
  product.clock.advance(minutes(15))
  const { sweep } = await product.guard.background()
  for (let times = 0; times < 3; times++) await sweep(product.clock.now() + minutes(15))
  for (const member of members) for (const quote of member.quotes) await request(crowd, member, quote)
  return { ...(await figuresOf(crowd)), broken: await brokenPromises(crowd) }
}

async function gather({ seed, agents }: { seed: number; agents: number }): Promise<Crowd> {
  const units: Record<string, number> = {}
  const chance = chanceOf(seed)
  const charges: Charge[] = []
  const clock = createTestClock()
  const { store, kill, heal } = mortal(createMemoryStore())
  const product = await startProduct({
    ...{ clock, store, units },
    service: ({ url }) => {
      const [operation, segment = ''] = new URL(url, 'http://x').pathname.split('/').toReversed()
      if (operation !== 'run') return undefined
      const project = decodeURIComponent(segment)
      const charge = { project, day: toRfc3339(clock.now()).slice(0, 10), units: units[project] ?? price }
      charges.push(charge)
      return json({ data: { keyword_units: charge.units } })
    },
  })
  // Those who meet a fault alone have a project of their own; two others share one.
  const numberOf = (at: number) => (at < faults.length ? at : agents + Math.ceil(at / 2))
  const nameOf = (at: number) => `${hostile[numberOf(at) % 12] ?? 'project'} ${numberOf(at)}`
  const names = [...new Set(Array.from({ length: agents }, (_, at) => nameOf(at)))]
  const projects = names.map((name) => ({ name }))
  await product.call('PUT', '/budgets/acme', {
    body: { limits: [{ window: 'month', units: agents * 50 }], projects },
  })
  const doors = [await listenForAgents(product), await listenForAgents({ ...product, mcp: product.startProcess().mcp })]
  const members = await Promise.all(
    Array.from({ length: agents }, async (_, at): Promise<Member> => {
      const name = `agent-${at}`
      // What the check at the end asks for comes faster than an agent's calls may.
      await product.call('PUT', `/callers/${name}`, { body: { ratePerMinute: 10_000 } })
      let breaks: 'before' | 'after' | null = null
      const breaking: typeof fetch = async (input, init = {}) => {
        const when = breaks
        breaks = null
        if (when === null) return fetch(input, init)
        const signals = [
          ...(when === 'before' ? [AbortSignal.timeout(chance(5))] : []),
          ...(init.signal ? [init.signal] : []),
        ]
        await (await fetch(input, { ...init, signal: AbortSignal.any(signals) })).text()
        throw new TypeError('the stream broke')
      }
      const agent = await doors[at % 2]?.connect({ sub: name, fetch: breaking, claims: { exp: product.inDays(2) } })
      if (!agent) throw new Error('there are two doors')
      const breakNext = (when: 'before' | 'after') => {
        breaks = when
      }
      return { ...agent, name, project: nameOf(at), quotes: [], breakNext }
    }),
  )
  return {
    ...{ product, members, units, chance, answered: [], owners: new Map(), charges },
    counts: { breaks: 0, cancels: 0, mixes: 0 },
    process: { kill, heal, kills: 0, isBusy: false },
  }
}

/** `null`: the answer did not come. */
async function request(
  crowd: Crowd,
  member: Member,
  quote: string,
  how: { signal?: AbortSignal } = {},
): Promise<Result | null> {
  const { kills, isBusy } = crowd.process
  const result = await member.request(quote, `reason ${crowd.chance(1000)}`, how).catch(() => null)
  if (!result) return null
  const whileKilled = isBusy || crowd.process.isBusy || kills !== crowd.process.kills
  crowd.answered.push({ quote, by: member.name, result, whileKilled })
  return result
}

async function estimate({ owners }: Crowd, member: Member): Promise<string | null> {
  const { quote } = (await member.call('estimate_update', { kind: 'ranking', project: member.project })).data
  if (!quote) return null
  member.quotes.push(quote)
  owners.set(quote, member.name)
  return quote
}

async function takeStep(crowd: Crowd, member: Member, fault: Fault, { isAlone = false } = {}): Promise<void> {
  const { chance, process } = crowd
  // Quotes of the day before are the stale ones.
  if (fault === 'stale' && member.quotes[0] !== undefined) {
    for (const quote of member.quotes) await request(crowd, member, quote)
    return
  }
  const quote = await estimate(crowd, member)
  if (quote === null) return
  switch (fault) {
    case 'stale':
      return // kept for the next day
    case 'retry':
      await request(crowd, member, quote)
      await request(crowd, member, one(chance, member.quotes))
      return
    case 'break':
      member.breakNext(isAlone || chance(2) === 0 ? 'after' : 'before')
      if ((await request(crowd, member, quote)) === null) crowd.counts.breaks++
      await request(crowd, member, quote)
      return
    case 'cancel':
      if ((await request(crowd, member, quote, { signal: AbortSignal.timeout(isAlone ? 0 : chance(5)) })) === null)
        crowd.counts.cancels++
      await request(crowd, member, quote)
      return
    case 'duplicate': {
      const second = await estimate(crowd, member)
      await request(crowd, member, quote)
      if (second !== null) await request(crowd, member, second)
      return
    }
    case 'parallel': {
      const second = (await estimate(crowd, member)) ?? quote
      if (second !== quote) crowd.counts.mixes++
      await Promise.all([quote, second, quote, second].map((each) => request(crowd, member, each)))
      return
    }
    case 'foreign':
      await request(
        crowd,
        one(
          chance,
          crowd.members.filter(({ name }) => name !== member.name),
        ),
        quote,
      )
      await request(crowd, member, quote)
      return
    case 'altered':
      for (const each of [withMoreUnits(quote), quote, withMoreUnits(quote)]) await request(crowd, member, each)
      return
    case 'grow':
      crowd.units[member.project] = (crowd.units[member.project] ?? price) + 1 + chance(5)
      await request(crowd, member, quote)
      return
    case 'freeze':
      // A frozen budget stops all others, so few agents find one.
      if (process.isBusy || (!isAlone && chance(6) > 0)) return void (await request(crowd, member, quote))
      return frozen(crowd, () => request(crowd, member, quote))
    case 'kill':
      // Alone, the first write is the hold, and the second one would settle it.
      return killed(crowd, member, quote, isAlone ? 2 : 1 + chance(3))
  }
}

async function frozen({ product: { call }, process }: Crowd, act: () => Promise<unknown>): Promise<void> {
  process.isBusy = true
  await call('POST', '/budgets/acme/freeze', { body: { reason: 'a rehearsal' } })
  await act()
  await call('POST', '/budgets/acme/unfreeze', { body: { reason: 'a rehearsal' } })
  process.isBusy = false
}

/** Before the hold, between hold and settlement, or between settlement and answer. */
async function killed(crowd: Crowd, member: Member, quote: string, beforeWrite: number): Promise<void> {
  const { process } = crowd
  if (!process.isBusy) {
    process.isBusy = true
    process.kills++
    process.kill(beforeWrite)
    await request(crowd, member, quote)
    process.heal()
    process.isBusy = false
  }
  await request(crowd, member, quote)
}

function withMoreUnits(quote: string): string {
  const [payload = '', signature = ''] = quote.split('.')
  const units = readQuote(quote)?.units ?? 0
  const text = Buffer.from(payload, 'base64url')
    .toString()
    .replace(`"units":${units}`, `"units":${units + 900}`)
  return `${Buffer.from(text).toString('base64url')}.${signature}`
}
