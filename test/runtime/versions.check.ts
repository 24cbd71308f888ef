import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { synthesize } from '../support/infra/stack.ts'
import { startScriptedService, usualAnswer } from '../support/scripted-service.ts'
import { startEventSources } from './lambda/event-sources.ts'
import { type Fleet, serveFleet } from './lambda/fleet.ts'
import { callerOf, ledgerSettings, startRehearsal } from './rehearsal.ts'

/** The version that the next one replaces, until releases have tags. Another: PREVIOUS=<commit> npm run test:runtime -- versions */
const previous = process.env.PREVIOUS || 'dfd91a3289f6c7edd17d6ab0c70b26f0828c49d1'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const isThere = await run('git', ['cat-file', '-e', `${previous}^{commit}`], { cwd: root }).then(
  () => true,
  () => false,
)
if (!isThere)
  process.stderr.write(
    `\n*** TWO VERSIONS ARE NOT TESTED: ${previous} is not in this clone. Fetch the whole history. ***\n\n`,
  )

/** The bundles of the previous version, by its own code, with the packages that are installed. */
async function bundlePrevious(folder: string): Promise<string> {
  const tar = join(folder, 'previous.tar')
  await run(
    'git',
    ['archive', '--output', tar, previous, 'functions', 'shared', 'infra', 'package.json', 'tsconfig.json'],
    {
      cwd: root,
    },
  )
  await run('tar', ['--extract', '--file', tar, '--directory', folder])
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const script = "import('./infra/bundle.ts').then(({ bundleAll }) => bundleAll({ into: 'bundles' }))"
  await run(process.execPath, ['--import', 'tsx', '--eval', script], { cwd: folder })
  return join(folder, 'bundles')
}

const codeOf = { Api: 'api', Scheduled: 'scheduled', OutboxStart: 'outbox', OutboxTell: 'outbox' } as const
type Name = keyof typeof codeOf
const background = ['Scheduled', 'OutboxStart', 'OutboxTell'] as const
type Caller = ReturnType<typeof callerOf>

/** Each function of the template with the code of now, and beside it with that of before. */
async function deployBoth() {
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const bundlesBefore = await bundlePrevious(folder)
  const service = await startScriptedService({ fallback: (request) => usualAnswer(request, {}) })
  onTestFinished(() => service.close())
  const stack = synthesize({
    ...{ bundles: inject('bundles'), env: { ...ledgerSettings, TRACKING_BASE_URL: '' }, context: { sandbox: 'true' } },
  })
  const rehearsal = await startRehearsal(stack, { serviceUrl: service.baseUrl })
  onTestFinished(() => rehearsal.close())
  const each = (fleet: (name: Name) => Fleet) =>
    Object.fromEntries(Object.keys(codeOf).map((name) => [name, fleet(name as Name)])) as Record<Name, Fleet>
  const now = each(rehearsal.fleet)
  const before = each((name) => rehearsal.withCode(name, join(bundlesBefore, codeOf[name])))
  const front = await serveFleet(before.Api, { streams: true })
  onTestFinished(() => front.close())
  const sources = await startEventSources(rehearsal)
  onTestFinished(() => void sources.stop())
  const limits = [{ window: 'month', units: 10_000 }]
  await rehearsal.call('PUT', '/budgets/seo', { body: { limits, approvalAbove: 30 } })
  const deploy = (fleets: Record<Name, Fleet>) => {
    for (const name of background) rehearsal.deploy(name, fleets[name])
  }
  return { rehearsal, sources, service, now, before, deploy, callBefore: callerOf(`http://${front.host}`) }
}

const stateIn = async (call: Caller, id: string) => (await call('GET', `/updates/${id}`)).body.state

/** One version asks, the stream starts and the other one reads and decides, all at the same time. */
async function work(asking: Caller, other: Caller, name: string): Promise<void> {
  const ask = async (project: string, how: object = {}, sub = 'ada', headers = {}) => {
    const body = { kind: 'ranking', project: `${name}-${project}`, ...how }
    const { status, body: answer } = await asking('POST', '/updates', { body, sub, headers })
    return { status, id: String(answer.updates?.[0].id) }
  }
  const settles = (id: string) => expect.poll(() => stateIn(other, id)).toBe('settled')
  await Promise.all([
    ...['a', 'b'].map(async (project) => {
      const { status, id } = await ask(project)
      expect([status, await stateIn(other, id)]).toEqual([201, 'settled'])
    }),
    ask('c', {}, 'ada', { prefer: 'respond-async' }).then(({ id }) => settles(id)),
    ask('d', { budget: 'seo' }, 'bob').then(async ({ id }) => {
      expect(await stateIn(other, id)).toBe('awaiting-approval')
      expect((await other('POST', `/updates/${id}/approve`, { body: {} })).status).toBeLessThan(300)
      await settles(id)
    }),
  ])
}

test.runIf(isThere)(
  'of two versions on one table, each starts, reads and decides what the other asked, and the books are equal',
  async () => {
    const { rehearsal, sources, service, now, before, deploy, callBefore } = await deployBoth()
    const { call, aws } = rehearsal
    for (const [fleets, name] of [
      [now, 'new-stream'],
      [before, 'old-stream'],
    ] as const) {
      deploy(fleets)
      await Promise.all([work(callBefore, call, `${name}-old`), work(call, callBefore, `${name}-new`)])
      await expect.poll(sources.isIdle).toBe(true)
      await sources.fire('unit-guard-sweep')
    }
    const runs = service.requests.filter(({ url }) => url.endsWith('/run')).map(({ url }) => url)
    expect([runs.length, new Set(runs).size]).toEqual([16, 16])
    const read = (path: string) =>
      Promise.all([call, callBefore].map(async (version) => (await version('GET', path)).body))
    for (const { windows } of await read('/budgets/account'))
      expect(windows[0]).toMatchObject({ held: 0, inDoubt: 0, spent: 16 * 40 })
    const [listed, listedBefore] = (await read('/updates?limit=100')).map(({ updates }) =>
      updates.map(({ id }: { id: string }) => id),
    )
    expect(listed).toEqual(listedBefore)
    expect((await read('/audit')).map(({ ok }) => ok)).toEqual([true, true])
    expect([aws.denials(), aws.queued]).toEqual([[], []])
  },
)
