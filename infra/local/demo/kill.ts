import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSandbox } from '../../../functions/sandbox/app.ts'
import type { Audit, Budget, Estimate, Problem, Update } from '../../../shared/client/answers.ts'
import { count, countOf, units } from '../../../shared/guard/sentences.ts'
import { minuteMs, systemClock } from '../../../shared/platform/clock.ts'
import { createSend } from '../api-client.ts'
import { openGuard } from '../commands/open.ts'
import type { Run } from '../commands/table.ts'
import { readEnvFile } from '../data-directory.ts'
import { CannotContinue } from '../failures.ts'
import { createListener } from '../listener.ts'
import { signAdminToken } from '../secrets.ts'
import { type Environment, sandboxToken, sandboxUrl } from '../settings.ts'
import { type Shutdown, withShutdown, workLastsMs } from '../shutdown.ts'
import { commandEnvironment } from '../where.ts'

const project = 'acme.example'
const budget = 'demo'
const limit = 100
const request = { key: 'demo-kill', body: { kind: 'ranking', project, reason: 'demonstration' } }
const withinMs = 60_000

type Counters = Pick<Budget['windows'][number], 'spent' | 'held' | 'inDoubt' | 'available'>
type Updates = { readonly updates: readonly [Update] }
/** The account at the stand-in. */
type Account = { readonly runs: readonly unknown[]; readonly used: number }

export const run: Run<'demo:kill'> = () => withShutdown(demonstrateKill)

async function demonstrateKill(shutdown: Shutdown): Promise<boolean> {
  const { start, callGuard, callService, sweepAfter } = await openParts(shutdown)
  const { tell, isAsPromised } = createTeller()
  const counters = async () =>
    showCounters((await callGuard<{ windows: [Counters] }>('GET', `/budgets/${budget}`)).windows[0])
  const account = async () => showAccount(await callService<Account>('GET', '/sandbox/account'))
  const found = async () => (await callGuard<Updates>('GET', `/updates?project=${project}`)).updates[0]
  const ask = async () => {
    const answer = await callGuard<Problem | Updates>('POST', '/updates', request)
    const outcome = 'type' in answer ? answer.type.split('/').at(-1) : answer.updates[0].state
    return `${outcome}; the service has ${await account()}`
  }

  console.log('Unit Guard is killed in the middle of a run, in front of a stand-in of the service:')
  const first = await start()
  const pays = { limits: [{ window: 'month', units: limit }], projects: [{ name: project }] }
  await callGuard('PUT', `/budgets/${budget}`, { body: pays })
  const { units: cost } = await callGuard<Estimate>('GET', `/estimates?kind=ranking&project=${project}`)
  const none = { spent: 0, held: 0, inDoubt: 0 }
  const all = showCounters({ ...none, available: limit })
  const paid = (of: Partial<typeof none>) => showCounters({ ...none, ...of, available: limit - cost })
  const runs = showAccount({ runs: [cost], used: cost })
  tell(`The budget ${budget} for the updates of ${project} has`, await counters(), all)

  // The stand-in runs the update, and never answers.
  await callService('PUT', '/sandbox/faults', { body: { faults: [{ operation: 'run', fault: 'hang' }] } })
  const answer = ask().catch(() => 'no answer')
  await until('the run arrives at the service', async () => (await account()) !== showAccount({ runs: [], used: 0 }))
  tell(`A caller asks for an update of ${units(cost)}. The guard sends it; the service has`, await account(), runs)
  const lost = `${await first.kill()}; the caller has ${await answer}`
  tell(`Before the answer, kill -9 ends the guard, process ${first.pid}:`, lost, 'SIGKILL; the caller has no answer')
  const second = await start()
  const restarted = `It starts again as process ${second.pid}, with the same ledger. The budget has`
  tell(restarted, await counters(), paid({ held: cost }))
  tell('The caller repeats the request with the same key:', await ask(), `in-progress; the service has ${runs}`)

  await sweepAfter(2 * minuteMs)
  const doubted = `${(await found()).state}; ${await counters()}`
  const isCounted = `in-doubt; ${paid({ inDoubt: cost })}`
  tell('Two minutes later, the sweep finds no outcome. The update may have run, so it is', doubted, isCounted)
  tell('The caller repeats the request:', await ask(), `in-doubt; the service has ${runs}`)
  await sweepAfter(15 * minuteMs)
  const { state, history } = await found()
  const evidence = `A quarter of an hour later, the sweep says: ${history.at(-1)?.note}. The update is`
  tell(evidence, `${state}; ${await counters()}`, `settled; ${paid({ spent: cost })}`)
  tell('The caller repeats the request:', await ask(), `settled; the service has ${runs}`)
  const { ok, books } = await callGuard<Audit>('GET', '/audit')
  tell(`The audit compares ${books.length} counters with the sums of their lines:`, ok ? 'exact' : 'NOT exact', 'exact')
  const kept = 'Nothing was sent twice, and no unit was lost. Try next: npm start'
  console.log(`\n${isAsPromised() ? kept : 'This is not what Unit Guard promises.'}`)
  return isAsPromised()
}

