import { execFile } from 'node:child_process'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { SSMClient } from '@aws-sdk/client-ssm'
import { fail, isOnAws } from './where.ts'

const run = promisify(execFile)
const maxBuffer = 16 * 1024 * 1024

const emulated = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
}
if (!isOnAws) Object.assign(process.env, { ...emulated, ...process.env })
await run('aws', ['--version']).catch(() => fail('There is no aws command: the page uses it (pip install awscli).'))

export const region = process.env.AWS_REGION ?? ''
// Version 1 of the AWS CLI reads this.
process.env.AWS_DEFAULT_REGION = region
export const secrets = new SecretsManagerClient({ region })
export const dynamo = new DynamoDBClient({ region })
export const ssm = new SSMClient({ region })

/** The folder of this rehearsal, which it deletes at the end. */
export const folder = await mkdtemp(join(tmpdir(), 'unit-guard-rehearsal-'))

export const account = {
  ACCOUNT_UNITS_PER_MONTH: '50000',
  ACCOUNT_UNITS_USED_AT_START: '0',
  ACCOUNT_RENEWAL_DAY: '1',
  ACCOUNT_TIME_ZONE: 'UTC',
}

const quiet = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' }

export async function cdk(args: readonly string[], more: Record<string, string> = {}): Promise<void> {
  await run('npx', ['cdk', ...args], { env: { ...process.env, ...quiet, ...more }, maxBuffer })
}

// biome-ignore lint/suspicious/noExplicitAny: answers are JSON of any shape.
type Json = any

/** Runs the AWS CLI. */
export async function aws(...args: readonly string[]): Promise<Json> {
  const { stdout } = await run('aws', [...args, '--output', 'json'], { maxBuffer })
  return stdout.trim() === '' ? null : JSON.parse(stdout)
}

/** Runs an operator's command with the settings of docs/deploy.md. */
export async function operate(
  script: string,
  args: readonly string[],
  { table, prefix, more = {} }: { table: string; prefix: string; more?: Readonly<Record<string, string>> },
): Promise<string> {
  const settings = {
    SECRETS_ENDPOINT: '',
    DATA_DIR: folder,
    TABLE_NAME: table,
    GUARD_PREFIX: prefix,
    LEDGER_SERVICE: 'sandbox',
    TRACKING_BASE_URL: '',
    ...account,
    ...quiet,
    ...more,
  }
  const { stdout } = await run('npx', ['tsx', 'infra/local/run.ts', script, ...args], {
    env: { ...process.env, ...settings },
  })
  return stdout
}

/** The block of a page that contains this text, which the rehearsal runs unchanged. */
export async function blockOfPage(part: string, page = 'docs/deploy.md'): Promise<string> {
  const text = await readFile(page, 'utf8')
  const blocks = [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = '']) => block)
  const found = blocks.find((block) => block.includes(part))
  if (found === undefined) throw new Error(`${page} has no block with ${part}`)
  return found
}

export async function shell(commands: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands], {
    env: { ...process.env, ...quiet, ...env },
    maxBuffer,
  })
  return stdout
}

export async function put(SecretId: string, SecretString: string): Promise<void> {
  await secrets.send(new PutSecretValueCommand({ SecretId, SecretString }))
}
