import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundleAll } from '../../../bundle.ts'
import { defineCommand } from '../command.ts'
import { beginPackage, writeTypes } from './folder.ts'

const usage = `Builds the construct for apps of the CDK: a folder with one module, its types and the bundled functions, to be copied or published.

  npm run construct [-- <folder>]

  <folder>  one that is new, empty, or of an earlier build; build/construct without it`

export const command = defineCommand({
  usage,
  takes: ['[folder]'],
  async run(_flags, folder = 'build/construct') {
    await buildConstruct(folder)
    process.stdout.write(`${folder}: index.js with its types, bundles, package.json, README.md\n`)
    return true
  },
})

/** The modules that the types of the construct are in. */
const declared = ['infra/unit-guard.d.ts', 'infra/props.d.ts', 'infra/edge/edge.d.ts']

async function buildConstruct(folder: string): Promise<void> {
  const { engines, devDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  const peers = ['aws-cdk-lib', 'constructs']
  const peerDependencies = Object.fromEntries(peers.map((name) => [name, `^${devDependencies[name]}`]))
  await beginPackage(folder, {
    name: 'unit-guard-construct',
    description: 'Unit Guard as a construct of the CDK, with the code of its functions',
    readme: 'infra/construct/README.md',
    members: { engines, peerDependencies },
  })
  await bundleAll({ into: join(folder, 'bundles') })
  await build({
    entryPoints: ['infra/construct/index.ts'],
    outfile: join(folder, 'index.js'),
    external: peers,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'error',
  })
  const types = await mkdtemp(join(tmpdir(), 'unit-guard-types-'))
  try {
    await writeTypes('infra/construct/index.ts', types)
    for (const file of declared) await cp(join(types, file), join(folder, 'types', file))
    const index = await readFile(join(types, 'infra/construct/index.d.ts'), 'utf8')
    await writeFile(join(folder, 'index.d.ts'), index.replaceAll("'../", "'./types/infra/"))
  } finally {
    await rm(types, { recursive: true })
  }
}
