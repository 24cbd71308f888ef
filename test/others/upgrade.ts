import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleMachine } from '../../infra/local/bundle.ts'
import { signCallerToken } from '../../infra/local/secrets.ts'
import { sandboxToken } from '../../infra/local/settings.ts'
import { hourMs } from '../../shared/platform/clock.ts'
import { scopes } from '../../shared/platform/words.ts'
import { step, until } from '../deploy/steps.ts'
import { readOrExit } from '../support/process/command-line.ts'
import { call } from './tools.ts'

const usage = `Runs an earlier version on one machine, then this one on the same folder, then the earlier one again (docs/one-machine.md, "Upgrade").
npm run bundle makes both. The stand-in is the service.

  npm run test:upgrade -- <commit>

It ends with an error if a unit, a budget, a plan's run or a waiting approval is lost.`

const [commit = ''] = readOrExit({ usage, takes: ['<commit>'] }).texts
const folder = await mkdtemp(join(tmpdir(), 'unit-guard-upgrade-'))
const earlier = join(folder, 'earlier')
const current = join(folder, 'current')
const backup = join(folder, 'backup.db')
const callerKey = 'k'.repeat(48)
const claims = { key: callerKey, scopes, budgets: '*' as const, now: Date.now(), lastsMs: hourMs }
const [ada, ben] = await Promise.all([
  signCallerToken({ ...claims, sub: 'ada' }),
  signCallerToken({ ...claims, sub: 'ben' }),
])
const plan = { name: 'nightly', kind: 'ranking', projects: ['initech'], schedule: 'cron(0 5 * * ? *)' }
const started = new Set<ChildProcess>()

try {
  await rehearse()
} finally {
  for (const child of started) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
}

async function rehearse(): Promise<void> {
  await step(`bundle ${commit}`, bundleEarlier)
  await step('bundle this version', () => bundleMachine({ into: current }))
  await writeFile(join(folder, 'plans.json'), JSON.stringify([plan]))
  const env = await settings()
  const { before, waiting } = await useEarlier(env)
  const { after, log } = await useCurrent(env, before, waiting)
  await goBack(env, after, log)
}

/** Packages are linked if the lock file is the same. */
async function bundleEarlier(): Promise<void> {
  const source = join(folder, 'source')
  await mustEndWell('git', ['worktree', 'add', '--detach', source, commit])
  try {
    const [here, there] = await Promise.all(['.', source].map((at) => readFile(join(at, 'package-lock.json'), 'utf8')))
    if (here === there) await mustEndWell('cp', ['-al', 'node_modules', join(source, 'node_modules')])
    else await mustEndWell('npm', ['ci'], source)
    await mustEndWell('npm', ['run', 'bundle'], source)
    await rename(join(source, 'build/machine'), earlier)
  } finally {
    await mustEndWell('git', ['worktree', 'remove', '--force', source])
  }
}

async function mustEndWell(command: string, args: readonly string[], cwd = '.'): Promise<void> {
  const { isWell, output } = await call(command, args, { cwd })
  if (!isWell) throw new Error(`${command} ${args.join(' ')}: ${output}`)
}

type Environment = Readonly<Record<string, string | undefined>>

/** Starts the stand-in. */
async function settings(): Promise<Environment> {
  const { PATH } = process.env
  const place = { DATA_DIR: join(folder, 'service'), SANDBOX_PORT: '0' }
  const { ready } = start(['--import', 'tsx', 'infra/local/run.ts', 'sandbox'], { PATH, ...place }, '.')
  return {
    PATH,
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    TRACKING_BASE_URL: `${await ready(/^ready (\S+)$/m)}/v3`,
    TRACKING_TOKEN: sandboxToken,
    CALLER_KEY: callerKey,
    ACCOUNT_UNITS_PER_MONTH: '50000',
    ACCOUNT_UNITS_USED_AT_START: '100',
    ACCOUNT_RENEWAL_DAY: '1',
    ACCOUNT_TIME_ZONE: 'UTC',
    PUBLIC_URL: 'https://units.example',
    PLANS: join(folder, 'plans.json'),
  }
}

function start(args: readonly string[], env: Environment, cwd: string) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  started.add(child)
  const said = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      said.text += part
    })
  const ready = async (url: RegExp): Promise<string> => {
    await until(async () => url.test(said.text) || child.exitCode !== null)
    const [, found] = url.exec(said.text) ?? []
    if (found === undefined) throw new Error(said.text)
    return found
  }
  const stop = async () => {
    child.kill('SIGTERM')
    const [code] = await once(child, 'close')
    assert.equal(code, 0, said.text)
    return said.text
  }
  return { said, ready, stop }
}

