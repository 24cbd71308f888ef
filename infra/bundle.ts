import { build } from 'esbuild'

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
    sourcemap: true,
    metafile: true,
    logLevel: 'error',
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  const [, output] = Object.entries(metafile.outputs).find(([path]) => path.endsWith('.mjs')) ?? []
  return { bytes: output?.bytes ?? 0 }
}
