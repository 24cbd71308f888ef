import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { createSend } from '../../../infra/local/api-client.ts'
import { readEnvFile } from '../../../infra/local/data-directory.ts'
import { secretsIn } from '../canaries.ts'
import { commandsFolder } from './commands.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const readyWithinMs = 50_000

export async function temporaryDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  const remove = async () => {
    const log = await readFile(join(directory, 'guard.log'), 'utf8').catch(() => '')
    await rm(directory, { recursive: true, force: true })
    expect(secretsIn(log), 'secrets in the log').toEqual([])
  }
  return { directory, remove }
}

/**
 * A command of `infra/local` in a process group of its own, without the user's settings.
 *
 * @param options.asIs compiled at the start, as `npm start` does it.
 * @param options.under a program that starts it with fewer rights or room.
 */
export function spawnLocal(
  script: string,
  options: {
    args?: readonly string[]
    env?: Environment
    asIs?: boolean
    cwd?: string
    under?: readonly string[]
  } = {},
) {
  const program = options.asIs ? ['--import', 'tsx', 'infra/local/run.ts'] : [resolve(commandsFolder(), 'run.mjs')]
  const [under = '', ...words] = [...(options.under ?? []), process.execPath, ...program, script]
  const child = spawn(under, [...words, ...(options.args ?? [])], {
    detached: true,
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, PORT: '0', SANDBOX_PORT: '0', ...options.env },
  })
  const said = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text
  })
  const ended = once(child, 'close').then(([code]): Ended => {
    // Printing a token is the purpose of `npm run token`, and the sandbox's is public.
    if (script !== 'token' && script !== 'sandbox')
      expect(secretsIn(said.out + said.err), 'secrets were said').toEqual([])
    return { code, ...said }
  })

  async function ready(): Promise<string> {
    const deadline = Date.now() + readyWithinMs
    for (;;) {
      const url = /^ready (\S+)$|"event":"serving".*?"url":"([^"]+)"/m.exec(said.out)?.slice(1).find(Boolean)
      if (url !== undefined) return url
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`not ready:\n${said.out}${said.err}`)
      await sleep(20)
    }
  }

  /** Sends the signal to the whole group, like a terminal. */
  function signalGroup(signal: NodeJS.Signals): void {
    const isOver = child.exitCode !== null || child.signalCode !== null
    if (child.pid !== undefined && !isOver) process.kill(-child.pid, signal)
  }

  return { said, ended, ready, signal: (signal: NodeJS.Signals) => void child.kill(signal), signalGroup }
}

/** A folder for one test. */
export async function newFolder(): Promise<string> {
  const { directory, remove } = await temporaryDirectory()
  onTestFinished(remove)
  return directory
}

/** Calls the guard of an env file. */
export function callerOf({ UNIT_GUARD_URL: url = '', UNIT_GUARD_TOKEN: token = '' }: Environment) {
  const send = createSend({ url, token })
  return async (path: string, { body, key, method }: { body?: object; key?: string; method?: string } = {}) => {
    const answer = await send(method ?? (body ? 'POST' : 'GET'), path, { ...(body && { body }), key })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as callers do, without knowing our types.
    return { status: answer.status, body: (await answer.json()) as any }
  }
}

/** Starts `npm start` for one test, which uses the token of its env file. */
export async function startGuard(
  env: Environment & { readonly DATA_DIR: string },
  how: { under?: readonly string[]; asIs?: boolean } = {},
) {
  const server = spawnLocal('start', { env, ...how })
  onTestFinished(() => server.signalGroup('SIGKILL'))
  const url = await server.ready()
  const given = readEnvFile(env.DATA_DIR)
  const stop = () => {
    server.signal('SIGTERM')
    return server.ended
  }
  const kill = () => {
    server.signalGroup('SIGKILL')
    return server.ended
  }
  return { said: server.said, ended: server.ended, url, env: given, call: callerOf(given), stop, kill }
}

/** The file of a program in `test/support/process`, built with the commands. */
export const builtProgram = (name: 'asker' | 'flips' | 'follower' | 'writer'): string =>
  resolve(commandsFolder(), `${name}.mjs`)

export const runLocal = (script: string, args: readonly string[], env: Environment): Promise<Ended> =>
  spawnLocal(script, { args, env }).ended
