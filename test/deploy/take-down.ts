import {
  DeleteTableCommand,
  DescribeTableCommand,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { DeleteSecretCommand } from '@aws-sdk/client-secrets-manager'
import { DeleteParameterCommand } from '@aws-sdk/client-ssm'
import { ledgerParameterOf } from '../../shared/platform/prefix.ts'
import { aws, cdk, dynamo, region, secrets, ssm } from './aws.ts'
import { retained, stackOf } from './guard.ts'
import { say } from './steps.ts'

interface Made {
  readonly what: string
  remove(): Promise<unknown>
}

/**
 * Deletes what the rehearsal made, also what a stack retains, even if a deletion fails.
 *
 * @param assembly with the stacks of all prefixes.
 * @returns what could not be deleted, with the reason.
 */
export async function takeDown(assembly: string): Promise<readonly string[]> {
  const left: string[] = []
  const stacks = [...retained.prefixes].map(stackOf)
  for (const stack of stacks) await findRetained(stack)
  for (const { what, remove } of [...destroyed(stacks, assembly), ...others()]) {
    try {
      await remove()
      say(`     deleted: ${what}`)
    } catch (error) {
      if (!isMissing(error)) left.push(`${what}: ${textOf(error)}`)
    }
  }
  return left
}

const destroyed = (stacks: readonly string[], assembly: string): readonly Made[] =>
  stacks.length === 0 ? [] : [{ what: `stacks ${stacks.join(', ')}`, remove: () => destroy(stacks, assembly) }]

export async function destroy(stacks: readonly string[], assembly: string, at = region): Promise<void> {
  for (const stack of stacks) {
    const allow = ['update-termination-protection', '--no-enable-termination-protection', '--stack-name', stack]
    // The stack may be missing. If AWS refuses this, the deletion fails, and says so.
    await aws('cloudformation', ...allow, '--region', at).catch(() => {})
  }
  await cdk(['destroy', ...stacks, '--force', '--app', assembly], { AWS_REGION: at, AWS_DEFAULT_REGION: at })
}

/** In an order in which nothing still needs what is deleted. */
function others(): readonly Made[] {
  const secretsOf = (prefix: string) =>
    ['service-token', 'caller-key', 'quote-key', 'slack'].map((name) => `${prefix}/${name}`)
  const made: Made[] = []
  for (const name of retained.tables) made.push({ what: `table ${name}`, remove: () => deleteTable(name) })
  for (const name of retained.logs)
    made.push({ what: `log ${name}`, remove: () => aws('logs', 'delete-log-group', '--log-group-name', name) })
  for (const prefix of retained.prefixes) {
    const Name = ledgerParameterOf(prefix)
    made.push({ what: `parameter ${Name}`, remove: () => ssm.send(new DeleteParameterCommand({ Name })) })
    for (const SecretId of secretsOf(prefix)) {
      const input = { SecretId, ForceDeleteWithoutRecovery: true }
      made.push({ what: `secret ${SecretId}`, remove: () => secrets.send(new DeleteSecretCommand(input)) })
    }
  }
  for (const role of retained.roles) made.push({ what: `role ${role}`, remove: () => deleteRole(role) })
  return made
}

/** The tables and logs of a stack, whose outputs are missing if its deployment failed. */
async function findRetained(stack: string): Promise<void> {
  const query = 'StackResourceSummaries[].[ResourceType,PhysicalResourceId]'
  const found: readonly (readonly [string, string | null])[] = await aws(
    'cloudformation',
    'list-stack-resources',
    '--stack-name',
    stack,
    '--query',
    query,
  ).catch(() => [])
  for (const [type, id] of found) {
    if (type === 'AWS::DynamoDB::Table' && id) retained.tables.add(id)
    if (type === 'AWS::Logs::LogGroup' && id) retained.logs.add(id)
  }
}

async function deleteTable(TableName: string): Promise<void> {
  // The waiter below would wait for a table that the stack has deleted.
  await dynamo.send(new DescribeTableCommand({ TableName }))
  // AWS may refuse a change that changes nothing. If it refuses another, the deletion fails, and says so.
  await dynamo.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false })).catch(() => {})
  await waitUntilTableExists({ client: dynamo, minDelay: 2, maxDelay: 5, maxWaitTime: 120 }, { TableName })
  await dynamo.send(new DeleteTableCommand({ TableName }))
}

async function deleteRole(role: string): Promise<void> {
  const policy = ['--role-name', role, '--policy-name', role]
  await aws('iam', 'delete-role-policy', ...policy).catch((error) => {
    if (!isMissing(error)) throw error
  })
  await aws('iam', 'delete-role', '--role-name', role)
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The names of AWS's errors about something that does not exist; the CLI has them in its text. */
const isMissing = (error: unknown): boolean =>
  /ResourceNotFoundException|ParameterNotFound|NoSuchEntity/.test(
    error instanceof Error ? `${error.name} ${error.message}` : '',
  )
