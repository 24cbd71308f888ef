import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import type { Mutant } from './mutant.ts'
import type { Outcome, Task } from './trial.ts'

const longestTaskMs = 10 * 60_000

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Worker {
  do(task: Task): Promise<Outcome>
  stop(): void
}

export type Workers = Awaited<ReturnType<typeof createWorkers>>

export async function createWorkers() {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-simulation-'))
  let bundles = 0

  /** Bundles the whole guard into one file, with a bug or without. @throws when the line with the bug is missing. */
  async function bundle(mutant?: Mutant): Promise<string> {
    const outfile = join(folder, `${++bundles}.mjs`)
    await build({
      entryPoints: [resolve(root, 'test/simulation/worker.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
      plugins: mutant ? [withBug(mutant)] : [],
      banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    })
    return outfile
  }

  function start(file: string): Worker {
    const child: ChildProcess = fork(file, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    return {
      do: (task) =>
        new Promise((resolve) => {
          const timer = setTimeout(() => end(lost('a task never ends')), longestTaskMs)
          const died = () => end(lost('the process of a task has died'))
          const end = (outcome: Outcome) => {
            clearTimeout(timer)
            child.off('message', end).off('exit', died)
            resolve(outcome)
          }
          child.once('message', end).once('exit', died)
          child.send(task)
        }),
      stop: () => void child.kill(),
    }
  }

  return { bundle, start, clear: () => rm(folder, { recursive: true, force: true }) }
}

/** A bug may also make a task endless. */
const lost = (promise: string): Outcome => ({
  ...{ schedules: 0, states: 0, steps: 0, ms: 0 },
  failure: { promise, trace: [], again: 'npm run sim' },
})

const withBug = ({ file, find, replace }: Mutant): Plugin => ({
  name: 'bug',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (relative(root, path) !== file) return null
      const source = await readFile(path, 'utf8')
      if (!source.includes(find)) throw new Error(`${file} has no line ${find}`)
      return { contents: source.replace(find, () => replace), loader: 'ts' }
    })
  },
})
