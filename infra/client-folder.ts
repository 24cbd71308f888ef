import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** The client as a folder that needs nothing else, to be copied or published: one module with its types. */
export async function buildClient(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await build({
    entryPoints: ['shared/client/client.ts'],
    outfile: join(folder, 'index.js'),
    bundle: true,
    platform: 'neutral',
    target: 'es2022',
    format: 'esm',
    logLevel: 'error',
  })
  const declarations = [
    '--declaration',
    '--emitDeclarationOnly',
    '--noEmit',
    'false',
    '--outDir',
    join(folder, 'types'),
  ]
  const language = ['--ignoreConfig', '--strict', '--allowImportingTsExtensions', '--skipLibCheck', '--types', 'node']
  const modules = ['--target', 'es2023', '--lib', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler']
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [
    tsc,
    ...declarations,
    ...language,
    ...modules,
    'shared/client/client.ts',
  ])
  await writeFile(join(folder, 'index.d.ts'), "export * from './types/client.ts'\n")
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(await packageOf(), null, 2)}\n`)
  await copyFile('shared/client/README.md', join(folder, 'README.md'))
  await copyFile('LICENSE', join(folder, 'LICENSE'))
}

async function packageOf() {
  const { version, license, engines } = JSON.parse(await readFile('package.json', 'utf8'))
  return {
    name: 'unit-guard-client',
    version,
    description: 'Asks Unit Guard for updates, once each, and waits for what becomes of them',
    ...{ license, type: 'module', engines, sideEffects: false },
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
  }
}
