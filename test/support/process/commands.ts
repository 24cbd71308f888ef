import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { inject } from 'vitest'
import { buildCommands } from '../setup/commands.ts'

const programs = ['asker', 'flips', 'follower', 'writer']
const builtWithinMs = 60_000
const looksEveryMs = 50

/**
 * The folder with the commands of `infra/local` and the programs of this folder, built once for the run, because forty
 * processes would compile longer than they work.
 */
export function commandsFolder(): string {
  const folder = resolve(inject('commands'))
  if (existsSync(folder)) return folder
  if (isFirst(`${folder}.building`)) {
    try {
      const besides = programs.map((name) => [name, `test/support/process/${name}.ts`])
      buildCommands(`${folder}.building/new`, Object.fromEntries(besides))
      renameSync(`${folder}.building/new`, folder)
    } finally {
      rmSync(`${folder}.building`, { recursive: true })
    }
  }
  return builtByOther(folder)
}

function isFirst(lock: string): boolean {
  mkdirSync(dirname(lock), { recursive: true })
  try {
    mkdirSync(lock)
    return true
  } catch {
    return false
  }
}

function builtByOther(folder: string): string {
  for (let waitedMs = 0; !existsSync(folder); waitedMs += looksEveryMs) {
    if (waitedMs > builtWithinMs) throw new Error('the commands were not built')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, looksEveryMs)
  }
  return folder
}
