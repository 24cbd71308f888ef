import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'

const folder = 'dist'

/** The list of npm run sbom, each as name@version. */
async function listed(target: 'aws' | 'machine'): Promise<string[]> {
  const { components } = JSON.parse(await readFile(`${folder}/sbom-${target}.cdx.json`, 'utf8'))
  return components.map((component: { 'bom-ref': string }) => component['bom-ref'])
}

const namesOf = (refs: readonly string[]) => refs.map((ref) => ref.slice(0, ref.lastIndexOf('@')))

describe('npm run sbom', () => {
  beforeAll(() => promisify(execFile)('.ci/sbom'))

  test('the list of AWS has the functions’ packages, and neither libsql nor development tools', async () => {
    const names = namesOf(await listed('aws'))
    expect(names).toEqual(expect.arrayContaining(['@aws-sdk/client-dynamodb', '@modelcontextprotocol/server', 'zod']))
    expect(names.filter((name) => /libsql|^@neon-rs|^(esbuild|tsx|vitest|aws-cdk)/.test(name))).toEqual([])
  })

  test('the list of one machine has libsql with one binary, in the versions of the lock file', async () => {
    const refs = await listed('machine')
    const names = namesOf(refs)
    expect(names).toEqual(expect.arrayContaining(['hono', 'libsql', '@neon-rs/load', 'detect-libc', 'zod']))
    expect(names.filter((name) => name.startsWith('@libsql/'))).toHaveLength(1)
    expect(names.filter((name) => /^(esbuild|tsx|vitest|aws-cdk)/.test(name))).toEqual([])
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'))
    expect(refs).toContain(`libsql@${packages['node_modules/libsql'].version}`)
  })
})
