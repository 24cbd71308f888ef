import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createMcp } from '../../../functions/mcp/app.ts'
import { createEndpoint } from '../../../functions/mcp/endpoint.ts'
import { createListener } from '../../../infra/local/listener.ts'
import { startProduct } from '../../support/product.ts'
import { quoteKey } from '../../support/quote-key.ts'
import { createFixtureServer } from './fixture-server.ts'

const command = 'test/runtime/node_modules/@modelcontextprotocol/conformance/dist/index.js'
type Revision = '2026-07-28' | '2025-11-25'

/** What the official scenarios find in our own server, without a tool, resource or prompt of a given name. */
const passedByOurs: Record<Revision, string[]> = {
  '2026-07-28': [
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-unsupported-methods',
    'input-required-result-validate-input',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'tools-list',
  ],
  '2025-11-25': ['dns-rebinding-protection', 'ping', 'server-initialize', 'tools-list'],
}

/** The fixture passes every check except these. README.md gives the reasons. */
const failedByFixture: Record<Revision, Record<string, string[]>> = {
  '2026-07-28': {
    // Nothing changes that a client could listen to, and an open stream costs money on Lambda.
    'server-stateless': ['sep-2575-server-sends-subscription-ack', 'sep-2575-server-tags-subscription-id'],
    // The revision does not require it, and no tool of ours copies an argument into a header.
    'http-custom-header-server-validation': [
      'sep-2243-server-no-xmcp-tool',
      'sep-2243-server-decode-base64',
      'sep-2243-server-validate-param-match',
      'sep-2243-server-reject-invalid-param-chars',
      'sep-2243-server-reject-param-mismatch',
    ],
  },
  '2025-11-25': {
    // The client's answer may reach another process, so a server without sessions cannot ask.
    'elicitation-sep1034-defaults': ['elicitation-sep1034-general'],
    'elicitation-sep1330-enums': ['elicitation-sep1330-general'],
    'tools-call-elicitation': ['tools-call-elicitation'],
    'tools-call-sampling': ['tools-call-sampling'],
  },
}

/** Further checks of this scenario call tools with certain names. */
const failedByOurs = [
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-missing-capability-http-400',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-server-sends-subscription-ack',
  'sep-2575-server-tags-subscription-id',
]

/** Optional, and not served: tasks would be a second way to wait for an update. */
const isOfExtension = (scenario: string) => scenario.startsWith('tasks-')

async function start(what: 'ours' | 'fixture') {
  const { services, signed, call } = await startProduct()
  expect((await call('PUT', '/callers/agent', { body: { ratePerMinute: 10_000 } })).status).toBe(201)
  const token = await signed({ sub: 'agent', scope: 'read run', budgets: '*' })
  const listener = await createListener({ port: 0 })
  onTestFinished(() => listener.close(Promise.resolve()))
  const { url: publicUrl } = listener
  const key = async () => ({ current: quoteKey, previous: null })
  const mcp =
    what === 'ours'
      ? createMcp(services, { quoteKey: { read: key, reread: key }, publicUrl })
      : createEndpoint(services, { publicUrl, toolNames: [], serverFor: createFixtureServer })
  // The scenarios send no token.
  const withToken = (request: Request) => {
    const headers = new Headers(request.headers)
    headers.set('authorization', `Bearer ${token}`)
    return new Request(request, { headers })
  }
  listener.open({ fetch: (request) => mcp.fetch(withToken(request)) })
  return `${publicUrl}/mcp`
}

/** The scenarios that a revision requires, each with its failed checks and the number of passed ones. */
async function runScenarios(url: string, revision: Revision) {
  const results = await mkdtemp(join(tmpdir(), 'conformance-'))
  onTestFinished(() => rm(results, { recursive: true, force: true }))
  const options = ['server', '--url', url, '--requirements', revision, '--output-dir', results]
  await once(spawn(process.execPath, [command, ...options], { stdio: 'ignore' }), 'exit')
  const folders = (await readdir(results)).toSorted()
  return Promise.all(
    folders.map(async (folder) => {
      const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(folder)?.[1] ?? folder
      const checks: { id: string; status: string }[] = JSON.parse(
        await readFile(join(results, folder, 'checks.json'), 'utf8'),
      )
      const idsOf = (status: string) => [
        ...new Set(checks.filter((each) => each.status === status).map(({ id }) => id)),
      ]
      // Every scenario passes this check if a message fits the schema.
      const passed = idsOf('SUCCESS').filter((id) => id !== 'wire-schema-valid')
      return { scenario, failed: idsOf('FAILURE'), passed }
    }),
  )
}

test.each<Revision>(['2026-07-28', '2025-11-25'])(
  'our server passes the official scenarios of %s that need no fixtures',
  async (revision) => {
    const scenarios = await runScenarios(await start('ours'), revision)
    const passing = scenarios.filter(({ failed, passed }) => failed.length === 0 && passed.length > 0)
    expect(passing.map(({ scenario }) => scenario)).toEqual(passedByOurs[revision])
    for (const { scenario, failed } of scenarios) {
      expect(failed).not.toContain('wire-schema-valid')
      if (scenario === 'server-stateless') expect(failed.toSorted()).toEqual(failedByOurs)
    }
  },
)

test.each<[Revision, number]>([
  ['2026-07-28', 38],
  ['2025-11-25', 26],
])('the transport with fixtures passes the official scenarios of %s', async (revision, count) => {
  const scenarios = (await runScenarios(await start('fixture'), revision)).filter(
    ({ scenario }) => !isOfExtension(scenario),
  )
  const failing = scenarios.filter(({ failed }) => failed.length > 0)
  expect(Object.fromEntries(failing.map(({ scenario, failed }) => [scenario, failed]))).toEqual(
    failedByFixture[revision],
  )
  expect(scenarios.filter(({ failed, passed }) => failed.length === 0 && passed.length > 0)).toHaveLength(count)
})
