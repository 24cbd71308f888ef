import { one } from '../simulation/workloads/chance.ts'
import { days, hours, minutes } from '../support/clock.ts'
import { type Agency, monthly, siteOf, unitsPerMonth } from './agency.ts'

/** One thing that happens in a month of an agency. Each says what it did. */
type Step = (agency: Agency) => Promise<string>

const steps: Readonly<Record<string, Step>> = {
  async night({ product, clock, settle }) {
    const next = new Date(clock.now() + days(1))
    next.setUTCHours(5, 0, 0, 0)
    const time = next.toISOString()
    clock.set(time)
    await (await product.guard.jobs()).readPrices(product.endsAt())
    await product.triggers.handle({ plan: 'night', time }, product.endsAt())
    await settle()
    return time
  },

  async update(agency) {
    const { chance, names, idOf } = agency
    const name = one(chance, names)
    const force = chance(2) === 0 ? { force: true, reason: 'again' } : {}
    const { status } = await ask(agency, one(chance, [siteOf(name), idOf(name)]), force)
    return `${name}: ${status}`
  },

  async agent({ faces: { agent }, chance, names }) {
    const quoted = await agent.call('estimate_update', { kind: 'ranking', project: siteOf(one(chance, names)) })
    if (quoted.data?.quote === undefined) return 'no quote'
    return (await agent.request(quoted.data.quote)).sentence
  },

  async loss(agency) {
    const { chance, names, vendor, lost } = agency
    const ran = chance(2) === 0
    vendor.loseNext(ran)
    const { status, body } = await ask(agency, siteOf(one(chance, names)), { force: true, reason: 'gets lost' })
    vendor.loseNoMore()
    const [update] = body.updates ?? []
    if (update?.state === 'in-doubt') lost.push({ id: update.id, ran })
    return `ran: ${ran}, ${status}`
  },

  async resolution(agency) {
    const [doubt] = await agency.doubts()
    if (!doubt) return 'no doubt'
    agency.clock.advance(minutes(20))
    return resolve(agency, doubt)
  },

  async decision({ product, chance, settle }) {
    const { rows } = await product.guard.ledger.open('awaiting-approval', 10)
    const [first] = rows
    if (!first) return 'nothing waits'
    const token = product.signed({ sub: 'eve', scope: 'read approve', budgets: '*' })
    const what = one(chance, ['approve', 'approve', 'reject'])
    const { status } = await product.call('POST', `/updates/${first.id}/${what}`, {
      token,
      body: { reason: 'decided' },
    })
    await settle()
    return `${what}: ${status}`
  },

  async entry({ product, chance, names }) {
    const budget = one(chance, names)
    const to = one(
      chance,
      names.filter((each) => each !== budget),
    )
    const entry = one(chance, [
      { type: 'grant', units: 50 },
      { type: 'transfer', to, units: 30 },
    ])
    const body = { ...entry, reason: 'booked' }
    const { status } = await product.call('POST', `/budgets/${budget}/entries`, { body })
    return `${entry.type} of ${budget}: ${status}`
  },

  async outside({ product, chance, vendor, unbooked }) {
    const units = 1 + chance(30)
    vendor.spendOutside(units)
    const body = { type: 'external-spend', units, reason: 'by hand' }
    const isBooked =
      chance(2) === 0 && (await product.call('POST', '/budgets/account/entries', { body })).status === 201
    if (!isBooked) unbooked.add(units)
    return `${units} units, booked: ${isBooked}`
  },

  async limit({ product, chance, names }) {
    const budget = one(chance, names)
    const rules = { limits: monthly(100 + chance(1_000)), ...(chance(2) === 0 && { keep: 40 }) }
    const body = { budgets: [{ name: budget, ...rules }], reason: 'a new contract' }
    return `${budget}: ${(await product.call('PUT', '/budgets', { body })).status}`
  },

  async freeze({ product, chance, names }) {
    const budget = one(chance, names)
    const what = one(chance, ['freeze', 'unfreeze'])
    const { status } = await product.call('POST', `/budgets/${budget}/${what}`, { body: { reason: 'held up' } })
    return `${what} ${budget}: ${status}`
  },

  /** A person reads the vendor's screen, closes each doubt by it, and books the figure. */
  async figure(agency) {
    const { product, clock, settle, doubts, vendor, unbooked, chance } = agency
    clock.advance(minutes(20))
    await settle()
    const open = await doubts()
    const isByBooking = chance(2) === 0
    for (const doubt of isByBooking ? [] : open) await resolve(agency, doubt)
    const said = Object.fromEntries(open.map(({ update, ran }) => [update.id, ran ? 'ran' : 'did-not-run']))
    const closing = isByBooking && open.length > 0 ? { doubts: said } : {}
    const figure = { unitsLeft: unitsPerMonth - vendor.counted(), reason: 'the vendor’s screen', ...closing }
    const path = '/budgets/account/reconcile'
    const { body: preview } = await product.call('POST', `${path}?dry-run=true`, { body: figure })
    const { status } = await product.call('POST', path, { body: { ...figure, difference: preview.units } })
    if (status === 200) unbooked.clear()
    return `${preview.units} units, doubts ${JSON.stringify(closing)}: ${status}`
  },

  async time({ clock, chance, settle }) {
    const passed = 1 + chance(12)
    clock.advance(hours(passed))
    await settle()
    return `${passed} hours`
  },
}

const ask = ({ product, chance }: Agency, project: string, more: object) =>
  product.call('POST', '/updates', { body: { kind: one(chance, ['ranking', 'keyword-difficulty']), project, ...more } })

async function resolve({ product }: Agency, { update, ran }: Awaited<ReturnType<Agency['doubts']>>[number]) {
  const body = { outcome: ran ? 'ran' : 'did-not-run', reason: 'the vendor says so' }
  const { status } = await product.call('POST', `/updates/${update.id}/resolve`, { body })
  return `${body.outcome}: ${status}`
}

export async function step(agency: Agency): Promise<string> {
  const name = one(agency.chance, Object.keys(steps))
  const done = await steps[name]?.(agency)
  await agency.faces.logIn()
  return `${name}: ${done}`
}
