import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readEnvFile } from '../../../infra/local/data-directory.ts'
import type { Environment } from '../../../infra/local/settings.ts'

/** Starts the product with the sandbox in a folder of its own, calls `use`, and removes both. */
export async function withStarted<Result>(
  name: string,
  use: (started: { directory: string; env: Environment }) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), `unit-guard-${name}-`))
  const product = spawn(process.execPath, ['--import', 'tsx', 'infra/local/run.ts', 'start'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, PORT: '0', SANDBOX_PORT: '0', DEMO: 'off', DATA_DIR: directory },
  })
  try {
    await ready(product)
    return await use({ directory, env: readEnvFile(directory) })
  } finally {
    product.kill('SIGTERM')
    if (product.exitCode === null) await once(product, 'exit')
    await rm(directory, { recursive: true, force: true })
  }
}

async function ready({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('the product has no output')
  for await (const line of createInterface({ input: stdout })) if (line.startsWith('ready ')) return
  throw new Error('the product ended before it was ready')
}
