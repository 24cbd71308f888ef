import { createInterface } from 'node:readline'
import { openGuard } from '../../../infra/local/commands/open.ts'
import { systemClock } from '../../../shared/platform/clock.ts'
import { SecretUnavailable } from '../../../shared/platform/secrets.ts'

/** Requests the updates of all projects in a line at once, on the ledger that a command opens, for tests of several processes. */
const { services } = await openGuard()
const { guard } = services
await guard.ledger.view()
process.stdout.write(`ready ${process.version}\n`)

const token = { sub: 'bob', scopes: new Set(['run'] as const), budgets: '*', until: Number.MAX_SAFE_INTEGER } as const
const asker = { caller: 'bob', token, via: 'http', route: 'POST /updates' } as const
let asked = 0

async function ask(project: string): Promise<string> {
  const key = `${process.pid} ${asked++} ${project}`
  for (;;) {
    try {
      return await askOnce(project, key)
    } catch (error) {
      // A busy machine may take longer than the time limit of a secret. Nothing was sent, so the same key is used again.
      if (!(error instanceof SecretUnavailable)) throw error
    }
  }
}

async function askOnce(project: string, key: string): Promise<string> {
  const how = { respondAsync: false, endsAt: systemClock.now() + 120_000 }
  const wanted = { kind: 'ranking', projects: [project], whenShort: 'refuse' } as const
  const { problem, updates } = await guard.submit({ ...asker, key }, wanted, how)
  return problem?.slug ?? updates[0]?.state ?? 'nothing'
}
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await Promise.all(JSON.parse(line).map(ask)))}\n`)
process.exit()
