import { createHash } from 'node:crypto'
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, relative } from 'node:path'
import type { Plugin } from 'esbuild'
import { bundleFor, neverLoaded, packageOf } from '../bundle.ts'
import type { Run } from './commands/table.ts'

const folder = 'build/machine'

export const run: Run<'bundle'> = async () => {
  await bundleMachine({ into: folder })
  process.stdout.write(`${folder}: README.md says how to install it, node run.mjs help lists its commands\n`)
  return true
}

/** Files that the modules read from their own folder. */
const besideCode = ['infra/local/plans.json', 'infra/openapi/docs.css', 'functions/dashboard/dashboard.css', 'LICENSE']

const machine = 'infra/machine'
const units = ['unit-guard.service', 'unit-guard-backup.service', 'unit-guard-backup.timer']

/**
 * Bundles the commands of one machine, such as `serve`, for Node 20.19 or newer. The folder has libsql for this platform, so
 * it needs no other package.
 */
export async function bundleMachine({ into }: { into: string }) {
  await rm(into, { recursive: true, force: true })
  await mkdir(into, { recursive: true })
  const { name, version, license, engines, scripts: all } = JSON.parse(await readFile('package.json', 'utf8'))
  const scripts = scriptsOf(all)
  const { packages } = await bundleFor({
    entries: { run: 'infra/local/run.ts' },
    into,
    target: 'node20.19',
    external: [...neverLoaded, 'esbuild'],
    plugins: [commandsWithoutNpm(Object.keys(scripts))],
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  const binary = join('node_modules', binaryOfLibsql())
  await cp(binary, join(into, binary), { recursive: true })
  await Promise.all(besideCode.map((file) => copyFile(file, join(into, basename(file)))))
  const packaged = { name, version, license, private: true, type: 'module', engines, scripts }
  await writeFile(join(into, 'package.json'), `${JSON.stringify(packaged, null, 2)}\n`)
  await Promise.all(
    [...units, 'Caddyfile', 'compose.yml'].map((file) => copyFile(join(machine, file), join(into, file))),
  )
  await writePages(into, Object.keys(scripts))
  await writeChecksums(into)
  return { packages: [...packages, await packageOf(binary)] }
}

/** The page for one machine becomes the README. Its links lead to the files of the folder. */
async function writePages(into: string, commands: readonly string[]): Promise<void> {
  await mkdir(join(into, 'docs'))
  const pages = (await readdir('docs')).filter((file) => file.endsWith('.md'))
  for (const page of pages) {
    const text = withoutNpm(await readFile(join('docs', page), 'utf8'), commands)
    await writeFile(join(into, 'docs', page), text.replaceAll(`](../${machine}/`, '](../'))
    if (page !== 'one-machine.md') continue
    const linked = text.replaceAll(`](../${machine}/`, '](').replace(/\]\((?=[\w-]+\.md)/g, '](docs/')
    await writeFile(join(into, 'README.md'), linked)
  }
}

/** For `sha256sum --check`. */
async function writeChecksums(into: string): Promise<void> {
  const found = await readdir(into, { recursive: true, withFileTypes: true })
  const files = found.filter((each) => each.isFile()).map((each) => relative(into, join(each.parentPath, each.name)))
  const lines = files.sort().map(async (file) => {
    const digest = createHash('sha256').update(await readFile(join(into, file)))
    return `${digest.digest('hex')}  ${file}\n`
  })
  await writeFile(join(into, 'SHA256SUMS'), (await Promise.all(lines)).join(''))
}

/** The image has no npm, so its sentences and pages name `node run.mjs backup`, not `npm run backup --`. */
const commandsWithoutNpm = (commands: readonly string[]): Plugin => ({
  name: 'commands-without-npm',
  setup({ onLoad }) {
    onLoad({ filter: /\/(?:shared|functions|infra)\/.*\.tsx?$/ }, async ({ path }) => ({
      contents: withoutNpm(await readFile(path, 'utf8'), commands),
      loader: path.endsWith('x') ? 'tsx' : 'ts',
    }))
  },
})

function withoutNpm(text: string, commands: readonly string[]): string {
  const names = [...commands, '<command>', '\\$\\{name\\}'].join('|')
  const typed = new RegExp(`npm run (?:--silent )?(${names})(?!\\w|:\\w)(?: --(?= ))?`, 'g')
  return text.replace(typed, 'node run.mjs $1')
}

/** The package that libsql loads on this platform. */
function binaryOfLibsql(): string {
  const ofLibsql = createRequire(createRequire(import.meta.url).resolve('libsql'))
  return `@libsql/${ofLibsql('@neon-rs/load').currentTarget()}`
}

/** Commands that need the sources, or are for a trial. */
const onlyInRepository = ['client', 'bundle', 'start', 'sandbox']

/** Gives the folder the commands of the repository, such as `npm run account -- begin`. */
function scriptsOf(all: Readonly<Record<string, string>>): Record<string, string> {
  const commands = Object.keys(all).filter(
    (name) => all[name]?.endsWith(`run.ts ${name}`) && !onlyInRepository.includes(name),
  )
  return Object.fromEntries(commands.map((name) => [name, `exec node run.mjs ${name}`]))
}
