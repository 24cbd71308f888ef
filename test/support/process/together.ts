import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished } from 'vitest'
import { readEnvFile } from '../../../infra/local/data-directory.ts'
import { json } from '../product.ts'
import { startScriptedService } from '../scripted-service.ts'
import { spawnLocal, temporaryDirectory } from './local.ts'

const price = 40

/**
 * One ledger in a file, the server on it, and two processes that open it as commands do: each asks for its part of the
 * projects, all at once.
 *
 * @param how.nodes the program of the two processes.
 */
export async function startTogether(how: { units: number; nodes?: readonly [string, string]; asIs?: boolean }) {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  const service = await startScriptedService({ fallback: () => json({ keyword_units: price, dates: [] }) })
  onTestFinished(() => service.close())
  const env = {
    DATA_DIR: directory,
    TRACKING_BASE_URL: service.baseUrl,
    TRACKING_TOKEN: 'canary-service-token',
    ACCOUNT_UNITS_PER_MONTH: String(how.units),
  }
  const server = spawnLocal('start', { env, ...(how.asIs && { asIs: true }) })
  onTestFinished(() => server.signalGroup('SIGKILL'))
  const url = await server.ready()

  async function call(path: string, body?: object) {
    const authorization = `Bearer ${readEnvFile(directory).UNIT_GUARD_TOKEN}`
    const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    const answer = await fetch(`${url}${path}`, {
      headers: { authorization, 'content-type': 'application/json' },
      ...sent,
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as callers do, without knowing our types.
    return (await answer.json()) as any
  }

  async function askByServer(project: string): Promise<string> {
    const { type, updates } = await call('/updates', { kind: 'ranking', project })
    return type?.replace('/problems/', '') ?? updates[0].state
  }

  const [first, second] = how.nodes ?? [process.execPath, process.execPath]
  return {
    runs: () => service.requests.flatMap(({ url }) => /\/on-demand\/(.+)\/run$/.exec(url)?.[1] ?? []),
    /** @returns how often each answer was given, and the versions of Node. */
    ask: async (parts: readonly [readonly string[], readonly string[], readonly string[]]) => {
      const askers = [await startAsker(first, parts[1], env), await startAsker(second, parts[2], env)]
      const given = await Promise.all([Promise.all(parts[0].map(askByServer)), ...askers.map(({ go }) => go())])
      const counts: Record<string, number> = {}
      for (const answer of given.flat()) counts[answer] = (counts[answer] ?? 0) + 1
      return { counts, versions: askers.map(({ version }) => version) }
    },
    /** What must hold at rest. */
    mustBeExact: async (expected: { available: number; spent: number }) => {
      expect((await call('/audit')).ok).toBe(true)
      const { windows } = await call('/budgets/account')
      expect(windows[0]).toMatchObject({ ...expected, held: 0, inDoubt: 0 })
    },
  }
}

export const projectsOf = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`)

/** Answers once it is told to go, so that all begin together. */
async function startAsker(node: string, projects: readonly string[], env: Record<string, string>) {
  const child = spawn(node, ['--import', 'tsx', 'test/support/process/asker.ts', ...projects], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  const ended = once(child, 'close')
  while (!out.includes('\n') && child.exitCode === null) await once(child.stdout, 'data')
  const go = async (): Promise<readonly string[]> => {
    child.stdin.end('go\n')
    await ended
    return JSON.parse(out.split('\n')[1] ?? '')
  }
  return { version: /^ready (\S+)/.exec(out)?.[1], go }
}
