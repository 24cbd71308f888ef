import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { CannotContinue } from '../failures.ts'
import type { Run } from './table.ts'

/** The first Node with `AbortSignal.any`. */
const oldestNode = '>=20.3'

const entry = 'shared/client/client.ts'

export const run: Run<'client'> = async (_flags, folder = 'build/client') => {
  await buildClient(folder)
  process.stdout.write(`${folder}: index.js with its types, package.json, README.md\n`)
  return true
}

/**
 * Builds an ES module with types, a README and the licence. Replaces an earlier build.
 *
 * @throws CannotContinue for a folder with other content.
 */
async function buildClient(folder: string): Promise<void> {
  const name = 'unit-guard-client'
  await mkdir(folder, { recursive: true })
  if (!(await isBuildOf(name, folder)))
    throw new CannotContinue(`${folder} holds something else, and was not changed: name a new or empty folder`)
  await rm(join(folder, 'types'), { recursive: true, force: true })
  const { version, license } = JSON.parse(await readFile('package.json', 'utf8'))
  const packaged = {
    name,
    version,
    description: 'Asks Unit Guard for updates, once each, and waits for their outcome',
    license,
    type: 'module',
    engines: { node: oldestNode },
    sideEffects: false,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
  }
  // Written first, so that an interrupted build is recognized as ours.
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(packaged, null, 2)}\n`)
  await copyFile('shared/client/README.md', join(folder, 'README.md'))
  await copyFile('LICENSE', join(folder, 'LICENSE'))
  const target = { platform: 'neutral', target: 'es2022', format: 'esm' } as const
  await build({ entryPoints: [entry], outfile: join(folder, 'index.js'), bundle: true, logLevel: 'error', ...target })
  await writeTypes(join(folder, 'types'))
  await writeFile(join(folder, 'index.d.ts'), "export * from './types/client.ts'\n")
}

/** Empty or an earlier build: a wrong folder name must not delete the user's program. */
async function isBuildOf(name: string, folder: string): Promise<boolean> {
  if ((await readdir(folder)).length === 0) return true
  const built = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')
  return built.includes(`"name": "${name}"`)
}

async function writeTypes(into: string): Promise<void> {
  const declarations = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', into]
  const language = ['--ignoreConfig', '--strict', '--allowImportingTsExtensions', '--skipLibCheck', '--types', 'node']
  const modules = ['--target', 'es2023', '--lib', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler']
  const roots = ['--typeRoots', resolve('node_modules', '@types')]
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
  const options = [...declarations, ...language, ...modules, ...roots]
  await promisify(execFile)(process.execPath, [tsc, ...options, entry])
}
