import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import { json } from '../product.ts'
import { startScriptedService } from '../scripted-service.ts'
import { builtProgram, newFolder, startGuard } from './local.ts'

const price = 40

/**
 * One ledger in a file, the server on it, and two processes that open it as commands do. Each requests updates of its projects at the same
 * time.
 * @param how.nodes the program of the two processes.
 */
export async function startTogether(how: { units: number; nodes?: readonly [string, string]; asIs?: boolean }) {
  const service = await startScriptedService({ fallback: () => json({ keyword_units: price, dates: [] }) })
  onTestFinished(() => service.close())
  const env = {
    DATA_DIR: await newFolder(),
    TRACKING_BASE_URL: service.baseUrl,
    TRACKING_TOKEN: 'canary-service-token',
    ACCOUNT_UNITS_PER_MONTH: String(how.units),
  }
  const { call } = await startGuard(env, { ...(how.asIs && { asIs: true }) })

  async function askByServer(project: string): Promise<string> {
    const { type, updates } = (await call('/updates', { body: { kind: 'ranking', project } })).body
    return type?.replace('/problems/', '') ?? updates[0].state
  }

  const program = how.asIs ? ['--import', 'tsx', 'test/support/process/asker.ts'] : [builtProgram('asker')]
  const [first, second] = how.nodes ?? [process.execPath, process.execPath]
  const askers = [await startAsker([first, ...program], env), await startAsker([second, ...program], env)] as const
  return {
    runs: () => service.requests.flatMap(({ url }) => /\/on-demand\/(.+)\/run$/.exec(url)?.[1] ?? []),
    versions: askers.map(({ version }) => version),
    /** @returns the number of each answer. */
    ask: async ([own, ...others]: readonly [readonly string[], readonly string[], readonly string[]]) => {
      const asked = askers.map(({ ask }, at) => ask(others[at] ?? []))
      const given = await Promise.all([Promise.all(own.map(askByServer)), ...asked])
      const counts: Record<string, number> = {}
      for (const answer of given.flat()) counts[answer] = (counts[answer] ?? 0) + 1
      return counts
    },
    /** Checks the promises at rest. */
    mustBeExact: async (expected: { available: number; spent: number }) => {
      expect((await call('/audit')).body.ok).toBe(true)
      const { windows } = (await call('/budgets/account')).body
      expect(windows[0]).toMatchObject({ ...expected, held: 0, inDoubt: 0 })
    },
  }
}

export const projectsOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`)

/** Resolves once the process has opened the ledger, so that all begin together. */
async function startAsker([node, ...program]: readonly [string, ...string[]], env: Record<string, string>) {
  const child = spawn(node, program, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => (await lines.next()).value ?? ''
  return {
    version: /^ready (\S+)/.exec(await next())?.[1],
    ask: async (projects: readonly string[]): Promise<readonly string[]> => {
      child.stdin.write(`${JSON.stringify(projects)}\n`)
      return JSON.parse(await next())
    },
  }
}
