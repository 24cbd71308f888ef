import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runCommand } from '../../infra/local/commands/command.ts'
import { groups, listOf } from '../../infra/local/commands/help.ts'
import type { CommandName } from '../../infra/local/commands/table.ts'
import { createListener } from '../../infra/local/listener.ts'
import { programs } from '../../infra/local/programs.ts'
import { runHere } from '../support/process/here.ts'
import { runLocal, spawnLocal, temporaryDirectory } from '../support/process/local.ts'

const { directory, remove } = await temporaryDirectory()
afterAll(remove)

const closed = await createListener({ port: 0 })
await closed.close(Promise.resolve())
const nowhere = closed.url
const stopped = {
  DATA_DIR: directory,
  UNIT_GUARD_URL: nowhere,
  UNIT_GUARD_TOKEN: 'any',
  TABLE_NAME: 'unit-guard',
  DYNAMODB_ENDPOINT: nowhere,
  SECRETS_ENDPOINT: nowhere,
  TRACKING_BASE_URL: `${nowhere}/v3`,
}

const run = (name: CommandName, args: readonly string[], env: object = {}) =>
  runHere(name, args, { DATA_DIR: directory, ...env })

describe('npm run help', () => {
  const scripts: Readonly<Record<string, string>> = JSON.parse(readFileSync('package.json', 'utf8')).scripts

  test('npm run help has a line for every script of package.json, and for no other', () => {
    const listed = Object.values(groups).flatMap((lines) => Object.keys(lines))
    expect(listed.toSorted()).toEqual(Object.keys(scripts).toSorted())
  })

  test('npm run help lists what a user needs, and says how to list the rest', async () => {
    const { code, out } = await run('help', [])
    expect([code, out.split('\n')[0]]).toEqual([0, 'First steps'])
    expect(out).toContain('npm run doctor ')
    expect(out).not.toMatch(/npm run (mutation|recover) /)
    expect(out.split('\n').length).toBeLessThan(26)
    expect(out).toContain('npm run help -- --all')
  })

  test('npm run help -- --all lists commands by group, and scripts without a description at the end', async () => {
    const { code, out } = await run('help', ['--all'])
    expect([code, out.split('\n')[0]]).toEqual([0, 'First steps'])
    expect(out).toMatch(/^ {2}npm run demo:month +fills a new ledger with a month/m)
    expect(listOf([...Object.keys(scripts), 'dance'])).toMatch(/^Others\n {2}npm run dance$/m)
  })

  test('infra/local/run.ts and package.json have the same commands', () => {
    const own = Object.entries(scripts)
      .filter(([name, script]) => script.endsWith(`tsx infra/local/run.ts ${name}`))
      .map(([name]) => name)
    expect(own.toSorted()).toEqual(Object.keys(programs).toSorted())
  })

  test.each(Object.keys(programs) as CommandName[])(
    'npm run %s --help explains the command and its usage, and does nothing',
    async (name) => {
      const { code, out, err } = await run(name, ['--help'])
      expect([code, err]).toEqual([0, ''])
      expect(out).toMatch(/^[A-Z][^\n]*/)
      expect(out).toMatch(new RegExp(`^ {2}npm (run |run --silent |)${name}\\b`, 'm'))
    },
  )
})

test('a command whose reader leaves, such as head, ends as if it had been read', async () => {
  const { signalGroup: _signal, ...command } = spawnLocal('help', {
    under: ['sh', '-c', '"$@" | head -c 1; sleep 1', 'sh'],
  })
  const { code, out, err } = await command.ended
  expect([code, out, err]).toEqual([0, 'F', ''])
})

test('a command that was removed is refused with the one that replaces it', async () => {
  expect(await runLocal('move', ['units', '--dry-run'], { DATA_DIR: directory })).toEqual({
    code: 2,
    out: '',
    err: "There is no command 'move'; use npm run restore -- --to <table> (npm run restore -- --help)\n",
  })
})

test('npm run token --help says that its budgets limit charges, not reads', async () => {
  const { out } = await run('token', ['--help'])
  expect(out.replace(/\s+/g, ' ')).toContain('--budgets limits what the caller may charge, not what it may read:')
})

