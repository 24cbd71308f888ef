import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createListener } from '../../infra/local/listener.ts'
import { stateTexts } from '../../shared/guard/states.ts'
import { runHere } from '../support/process/here.ts'
import { startProduct } from '../support/product.ts'
import { createMemoryStore } from '../support/store/memory-store.ts'

const run = promisify(execFile)

describe('the folder of npm run client', () => {
  let home: string
  let folder: string
  let readme: string
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'client-'))
    folder = join(home, 'node_modules', 'unit-guard-client')
    expect(await runHere('client', [folder], {})).toMatchObject({ code: 0, err: '' })
    readme = await readFile(join(folder, 'README.md'), 'utf8')
  })
  afterAll(() => rm(home, { recursive: true }))

  const exampleWith = (word: string) =>
    [...readme.matchAll(/```js\n(.*?)```/gs)].find(([, code = '']) => code.includes(word))?.[1] ?? ''
  const write = async (name: string, text: string) => {
    await writeFile(join(home, name), text)
    return join(home, name)
  }

  test('npm run client replaces an earlier build and leaves any other folder as it is', async () => {
    await writeFile(join(folder, 'types', 'of-yesterday.d.ts'), '')
    expect(await runHere('client', [folder], {})).toMatchObject({ code: 0, err: '' })
    expect(await readdir(folder)).toContain('index.js')
    expect(await readdir(join(folder, 'types'))).not.toContain('of-yesterday.d.ts')
    const mine = join(home, 'mine')
    await mkdir(mine)
    await writeFile(join(mine, 'package.json'), '{"name": "report"}')
    const refused = await runHere('client', [mine], {})
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('holds something else')])
    expect(await readdir(mine)).toEqual(['package.json'])
  })

  test('the README of the client names every outcome and the oldest Node', async () => {
    const { requested: _requested, running: _running, ...outcomes } = stateTexts
    for (const [state, { means }] of Object.entries(outcomes)) expect(readme).toContain(`| \`${state}\` | It ${means}`)
    const { engines } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    expect(engines).toEqual({ node: '>=20.3' })
    expect(readme).toMatch(/Node 20\.3\sor newer/)
  })

  test('the example of the client’s README runs as written and does what it says', async () => {
    const product = await startProduct({ store: createMemoryStore(), units: { initech: 120, globex: 640 } })
    const { url, open, close } = await createListener({ port: 0 })
    onTestFinished(() => close(Promise.resolve()))
    open(product.api)
    const example = exampleWith('new UnitGuard')
    expect(example.trim().split('\n').length).toBeLessThanOrEqual(22)
    const file = await write('example.mjs', example)
    const token = await product.signed({ sub: 'tool', scope: 'run', budgets: '*' })
    const says = async (env: object) =>
      (await run(process.execPath, [file], { env: { PATH: process.env.PATH, ...env } })).stdout
    await expect(says({})).rejects.toThrow(
      'url must be the address of Unit Guard, such as http://127.0.0.1:8787; it is',
    )
    const at = { UNIT_GUARD_URL: url }
    await expect(says(at)).rejects.toThrow('token must be a bearer token, as npm run --silent token prints it')
    const needed = 'This address needs a valid bearer token of Unit Guard.\n'
    expect(await says({ ...at, UNIT_GUARD_TOKEN: 'wrong' })).toBe(needed + needed)
    expect(await says({ ...at, UNIT_GUARD_TOKEN: token })).toBe('initech: 120 units\nglobex: 640 units\n')
  })

  test('the receiver of the client’s README answers events and prints the cost of a settled update', async () => {
    const secret = `whsec_${Buffer.alloc(24, 'a').toString('base64')}`
    const { port, close } = await createListener({ port: 0 })
    await close(Promise.resolve())
    const child = spawn(process.execPath, [await write('receiver.mjs', exampleWith('verifyEvent'))], {
      env: { PATH: process.env.PATH, PORT: String(port), EVENT_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill())
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
    })
    const data = { project: 'tea – é', state: 'settled', units: { charged: 40 } }
    const body = JSON.stringify({ id: 'upd_1-2', type: 'unit-guard.update.settled', data })
    const post = async (more: object = {}) => {
      const headers = {
        'webhook-id': 'upd_1-2',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': new Webhook(secret).sign('upd_1-2', new Date(), body),
        ...more,
      }
      return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status
    }
    await expect.poll(() => post().catch(() => 0)).toBe(204)
    expect(await post()).toBe(204)
    expect(await post({ 'webhook-signature': 'v1,AAAA' })).toBe(400)
    await expect.poll(() => printed).toMatch(/^tea – é: 40 units\nno signature in webhook-signature matches/)
  })

  test('a strict compiler reads the types of the built client', async () => {
    const tsc = join(process.cwd(), 'node_modules', 'typescript', 'bin', 'tsc')
    const strict = '--ignoreConfig --noEmit --strict --module nodenext --target es2022 --lib es2023,dom'.split(' ')
    await run(process.execPath, [tsc, ...strict, '--types', '', await write('typed.mts', typed)])
  })
})

const typed = `import { type Outcome, UnitGuard } from 'unit-guard-client'
const guard = new UnitGuard({ url: 'http://127.0.0.1:8787', token: async () => 'x' })
const outcome: Outcome = await guard.update({ kind: 'ranking', project: 'initech' })
if (outcome.kind === 'refused' && outcome.problem.type === '/problems/over-budget') outcome.problem.budgets satisfies object[]
// @ts-expect-error there is no such kind
await guard.update({ kind: 'rankings', project: 'initech' })
export {}
`
