import { expect, onTestFinished, test } from 'vitest'
import { createSandbox } from '../../functions/sandbox/app.ts'
import { createListener } from '../../infra/local/listener.ts'
import { createTestClock, days, hours, minutes } from '../support/clock.ts'
import { serviceToken, startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const projects = ['acme.example', 'globex', 'initech', 'daily.example']
const morning = { name: 'morning', kind: 'ranking', projects, schedule: 'cron(0 5 * * ? *)' }

/** The agency of the demonstration, with a stand-in whose answers no one expects. */
async function startAgency() {
  const clock = createTestClock()
  const sandbox = createSandbox({ clock, token: serviceToken, habits: 'strange' })
  const listener = await createListener({ port: 0 })
  listener.open(sandbox)
  onTestFinished(() => listener.close(Promise.resolve()))
  const product = await startProduct({
    clock,
    store: createMemoryStore(),
    plans: [morning],
    env: { TRACKING_BASE_URL: `${listener.url}/v3` },
  })
  await product.call('PUT', '/budgets/clients', {
    body: { limits: [{ window: 'month', units: 20_000 }], projects: projects.map((name) => ({ name })) },
  })
  const headers = { authorization: `Bearer ${serviceToken}` }
  const vendor = async () => (await sandbox.request('/sandbox/account', { headers })).json()
  return { ...product, vendor }
}

type Agency = Awaited<ReturnType<typeof startAgency>>

interface VendorRun {
  readonly project: string
  readonly kind: string
  readonly units: number
}

/** What the service took for runs that the guard sent is never more than what the guard counts. */
async function mustBeCounted(agency: Agency, step: string): Promise<void> {
  const { runs, used } = (await agency.vendor()) as { runs: readonly VendorRun[]; used: number }
  const { updates } = (await agency.call('GET', '/updates?limit=200')).body
  const ran = updates.filter(({ state }: { state: string }) => ['settled', 'in-doubt', 'released'].includes(state))
  expect(runs.length, `${step}: one run for an admitted update`).toBeLessThanOrEqual(ran.length)
  const { spent, inDoubt, held } = await agency.figures()
  expect(used, `${step}: counted units`).toBeLessThanOrEqual(spent + inDoubt + held)
  for (const project of projects) {
    const taken = runs.filter((run) => run.project === project).reduce((sum, { units }) => sum + units, 0)
    const counted = ran
      .filter((update: { project: string }) => update.project === project)
      .reduce(
        (sum: number, { units }: { units: { held: number; charged: number | null } }) =>
          sum + (units.charged ?? units.held),
        0,
      )
    expect(taken, `${step}: ${project}`).toBeLessThanOrEqual(counted)
  }
}

test('for a week of an agency, no unit that a strange service took is lost', async () => {
  const agency = await startAgency()
  const { clock, guard, endsAt, update, call } = agency
  for (let day = 0; day < 7; day++) {
    const time = Date.parse('2026-11-21T05:00:00Z') + days(day)
    clock.set(new Date(time + 10_000).toISOString())
    await (await guard.jobs()).fire('morning', time, endsAt())
    await mustBeCounted(agency, `the plan of day ${day}`)
    for (let round = 0; round < 13; round++) {
      clock.advance(minutes(5))
      await (await guard.jobs()).sweep(endsAt())
      await mustBeCounted(agency, `day ${day}, sweep ${round}`)
    }
    const project = projects[day % projects.length] ?? ''
    await update({ kind: 'keyword-difficulty', project })
    await call('GET', `/v3/on-demand/${project}/estimate`).catch(() => undefined)
    await update({ kind: 'ranking', projects: ['globex', 'initech'], whenShort: 'fit' })
    await mustBeCounted(agency, `requests of day ${day}`)
    clock.advance(hours(6))
    await (await guard.jobs()).sweep(endsAt())
    await mustBeCounted(agency, `the evening of day ${day}`)
  }
  const { used } = (await agency.vendor()) as { used: number }
  expect(used).toBeGreaterThan(0)
  expect(await agency.audit()).toBe(true)
})
