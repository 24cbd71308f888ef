import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSandbox } from '../../../functions/sandbox/app.ts'
import { createTestClock } from '../../support/clock.ts'
import { type Found, measuredOn } from '../document.ts'
import { spreadOf, table, thousands } from '../tables.ts'

const turns = 3
const megabyte = 1024 * 1024
const token = 'sandbox-token'
const headers = { authorization: `Bearer ${token}` }

const big = {
  keywords: Array.from({ length: 1_000 }, (_, index) => ({ name: `keyword ${index}` })),
  searchengines: ['US', 'DE', 'FR', 'IT'].map((country) => ({ name: 'example search', country })),
  websites: [{ name: 'big.example' }],
}

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

export async function benchSandbox(): Promise<Found> {
  const app = await sandboxWithData()
  await readExport(app)
  const exports: Awaited<ReturnType<typeof readExport>>[] = []
  for (let turn = 0; turn < turns; turn++) exports.push(await readExport(app))
  const [first] = exports
  const rows = table(
    ['', 'median', 'p10 to p90'],
    [
      ['first byte, ms', ...spreadOf(exports.map(({ firstMs }) => firstMs))],
      ['whole, seconds', ...spreadOf(exports.map(({ wholeMs }) => wholeMs / 1000))],
      ['memory from the first to the last tenth, MB', ...spreadOf(exports.map(({ grownMb }) => grownMb))],
    ],
  )
  const what = `${thousands(120_000)} rows, ${((first?.bytes ?? 0) / megabyte).toFixed(1)} MB in ${thousands(first?.chunks ?? 0)} pieces.`
  return { sections: { sandbox: [what, rows, measuredOn([`${turns} exports after a first one`])].join('\n\n') } }
}

type Sandbox = ReturnType<typeof createSandbox>

async function sandboxWithData(): Promise<Sandbox> {
  const clock = createTestClock('2026-10-22T10:00:00Z')
  const app = createSandbox({ clock, token })
  const body = JSON.stringify(big)
  const made = await app.request('/v3/projects/big/create?frequency=daily', { method: 'POST', headers, body })
  if (made.status !== 201) throw new Error(`the project was not made: ${made.status}`)
  clock.set('2026-11-20T10:00:00Z')
  return app
}

async function readExport(app: Sandbox) {
  const from = performance.now()
  const { body } = await app.request('/v3/projects/big/export-rankings?startDate=2026-10-01', { headers })
  if (!body) throw new Error('the export has no body')
  let firstMs = 0
  let [bytes, chunks, early] = [0, 0, 0]
  for await (const chunk of body) {
    firstMs ||= performance.now() - from
    bytes += chunk.length
    if (++chunks === 40) early = memoryInUse()
  }
  const wholeMs = performance.now() - from
  return { firstMs, wholeMs, bytes, chunks, grownMb: (memoryInUse() - early) / megabyte }
}

function memoryInUse(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}
