import { execFile } from 'node:child_process'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { bundle, bundleAll } from '../../../infra/bundle.ts'
import { type Found, measuredOn } from '../document.ts'
import { medianOf, ratio, spreadHead, spreadOf, table } from '../tables.ts'
import { takeTurns } from '../turns.ts'

const run = promisify(execFile)
const turns = 40
/** The option that deployed functions had. With it, Node reads the source maps at each start. */
const sourceMaps = '--enable-source-maps'
const event = {
  version: '2.0',
  rawPath: '/health',
  rawQueryString: '',
  headers: { host: 'units.example' },
  requestContext: { domainName: 'units.example', http: { method: 'GET', path: '/health' } },
  isBase64Encoded: false,
}
const maxKb: Partial<Record<string, number>> = { api: 450, slack: 350 }
/** Hono with the whole DynamoDB client, as esbuild bundles it by default. */
const wholeClient = 'the same, all of it'

/**
 * Loads a module as the Lambda runtime does, calls it if there is an event, and prints the processor time of its process in ms, without
 * waiting for other processes.
 */
const probe = `
import { PassThrough } from 'node:stream'
globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } }
const [target, event] = process.argv.slice(1)
const { handler } = target === '' ? {} : await import(target)
const context = { getRemainingTimeInMillis: () => 10_000 }
if (event !== undefined) await handler(JSON.parse(event), new PassThrough().resume(), context)
const { user, system } = process.cpuUsage()
process.stdout.write('\\n' + (user + system) / 1_000, () => process.exit())
`

const environment = {
  AWS_REGION: 'eu-central-1',
  TABLE_NAME: 'unit-guard',
  SANDBOX_TABLE: 'unit-guard-sandbox',
  TRACKING_BASE_URL: 'https://service.example/v3',
  ACCOUNT_UNITS_PER_MONTH: '50000',
}

const answersHttp = ['bare Hono', 'api', 'dashboard', 'mcp', 'slack']
const answered = (name: string) => `${name}, answered`
const withMaps = (name: string) => `${name}, with ${sourceMaps}`

interface Load {
  readonly name: string
  readonly bytes: number
  readonly file: string
}

export async function benchColdStart(): Promise<Found> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-bundles-'))
  try {
    const program = await programOf()
    const { folders, bytes } = await bundleAll({ into: join(folder, 'functions') })
    const functions = loadsIn(folders, bytes)
    const loads = [
      await baseline('hono', 'bare Hono', folder),
      await baseline('hono-sdk', 'Hono + DynamoDB client', folder),
      await whole('hono-sdk', wholeClient, folder),
      ...functions,
    ]
    const loading = loads.map(({ name, file }) => [name, () => msUntil(program.path, file)] as const)
    const answering = loads
      .filter(({ name }) => answersHttp.includes(name))
      .map(({ name, file }) => [answered(name), () => msUntil(program.path, file, { event })] as const)
    const mapped = functions.flatMap(({ name, file }) => [
      [withMaps(name), () => msUntil(program.path, file, { options: sourceMaps })] as const,
      ...(answersHttp.includes(name)
        ? [[withMaps(answered(name)), () => msUntil(program.path, file, { event, options: sourceMaps })] as const]
        : []),
    ])
    const bare = ['bare node', () => msUntil(program.path, '')] as const
    const arms = Object.fromEntries([bare, ...loading, ...answering, ...mapped])
    const found = await takeTurns(arms, { turns, warmUp: 2 })
    const ownOf = (name: string) => over(found[name] ?? [], found['bare node'] ?? [])
    const medianIf = (name: string) => (found[name] ? medianOf(ownOf(name)) : '')
    const ofMaps = (name: string) => (found[withMaps(name)] ? ratio(ownOf(name), ownOf(withMaps(name))) : '')
    const rows = loads.map(({ name, bytes }) => [
      name,
      (bytes / 1024).toFixed(0),
      maxKb[name] ?? '',
      spreadOf(ownOf(name)),
      ratio(ownOf(name), ownOf(wholeClient)),
      ofMaps(name),
      medianIf(answered(name)),
      ofMaps(answered(name)),
    ])
    const head = [
      'function',
      'KB loaded',
      'at most',
      `ms over bare node, ${spreadHead}`,
      'of Hono with the whole client',
      `of \`${sourceMaps}\``,
      'ms until a first answer',
      `of \`${sourceMaps}\``,
    ]
    const bareNode = `Bare node: ${medianOf(found['bare node'] ?? [])} ms.`
    const how = measuredOn([`functions on Node ${program.version}`, `${turns} turns`])
    return { sections: { 'cold-start': [table(head, rows), bareNode, how].join('\n\n') } }
  } finally {
    await rm(folder, { recursive: true })
  }
}

const loadsIn = (folders: Record<string, string>, bytes: Record<string, number>): Load[] =>
  Object.entries(folders).map(([name, folder]) => ({ name, bytes: bytes[name] ?? 0, file: join(folder, 'index.mjs') }))

async function baseline(entry: string, name: string, folder: string) {
  const into = join(folder, entry)
  const { bytes } = await bundle({ entry: `test/bench/baselines/${entry}.ts`, into })
  return { name, bytes, file: join(into, 'index.mjs') }
}

async function whole(entry: string, name: string, folder: string) {
  const file = join(folder, `${entry}-whole.mjs`)
  const { metafile } = await build({
    entryPoints: [`test/bench/baselines/${entry}.ts`],
    outfile: file,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    metafile: true,
    logLevel: 'error',
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  })
  return { name, bytes: Object.values(metafile.outputs).reduce((sum, { bytes }) => sum + bytes, 0), file }
}

const runtime = 'test/runtime'

/** The Node of Lambda as the runtime tests install it, or this Node if that fails. */
async function programOf(): Promise<{ path: string; version: string }> {
  const path = join(runtime, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  try {
    await access(path).catch(() => run('npm', ['ci', '--prefix', runtime]))
    const { stdout } = await run(path, ['-p', 'process.versions.node'])
    return { path, version: stdout.trim() }
  } catch {
    process.stderr.write('the Node of Lambda could not be installed: measured with the Node that runs this\n')
    return { path: process.execPath, version: `${process.versions.node} (the one of Lambda could not be installed)` }
  }
}

async function msUntil(
  path: string,
  file: string,
  { event, options }: { event?: object; options?: string } = {},
): Promise<number> {
  const target = file === '' ? '' : pathToFileURL(file).href
  const given = ['--input-type=module', '-e', probe, '--', target, ...(event ? [JSON.stringify(event)] : [])]
  const { stdout } = await run(path, given, { env: { ...environment, ...(options && { NODE_OPTIONS: options }) } })
  // The function's log comes first.
  return Number(stdout.trim().split('\n').at(-1))
}

/** Compares turn by turn, because a slow phase of the machine slows both modules. */
const over = (one: readonly number[], bare: readonly number[]) => one.map((ms, turn) => ms - (bare[turn] ?? Number.NaN))