describe('wrong usage of a command', () => {
  const instant = '2026-11-20T09:00:00Z'
  test.each<[CommandName, readonly string[], string]>([
    ['token', ['--sub', 'a', '--sub', 'b', '--scope', 'read'], '--sub was given more than once'],
    ['token', ['--sub', '--scope', 'read'], '--sub needs a value'],
    [
      'token',
      ['--sub', 'a b', '--scope', 'read'],
      '--sub must be 1 to 128 visible characters without blanks and #, must not end with *, and must not be a reserved name',
    ],
    [
      'token',
      ['--sub', 'okta:ada', '--scope', 'read'],
      '--sub: okta:ada would be refused: names that begin like okta: belong to Slack, schedules and trusted issuers; leave the colon out',
    ],
    ['token', ['--sub', 'a', '--scope', 'reed'], "--scope: no scope 'reed'; did you mean read?"],
    ['plan', ['x', '--time', '2026-02-30T09:00:00Z'], `--time must be a time such as ${instant}`],
    ['plan', [], '<name> is needed'],
    ['plan', ['x', 'y'], "One argument too many: 'y'"],
    ['sweep', ['--at', '2026-11-20T24:00:00Z'], `--at must be a time such as ${instant}, or +2m`],
    ['sweep', ['--at'], '--at needs a value'],
    ['budgets', ['apply', 'x.csv', '--dryrun'], 'There is no option --dryrun; did you mean --dry-run?'],
    ['budgets', ['apply', 'x.csv', '--dry-run=no'], '--dry-run takes no value'],
    [
      'budgets',
      ['apply', 'x.csv', '--frobnicate'],
      'There is no option --frobnicate; there are --dry-run, --move, --prune, --release, --as-written, --reason',
    ],
    ['budgets', ['aply', 'x.csv'], "There is no command 'aply'; did you mean apply?"],
    ['budgets', ['apply'], 'apply needs a file, such as clients.csv'],
    ['budgets', ['apply', 'x.xlsx'], 'The file must end in .csv or .json'],
    ['budgets', ['export', 'x.csv'], 'export takes no file'],
    ['account', ['zzz'], "There is no command 'zzz'; say renewal or adopt or begin or moved or close"],
    ['restore', ['acept'], "There is no command 'acept'; did you mean accept?"],
    ['account', [], '<renewal|adopt|begin|moved|close> is needed'],
    ['account', ['renewal'], 'needs at least one of --day, --time and --zone'],
    ['restore', ['from'], '<file> is needed: a backup'],
    [
      'restore',
      ['from', 'x.db', '--to', instant],
      'from takes no --to, because a backup has its own time and goes into DATA_DIR',
    ],
    ['restore', ['accept', 'x.db'], "One argument too many: 'x.db'"],
    ['restore', [], 'from, accept or --to <table> is needed'],
    ['restore', ['--to', instant], '--to must be the name of a table, or with accept a time'],
    ['restore', ['--to', 'ledger.db'], '--to must be the name of a table, or with accept a time'],
    ['restore', ['accept', '--to', 'units'], '--to must be a time such as 2026-11-20T09:55:00Z'],
    ['restore', ['accept'], '--to must be a time such as 2026-11-20T09:55:00Z'],
    ['demo:month', ['--fast'], 'npm run demo:month takes no options, so not --fast'],
    ['sandbox', ['9000'], "One argument too many: '9000'"],
    [
      'start',
      ['--port', '9000'],
      'There is no option --port; settings come from the environment, as in PORT=9000 npm start',
    ],
  ])('npm run %s %j exits with 2 and one line that names the nearest right usage', async (name, args, sentence) => {
    const err = `${sentence} (npm ${name === 'start' ? name : `run ${name}`} -- --help)\n`
    expect(await run(name, args)).toEqual({ code: 2, out: '', err })
  })

  test('an option that npm kept for itself is not ignored', async () => {
    const { code, err } = await run('budgets', ['apply', 'x.csv'], { npm_config_dry_run: 'true' })
    expect([code, err]).toEqual([
      2,
      'npm kept --dry-run for itself: write -- before the options (npm run budgets -- --help)\n',
    ])
  })
})

