import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { bundle } from '../../infra/bundle.ts'

test('a bundle imports Node’s modules unchanged, by import, require and import()', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'dependency.cjs'), `module.exports = class extends require('events') {}`)
  await writeFile(
    join(folder, 'entry.mjs'),
    `import EventEmitter, { once } from 'node:events'
     import Dependency from './dependency.cjs'
     export const named = typeof once
     export const isOne = new Dependency() instanceof EventEmitter
     export const later = import('node:events').then((all) => all.default === EventEmitter)`,
  )
  await bundle({ entry: join(folder, 'entry.mjs'), into: join(folder, 'out') })
  const { named, isOne, later } = await import(pathToFileURL(join(folder, 'out', 'index.mjs')).href)
  expect([named, isOne, await later]).toEqual(['function', true, true])
})

test('a package without a licence text fails the bundle, and a notice is included like a licence', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const own = join(folder, 'node_modules', 'helpful')
  await mkdir(own, { recursive: true })
  await writeFile(join(own, 'package.json'), JSON.stringify({ name: 'helpful', version: '1.2.3', main: 'index.js' }))
  await writeFile(join(own, 'index.js'), 'export const help = 1')
  await writeFile(join(own, 'NOTICE'), 'Helpful, by Ada')
  await writeFile(join(folder, 'entry.mjs'), `export { help } from 'helpful'`)
  const make = () => bundle({ entry: join(folder, 'entry.mjs'), into: join(folder, 'out') })
  await expect(make()).rejects.toThrow('the package helpful has no licence text')
  await writeFile(join(own, 'LICENCE.md'), 'Do good.')
  await make()
  expect(await readFile(join(folder, 'out', 'NOTICES.txt'), 'utf8')).toBe(
    'helpful 1.2.3\n\nDo good.\n\nHelpful, by Ada\n',
  )
})

test.each([
  ['shows the places of TypeScript', '', ['work.ts:2:9', 'entry.ts:2:30']],
  ['shows its own places if the map is missing', 'unlinkSync(map)', ['index.mjs:', 'index.mjs:']],
  ['shows its own places if the map is broken', `writeFileSync(map, '{')`, ['index.mjs:', 'index.mjs:']],
])('a stack of a bundle %s, and the map is read with the first stack', async (_what, change, places) => {
  const folder = await mkdtemp(join(tmpdir(), 'unit guard-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const work = [
    'export function work(): never {',
    "  throw new TypeError('the last line\\n    at file:///etc/a.mjs:1:2')",
    '}',
  ]
  const entry = ["import { work } from './work.ts'", 'export const handler = () => work()', '']
  await writeFile(join(folder, 'work.ts'), work.join('\n'))
  await writeFile(join(folder, 'entry.ts'), entry.join('\n'))
  await bundle({ entry: join(folder, 'entry.ts'), into: join(folder, 'out') })
  const file = join(folder, 'out', 'index.mjs')
  const script = `
    import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
    const map = ${JSON.stringify(`${file}.map`)}
    const text = readFileSync(map)
    writeFileSync(map, JSON.stringify({ version: 3, sources: ['early.ts'], names: [], mappings: 'AAAA' }))
    const { handler } = await import(${JSON.stringify(pathToFileURL(file).href)})
    try {
      handler()
    } catch (error) {
      writeFileSync(map, text)
      ${change}
      process.stdout.write(error.stack)
    }`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  const [head, more, ...frames] = stdout.split('\n')
  expect([head, more]).toEqual(['TypeError: the last line', '    at file:///etc/a.mjs:1:2'])
  expect(frames.slice(0, 2)).toEqual(places.map((place) => expect.stringContaining(place)))
})
