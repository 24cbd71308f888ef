import { parseArgs } from 'node:util'
import { type BenchOptions, type Found, publish } from './document.ts'
import { benchColdStart } from './parts/cold-start.ts'
import { benchContention } from './parts/contention.ts'
import { benchGateway } from './parts/gateway.ts'
import { benchGrowth } from './parts/growth.ts'
import { benchGuardedUpdate } from './parts/guarded-update.ts'
import { benchRequests } from './parts/requests.ts'
import { benchSandbox } from './parts/sandbox.ts'
import { benchSuite } from './parts/suite.ts'

// The AWS SDK warns that it will need a newer Node.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

/**
 * `npm run bench`, or `npm run bench -- <part>…` for some of it: prints what each part finds and writes it into
 * docs/performance.md. Ratios within one run, and never a timed assertion. With `--before <folder>` the version there takes
 * part: guarded-update and cold-start measure it in the same run.
 */
const parts: Readonly<Record<string, (options: BenchOptions) => Promise<Found>>> = {
  requests: benchRequests,
  'guarded-update': benchGuardedUpdate,
  contention: benchContention,
  'cold-start': benchColdStart,
  gateway: benchGateway,
  growth: benchGrowth,
  sandbox: benchSandbox,
  suite: benchSuite,
}

const usage = `npm run bench [-- <part>… [--before <folder>]]

Measures, prints what it finds and writes it into docs/performance.md. Without a part it measures all, in about ten minutes.

parts: ${Object.keys(parts).join(', ')}
--before <folder>  let the version there, with its packages installed, take part in guarded-update and cold-start
--help             print this
`

const { help, wanted, options } = readArguments()
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
  const found = await run(options)
  await publish(found)
  for (const text of Object.values(found.sections)) process.stdout.write(`\n${text}\n`)
  process.stdout.write(`\n${name}: ${Math.round((performance.now() - from) / 1000)} s\n`)
}

function readArguments() {
  try {
    const { values, positionals: wanted } = parseArgs({
      allowPositionals: true,
      options: { before: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    })
    const { help = false, ...options } = values
    return { help, wanted, options }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`)
    return process.exit(2)
  }
}
