import type { EventEmitter } from 'node:events'
import { format } from 'node:util'
import { expect } from 'vitest'
import { runCommand } from '../../../infra/local/commands/command.ts'
import { type CommandName, commands } from '../../../infra/local/commands/table.ts'
import { programs } from '../../../infra/local/programs.ts'
import { secretsIn } from '../canaries.ts'
import type { Ended } from './local.ts'

const quiet = { PORT: '0', SANDBOX_PORT: '0', AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' }
/** The events of a process that listens. */
const listenedTo: readonly (readonly [emitter: EventEmitter, event: string])[] = [
  ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [process, signal] as const),
  ...[process.stdout, process.stderr].map((stream) => [stream, 'error'] as const),
]

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs a command in this process, with only these variables, because `runLocal` spends most of its time on starting a process. Commands run
 * one after another, because they share variables and output.
 */
export function runHere(
  name: CommandName,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ended> {
  const ended = last.then(() => run(name, args, env))
  last = ended.catch(() => {})
  return ended
}

async function run(name: CommandName, args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const before = { env: process.env, log: console.log, error: console.error, write: process.stdout.write }
  const said = { out: '', err: '' }
  const given = Object.entries(env).filter(([, value]) => value !== undefined)
  process.env = { PATH: process.env.PATH, ...quiet, ...Object.fromEntries(given) }
  console.log = (...words: unknown[]) => {
    said.out += `${format(...words)}\n`
  }
  console.error = (...words: unknown[]) => {
    said.err += `${format(...words)}\n`
  }
  process.stdout.write = (text: string | Uint8Array) => {
    said.out += text
    return true
  }
  const listeners = listenedTo.map(([emitter, event]) => emitter.rawListeners(event))
  try {
    const code = await runCommand(commands[name], args, programs[name])
    if (name !== 'token') expect(secretsIn(said.out + said.err), 'secrets were said').toEqual([])
    return { code, ...said }
  } finally {
    process.env = before.env
    Object.assign(console, { log: before.log, error: before.error })
    process.stdout.write = before.write
    for (const [at, [emitter, event]] of listenedTo.entries()) {
      const added = emitter.rawListeners(event).filter((listener) => !listeners[at]?.includes(listener))
      for (const listener of added) emitter.off(event, listener as () => void)
    }
  }
}
