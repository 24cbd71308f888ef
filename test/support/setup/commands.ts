import { copyFileSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { buildSync } from 'esbuild'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder for the commands of `infra/local`, each in one file. The first test that asks builds them. */
    commands: string
  }
}

const sources = 'infra/local'
/** Files that the modules read from their own folder. */
const beside = ['plans.json', '../openapi/docs.css', '../../functions/dashboard/dashboard.css']

export default function setup(project: TestProject): () => Promise<void> {
  // Below node_modules, so that packages are found.
  const folder = `node_modules/.cache/unit-guard/commands-${process.pid}`
  project.provide('commands', folder)
  return () => rm(folder, { recursive: true, force: true })
}

/** @param besides further programs, by name. */
export function buildCommands(folder: string, besides: Readonly<Record<string, string>> = {}): void {
  mkdirSync(folder, { recursive: true })
  buildSync({
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
  for (const name of beside) copyFileSync(`${sources}/${name}`, join(folder, basename(name)))
}
