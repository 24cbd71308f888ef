import { parseArgs } from 'node:util'
import { type Found, publish } from './document.ts'
import { benchColdStart } from './parts/cold-start.ts'
import { benchContention } from './parts/contention.ts'
import { benchEmbedded } from './parts/embedded.ts'
import { benchForecast } from './parts/forecast.ts'
import { benchGateway } from './parts/gateway.ts'
import { benchGrowth } from './parts/growth.ts'
import { benchGuardedUpdate } from './parts/guarded-update.ts'
import { benchRequests } from './parts/requests.ts'

// The AWS SDK warns that it will need a newer Node.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

/**
 * `npm run bench`, or `npm run bench -- <part>…` for some parts. Prints the results of each part and writes them into docs/performance.md and test/bench/results.md.
 * Compares ratios within one run, and never asserts a time.
 */
const parts: Readonly<Record<string, () => Promise<Found>>> = {
  requests: benchRequests,
  'guarded-update': benchGuardedUpdate,
  embedded: benchEmbedded,
  contention: benchContention,
  'cold-start': benchColdStart,
  gateway: benchGateway,
  growth: benchGrowth,
  forecast: benchForecast,
}

const usage = `npm run bench [-- <part>…]

Measures, prints what it finds and writes it into docs/performance.md and test/bench/results.md. Without a part it measures all, in about ten minutes.

parts: ${Object.keys(parts).join(', ')}
--help  print this
`

const { help, wanted } = readArguments()
if (help) {
  process.stdout.write(usage)
  process.exit()
}
const unknown = wanted.filter((name) => !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  process.stderr.write(`there is no part ${unknown.join(', ')}\n\n${usage}`)
  process.exit(2)
}
for (const [name, run] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const from = performance.now()
  const found = await run()
  await publish(found)
  for (const text of Object.values(found.sections)) process.stdout.write(`\n${text}\n`)
  process.stdout.write(`\n${name}: ${Math.round((performance.now() - from) / 1000)} s\n`)
}

function readArguments() {
  try {
    const { values, positionals: wanted } = parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' } },
    })
    return { help: values.help ?? false, wanted }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`)
    return process.exit(2)
  }
}