const showCounters = ({ spent, held, inDoubt, available }: Counters): string =>
  Object.entries({ spent, held, 'in doubt': inDoubt, left: available ?? 0 })
    .filter(([, of]) => of !== 0)
    .map(([name, of]) => `${count(of)} ${name}`)
    .join(', ')

const showAccount = ({ runs, used }: Account): string => `${countOf(runs.length, 'run')} of ${units(used)}`

/** Prints each result, and says if another result was promised. */
export function createTeller() {
  const steps: boolean[] = []
  const tell = (sentence: string, seen: string, promised: string): void => {
    const number = steps.push(seen === promised)
    console.log(`${String(number).padStart(4)}  ${sentence} ${seen}`)
    if (seen !== promised) console.log(`      NOT AS PROMISED, which is: ${promised}`)
  }
  return { tell, isAsPromised: () => steps.every(Boolean) }
}

/** The stand-in is in this process, so that it outlives the guard. */
async function openParts(shutdown: Shutdown) {
  const directory = await mkdtemp(join(tmpdir(), 'unit-guard-kill-'))
  shutdown.onStop(() => rm(directory, { recursive: true, force: true }))
  const service = await createListener({ port: 0 })
  shutdown.onStop(service.close)
  service.open(createSandbox({ clock: systemClock, token: sandboxToken }))

  const callerKey = randomBytes(32).toString('hex')
  // The shell's other variables are left out, because one may name another ledger or service.
  const env = {
    PATH: process.env.PATH,
    DATA_DIR: directory,
    PORT: '0',
    CALLER_KEY: callerKey,
    TRACKING_BASE_URL: sandboxUrl(service.port),
    TRACKING_TOKEN: sandboxToken,
    SERVICE_TIMEOUT_MS: '60000',
    ACCOUNT_UNITS_PER_MONTH: '1000',
    ACCOUNT_UNITS_USED_AT_START: '0',
    ACCOUNT_RENEWAL_DAY: '1',
    ACCOUNT_TIME_ZONE: 'UTC',
  }
  const [code] = await once(spawnCommand(['account', 'begin'], env), 'exit')
  if (code !== 0) throw new CannotContinue('The ledger of the demonstration could not be begun.')

  const token = await signAdminToken(callerKey, systemClock.now())
  return {
    start: () => startGuard(directory, env, shutdown),
    callGuard: caller(() => ({ url: readEnvFile(directory).UNIT_GUARD_URL ?? '', token })),
    callService: caller(() => ({ url: service.url, token: sandboxToken })),
    /** Sweeps as `npm run sweep -- --at` does. */
    sweepAfter: async (ms: number) => {
      const clock = { ...systemClock, now: () => systemClock.now() + ms }
      const { triggers } = await openGuard(clock, commandEnvironment({ DATA_DIR: directory }))
      await triggers.sweep(clock.now() + workLastsMs)
    },
  }
}

const caller =
  (place: () => { url: string; token: string }) =>
  async <Shown>(method: string, path: string, options: object = {}): Promise<Shown> => {
    const answer = await createSend(place())(method, path, { ...options, signal: AbortSignal.timeout(withinMs) })
    return (await answer.json()) as Shown
  }

/** Another command of this program, in the repository or in the folder of `npm run bundle`. */
function spawnCommand(words: readonly string[], env: Environment) {
  const program = [...process.execArgv, process.argv[1] ?? '']
  return spawn(process.execPath, [...program, ...words], { env, stdio: ['ignore', 'ignore', 'inherit'] })
}

async function startGuard(directory: string, env: Environment, shutdown: Shutdown) {
  const child = spawnCommand(['serve'], env)
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code))
  const kill = () => {
    child.kill('SIGKILL')
    return ended
  }
  shutdown.onStop(kill)
  const pid = String(child.pid)
  await until('the guard starts', async () => {
    if (child.exitCode !== null) throw new CannotContinue('The guard of the demonstration did not start.')
    return readEnvFile(directory).UNIT_GUARD_PID === pid
  })
  return { pid, kill }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + withinMs; !(await isSo()); await sleep(20))
    if (performance.now() > end)
      throw new CannotContinue(`After ${withinMs / 1_000} seconds this has not happened: ${what}.`)
}
