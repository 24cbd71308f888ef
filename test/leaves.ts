import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'
import { leafOf, leaves, roots } from './layers.ts'
import { say } from './support/process/command-line.ts'

// `npm run leaves`: takes each leaf out of a copy, and says which lines of the roots and which other leaves need it. The core
// must compile without the leaf, and its tests of one room must pass.

const root = fileURLToPath(new URL('..', import.meta.url))
const parts = ['functions', 'infra', 'shared', 'test', 'package.json', 'tsconfig.json']
const roomTests = [
  'test/guard/update/decide',
  'test/guard/update/submit',
  'test/guard/update/settle',
  'test/ledger/book.test',
]

interface Ran {
  readonly code: number
  readonly output: string
}

const run = (folder: string, command: string, ...args: readonly string[]): Promise<Ran> =>
  new Promise((done) => {
    execFile(command, args, { cwd: folder, maxBuffer: 50_000_000 }, (error, stdout, stderr) => {
      done({ code: error ? 1 : 0, output: stdout + stderr })
    })
  })

/** Replaces the imports of a removed leaf by values that throw. @returns how many lines of the root the leaf has. */
async function withoutImports(folder: string, file: string, leaf: string): Promise<number> {
  const path = join(folder, file)
  const text = await readFile(path, 'utf8')
  const { module } = parseSync(path, text)
  const isOfLeaf = (from: string) => leafOf(relative(folder, resolve(dirname(path), from))) === leaf
  const removed = module.staticImports.filter(
    ({ moduleRequest: { value } }) => value.startsWith('.') && isOfLeaf(value),
  )
  const later = module.dynamicImports.filter(({ moduleRequest: { start, end } }) =>
    isOfLeaf(text.slice(start + 1, end - 1)),
  )
  const stubs = removed.flatMap(({ entries }) =>
    entries.map(({ localName: { value: name }, isType }) =>
      isType
        ? `type ${name} = any`
        : `const ${name}: any = () => { throw new Error('${leaf} is taken out') }; type ${name} = any`,
    ),
  )
  const cuts = [
    ...removed.map(({ start, end }) => ({ start, end, by: '' })),
    ...later.map(({ start, end }) => ({ start, end, by: '(Promise.resolve({}) as any)' })),
  ].toSorted((a, b) => b.start - a.start)
  let next = text
  for (const { start, end, by } of cuts) next = next.slice(0, start) + by + next.slice(end)
  if (cuts.length > 0) await writeFile(path, `${next}\n${stubs.join('\n')}\n`)
  return cuts.length
}

/** The first error of the type checker in each file that has one. */
async function brokenFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const config = { extends: './tsconfig.json', include: ['functions', 'shared', 'infra'] }
  await writeFile(join(folder, 'tsconfig.core.json'), JSON.stringify(config))
  const { output } = await run(folder, 'npx', 'tsc', '-p', 'tsconfig.core.json')
  const errors = [...output.matchAll(/^([\w./-]+\.tsx?)\(.*$/gm)].toReversed()
  return new Map(errors.map(([line, file = '']) => [file, line]))
}

async function takeOut(leaf: string, places: readonly string[]): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-leaves-'))
  try {
    for (const part of parts) await cp(join(root, part), join(folder, part), { recursive: true })
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const place of places) await rm(join(folder, place), { recursive: true })
    let lines = 0
    for (const file of roots.filter((each) => !places.includes(each))) lines += await withoutImports(folder, file, leaf)
    const broken = await brokenFiles(folder)
    const needing = new Set([...broken.keys()].flatMap((file) => leafOf(file) ?? []))
    const core = [...broken].filter(([file]) => leafOf(file) === undefined && !roots.includes(file))
    const tests = await run(folder, 'npx', 'vitest', 'run', '--config', 'test/vitest.config.ts', ...roomTests)
    const isOut = core.length === 0 && tests.code === 0
    const others = needing.size === 0 ? '' : `; these leaves need it: ${[...needing].join(', ')}`
    say(`${isOut ? 'out' : 'STUCK'}  ${leaf}: places ${places.length}, lines in roots ${lines}${others}`)
    for (const [, line] of core) say(`       the core needs it: ${line}`)
    if (tests.code !== 0) say(tests.output.slice(-2_000))
    return isOut
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const wanted = process.argv.slice(2)
let isEachOut = true
for (const [leaf, places] of Object.entries(leaves)) {
  if (wanted.length > 0 && !wanted.includes(leaf)) continue
  isEachOut = (await takeOut(leaf, places)) && isEachOut
}
process.exitCode = isEachOut ? 0 : 1
