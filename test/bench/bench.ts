import { benchGateway } from './gateway.ts'

/** `npm run bench`, or `npm run bench -- <name>` for one part: ratios in one run, never a timed assertion. */
const parts: Readonly<Record<string, () => Promise<string>>> = { gateway: benchGateway }

const [only] = process.argv.slice(2)
if (only !== undefined && !(only in parts)) {
  process.stderr.write(`there is no part ${only}; there are: ${Object.keys(parts).join(', ')}\n`)
  process.exit(2)
}
for (const [name, run] of Object.entries(parts)) {
  if (only === undefined || only === name) process.stdout.write(`${await run()}\n`)
}
