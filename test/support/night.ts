import { occurrences } from '../../shared/guard/plans/stored-occurrence.ts'
import { minutes } from './clock.ts'
import { type Product, startProduct } from './product.ts'
import type { Answer, Recorded } from './scripted-service.ts'
import { createMemoryStore } from './store/memory-store.ts'

/** The time and the plan of a night with three projects. */

export const due = '2026-11-20T10:00:00Z'
export const time = Date.parse(due)
export const night = { name: 'night', kind: 'ranking', projects: ['a', 'b', 'c'], schedule: 'cron(0 10 * * ? *)' }

export const aboutOccurrence = /^\S+ The plan /

type Options = NonNullable<Parameters<typeof startProduct>[0]>
type On = (asked: { project: string; operation: string; product: Product }) => Answer | undefined

/** A product at the time of its plan `night`. */
export async function startNight(plan: object = {}, options: Options & { on?: On } = {}) {
  const { on, ...rest } = options
  const product: Product = await startProduct({
    store: createMemoryStore(),
    slack: true,
    plans: [{ ...night, ...plan }],
    ...(on && { service: (request) => on({ ...askedIn(request), product }) }),
    ...rest,
  })
  const fire = (process = product as Pick<Product, 'triggers'>) =>
    process.triggers.handle({ plan: 'night', time: due }, product.endsAt())
  const unsent = () => product.call('POST', '/plans/night/run', { body: { time: due, only: 'unsent' } })
  const sweep = (process = product as Pick<Product, 'triggers'>) => process.triggers.sweep(product.endsAt())
  const at = async (minute: number) => {
    product.clock.set(new Date(time + minutes(minute)).toISOString())
    return sweep()
  }
  return {
    product,
    fire,
    unsent,
    sweep,
    at,
    ran: () => product.seen('run').map((request) => askedIn(request).project),
    estimated: () => product.seen('estimate').map((request) => askedIn(request).project),
    states: async () => {
      const { body } = await product.call('GET', '/updates?plan=night&limit=200')
      const rows = (body.updates as { project: string; state: string }[]).map(
        ({ project, state }) => `${project} ${state}`,
      )
      return rows.sort()
    },
    last: async () => (await product.call('GET', '/plans')).body.plans[0].last,
    report: async () => {
      const [occurrence] = await product.guard.ledger.queue(occurrences).latest('occurrences#night', 1)
      return occurrence ? product.guard.report(occurrence) : null
    },
    told: async () => {
      await product.deliver()
      return product.slack
        .posted()
        .filter(({ text }) => aboutOccurrence.test(text))
        .map(({ text }) => text)
    },
  }
}

function askedIn({ url }: Recorded): { project: string; operation: string } {
  const [, , , project = '', operation = ''] = new URL(url, 'http://x').pathname.split('/')
  return { project: decodeURIComponent(project), operation }
}
