import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildCommands } from '../support/setup/commands.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The product as `npm start` starts it, compiled once so that it restarts in half a second. One SIGKILL ends all its processes. */
export async function createProduct({ env, start }: { env: () => Environment; start?: string }) {
  // Below node_modules, so that packages are found.
  const commands = `node_modules/.cache/unit-guard/kills-${process.pid}`
  buildCommands(commands, start === undefined ? {} : { start })

  const run = (program: 'start' | 'run', args: readonly string[] = []) =>
    spawn(process.execPath, [join(commands, `${program}.mjs`), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, PORT: '0', ...env() },
    })

  async function command(args: readonly string[]) {
    const running = run('run', args)
    const said = collect(running)
    const [code] = await once(running, 'close')
    return { code: Number(code), text: said.text }
  }

  let child: ChildProcess | null = null
  process.once('exit', () => {
    child?.kill('SIGKILL')
    rmSync(commands, { recursive: true, force: true })
  })

  return {
    start: async (): Promise<string> => {
      child = start === undefined ? run('run', ['start']) : run('start')
      return ready(child)
    },
    kill: () => void child?.kill('SIGKILL'),
    died: async (): Promise<void> => {
      if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
    /** A separate process, which may fail while the product is dead. */
    command,
    sweep: async (at: string): Promise<void> => {
      const { code, text } = await command(['sweep', '--at', at])
      if (code !== 0) throw new Error(`the sweep at ${at} failed:\n${text}`)
    },
  }
}

const readyWithinMs = 30_000

function collect(child: ChildProcess): { text: string } {
  const said = { text: '' }
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said.text += text
    })
  return said
}

function ready(child: ChildProcess): Promise<string> {
  const said = collect(child)
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`it did not start:\n${said.text}`))
    const timer = setTimeout(fail, readyWithinMs)
    child.once('exit', fail)
    child.stdout?.on('data', () => {
      const [, url] = /^ready (\S+)$/m.exec(said.text) ?? []
      if (url === undefined) return
      clearTimeout(timer)
      child.removeListener('exit', fail)
      resolve(url)
    })
  })
}
