import type { Update } from '../../../shared/client/answers.ts'
import { answerOf, createSend } from '../api-client.ts'
import { reasonOf } from '../failures.ts'

const budget = 'demo'
const unitsPerMonth = 100
const reason = 'demonstration'
const answersWithinMs = 30_000

/** The keys are fixed: after a restart the guard answers from its records and spends nothing. */
const requests = [
  { project: 'acme.example', key: 'demonstration-runs' },
  { project: 'globex', key: 'demonstration-refused' },
] as const

export const demonstration = { budget, unitsPerMonth, reason, requests } as const

export const fillAMonth = ['  DATA_DIR=.local/month npm run demo:month', '  DATA_DIR=.local/month npm start'].join('\n')

type Call = (method: string, path: string, options?: { body: object; key?: string }) => Promise<Response>

/** One update that runs and one that is refused. Prints errors and ignores them. */
export async function demonstrate({ url, token }: { url: string; token: string }): Promise<void> {
  const send = createSend({ url, token })
  const call: Call = (method, path, options) =>
    send(method, path, { ...options, redirect: 'error', signal: AbortSignal.timeout(answersWithinMs) })
  console.log('A demonstration, against the sandbox')
  try {
    await makeBudget(call)
    for (const { project, key } of requests) await submit(call, project, key)
  } catch (error) {
    console.log(`  The demonstration did not work: ${reasonOf(error)}`)
  }
  console.log()
}

async function makeBudget(call: Call): Promise<void> {
  const existing = await call('GET', `/budgets/${budget}`)
  await existing.body?.cancel()
  if (existing.status !== 404) return
  const body = { limits: [{ window: 'month', units: unitsPerMonth }], reason: 'for the demonstration' }
  await answerOf(await call('PUT', `/budgets/${budget}`, { body }))
  console.log(`  The budget ${budget} was made; it may spend ${unitsPerMonth} units a month.`)
}

async function submit(call: Call, project: string, key: string): Promise<void> {
  const body = { kind: 'ranking', project, budget, reason }
  const response = await call('POST', '/updates', { body, key })
  const { detail, updates = [] } = (await response.json()) as { detail?: string; updates?: readonly Update[] }
  const [update] = updates
  console.log(`  POST /updates: a ranking update of ${project}, charged to ${budget}`)
  console.log(`    ${response.status} ${update?.state ?? 'not recorded'}. ${detail ?? unitsOf(update)}`)
  if (response.headers.get('idempotency-replayed') === 'true') {
    console.log('    (Answered from the record of the first request: nothing was spent this time.)')
  }
}

function unitsOf(update: Update | undefined): string {
  const { estimated, charged } = update?.units ?? { estimated: null, charged: null }
  return `Estimated at ${estimated ?? 'unknown'} units; ${charged ?? 'not yet known how many'} were charged.`
}
