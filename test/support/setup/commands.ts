import { copyFile, mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the commands of `infra/local`, each as one file that node runs by itself. */
    commands: string
  }
}

const sources = 'infra/local'
/** What the modules find beside themselves. */
const beside = [
  ...['plans.json', 'database/dynamodb-keeper.js', 'database/LoopbackDynamoDb.class'],
  ...['../openapi/docs.css', '../../functions/dashboard/dashboard.css'],
]

/**
 * Builds the commands of `infra/local` once for the whole run: compiling them in each of forty processes would take
 * longer than everything that they do. `npm start` itself is also tested as it is.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Below node_modules, so that packages are found from there.
  const folder = `node_modules/.cache/unit-guard/commands-${process.pid}`
  await buildCommands(folder)
  project.provide('commands', folder)
  return () => rm(folder, { recursive: true })
}

/** Each command as `<name>.mjs`. */
export async function buildCommands(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await build({
    entryPoints: ['*.ts', 'commands/*.ts', 'demo/demo-month.ts'].map((names) => `${sources}/${names}`),
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'],
    external: ['esbuild'],
    logLevel: 'error',
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  await Promise.all(beside.map((name) => copyFile(`${sources}/${name}`, join(folder, basename(name)))))
}
