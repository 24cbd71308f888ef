import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { say } from '../support/process/command-line.ts'

export interface Ended {
  readonly isWell: boolean
  readonly output: string
}

export type Variables = Readonly<Record<string, string | undefined>>

/** A program that is not there ends like one that failed. */
export const call = (
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd?: string; readonly env?: Variables } = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { maxBuffer: 64 * 1_024 * 1_024, cwd, env: { ...process.env, ...env } }
    execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ isWell: error === null, output: `${stdout}${stderr}` }),
    )
  })

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'unit-guard')

/** Installs packages into a folder of the user's cache. @returns its folder of programs, or `null` if that fails. */
export async function pythonWith(pinned: readonly string[]): Promise<string | null> {
  const folder = join(cache, pinned.join('-').replace(/[^\w.-]+/g, '-'))
  const programs = join(folder, 'bin')
  if (existsSync(join(folder, 'installed'))) return programs
  await rm(folder, { recursive: true, force: true })
  const made = await call('python3', ['-m', 'venv', folder])
  const { isWell } = made.isWell ? await call(join(programs, 'pip'), ['install', '-q', ...pinned]) : made
  if (isWell) {
    await call('touch', [join(folder, 'installed')])
    return programs
  }
  await rm(folder, { recursive: true, force: true })
  return null
}

export type Checked = 'well' | 'failed' | 'not checked'

export function report(name: string, state: Checked, why: string): Checked {
  const head = state === 'well' ? 'well' : state === 'failed' ? 'FAILED' : 'NOT CHECKED'
  say(`${head.padEnd(12)} ${name}: ${why}`)
  return state
}

/** What was not checked fails only in CI, as in `.ci/templates`. */
export const exitCodeOf = (states: readonly Checked[]): number =>
  states.includes('failed') || (states.includes('not checked') && process.env.CI === 'true') ? 1 : 0