async function serve(version: string, env: Environment) {
  const { said, ready, stop } = start(['run.mjs', 'serve'], env, version)
  const url = await ready(/"event":"serving".*?"url":"([^"]+)"/)
  const ask = async (method: string, path: string, body?: object, { key = '', token = ada } = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key }
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    // biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape.
    return { status: response.status, body: (await response.json()) as any }
  }
  const update = (kind: string, project: string, key: string) =>
    ask('POST', '/updates', { kind, project, reason: 'rehearsal' }, { key })
  return { url, said, ask, update, stop }
}

type Served = Awaited<ReturnType<typeof serve>>

async function run(version: string, env: Environment, ...args: string[]): Promise<string> {
  const { isWell, output } = await call(process.execPath, ['run.mjs', ...args], { cwd: version, env })
  if (!isWell) throw new Error(output)
  return output
}

/** Everything that both versions must count alike. */
async function picture({ ask }: Served) {
  const [budgets, updates, plans, audit] = await Promise.all(
    ['/budgets', '/updates', '/plans', '/audit'].map(async (path) => (await ask('GET', path)).body),
  )
  assert.equal(audit.ok, true)
  return {
    budgets: budgets.budgets.map(({ name, windows }: Record<string, unknown>) => ({ name, windows })),
    updates: updates.updates.map(({ id, state, units }: Record<string, unknown>) => ({ id, state, units })),
    plans: plans.plans.map(({ name, last }: Record<string, unknown>) => ({ name, last })),
  }
}
type Picture = Awaited<ReturnType<typeof picture>>

async function useEarlier(env: Environment) {
  await step('earlier version: begins a ledger', () => run(earlier, env, 'account', 'begin'))
  const guard = await serve(earlier, env)
  const waiting = await step(
    'earlier version: a budget, a settled update, a waiting approval, a plan’s run',
    async () => {
      const rules = {
        limits: [{ window: 'month', units: 2000 }],
        projects: [{ name: 'acme.example' }],
        approvalAbove: 30,
      }
      assert.equal((await guard.ask('PUT', '/budgets/acme', rules)).status, 201)
      assert.equal((await guard.update('ranking', 'globex', 'first')).body.updates[0].state, 'settled')
      const { body } = await guard.update('ranking', 'acme.example', 'second')
      assert.equal(body.updates[0].state, 'awaiting-approval')
      await run(earlier, env, 'plan', 'nightly')
      return String(body.updates[0].id)
    },
  )
  await step('earlier version: a backup', () => run(earlier, env, 'backup', backup))
  const before = await picture(guard)
  await step('earlier version: a look with the doctor of this version does not take its file over', async () => {
    const { output } = await call(process.execPath, ['run.mjs', 'doctor'], { cwd: current, env })
    assert.match(output, /was written by an earlier version: run this command with that version/)
  })
  await guard.stop()
  return { before, waiting }
}

async function useCurrent(env: Environment, before: Picture, waiting: string) {
  const guard = await serve(current, env)
  await step('this version: says that there is no way back, and counts the same', async () => {
    assert.match(guard.said.text, /was written by an earlier version, which now refuses it/)
    assert.deepEqual(await picture(guard), before)
  })
  await step('this version: repeats no key, runs what waited, and spends', async () => {
    const { body } = await guard.update('ranking', 'globex', 'first')
    assert.ok(before.updates.some(({ id }: { id: string }) => id === body.updates[0].id))
    await guard.ask('POST', `/updates/${waiting}/approve`, {}, { token: ben })
    await until(async () => (await guard.ask('GET', `/updates/${waiting}`)).body.state === 'settled')
    assert.equal((await guard.update('keyword-difficulty', '1005', 'third')).body.updates[0].state, 'settled')
  })
  const after = await picture(guard)
  return { after, log: await guard.stop() }
}

async function goBack(env: Environment, after: Picture, log: string): Promise<void> {
  await step('back: the earlier version refuses the file of this one', () =>
    assert.rejects(run(earlier, env, 'serve'), /was written by another program or version/),
  )
  await step('back: the earlier version restores its backup', () => run(earlier, env, 'restore', 'from', backup))
  const guard = await serve(earlier, env)
  await step('back: recover books from the log what ran since, so that the same units are left', async () => {
    assert.notDeepEqual((await picture(guard)).budgets, after.budgets)
    const file = join(folder, 'guard.log')
    await writeFile(file, log)
    const own = { ...env, UNIT_GUARD_URL: guard.url, UNIT_GUARD_TOKEN: ada }
    assert.match(await run(earlier, own, 'recover', '--log', file), /2 updates since .*, 65 units booked/)
    assert.deepEqual((await picture(guard)).budgets, after.budgets)
  })
  await guard.stop()
}
