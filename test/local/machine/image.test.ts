import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { bundleMachine } from '../../../infra/local/bundle.ts'
import { signCallerToken } from '../../../infra/local/secrets.ts'
import { scopes } from '../../../shared/platform/words.ts'
import { patienceMs } from '../../support/patience.ts'
import { buildImage, type Image, removeImage } from '../../support/process/image.ts'
import { newFolder } from '../../support/process/local.ts'
import { callerKey, json, serviceToken } from '../../support/product.ts'
import { type ScriptedService, startScriptedService } from '../../support/scripted-service.ts'

const files = 'infra/machine'
const megabyte = 1_000_000
/** The image's base of Debian with its libraries, uncompressed, without Node. */
const baseBytes = 40 * megabyte

const isRoot = process.getuid?.() === 0
const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0
const canMount = isRoot && has('unshare', '--mount', 'true')

describe('the image of one machine', () => {
  let into: string
  let image: Image
  let service: ScriptedService
  let token: string
  /** The output before there was a ledger. */
  let unbegun: Awaited<ReturnType<typeof run>>
  const started: ChildProcess[] = []

  beforeAll(async () => {
    // A folder that the image's user may enter, unlike the folder of the run.
    into = await mkdtemp('/tmp/unit-guard-image-')
    await chmod(into, 0o755)
    image = await buildImage(`${files}/Dockerfile`, into)
    service = await startScriptedService({ fallback: answerOf })
    const claims = { sub: 'ada', scopes, budgets: '*' as const, now: Date.now(), lastsMs: 3_600_000 }
    token = await signCallerToken({ key: callerKey, ...claims })
    unbegun = await run('serve')
    const begun = await run('account', 'begin')
    expect(begun.code, begun.text).toBe(0)
  })
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL')
    await Promise.all([service.close(), removeImage(into)])
  })

  /** Runs a program of the image as its user; root may write only to the volume. */
  function programOf([node = '', ...args]: readonly string[]): [string, string[]] {
    expect(node).toBe('/nodejs/bin/node')
    const program = [process.execPath, ...args]
    if (!isRoot) return [process.execPath, args]
    const [uid, gid] = image.user.split(':')
    const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', ...program]
    if (!canMount) return ['setpriv', asUser.slice(1)]
    const data = join(image.root, 'data')
    const readOnly = 'mount --bind "$0" "$0"; for at in / /tmp /var/tmp /dev/shm; do mount -o remount,bind,ro $at; done'
    return ['unshare', ['--mount', 'sh', '-c', `${readOnly} 2>/dev/null; exec "$@"`, data, ...asUser]]
  }

  const environment = () => {
    const inImage = ([name, value]: [string, string]) => [name, value.startsWith('/') ? join(image.root, value) : value]
    return {
      ...Object.fromEntries(Object.entries(image.env).map(inImage)),
      PORT: '0',
      TRACKING_BASE_URL: service.baseUrl,
      TRACKING_TOKEN: serviceToken,
      CALLER_KEY: callerKey,
      ACCOUNT_UNITS_PER_MONTH: '1000',
      ACCOUNT_UNITS_USED_AT_START: '0',
      ACCOUNT_RENEWAL_DAY: '1',
      ACCOUNT_TIME_ZONE: 'UTC',
      PUBLIC_URL: 'https://units.example',
    }
  }

  const start = (command: readonly string[]) => {
    const [file, args] = programOf(command)
    const child = spawn(file, args, { cwd: join(image.root, image.folder), env: environment(), stdio: 'pipe' })
    started.push(child)
    const said = { text: '' }
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said.text += text
      })
    return { child, said }
  }

  async function run(...args: string[]) {
    const { child, said } = start([...image.command.slice(0, 2), ...args])
    const [code] = await once(child, 'close')
    return { code, text: said.text }
  }

  /** The backup with the name that the timer gives it. */
  async function backupIn(folder: string): Promise<string> {
    const unit = await readFile(`${files}/unit-guard-backup.service`, 'utf8')
    const [, name = ''] = /run\.mjs backup "\/var\/backups\/unit-guard\/(.*)"'$/m.exec(unit) ?? []
    const { stdout } = spawnSync('sh', ['-c', `echo "${name.replaceAll('$$', '$').replaceAll('%%', '%')}"`])
    return join(folder, stdout.toString().trim())
  }

  async function serve() {
    const { child, said } = start(image.command)
    const url = () => /"url":"(http:[^"]+)"/.exec(said.text)?.[1]
    await expect.poll(() => url() ?? said.text, { timeout: patienceMs }).toMatch(/^http:/)
    const at = url() ?? ''
    const call = (path: string, given: RequestInit = {}) =>
      fetch(`${at}${path}`, {
        ...given,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...given.headers },
      })
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal)
      return once(child, 'close')
    }
    return { at, call, end, said }
  }

  test('the image serves as its user on a read-only root, and loses nothing when it is killed', async () => {
    expect(unbegun).toEqual({ code: 1, text: expect.stringContaining('holds no ledger') })
    const first = await serve()
    expect((await first.call('/health')).status).toBe(200)
    for (const [path, part] of [
      ['/docs', '<!doctype html>'],
      ['/openapi.json', '"openapi": "3.1.1"'],
      ['/login', '<h1>Log in</h1>'],
    ] as const)
      expect((await (await fetch(`${first.at}${path}`)).text()).replaceAll('":"', '": "'), path).toContain(part)
    const asked = await first.call('/updates', {
      method: 'POST',
      body: JSON.stringify({ kind: 'ranking', project: 'initech' }),
    })
    expect([asked.status, await asked.json()]).toEqual([
      201,
      { updates: [expect.objectContaining({ state: 'settled' })] },
    ])
    await first.end('SIGKILL')

    const second = await serve()
    expect(await (await second.call('/audit')).json()).toMatchObject({ ok: true })
    expect(await (await second.call('/budgets/account')).json()).toMatchObject({ windows: [{ spent: 40 }] })
    const backups = join(image.root, 'data', 'backups')
    await mkdir(backups)
    await chmod(backups, 0o777)
    const ended = await run('backup', await backupIn(backups))
    expect(ended.code, ended.text).toBe(0)
    const made = await readdir(backups)
    expect(made).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{4}\.db$/)])
    expect(await (await second.call('/status')).json()).toMatchObject({ backedUpAt: expect.any(String) })
    expect(await second.end('SIGTERM')).toEqual([0, null])
    expect(second.said.text).not.toContain(serviceToken)
  })

  test('Docker runs the image’s health check', async () => {
    const guard = await serve()
    const [, flag = '', program = ''] = image.health
    const check = (text: string) => promisify(execFile)(process.execPath, [flag, text])
    await check(program.replace('http://127.0.0.1:8787', guard.at))
    await expect(check(program.replace('http://127.0.0.1:8787', `${guard.at}/missing`))).rejects.toThrow()
    await guard.end('SIGKILL')
  })

  test('the image contains only Node, Debian’s base and this folder, in at most 200 MB', async () => {
    expect(image.base).toMatch(/^gcr\.io\/distroless\/nodejs\d+-debian\d+:nonroot$/)
    expect(image.user).toMatch(/^[1-9]\d+:[1-9]\d+$/)
    const own = await bytesIn(join(image.root, image.folder))
    expect(own).toBeLessThan(20 * megabyte)
    expect(own + (await stat(process.execPath)).size + baseBytes).toBeLessThan(200 * megabyte)
    const packages = await readdir(join(image.root, image.folder, 'node_modules/@libsql'))
    expect([await readdir(join(image.root, image.folder, 'node_modules')), packages.length]).toEqual([['@libsql'], 1])
    // Keys of a trial must not be copied into an image.
    expect(await readFile(`${files}/Dockerfile.dockerignore`, 'utf8')).toMatch(/^\*$/m)
  })
})

