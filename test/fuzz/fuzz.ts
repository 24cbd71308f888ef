import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readEnvFile } from '../../infra/local/data-directory.ts'
import { readOptions, say } from '../support/process/command-line.ts'
import { byDesign } from './by-design.ts'
import { type Found, readReport } from './report.ts'

const usage = `Starts the product with the sandbox, and lets Schemathesis send what the OpenAPI document describes, and what it rules out,
to every operation and along its links, with every check. Fails where a finding is not by design (docs/correctness.md).

  SCHEMATHESIS=<path> npm run fuzz [-- --examples <number> --seconds <number> --seed <number>]`

const values = readOptions(usage, { examples: '20', seconds: '480', seed: '1' })

const directory = await mkdtemp(join(tmpdir(), 'unit-guard-fuzz-'))
const product = spawn(process.execPath, ['--import', 'tsx', 'infra/local/run.ts', 'start'], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { PATH: process.env.PATH, PORT: '0', SANDBOX_PORT: '0', DEMO: 'off', DATA_DIR: directory },
})
try {
  await ready(product)
  process.exitCode = await fuzz()
} finally {
  product.kill('SIGTERM')
  if (product.exitCode === null) await once(product, 'exit')
  await rm(directory, { recursive: true, force: true })
}

async function ready({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('the product has no output')
  for await (const line of createInterface({ input: stdout })) if (line.startsWith('ready ')) return
  throw new Error('the product ended before it was ready')
}

async function fuzz(): Promise<number> {
  const { UNIT_GUARD_URL, UNIT_GUARD_TOKEN } = readEnvFile(directory)
  const events = join(directory, 'events.ndjson')
  const fuzzer = spawn(
    process.env.SCHEMATHESIS ?? 'schemathesis',
    [
      ...['run', `${UNIT_GUARD_URL}/openapi.json`, '--header', `Authorization: Bearer ${UNIT_GUARD_TOKEN}`],
      ...['--checks', 'all', '--max-examples', values.examples, '--max-time', values.seconds, '--seed', values.seed],
      ...['--continue-on-failure', '--generation-database', 'none', '--no-shrink', '--no-color'],
      ...['--report', 'ndjson', '--report-ndjson-path', events],
    ],
    { stdio: 'ignore', cwd: directory },
  )
  await once(fuzzer, 'exit')
  const { found, errors, requests } = await readReport(events)
  const explained = new Map<string, number>()
  const unexplained = new Map<string, Found[]>()
  for (const each of found) {
    const reason = byDesign.find(({ covers }) => covers(each))
    if (reason) {
      explained.set(reason.name, (explained.get(reason.name) ?? 0) + 1)
      continue
    }
    const like = [each.check, each.operation, each.status, each.slug].join(' ')
    unexplained.set(like, [...(unexplained.get(like) ?? []), each])
  }

  say(`${requests} requests were sent.`)
  for (const [name, times] of explained) say(`by design: ${name}, ${times} times`)
  for (const error of errors) say(`error of the fuzzer: ${error}`)
  for (const [like, [first, ...more]] of unexplained)
    say(`${like}, ${1 + more.length} times: ${first?.detail}\n  ${first?.request}`)
  const isClean = unexplained.size + errors.length === 0 && requests > 0
  say(isClean ? 'Nothing was found but what is by design.' : `${unexplained.size} kinds of findings.`)
  return isClean ? 0 : 1
}
