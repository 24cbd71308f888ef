import { copyFile, mkdir, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { writeReference } from './openapi/reference.tsx'

export type BundleName = 'api' | 'dashboard' | 'slack' | 'scheduled' | 'outbox' | 'sandbox'

/** The folder of each function's code. */
export type Bundles = Readonly<Record<BundleName, string>>

const names: readonly BundleName[] = ['api', 'dashboard', 'slack', 'scheduled', 'outbox', 'sandbox']
const withPlans: readonly BundleName[] = ['api', 'dashboard', 'scheduled', 'outbox']

/** What the plans file is called beside the code, where Lambda starts a function: relative to it, it is just its name. */
export const plansBeside = 'plans.json'

/**
 * Bundles every function into a folder of its own. The folders must be at the same place each time, seen from the
 * sources: source maps name them from there, and what gets a new name is deployed again.
 */
export async function bundleAll(options: { into: string; plansFile: string | undefined }) {
  const { into, plansFile } = options
  await rm(into, { recursive: true, force: true })
  const bundled = await Promise.all(
    names.map(async (name) => {
      const folder = join(into, name)
      await mkdir(folder, { recursive: true })
      const { bytes } = await bundle({ entry: `functions/${name}/handler.ts`, into: folder })
      if (plansFile !== undefined && withPlans.includes(name)) await copyFile(plansFile, join(folder, plansBeside))
      return { name, folder, bytes }
    }),
  )
  for (const name of ['api', 'dashboard']) await writeReference(join(into, name))
  await copyFile('functions/dashboard/dashboard.css', join(into, 'dashboard', 'dashboard.css'))
  return {
    folders: Object.fromEntries(bundled.map(({ name, folder }) => [name, folder])) as Bundles,
    /** What each loads when it starts. */
    bytes: Object.fromEntries(bundled.map(({ name, bytes }) => [name, bytes])) as Readonly<Record<BundleName, number>>,
  }
}

/** Lambda hands its credentials over in the environment. The SDK would look for these only where there are none. */
const otherCredentials = ['sso', 'ini', 'process', 'web-identity', 'http', 'login']
  .map((kind) => `@aws-sdk/credential-provider-${kind}`)
  .concat('@smithy/credential-provider-imds')

/**
 * Of Node's own modules, what is used. An `import` reads all that a module exports, and among the exports of `node:http` are
 * those of undici, which Node loads only on first use: they take as long as half of a start.
 *
 * @see https://nodejs.org/api/process.html#processgetbuiltinmoduleid
 */
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
 * Bundles one function as it is deployed: minified ES modules with their source maps. What is imported on demand is a file
 * of its own, so that a cold start loads `bytes` and no more.
 */
export async function bundle(options: { entry: string; into: string }): Promise<{ bytes: number }> {
  const { metafile } = await build({
    entryPoints: { index: options.entry },
    outdir: options.into,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    external: otherCredentials,
    plugins: [nodeModules],
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    // Names and lines are enough for a stack trace; the sources are where the code was built.
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'error',
  })
  return { bytes: loadedAtStart(metafile.outputs) }
}

/** The entry and all that it imports before its first line runs. */
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
