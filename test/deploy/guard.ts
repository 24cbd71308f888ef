import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { signAdminToken } from '../../infra/local/secrets.ts'
import { usualPrefix } from '../../shared/platform/prefix.ts'
import { signingSecret } from '../support/slack/slack.ts'
import { account, cdk, folder, operate, put, secrets } from './aws.ts'
import { adaptToEmulator, emulatedUrl } from './emulator.ts'
import { say, step } from './steps.ts'
import { endpoint, isOnAws, prefix as ownPrefix } from './where.ts'

export type Outputs = Readonly<
  Record<'ApiUrl' | 'DashboardUrl' | 'McpUrl' | 'SlackUrl' | 'TableName' | 'LogGroupName', string>
>

/** Resources that outlive their stack, so the rehearsal must delete them itself. */
export const retained = {
  tables: new Set<string>(),
  logs: new Set<string>(),
  prefixes: new Set<string>(),
  roles: new Set<string>(),
}

export const plans = join(folder, 'plans.json')

/** Synthesizes into a folder for `deploy`. */
export async function synth(name: string, assembly: string, ...options: readonly string[]): Promise<void> {
  const into = ['--quiet', '-c', 'sandbox=true', ...options, '--output', assembly]
  const settings = { GUARD_PREFIX: ownPrefix, PLANS: plans, TRACKING_BASE_URL: '' }
  await step(name, () => cdk(['synth', ...into], { ...account, ...settings }))
  if (isOnAws) return
  const changes = await adaptToEmulator(assembly, endpoint)
  for (const change of changes) say(`     ${change}`)
}

/** The stack of a prefix; the usual prefix has a stack of another name. */
export const stackOf = (prefix: string): string => (prefix === usualPrefix ? 'UnitGuard' : prefix)

export async function deploy(name: string, assembly: string, ...prefixes: readonly string[]) {
  const file = join(folder, 'outputs.json')
  const answers = ['--require-approval', 'never', '--outputs-file', file]
  for (const prefix of prefixes) retained.prefixes.add(prefix)
  await step(name, () => cdk(['deploy', ...prefixes.map(stackOf), '--app', assembly, ...answers]))
  const outputs: Readonly<Record<string, Outputs>> = JSON.parse(await readFile(file, 'utf8'))
  for (const { TableName, LogGroupName } of Object.values(outputs)) {
    retained.tables.add(TableName)
    retained.logs.add(LogGroupName)
  }
  return (prefix: string) => {
    const own = outputs[stackOf(prefix)]
    if (!own) throw new Error(`${prefix} has no outputs`)
    return own
  }
}

export type Guard = Awaited<ReturnType<typeof guardWithSecrets>>

/** Fills in the secrets and signs a token. */
export async function openGuard(prefix: string, outputs: Outputs): Promise<Guard> {
  await step(`secrets: ${prefix} gets the service’s token and Slack’s signing secret`, async () => {
    await put(`${prefix}/service-token`, `${prefix}-service-token`)
    await put(`${prefix}/slack`, JSON.stringify({ signingSecret }))
  })
  return guardWithSecrets(prefix, outputs)
}

/** Signs a token with the stored key. */
export async function guardWithSecrets(prefix: string, outputs: Outputs, from = secrets) {
  const place = (url: string) => (isOnAws ? url.replace(/\/$/, '') : emulatedUrl(url, endpoint))
  const { ApiUrl, DashboardUrl, McpUrl, SlackUrl, TableName: table, LogGroupName: logGroup } = outputs
  const urls = { api: place(ApiUrl), dashboard: place(DashboardUrl), mcp: place(McpUrl), slack: place(SlackUrl) }
  const key = await from.send(new GetSecretValueCommand({ SecretId: `${prefix}/caller-key` }))
  const token = await signAdminToken(key.SecretString ?? '', Date.now())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const call = async (method: string, path: string, body?: object, more: Record<string, string> = {}) => {
    const sent = { method, headers: { ...headers, ...more }, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${urls.api}${path}`, sent)
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  return {
    prefix,
    table,
    logGroup,
    urls,
    token,
    call,
    ask: (project: string, more: Record<string, string> = {}) =>
      call('POST', '/updates', { kind: 'ranking', project, reason: 'rehearsal' }, more),
    /** Runs work that may have run already; `key` makes this a new request. */
    force: (project: string, key: string, more: Record<string, string> = {}) =>
      call(
        'POST',
        '/updates',
        { kind: 'ranking', project, reason: 'rehearsal', force: true },
        { 'idempotency-key': key, ...more },
      ),
    /** The units still available. */
    left: async (): Promise<number> => (await call('GET', '/budgets/account')).body.windows[0].available,
    begin: () => operate('account', ['begin'], { table, prefix }),
  }
}
