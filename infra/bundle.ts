import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

export type BundleName = 'api' | 'slack' | 'scheduled' | 'outbox' | 'sandbox'

/** The folder of each function's code. */
export type Bundles = Readonly<Record<BundleName, string>>

const names: readonly BundleName[] = ['api', 'slack', 'scheduled', 'outbox', 'sandbox']
const withPlans: readonly BundleName[] = ['api', 'scheduled', 'outbox']

/** What the plans file is called beside the code, where Lambda starts a function: relative to it, it is just its name. */
export const plansBeside = 'plans.json'

/**
 * Bundles every function into a folder of its own. The folders must be at the same place each time, seen from the
 * sources: source maps name them from there, and what is named anew is deployed anew.
 */
export async function bundleAll(options: { into: string; plansFile: string | undefined }): Promise<Bundles> {
  const { into, plansFile } = options
  await rm(into, { recursive: true, force: true })
  const folders = names.map((name) => [name, join(into, name)] as const)
  await Promise.all(
    folders.map(async ([name, folder]) => {
      await mkdir(folder, { recursive: true })
      await bundle({ entry: `functions/${name}/handler.ts`, outfile: join(folder, 'index.mjs') })
      if (plansFile !== undefined && withPlans.includes(name)) await copyFile(plansFile, join(folder, plansBeside))
    }),
  )
  return Object.fromEntries(folders) as Bundles
}

/**
 * Bundles one function as it is deployed: one minified ES module with its source map. Some of the SDK's dependencies
 * are CommonJS and call `require`, which a module has to make for them.
 */
export async function bundle(options: { entry: string; outfile: string }): Promise<{ bytes: number }> {
  const { metafile } = await build({
    entryPoints: [options.entry],
    outfile: options.outfile,
    bundle: true,
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
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  const [, output] = Object.entries(metafile.outputs).find(([path]) => path.endsWith('.mjs')) ?? []
  return { bytes: output?.bytes ?? 0 }
}
