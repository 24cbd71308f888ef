import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const repository = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const manifest = JSON.parse(read('package.json'))
const lock: { packages: Record<string, { resolved?: string; hasInstallScript?: boolean }> } = JSON.parse(
  read('package-lock.json'),
)

describe('the packages of an install', () => {
  test('npm runs no install scripts of packages', () => {
    expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true')
    // npm skips scripts with these names then, so no script of ours may have such a name.
    const skipped = Object.keys(manifest.scripts).filter((name) => /^(pre|post)|^(install|prepare)/.test(name))
    expect(skipped).toEqual([])
  })

  test('only esbuild has an install script', () => {
    const withScript = Object.entries(lock.packages).filter(([, { hasInstallScript }]) => hasInstallScript)
    expect(withScript.map(([path]) => path)).toEqual(['node_modules/esbuild'])
  })

  test('packages have exact versions, and the lock file names no registry', () => {
    const wanted = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.overrides }
    expect(Object.values(wanted).filter((version) => !/^\d+\.\d+\.\d+$/.test(String(version)))).toEqual([])
    expect(Object.keys(lock.packages).filter((path) => lock.packages[path]?.resolved !== undefined)).toEqual([])
  })
})