test('the programs of the bundle name commands as one types them without npm', async () => {
  const scripts: Record<string, string> = JSON.parse(await readFile('package.json', 'utf8')).scripts
  const commands = Object.keys(scripts).filter((name) => scripts[name]?.endsWith(`run.ts ${name}`))
  const folder = join(await newFolder(), 'machine')
  await bundleMachine({ into: folder })
  const programs = (await readdir(folder)).filter((name) => name.endsWith('.mjs'))
  const texts = await Promise.all(programs.map((name) => readFile(join(folder, name), 'utf8')))
  const named = texts.flatMap((text) =>
    [...text.matchAll(/npm run (?:--silent )?([a-z:]+\b)/g)].map(([, name = '']) => name),
  )
  const ofRepository = ['bundle', 'client', 'sandbox', 'start']
  expect(named.filter((name) => commands.includes(name) && !ofRepository.includes(name))).toEqual([])
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'run.mjs'), 'help'])
  expect(stdout).toContain('node run.mjs <command> --help')
})

test('the release has a page, units, a Caddyfile, a compose file and checksums, and each link leads to a file', async () => {
  const folder = join(await newFolder(), 'machine')
  await bundleMachine({ into: folder })
  for (const name of ['unit-guard.service', 'unit-guard-backup.timer', 'Caddyfile', 'compose.yml'])
    expect(await readFile(join(folder, name), 'utf8')).toBe(await readFile(join(files, name), 'utf8'))
  const page = await readFile(join(folder, 'README.md'), 'utf8')
  const links = [...page.matchAll(/\]\((?!https:|#)([^)#]+)/g)].map(([, link = '']) => link)
  expect(links).toEqual(expect.arrayContaining(['compose.yml', 'docs/runbook.md']))
  for (const link of links) expect(existsSync(join(folder, link)), link).toBe(true)
  const runbook = await readFile(join(folder, 'docs/runbook.md'), 'utf8')
  expect(runbook).toContain('`node run.mjs sweep`')
  const check = () => spawnSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: folder }).status
  expect(check()).toBe(0)
  await writeFile(join(folder, 'run.mjs'), '')
  expect(check()).toBe(1)
})

test('the compose file runs the image as the Dockerfile does', async () => {
  const compose = parse(await readFile(`${files}/compose.yml`, 'utf8')).services['unit-guard']
  const dockerfile = await readFile(`${files}/Dockerfile`, 'utf8')
  const [, base = ''] = /^FROM (\S+distroless\S+)$/m.exec(dockerfile) ?? []
  const [, env = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? []
  const [, health = ''] = /^HEALTHCHECK CMD (.*)$/m.exec(dockerfile) ?? []
  const own = Object.fromEntries(env.split(' ').map((each) => each.split('=')))
  expect(compose).toMatchObject({
    image: base,
    environment: own,
    ports: ['127.0.0.1:8787:8787'],
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    stop_grace_period: '40s',
  })
  expect(compose.healthcheck.test).toEqual(['CMD', ...JSON.parse(health)])
})

describe('the units of systemd', () => {
  const units = ['unit-guard.service', 'unit-guard-backup.service', 'unit-guard-backup.timer']

  test.each(units)('%s starts existing programs in the folder of npm run bundle', async (name) => {
    const text = await readFile(join(files, name), 'utf8')
    const programs = [...text.matchAll(/^Exec\w+=(.*)$/gm)].map(([, line = '']) => line)
    for (const program of programs.filter((each) => each.includes('node')))
      expect(program).toMatch(/\/usr\/bin\/node (\/opt\/unit-guard\/run\.mjs serve|run\.mjs backup)/)
    expect(/^User=(.*)$/m.exec(text)?.[1] ?? 'unit-guard').toBe('unit-guard')
  })

  test.skipIf(!has('systemd-analyze', '--version'))(
    'systemd accepts the units and rates their exposure as low',
    async () => {
      const folder = await mkdtemp('/tmp/unit-guard-units-')
      onTestFinished(() => removeImage(folder))
      for (const name of units) await copyFile(join(files, name), join(folder, name))
      // Node may be installed elsewhere on this machine.
      for (const name of units.slice(0, 2)) {
        const text = await readFile(join(folder, name), 'utf8')
        await writeFile(join(folder, name), text.replaceAll('/usr/bin/node', process.execPath))
      }
      const analyze = (...args: string[]) => promisify(execFile)('systemd-analyze', args, { cwd: folder })
      for (const name of units) expect((await analyze('verify', '--man=no', `./${name}`)).stderr, name).toBe('')
      await analyze('security', '--offline=yes', '--threshold=20', './unit-guard.service')
    },
  )

  test('a stopped service has the time to finish a run', async () => {
    const text = await readFile(join(files, 'unit-guard.service'), 'utf8')
    const settings = await readFile('infra/local/settings.ts', 'utf8')
    const timeout = Number(/SERVICE_TIMEOUT_MS: '(\d+)'/.exec(settings)?.[1]) / 1000
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(timeout + 15)
  })

  test('journald drops no line of the service, because recover needs each of them', async () => {
    const text = await readFile(join(files, 'unit-guard.service'), 'utf8')
    const lineOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]
    // systemd reads 0 as the limits of journald.conf: 10,000 lines in 30 seconds.
    expect(lineOf('LogRateLimitIntervalSec')).toBe('1s')
    expect(Number(lineOf('LogRateLimitBurst'))).toBeGreaterThanOrEqual(1_000_000)
  })
})

describe('the Caddyfile', () => {
  test('the Caddyfile passes each request unchanged and once to the usual port', async () => {
    const text = await readFile(`${files}/Caddyfile`, 'utf8')
    const settings = await readFile('infra/local/settings.ts', 'utf8')
    const directives = text.split('\n').map((line) => line.trim())
    expect(directives).toContain(`reverse_proxy 127.0.0.1:${/PORT: '(\d+)'/.exec(settings)?.[1]} {`)
    expect(directives).toEqual(expect.arrayContaining(['keepalive off', 'compression off']))
    // These directives would change a header, path or answer, or repeat a request.
    const changing = /^(header|uri|rewrite|handle_path|encode|lb_|trusted_proxies|redir)/
    expect(directives.filter((each) => changing.test(each))).toEqual([])
  })

  test.skipIf(!has('caddy', 'version'))('Caddy accepts the Caddyfile', async () => {
    await promisify(execFile)('caddy', ['validate', '--adapter', 'caddyfile', '--config', `${files}/Caddyfile`])
  })
})

async function bytesIn(folder: string): Promise<number> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = await Promise.all(
    found.filter((each) => each.isFile()).map(async (each) => (await stat(join(each.parentPath, each.name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** A normal service: it knows every project, and each costs 40. */
function answerOf({ url }: { url: string }) {
  const operation = new URL(url, 'http://x').pathname.split('/').at(-1)
  if (operation === 'dates') return json({ response_code: 0, dates: ['2026-10-16', '2026-11-13'] })
  return json({ response_code: 0, data: { keyword_units: 40 } })
}
