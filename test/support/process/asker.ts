import { once } from 'node:events'
import { openGuard } from '../../../infra/local/commands/open.ts'
import { systemClock } from '../../../shared/platform/clock.ts'

/** Asks for updates of these projects all at once, on the ledger that a command opens: for tests of several processes. */
const projects = process.argv.slice(2)
const { services } = await openGuard()
const { guard } = services
await guard.ledger.view()
process.stdout.write(`ready ${process.version}\n`)
await once(process.stdin, 'data')

const token = { sub: 'bob', scopes: new Set(['run'] as const), budgets: '*', until: Number.MAX_SAFE_INTEGER } as const
const asker = { caller: 'bob', token, via: 'http', route: 'POST /updates' } as const
const answers = await Promise.all(
  projects.map(async (project) => {
    const how = { respondAsync: false, endsAt: systemClock.now() + 120_000 }
    const asked = { kind: 'ranking', projects: [project], whenShort: 'refuse' } as const
    const { problem, updates } = await guard.submit({ ...asker, key: `${process.pid} ${project}` }, asked, how)
    return problem?.slug ?? updates[0]?.state ?? 'nothing'
  }),
)
process.stdout.write(`${JSON.stringify(answers)}\n`)
process.exit()
