import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { context, type Plugin } from 'esbuild'
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
  const bugs = pluginOfBugs()
  // Only the first build reads and parses every file.
  const bundler = await context({
    entryPoints: [resolve(root, 'test/simulation/worker.ts')],
    outfile: join(folder, 'worker.mjs'),
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    plugins: [bugs.plugin],
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  let bundles = 0
  let lastBuild: Promise<unknown> = Promise.resolve()

  async function build(mutant: Mutant | undefined): Promise<string> {
    bugs.plant(mutant)
    const { outputFiles } = await bundler.rebuild()
    const file = join(folder, `${++bundles}.mjs`)
    await writeFile(file, outputFiles[0]?.contents ?? '')
    return file
  }

  /** Bundles the whole guard into one file, with a bug or without. @throws when the line with the bug is missing. */
  function bundle(mutant?: Mutant): Promise<string> {
    const built = lastBuild.then(() => build(mutant))
    lastBuild = built.catch(() => {})
    return built
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

  async function clear(): Promise<void> {
    await bundler.dispose()
    await rm(folder, { recursive: true, force: true })
  }

  return { bundle, start, clear }
}

/** A bug may also make a task endless. */
const lost = (promise: string): Outcome => ({
  schedules: 0,
  states: 0,
  steps: 0,
  ms: 0,
  failure: { promise, trace: [], again: 'npm run sim' },
})

function pluginOfBugs(): { plugin: Plugin; plant(mutant: Mutant | undefined): void } {
  let planted: Mutant | undefined
  const plugin: Plugin = {
    name: 'bug',
    setup: ({ onLoad }) => {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!planted || relative(root, path) !== planted.file) return null
        const { file, find, replace } = planted
        const source = await readFile(path, 'utf8')
        if (!source.includes(find)) throw new Error(`${file} has no line ${find}`)
        return { contents: source.replace(find, () => replace), loader: 'ts' }
      })
    },
  }
  const plant = (mutant: Mutant | undefined): void => {
    planted = mutant
  }
  return { plugin, plant }
}
