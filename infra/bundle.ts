import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { type BundleName, bundleNames } from './code.ts'
import { writeReference } from './openapi/reference.tsx'

/** Source maps hold relative paths, so a changed `into` would deploy every function again. */
export async function bundleAll({ into }: { into: string }) {
  await rm(into, { recursive: true, force: true })
  const bundled = await Promise.all(
    bundleNames.map(async (name) => {
      const folder = join(into, name)
      await mkdir(folder, { recursive: true })
      return { name, folder, ...(await bundle({ entry: `functions/${name}/handler.ts`, into: folder })) }
    }),
  )
  for (const name of ['api', 'dashboard']) await writeReference(join(into, name))
  await copyFile('functions/dashboard/dashboard.css', join(into, 'dashboard', 'dashboard.css'))
  return {
    folders: Object.fromEntries(bundled.map(({ name, folder }) => [name, folder])) as Readonly<
      Record<BundleName, string>
    >,
    bytes: Object.fromEntries(bundled.map(({ name, bytes }) => [name, bytes])) as Readonly<Record<BundleName, number>>,
    packages: bundled.flatMap(({ packages }) => packages),
  }
}

/** Packages that the SDK never imports on Lambda. If they were bundled, each start would load the code that they share. */
export const neverLoaded = ['sso', 'ini', 'process', 'web-identity', 'http', 'login']
  .map((kind) => `@aws-sdk/credential-provider-${kind}`)
  .concat('@smithy/credential-provider-imds', '@smithy/core/event-streams', 'bowser')

/** Reads only the used exports, because an `import` of `node:http` also loads undici, which takes half of a cold start. */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined
      if (kind === 'dynamic-import') return { path, external: true }
      return { path, namespace: kind === 'require-call' ? 'node-required' : 'node' }
    })
    onLoad({ filter: /.*/, namespace: 'node-required' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
    onLoad({ filter: /.*/, namespace: 'node' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default')
      const used = names.map((name) => `export const ${name} = /* @__PURE__ */ $read('${name}')`)
      const read = `const $all = process.getBuiltinModule('${path}'), $read = (name) => $all[name]`
      return { contents: [read, 'export default $all', ...used].join('\n') }
    })
  },
}

/**
 * Stubs unused parts. Of our package.json and the SDK's: all except `version`. In the SDK: the cache of endpoints, and the signed headers
 * of event streams. In the MCP server: the validator (ajv) of forms.
 */
const unusedParts: Plugin = {
  name: 'unused-parts',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]package\.json$/ }, async ({ path }) => {
      if (path !== resolve('package.json') && !/[\\/]@aws-sdk[\\/][\w-]+[\\/]package\.json$/.test(path))
        return undefined
      const { version } = JSON.parse(await readFile(path, 'utf8'))
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
    onLoad({ filter: /[\\/]@aws-sdk[\\/]endpoint-cache[\\/]/ }, () => ({ contents: 'export class EndpointCache {}' }))
    onLoad({ filter: /[\\/]signature-v4[\\/]dist-es[\\/]HeaderFormatter\.js$/ }, () => ({
      contents: 'export class HeaderFormatter {}',
    }))
    onLoad({ filter: /[\\/]@modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
      contents: 'export class DefaultJsonSchemaValidator {}',
    }))
  },
}

/** Lets each dynamic import share the whole start. Otherwise esbuild splits the start into twenty shared files. */
const oneStart = (entry: string): Plugin => ({
  name: 'one-start',
  setup: ({ onResolve, onLoad, resolve }) => {
    onResolve({ filter: /.*/ }, async ({ path, kind, importer, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined
      const found = await resolve(path, { kind: 'import-statement', importer, resolveDir })
      return found.external ? found : { path: relative('.', found.path), namespace: 'late' }
    })
    onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
      contents: `import './${entry}'\nexport * from './${path}'`,
      resolveDir: process.cwd(),
    }))
  },
})

interface Bundled {
  /** The size of the files that a start loads. Dynamic imports are separate files. */
  readonly bytes: number
  /** The packages whose code is in the bundle. */
  readonly packages: readonly Package[]
}

/** Bundles a function for the Node of Lambda. */
export const bundle = ({ entry, into }: { entry: string; into: string }): Promise<Bundled> =>
  bundleFor({
    entries: { index: entry },
    into,
    target: 'node24',
    external: neverLoaded,
    inject: ['infra/stack-places.ts'],
    plugins: [oneStart(entry)],
  })

type How = { entries: Readonly<Record<string, string>>; into: string } & Required<
  Pick<BuildOptions, 'target' | 'external'>
> &
  BuildOptions

export async function bundleFor({ entries, into, plugins = [], ...how }: How): Promise<Bundled> {
  const { metafile } = await build({
    ...how,
    entryPoints: entries,
    outdir: into,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    plugins: [nodeModules, unusedParts, ...plugins],
    platform: 'node',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    // Stack traces need names and lines, not the sources.
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
  })
  const packages = await packagesIn(metafile)
  await writeFile(join(into, 'NOTICES.txt'), await noticesOf(packages))
  return { bytes: loadedAtStart(metafile.outputs), packages: [...packages.values()] }
}

const isLicence = (file: string) => /^(licen[cs]e|copying)/i.test(file)
const isNotice = (file: string) => isLicence(file) || /^notice/i.test(file)

interface Package {
  readonly name: string
  readonly version: string
}

type Folders = ReadonlyMap<string, Package>

async function packagesIn({ outputs }: Metafile): Promise<Folders> {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs))
  const found = files.flatMap((file) => /^(?:late:)?(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  const folders = [...new Set(found)].sort()
  return new Map(await Promise.all(folders.map(async (folder) => [folder, await packageOf(folder)] as const)))
}

export async function packageOf(folder: string): Promise<Package> {
  const { name, version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  return { name, version }
}

/** Licences demand their text with each copy. A text that several packages share appears once. */
async function noticesOf(packages: Folders): Promise<string> {
  const namesOf = new Map<string, string[]>()
  for (const [folder, { name, version }] of packages) {
    const found = (await readdir(folder)).filter(isNotice).sort()
    if (!found.some(isLicence)) throw new Error(`the package ${name} has no licence text, which must go with its code`)
    const texts = await Promise.all(found.map((file) => readFile(join(folder, file), 'utf8')))
    const text = texts.map((each) => each.trim()).join('\n\n')
    namesOf.set(text, [...(namesOf.get(text) ?? []), `${name} ${version}`])
  }
  return [...namesOf].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(72)}\n\n`)
}

function loadedAtStart(outputs: Metafile['outputs']): number {
  const loaded = new Set<string>()
  function load(path: string): void {
    if (loaded.has(path)) return
    loaded.add(path)
    for (const { kind, path: imported } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') load(imported)
    }
  }
  load(Object.keys(outputs).find((path) => outputs[path]?.entryPoint !== undefined && path.endsWith('index.mjs')) ?? '')
  return [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0)
}
