import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { say } from './command-line.ts'

const usage = `Runs the whole suite, or the tests that are named, beside twenty processes that never rest.

  npm run test:busy [-- <part of a file's name>…]`

const busyProcesses = 20

if (process.argv.includes('--help')) {
  say(usage)
  process.exit(0)
}

const busy = Array.from({ length: busyProcesses }, () =>
  spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
)
process.on('exit', () => {
  for (const each of busy) each.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', ...process.argv.slice(2)]
const [code] = await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
process.exit(code ?? 1)
