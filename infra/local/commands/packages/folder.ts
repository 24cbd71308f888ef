import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CannotContinue } from '../../failures.ts'

interface Package {
  readonly name: string
  readonly description: string
  readonly readme: string
  readonly members?: object
}

/**
 * Begins a folder that can be copied or published: an ES module with types, a README and the licence. Replaces an earlier build.
 *
 * @throws CannotContinue for a folder with other content.
 */
export async function beginPackage(folder: string, { name, description, readme, members }: Package): Promise<void> {
  await mkdir(folder, { recursive: true })
  if (!(await isBuildOf(name, folder)))
    throw new CannotContinue(
      `${folder} holds something else, and was left as it is: name a folder that is new or empty`,
    )
  await rm(join(folder, 'types'), { recursive: true, force: true })
  const { version, license } = JSON.parse(await readFile('package.json', 'utf8'))
  const entry = { exports: { '.': { types: './index.d.ts', default: './index.js' } } }
  // Written first, so that an interrupted build is recognized as ours.
  await writeFile(
    join(folder, 'package.json'),
    `${JSON.stringify({ name, version, description, license, type: 'module', ...members, ...entry }, null, 2)}\n`,
  )
  await copyFile(readme, join(folder, 'README.md'))
  await copyFile('LICENSE', join(folder, 'LICENSE'))
}

/** Empty or an earlier build: a wrong folder name must not delete the user's program. */
async function isBuildOf(name: string, folder: string): Promise<boolean> {
  if ((await readdir(folder)).length === 0) return true
  const built = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')
  return built.includes(`"name": "${name}"`)
}

/** Writes the types of a module and of all that it imports. */
export async function writeTypes(entry: string, into: string): Promise<void> {
  const declarations = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', into]
  const language = ['--ignoreConfig', '--strict', '--allowImportingTsExtensions', '--skipLibCheck', '--types', 'node']
  const modules = ['--target', 'es2023', '--lib', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler']
  const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [tsc, ...declarations, ...language, ...modules, entry])
}
