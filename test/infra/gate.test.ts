import { spawnSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'

const repository = resolve(import.meta.dirname, '../..')

/** A machine with these commands and no others: no spin, no gcc, no Chromium. */
let machine: string

const command = async (name: string, lines: string) => {
  await writeFile(join(machine, name), `#!${process.execPath}\n${lines}`)
  await chmod(join(machine, name), 0o755)
}

const run = (file: string, args: readonly string[]) => {
  const env = { PATH: machine, HOME: machine, TMPDIR: machine, CALLS: join(machine, 'calls') }
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: repository, env, encoding: 'utf8' })
  return { status, stderr, lines: stdout.trim().split('\n') }
}

const calls = async () => (await readFile(join(machine, 'calls'), 'utf8')).trim().split('\n')

beforeEach(async () => {
  machine = await mkdtemp(join(tmpdir(), 'unit-guard-gate-'))
  await symlink(process.execPath, join(machine, 'node'))
  for (const name of ['cat', 'dirname', 'mktemp', 'rm']) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
    await symlink(stdout.trim(), join(machine, name))
  }
})

/** Records its arguments; `body` sees them as `args`. */
const recorded = (body: string) =>
  `const args = process.argv.slice(2)
   require('node:fs').appendFileSync(process.env.CALLS, require('node:path').basename(__filename) + ' ' + args.join(' ') + '\\n')
   ${body}`

const model = `process.exit(require('node:child_process').spawnSync(process.execPath,
  ['--import', 'tsx', 'test/model/check.ts', '--quick'], { stdio: 'inherit' }).status)`
const tests = `const file = args.find((arg) => arg.startsWith('--outputFile.json=')).split('=')[1]
  require('node:fs').writeFileSync(file, JSON.stringify({ numPassedTests: 7, numFailedTests: 0 }))`
const npm = recorded(`if (args.includes('model')) { ${model} } else if (args[0] === 'test') { ${tests} }`)

describe('the gate', () => {
  test('.ci/run fails the model step without spin and gcc', () => {
    const { status, lines } = run(process.execPath, ['--import', 'tsx', 'test/model/check.ts', '--quick'])
    expect(lines).toEqual(['NOT CHECKED: the model needs spin and gcc; on Debian: apt-get install spin gcc libc6-dev'])
    expect(status).toBe(1)
  })

  test('.ci/run installs spin, gcc and Chromium, and fails with its last line where apt cannot', async () => {
    await command('npm', npm)
    await command('apt-get', recorded('process.exit(100)'))
    const { status, lines, stderr } = run('/bin/bash', ['.ci/run'])
    expect(lines.at(-1)).toBe('7 passed, 0 failed')
    expect(status).toBe(1)
    expect(stderr).toContain('spin and gcc could not be installed')
    expect(stderr).toContain('chromium could not be installed')
    expect(
      (await calls()).filter((call) => call.startsWith('apt-get install')).map((call) => call.split(' ').at(-1)),
    ).toEqual([...['libc6-dev', 'chromium-headless-shell', 'chromium']])
  })

  test('.ci/run checks the model with the installed spin and gcc', async () => {
    await command('npm', recorded(`if (args[0] === 'test') { ${tests} }`))
    await command('apt-get', recorded(''))
    const { status, lines } = run('/bin/bash', ['.ci/run'])
    expect(lines.at(-1)).toBe('7 passed, 0 failed')
    expect(status).toBe(0)
    const called = await calls()
    // These two run beside each other.
    const together = called.splice(4, 2)
    expect(together.sort()).toEqual(['npm run check:static', 'npm run model -- --quick'])
    expect(called).toEqual([
      'apt-get update -qq',
      'apt-get install -y -qq --no-install-recommends spin gcc libc6-dev',
      'apt-get install -y -qq --no-install-recommends chromium-headless-shell',
      'npm ci',
      ...['npm run test:runtime', 'npm run sim -- --check'],
      expect.stringMatching(/^npm test -- --reporter=default --reporter=json --outputFile\.json=/),
    ])
  })
})
