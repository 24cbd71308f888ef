import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from '../support/process/command-line.ts'
import { withStarted } from '../support/process/started.ts'
import { type Checked, call, exitCodeOf, pythonWith, report, type Variables } from './tools.ts'

const usage = `Lets the generators of others make clients from /openapi.json of a running Unit Guard. Two Python clients ask it for updates;
the Go and the TypeScript client compile. Then each generator gets a document with a fault that it must miss or report.
It needs python3 with venv, java and go, and the packages of PyPI and of Go. The first run takes some minutes.

  npm run check:clients

What is missing is named, and not checked. With CI=true that fails.`

readOptions(usage, {})

const pinned = [
  'openapi-python-client==0.29.1',
  'openapi-generator-cli==7.26.0',
  'urllib3==2.7.0',
  'python-dateutil==2.9.0.post0',
]

// biome-ignore lint/suspicious/noExplicitAny: the document is read here as a stranger reads it.
type Document = any

interface Tools {
  readonly programs: string
  readonly env: Variables
}

interface Generator {
  readonly name: string
  readonly needs: readonly string[]
  /** The class in `clients.py` that asks Unit Guard through the client. */
  readonly asks?: string
  /** @returns what is wrong, or `null`. */
  generate(document: string, folder: string, tools: Tools): Promise<string | null>
  /** A fault that the generator must notice, so that this check is one. */
  readonly planted: { readonly what: string; plant(document: Document): void }
}

const lastLines = (output: string, count = 12): string => output.trim().split('\n').slice(-count).join('\n')

/** It leaves out parts that it cannot read, and ends well. Bodies of any type are the only ones that it may leave out. */
async function withOpenapiPythonClient(document: string, folder: string, { programs, env }: Tools) {
  const args = ['generate', '--path', document, '--output-path', folder, '--overwrite']
  const { isWell, output } = await call(join(programs, 'openapi-python-client'), args, { env })
  const reasons = output.match(/^(Unable to|Cannot|ERROR|ruff failed|error:).*$/gm) ?? []
  const others = reasons.filter((line) => !line.includes('(Unsupported content_type */*)'))
  if (isWell && others.length === 0) return null
  return others.slice(0, 5).join('\n') || lastLines(output)
}

async function withOpenapiGenerator(language: string, document: string, folder: string, { programs, env }: Tools) {
  const args = ['generate', '-i', document, '-g', language, '-o', folder]
  const { isWell, output } = await call(join(programs, 'openapi-generator-cli'), args, { env })
  return isWell ? null : (output.match(/^Exception.{0,300}/m)?.[0] ?? lastLines(output))
}

async function compileTypeScript(folder: string): Promise<string | null> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom'],
    types: [],
  }
  const file = join(folder, 'tsconfig.json')
  await writeFile(file, JSON.stringify({ compilerOptions, include: ['**/*.ts'] }))
  const tsc = resolve('node_modules', 'typescript', 'bin', 'tsc')
  const { isWell, output } = await call(process.execPath, [tsc, '-p', file], { cwd: folder })
  return isWell ? null : lastLines(output)
}

const schemasOf = ({ components }: Document) => components.schemas

const generators: readonly Generator[] = [
  {
    name: 'openapi-python-client',
    needs: [],
    asks: 'OfOpenapiPythonClient',
    generate: withOpenapiPythonClient,
    planted: {
      what: 'a union beside members',
      plant: (document) => {
        schemasOf(document).UpdatesRequest.anyOf = [
          { properties: { force: { const: false } } },
          { required: ['reason'] },
        ]
      },
    },
  },
  {
    name: 'openapi-generator, python',
    needs: ['java'],
    asks: 'OfOpenapiGenerator',
    generate: (...given) => withOpenapiGenerator('python', ...given),
    planted: {
      what: 'a member that only `null` may be',
      plant: (document) =>
        Object.assign(schemasOf(document).Update.properties.budget, { anyOf: undefined, type: 'null' }),
    },
  },
  {
    name: 'openapi-generator, go',
    needs: ['java', 'go'],
    generate: async (document, folder, tools) => {
      const fault = await withOpenapiGenerator('go', document, folder, tools)
      if (fault !== null) return fault
      const { isWell, output } = await call('go', ['build', './...'], { cwd: folder })
      return isWell ? null : lastLines(output)
    },
    planted: {
      what: 'a member that only `null` may be',
      plant: (document) =>
        Object.assign(schemasOf(document).Update.properties.budget, { anyOf: undefined, type: 'null' }),
    },
  },
  {
    name: 'openapi-generator, typescript-fetch',
    needs: ['java'],
    generate: async (...given) =>
      (await withOpenapiGenerator('typescript-fetch', ...given)) ?? compileTypeScript(given[1]),
    planted: {
      what: 'an operation `estimate` beside a schema `Estimate`',
      plant: (document) => {
        document.paths['/estimates'].get.operationId = 'estimate'
      },
    },
  },
]