describe('a command that cannot work', () => {
  test.each<[CommandName, readonly string[]]>([
    ['budgets', ['export']],
    ['sweep', []],
    ['plan', ['morning']],
    ['token', ['--sub', 'a', '--scope', 'read']],
    ['login', []],
  ])('npm run %s without npm start prints one line with a remedy', async (name, args) => {
    const { code, out, err } = await run(name, args, stopped)
    expect([code, out]).toEqual([1, ''])
    expect(err.trim().split('\n')).toEqual([
      expect.stringMatching(
        /ECONNREFUSED 127\.0\.0\.1:\d+\. Is Unit Guard running\? After a restart, source its env file again\.$/,
      ),
    ])
  })

  test.each<[CommandName, readonly string[], string]>([
    ['sweep', [], 'TABLE_NAME, TRACKING_BASE_URL'],
    ['budgets', ['export'], 'UNIT_GUARD_URL, UNIT_GUARD_TOKEN'],
  ])('npm run %s in a folder where npm start did not run prints one line', async (name, args, settings) => {
    const folder = join(directory, 'nowhere')
    const { code, err } = await run(name, args, { DATA_DIR: folder })
    const sentence = `Unit Guard has not run with the folder ${folder}: start it first \\(npm start or npm run serve\\), `
    expect([code, err]).toEqual([1, expect.stringMatching(new RegExp(`^${sentence}.*or set ${settings}\\.\n$`))])
  })

  test('npm run token prints one line if own tokens are refused', async () => {
    const { code, err } = await run('token', ['--sub', 'a', '--scope', 'read'], { ...stopped, MINTED_TOKENS: 'off' })
    expect([code, err]).toEqual([
      1,
      'This Unit Guard refuses tokens of npm run token (MINTED_TOKENS=off): take one of a trusted issuer (docs/identity.md).\n',
    ])
  })

  test('npm run login prints one line if the ledger is in memory', async () => {
    const listener = await createListener({ port: 0 })
    onTestFinished(() => listener.close(Promise.resolve()))
    listener.open({ fetch: () => new Response() })
    const { DYNAMODB_ENDPOINT: _none, ...env } = { ...stopped, UNIT_GUARD_URL: listener.url, DATA_DIR: 'memory' }
    const { code, err } = await run('login', [], env)
    expect([code, err.trim().split('\n')]).toEqual([
      1,
      [expect.stringMatching(/^The ledger is in the memory .*TOKEN"\.$/)],
    ])
  })

  test('a file that cannot be read is named in one line', async () => {
    const file = join(directory, 'none')
    const { code, err } = await run('recover', ['--log', file, '--since', '2026-11-20T09:00:00Z'])
    expect([code, err]).toEqual([1, `${file} cannot be read: it is not there\n`])
  })

  test('a file that is no log is refused, and does not count as a log without runs', async () => {
    const file = 'package.json'
    const { code, err } = await run('recover', ['--log', file, '--since', '2026-11-20T09:00:00Z'], stopped)
    expect([code, err]).toEqual([
      1,
      `${file} has no line of Unit Guard's log, which is JSON: take it from journalctl -u unit-guard -o cat, docker logs, or aws logs filter-log-events.\n`,
    ])
  })

  test('npm run recover reads the log from the standard input', async () => {
    const { signalGroup: _signal, ...command } = spawnLocal('recover', {
      args: ['--log', '-', '--since', '2026-11-20T09:00:00Z'],
      env: stopped,
      under: ['sh', '-c', 'echo no log | "$@"', 'sh'],
    })
    const { code, err } = await command.ended
    expect([code, err]).toEqual([1, expect.stringMatching(/^The standard input has no line of Unit Guard's log, /)])
  })

  test('npm run login prints one line if another program listens', async () => {
    const listener = await createListener({ port: 0 })
    onTestFinished(() => listener.close(Promise.resolve()))
    const { code, err } = await run('login', [], { ...stopped, UNIT_GUARD_URL: listener.url })
    expect([code, err]).toEqual([1, `There is no Unit Guard at ${listener.url}: source its env file again.\n`])
  })

  test('a fault of ours shows its stack', async () => {
    const fault = new TypeError('of ours')
    const said = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => said.mockRestore())
    const failing = async () => ({ run: () => Promise.reject(fault) })
    expect(await runCommand({ usage: 'x' }, [], failing)).toBe(1)
    expect(said).toHaveBeenCalledWith(fault)
  })
})

test('budgets says what to do about a token that the guard refuses', async () => {
  const listener = await createListener({ port: 0 })
  onTestFinished(() => listener.close(Promise.resolve()))
  listener.open({ fetch: () => new Response('{"detail": "no"}', { status: 401 }) })
  const { code, err } = await run('budgets', ['export'], { ...stopped, UNIT_GUARD_URL: listener.url })
  expect([code, err]).toEqual([
    1,
    'UNIT_GUARD_TOKEN is not valid there: source the env file again, or make a token with npm run --silent token.\n',
  ])
})

test('npm run openapi prints the whole document into a pipe', async () => {
  expect(JSON.parse((await runLocal('openapi', [], {})).out)).toHaveProperty('openapi')
})
