import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
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
