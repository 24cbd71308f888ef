import type { Choose } from '../simulation/step.ts'
import { chanceOf } from '../simulation/workloads/chance.ts'
import { openBrowser } from '../support/browser/browser.ts'
import { createTestClock } from '../support/clock.ts'
import { listenForAgents } from '../support/mcp.ts'
import { startProduct } from '../support/product.ts'
import { listPeople } from '../support/slack/slack.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'
import type { Faces } from './figures.ts'
import { createVendor } from './vendor.ts'

/** A run whose answer was lost, and whether it took effect. */
interface LostRun {
  readonly id: string
  readonly ran: boolean
}

export type Agency = Awaited<ReturnType<typeof openAgency>>

export const unitsPerMonth = 20_000
export const monthly = (units: number) => [{ window: 'month', units }]
export const siteOf = (client: string): string => `${client}.example`

function clientsOf(count: number) {
  const names = Array.from({ length: count }, (_, at) => `client-${String(at + 1).padStart(2, '0')}`)
  const idOf = (name: string) => String(5001 + names.indexOf(name))
  const costs = Object.fromEntries(
    names.flatMap((name, at) => [siteOf(name), idOf(name)].map((project) => [project, 20 + 10 * at])),
  )
  return { names, idOf, costs }
}

/** An agency of some clients on the 10th of a month, with a plan each night. */
export async function openAgency({ seed, clients = 12 }: { seed: number; clients?: number }) {
  const chance = chanceOf(seed)
  const { names, idOf, costs } = clientsOf(clients)
  const plans = [{ name: 'night', kind: 'ranking', projects: names.map(siteOf), schedule: 'cron(0 5 * * ? *)' }]
  const clock = createTestClock('2026-11-10T09:00:00Z')
  const today = () => new Date(clock.now()).toISOString().slice(0, 10)
  const vendor = createVendor(costs, today)
  const product = await startProduct({
    store: createMemoryStore(),
    clock,
    plans,
    slack: true,
    bot: true,
    service: vendor.answer,
    env: { ACCOUNT_UNITS_PER_MONTH: String(unitsPerMonth) },
  })
  await makeBudgets(product, { names, idOf, chance })
  const faces = await openFaces(product)
  const lost: LostRun[] = []
  const unbooked = new Map<string, number>()
  const month = () => today().slice(0, 7)

  /** The lost runs that are in doubt now. */
  const doubts = async () => {
    const { rows } = await product.guard.ledger.open('in-doubt', 100)
    return rows.flatMap((update) => lost.filter(({ id }) => id === update.id).map(({ ran }) => ({ update, ran })))
  }

  return {
    product,
    clock,
    vendor,
    faces,
    names,
    idOf,
    chance,
    lost,
    doubts,
    /** Units outside the guard that the books do not have yet. */
    unbooked: {
      add: (units: number) => unbooked.set(month(), (unbooked.get(month()) ?? 0) + units),
      clear: () => unbooked.delete(month()),
    },
    settle: async () => {
      await (await product.guard.jobs()).sweep(product.endsAt())
      await product.deliver()
    },
    /** What `account` must have spent, by what the vendor counted this month. */
    owed: async () => {
      const open = (await doubts()).filter(({ ran, update }) => ran && update.month.startsWith(`month:${month()}`))
      const undecided = open.reduce((sum, { update }) => sum + (update.hold?.units ?? 0), 0)
      return vendor.counted() - (unbooked.get(month()) ?? 0) - undecided
    },
  }
}

type Product = Awaited<ReturnType<typeof startProduct>>

async function makeBudgets(
  product: Product,
  of: Pick<ReturnType<typeof clientsOf>, 'names' | 'idOf'> & { chance: Choose },
) {
  const { names, idOf, chance } = of
  for (const [at, name] of names.entries()) {
    const projects = [{ name: siteOf(name), id: idOf(name) }]
    const rules = at % 4 === 1 ? { approvalAbove: 35 } : {}
    const body = { limits: monthly(200 + chance(900)), projects, ...rules }
    const { status, text } = await product.call('PUT', `/budgets/${name}`, { body })
    if (status !== 201) throw new Error(text)
  }
  await (await product.guard.jobs()).readPrices(product.endsAt())
}

async function openFaces(product: Product): Promise<Faces> {
  const { signed, inDays } = product
  await listPeople(product, { U1BEA: { scopes: ['read', 'run', 'approve'], budgets: '*' } })
  const browser = openBrowser(product)
  const { connect } = await listenForAgents(product)
  const agent = await connect({ scope: 'read run', claims: { exp: inDays(90) } })
  const logIn = () => browser.logIn(signed({ sub: 'bob', scope: 'read admin', budgets: '*', exp: inDays(1) }))
  return { product, browser, agent, logIn }
}