const folderOf = (folder: string, { name }: Generator): string => join(folder, name.replace(/\W+/g, '-'))

const versionArguments: Readonly<Record<string, string>> = { java: '-version', go: 'version' }

async function check(): Promise<number> {
  const programs = await pythonWith(pinned)
  if (programs === null) {
    report(
      'generated clients',
      'not checked',
      'they need python3 with venv, and PyPI; on Debian: apt-get install python3-venv',
    )
    return exitCodeOf(['not checked'])
  }
  const missing: string[] = []
  for (const [command, argument] of Object.entries(versionArguments))
    if (!(await call(command, [argument])).isWell) missing.push(command)
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-clients-'))
  // The generator in Python formats its code with a program beside it.
  const tools = { programs, env: { PATH: `${programs}:${process.env.PATH}` } }
  try {
    return exitCodeOf(await withStarted('clients', ({ env }) => checkAll(folder, { tools, missing, env })))
  } finally {
    await call('chmod', ['-R', 'u+w', folder])
    await rm(folder, { recursive: true, force: true })
  }
}

async function checkAll(
  folder: string,
  { tools, missing, env }: { tools: Tools; missing: readonly string[]; env: Variables },
): Promise<Checked[]> {
  const served = await fetch(`${env.UNIT_GUARD_URL}/openapi.json`)
  const document: Document = await served.json()
  const file = join(folder, 'openapi.json')
  await writeFile(file, JSON.stringify(document))
  const states: Checked[] = []
  for (const generator of generators) {
    const lacks = generator.needs.filter((command) => missing.includes(command))
    if (lacks.length > 0) {
      states.push(report(generator.name, 'not checked', `it needs ${lacks.join(' and ')}`))
      continue
    }
    const made = await generator.generate(file, folderOf(folder, generator), tools)
    states.push(made === null ? report(generator.name, 'well', 'a client') : report(generator.name, 'failed', made))
    if (made === null && generator.asks) states.push(await ask(generator, folder, { tools, env }))
    states.push(await checkPlanted(generator, document, { folder, tools }))
  }
  return states
}

async function checkPlanted(
  generator: Generator,
  document: Document,
  { folder, tools }: { folder: string; tools: Tools },
): Promise<Checked> {
  const { name, planted } = generator
  const copy = structuredClone(document)
  planted.plant(copy)
  const place = join(folder, 'planted')
  await mkdir(place, { recursive: true })
  const file = join(place, 'openapi.json')
  await writeFile(file, JSON.stringify(copy))
  const fault = await generator.generate(file, folderOf(place, generator), tools)
  await rm(place, { recursive: true })
  if (fault === null) return report(name, 'failed', `it accepts ${planted.what}, so this check no longer shows that`)
  return report(name, 'well', `finds ${planted.what}: ${fault.replace(/\s+/g, ' ').slice(0, 100)}`)
}

async function ask(
  generator: Generator,
  folder: string,
  { tools, env }: { tools: Tools; env: Variables },
): Promise<Checked> {
  const script = resolve('test', 'others', 'clients.py')
  const variables = { ...env, PYTHONPATH: folderOf(folder, generator) }
  const { isWell, output } = await call(join(tools.programs, 'python'), [script, generator.asks ?? ''], {
    env: variables,
  })
  return report(generator.name, isWell ? 'well' : 'failed', lastLines(output))
}

process.exitCode = await check()
