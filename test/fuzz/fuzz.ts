import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Environment } from '../../infra/local/settings.ts'
import { readOptions, say } from '../support/process/command-line.ts'
import { withStarted } from '../support/process/started.ts'
import { byDesign } from './by-design.ts'
import { type Found, readReport } from './report.ts'

const usage = `Starts the product with the sandbox, and lets Schemathesis send what the OpenAPI document describes, and what it rules out,
to every operation and along its links, with every check. Fails where a finding is not by design (test/fuzz/by-design.ts).

  SCHEMATHESIS=<path> npm run fuzz [-- --examples <number> --seconds <number> --seed <number>]`

const values = readOptions(usage, { examples: '20', seconds: '480', seed: '1' })

process.exitCode = await withStarted('fuzz', fuzz)

async function fuzz({ directory, env }: { directory: string; env: Environment }): Promise<number> {
  const { UNIT_GUARD_URL, UNIT_GUARD_TOKEN } = env
  const events = join(directory, 'events.ndjson')
  const fuzzer = spawn(
    process.env.SCHEMATHESIS ?? 'schemathesis',
    [
      'run',
      `${UNIT_GUARD_URL}/openapi.json`,
      '--header',
      `Authorization: Bearer ${UNIT_GUARD_TOKEN}`,
      '--checks',
      'all',
      '--max-examples',
      values.examples,
      '--max-time',
      values.seconds,
      '--seed',
      values.seed,
      '--continue-on-failure',
      '--generation-database',
      'none',
      '--no-shrink',
      '--no-color',
      '--report',
      'ndjson',
      '--report-ndjson-path',
      events,
    ],
    { stdio: 'ignore', cwd: directory },
  )
  await once(fuzzer, 'exit')
  const { found, errors, requests } = await readReport(events)
  const explained = new Map<(typeof byDesign)[number], number>()
  const unexplained = new Map<string, Found[]>()
  for (const each of found) {
    const reason = byDesign.find(({ covers }) => covers(each))
    if (reason) {
      explained.set(reason, (explained.get(reason) ?? 0) + 1)
      continue
    }
    const like = [each.check, each.operation, each.status, each.slug].join(' ')
    unexplained.set(like, [...(unexplained.get(like) ?? []), each])
  }

  say(`${requests} requests were sent.`)
  for (const [{ name, why }, times] of explained) say(`by design: ${name}, ${times} times. ${why}`)
  for (const error of errors) say(`error of the fuzzer: ${error}`)
  for (const [like, [first, ...more]] of unexplained)
    say(`${like}, ${1 + more.length} times: ${first?.detail}\n  ${first?.request}`)
  const isClean = unexplained.size + errors.length === 0 && requests > 0
  say(isClean ? 'Nothing was found but what is by design.' : `${unexplained.size} kinds of findings.`)
  return isClean ? 0 : 1
}
