import { copyFile, mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the commands of `infra/local`, each in one file. */
    commands: string
  }
}

const sources = 'infra/local'
/** Files that the modules read from their own folder. */
const beside = ['plans.json', '../openapi/docs.css', '../../functions/dashboard/dashboard.css']

/** Builds the commands of `infra/local` once for the run, because forty processes would compile longer than they work. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Below node_modules, so that packages are found.
  const folder = `node_modules/.cache/unit-guard/commands-${process.pid}`
  const besides = ['asker', 'flips', 'follower', 'writer'].map((name) => [name, `test/support/process/${name}.ts`])
  await buildCommands(folder, Object.fromEntries(besides))
  project.provide('commands', folder)
  return () => rm(folder, { recursive: true })
}

/** @param besides further programs, by name. */
export async function buildCommands(folder: string, besides: Readonly<Record<string, string>> = {}): Promise<void> {
  await mkdir(folder, { recursive: true })
  await build({
    entryPoints: { run: `${sources}/run.ts`, ...besides },
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['esbuild', 'libsql'],
    logLevel: 'error',
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  await Promise.all(beside.map((name) => copyFile(`${sources}/${name}`, join(folder, basename(name)))))
}
