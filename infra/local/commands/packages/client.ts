import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { defineCommand } from '../command.ts'
import { beginPackage, writeTypes } from './folder.ts'

const usage = `Builds the client for programs: a folder with one module and its types, to be copied or published.

  npm run client [-- <folder>]

  <folder>  one that is new, empty, or of an earlier build; build/client without it`

/** The first Node with `AbortSignal.any`. */
const oldestNode = '>=20.3'

export const command = defineCommand({
  usage,
  takes: ['[folder]'],
  async run(_flags, folder = 'build/client') {
    await buildClient(folder)
    process.stdout.write(`${folder}: index.js with its types, package.json, README.md\n`)
    return true
  },
})

async function buildClient(folder: string): Promise<void> {
  await beginPackage(folder, {
    name: 'unit-guard-client',
    description: 'Asks Unit Guard for updates, once each, and waits for their outcome',
    readme: 'shared/client/README.md',
    members: { engines: { node: oldestNode }, sideEffects: false },
  })
  await build({
    entryPoints: ['shared/client/client.ts'],
    outfile: join(folder, 'index.js'),
    bundle: true,
    platform: 'neutral',
    target: 'es2022',
    format: 'esm',
    logLevel: 'error',
  })
  await writeTypes('shared/client/client.ts', join(folder, 'types'))
  await writeFile(join(folder, 'index.d.ts'), "export * from './types/client.ts'\n")
}
