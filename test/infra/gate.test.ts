import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { variants } from '../support/infra/variants.ts'

const repository = resolve(import.meta.dirname, '../..')

/** A machine with only these commands: no Python, no Chromium. */
let machine: string

const command = async (name: string, lines: string) => {
  await writeFile(join(machine, name), `#!${process.execPath}\n${lines}`)
  await chmod(join(machine, name), 0o755)
}

const run = (file: string, args: readonly string[], own: Record<string, string> = {}) => {
  const env = { PATH: machine, HOME: machine, TMPDIR: machine, CALLS: join(machine, 'calls'), ...own }
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: repository, env, encoding: 'utf8' })
  return { status, stderr, lines: stdout.trim().split('\n') }
}

const calls = async () => (await readFile(join(machine, 'calls'), 'utf8')).trim().split('\n')

beforeEach(async () => {
  machine = await mkdtemp(join(tmpdir(), 'unit-guard-gate-'))
  await symlink(process.execPath, join(machine, 'node'))
  for (const name of ['cat', 'dirname', 'ls', 'mktemp', 'rm', 'wc']) {
    const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' })
    await symlink(stdout.trim(), join(machine, name))
  }
})

/** Records its arguments; `body` sees them as `args`. */
const recorded = (body: string) =>
  `const args = process.argv.slice(2)
   require('node:fs').appendFileSync(process.env.CALLS, require('node:path').basename(__filename) + ' ' + args.join(' ') + '\\n')
   ${body}`

const templates = `process.exit(require('node:child_process').spawnSync('/bin/bash', ['.ci/templates'], { stdio: 'inherit' }).status)`
const tests = `const file = args.find((arg) => arg.startsWith('--outputFile.json=')).split('=')[1]
  require('node:fs').writeFileSync(file, JSON.stringify({ numPassedTests: 7, numFailedTests: 0 }))`
const npm = recorded(`if (args.includes('check:templates')) { ${templates} } else if (args[0] === 'test') { ${tests} }`)

describe('the gate script .ci/run', () => {
  test('.ci/run installs Python and Chromium, and fails with its last line if apt cannot', async () => {
    await command('npm', npm)
    await command('apt-get', recorded('process.exit(100)'))
    const { status, lines, stderr } = run('/bin/bash', ['.ci/run'])
    expect(lines.at(-1)).toBe('7 passed, 0 failed')
    expect(status).toBe(1)
    expect(stderr).toContain('Python could not be installed')
    expect(stderr).toContain('chromium could not be installed')
    expect(
      (await calls()).filter((call) => call.startsWith('apt-get install')).map((call) => call.split(' ').at(-1)),
    ).toEqual(['python3-venv', 'chromium-headless-shell', 'chromium'])
  })

  test('.ci/run runs the searches of models beside the static checks, and then the rest', async () => {
    await command('npm', recorded(`if (args[0] === 'test') { ${tests} }`))
    await command('apt-get', recorded(''))
    const { status, lines } = run('/bin/bash', ['.ci/run'])
    expect(lines.at(-1)).toBe('7 passed, 0 failed')
    expect(status).toBe(0)
    const called = await calls()
    // These run beside the others, in any mixture.
    const isSearch = (call: string) => /--(works|doubts)$/.test(call)
    const searches = called.filter(isSearch)
    expect(searches).toEqual(['npm run sim -- --works', 'npm run sim -- --doubts'])
    expect(called.indexOf('npm run sim -- --check')).toBeGreaterThan(called.lastIndexOf('npm run sim -- --doubts'))
    expect(called.filter((call) => !isSearch(call))).toEqual([
      'apt-get update -qq',
      'apt-get install -y -qq --no-install-recommends python3 python3-venv',
      'apt-get install -y -qq --no-install-recommends chromium-headless-shell',
      'npm ci',
      'npm run check:static',
      'npm run check:templates',
      'npm run test:runtime',
      'npm run sim -- --check',
      expect.stringMatching(/^npm test -- --reporter=default --reporter=json --outputFile\.json=/),
    ])
  })
})

describe('the step of the templates', () => {
  const lint = (ci: string) => run('/bin/bash', ['.ci/templates'], { CI: ci })
  const leftOut = 'NOT CHECKED: the templates need python3 with venv, and PyPI; on Debian: apt-get install python3-venv'

  test('.ci/templates skips its check with a message on a machine without Python, and fails in the gate', () => {
    expect(lint('')).toMatchObject({ status: 0, lines: [leftOut] })
    expect(lint('true')).toMatchObject({ status: 1, lines: [leftOut] })
  })

  test('.ci/templates runs cfn-lint and the check of policies for every variant, and fails if one fails', async () => {
    const text = await readFile('.ci/templates', 'utf8')
    const [, version = ''] = /^version=(.*)$/m.exec(text) ?? []
    const [, sentry = ''] = /^sentry=(.*)$/m.exec(text) ?? []
    const installed = join('.cache', 'unit-guard', `cfn-lint-${version}-policy-sentry-${sentry}`, 'bin')
    await mkdir(join(machine, installed), { recursive: true })
    await command(join(installed, 'python'), recorded('process.exit(3)'))
    const read = "if (args.some((arg) => arg.endsWith('Edge.template.json'))) process.exit(2)"
    await command(join(installed, 'cfn-lint'), recorded(read))
    expect(lint('true').status).toBe(2)
    const [call = ''] = await calls()
    const names = call.split(' ').flatMap((arg) => /([^/]+)\.template\.json$/.exec(arg)?.[1] ?? [])
    expect(new Set(names.map((name) => name.split('-')[0]))).toEqual(new Set(Object.keys(variants)))
    expect(names).toEqual(expect.arrayContaining(['usual-UnitGuard', 'everyOption-UnitGuard', 'everyOption-Edge']))
    // Without templates cfn-lint finds nothing.
    await rm(join(machine, 'node'))
    await command('node', "require('node:fs').mkdirSync(process.argv.at(-1))")
    expect(lint('true').status).toBe(3)
    expect((await calls()).at(-1)).toMatch(/^python -B \.ci\/policies .*\/templates$/)
  })
})
