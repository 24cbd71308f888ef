import { readQuote } from '../../../shared/auth/signed-quotes.ts'
import { type Given, lookAtTold } from '../audit/agents.ts'
import type { Handlers } from '../handlers.ts'
import { type Action, type Actions, changePrice, type Day, events, projects } from './actions.ts'
import { one } from './chance.ts'
import { some } from './focus.ts'

/** One day in eleven belongs to agents, with ten processes a wave and few quotes, so that agents meet. */
export const isAgentDay = (seed: number): boolean => seed % 11 === 9
export const agentsAtOnce = 10

const agents = ['ada', 'ada', 'carl']
const moreUnits = 900

async function estimates({ agent }: Handlers, { chance, quotes }: Day): Promise<Given | null> {
  const caller = one(chance, agents)
  const input = { kind: 'ranking', project: one(chance, projects), ...one(chance, [{}, {}, { budget: 'small' }]) }
  const { quote, units } = (await agent(caller, 'estimate_update', input)).data
  if (quote === undefined || units === undefined) return null
  const given = { quote, caller, units }
  quotes.push(given)
  return given
}

/** Each request has its own reason, since a model words it differently at each attempt. */
export async function requests(
  { agent }: Handlers,
  { chance, quotes, world }: Day,
  { quote, caller }: Pick<Given, 'quote' | 'caller'>,
): Promise<void> {
  const told = await agent(caller, 'request_update', { quote, reason: `reason ${chance(1000)}` })
  lookAtTold(world.items, quotes, { quote, caller, told })
}

/** A new quote or one of the latest, and rarely one of an earlier day. */
const withQuote =
  (use: (handlers: Handlers, day: Day, given: Given) => Promise<unknown>): Action =>
  async (handlers, day) => {
    const { chance, quotes } = day
    const latest = chance(4) === 0 ? quotes : quotes.slice(-2)
    const given = chance(2) === 0 || latest.length === 0 ? await estimates(handlers, day) : one(chance, latest)
    if (given) await use(handlers, day, given)
  }

const repeats: Action = withQuote(async (handlers, day, given) => {
  for (let times = day.chance(3); times >= 0; times--) await requests(handlers, day, given)
})

export const agentRequests: Actions = {
  'agent asks for a price': estimates,
  'agent uses a quote': repeats,
  'agent uses it too': repeats,
  'agent uses it at a grown price': withQuote(async (handlers, day, given) => {
    await changePrice(handlers, readQuote(given.quote)?.project ?? '', () => given.units + 1 + day.chance(5))
    await requests(handlers, day, given)
  }),
  'agent uses the quote of another': withQuote((handlers, day, { quote, caller }) =>
    requests(handlers, day, { quote, caller: caller === 'ada' ? 'carl' : 'ada' }),
  ),
  'agent alters a quote': withQuote((handlers, day, { quote, caller }) =>
    requests(handlers, day, { quote: altered(quote), caller }),
  ),
  'agent cancels': withQuote(async ({ agent }, _day, { caller, update }) => {
    if (update !== undefined) await agent(caller, 'cancel_update', { id: update })
  }),
}

export const agentEvents: Actions = some(
  events,
  'changes a price',
  'sweeps',
  'lets time pass',
  'freezes and thaws',
  'cancels',
  'resolves',
)

function altered(quote: string): string {
  const [payload = '', signature = ''] = quote.split('.')
  const units = readQuote(quote)?.units ?? 0
  const text = Buffer.from(payload, 'base64url').toString()
  const more = text.replace(`"units":${units}`, `"units":${units + moreUnits}`)
  return `${Buffer.from(more).toString('base64url')}.${signature}`
}
