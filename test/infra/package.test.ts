import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleNames } from '../../infra/code.ts'
import { runLocal } from '../support/process/local.ts'

const run = promisify(execFile)

describe('`npm run construct` makes a folder that an app of the CDK embeds', () => {
  let home = ''
  let examples: readonly string[] = []

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'construct-'))
    const modules = join(home, 'node_modules')
    const folder = join(modules, 'unit-guard-construct')
    expect(await runLocal('construct', [folder], {})).toMatchObject({ code: 0, err: '' })
    for (const peer of ['aws-cdk-lib', 'constructs'])
      await symlink(join(process.cwd(), 'node_modules', peer), join(modules, peer))
    const readme = await readFile(join(folder, 'README.md'), 'utf8')
    examples = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
  })
  afterAll(() => rm(home, { recursive: true, force: true }))

  /** Synthesizes as `cdk synth` does: the templates, and the folders of code that they deploy, by the path in the assembly. */
  async function synthesize(code: string, context: object = {}) {
    const folder = await mkdtemp(join(home, 'app-'))
    await writeFile(join(folder, 'app.mjs'), code)
    const out = join(folder, 'cdk.out')
    const env = { PATH: process.env.PATH, CDK_OUTDIR: out, CDK_CONTEXT_JSON: JSON.stringify(context) }
    await run(process.execPath, ['app.mjs'], { cwd: folder, env })
    const paths = await readdir(out, { recursive: true })
    const templates = await Promise.all(
      paths
        .filter((path) => path.endsWith('.template.json'))
        .map(async (path) => [path, JSON.parse(await readFile(join(out, path), 'utf8'))] as const),
    )
    return {
      templates: Object.fromEntries(templates),
      code: paths.filter((path) => /asset\.\w+\/index\.mjs$/.test(path)),
    }
  }

  const namesOf = (template: { Resources: Record<string, { Type: string; Properties: { Name?: unknown } }> }) =>
    Object.values(template.Resources).flatMap(({ Type, Properties }) =>
      Type === 'AWS::SecretsManager::Secret' || Type === 'AWS::SSM::Parameter' ? [String(Properties.Name)] : [],
    )

  test('two guards in one app, with the code of the package and without bundling', async () => {
    const { templates, code } = await synthesize(examples[0] ?? '', { firstLedger: 'true' })
    const names = namesOf(templates['Search.template.json'])
    for (const prefix of ['unit-guard', 'unit-guard-trial'])
      expect(names).toEqual(expect.arrayContaining([`${prefix}/service-token`, `/${prefix}/ledger`]))
    expect(new Set(names).size).toBe(names.length)
    // Both guards share the code.
    expect(code).toHaveLength(bundleNames.length)
  })

  test('a stage beside another, and an edge in a region of its own', async () => {
    const { templates } = await synthesize(examples[1] ?? '')
    expect(
      Object.keys(templates)
        .map((path) => path.split('/').at(-1))
        .sort(),
    ).toEqual([
      expect.stringMatching(/^devUnitGuard/),
      expect.stringMatching(/^prodEdge/),
      expect.stringMatching(/^prodUnitGuard/),
    ])
  })

  test('wrong props stop the synthesis with a sentence that names them', async () => {
    const code = (examples[0] ?? '').replace('accountUnitsPerMonth: 50_000', "accountUnitsPerMonth: 'plenty'")
    await expect(synthesize(code)).rejects.toMatchObject({ stderr: expect.stringContaining('accountUnitsPerMonth: ') })
  })

  test('types, as a stranger’s compiler finds them', async () => {
    const [embed = ''] = examples
    const files = { 'wrong.mts': embed.replace('alarmEmail:', 'alarmMail:') }
    examples.forEach((code, index) => {
      Object.assign(files, { [`app-${index}.mts`]: code })
    })
    for (const [name, code] of Object.entries(files)) await writeFile(join(home, name), code)
    const tsc = join(process.cwd(), 'node_modules', 'typescript', 'bin', 'tsc')
    const strict = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022']
    const language = ['--types', '', '--lib', 'es2022,esnext.disposable']
    const compiled = run(process.execPath, [tsc, ...strict, ...language, ...Object.keys(files)], { cwd: home })
    const { stdout } = await compiled.catch((error: { stdout: string }) => error)
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^wrong\.mts.*'alarmMail' does not exist/)])
  })
})
