import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { startRecordedAws } from './recorded-aws.ts'

const hasCli = spawnSync('aws', ['--version']).status === 0
if (!hasCli) process.stderr.write('NOT TESTED: the rehearsal on AWS, because there is no aws command\n')

/** Reports each command of the CDK to the recording, and fails if that refuses. */
const npx = `#!${process.execPath}
const answer = fetch(process.env.AWS_ENDPOINT_URL, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(process.argv.slice(3)),
})
answer.then(({ ok }) => process.exit(ok ? 0 : 1))
`

type Refusal = Parameters<typeof startRecordedAws>[0]
type Call = Parameters<Refusal>[0]

/** @param refuses may end the rehearsal by a signal. */
async function rehearse(refuses: (call: Call, interrupt: () => void) => string | undefined) {
  const aws = await startRecordedAws((call) => refuses(call, () => child.kill('SIGTERM')))
  const folder = await mkdtemp(join(tmpdir(), 'unit-guard-on-aws-'))
  await writeFile(join(folder, 'npx'), npx)
  await chmod(join(folder, 'npx'), 0o755)
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/deploy/rehearse.ts'], {
    cwd: resolve(import.meta.dirname, '../..'),
    env: {
      ...process.env,
      PATH: `${folder}:${process.env.PATH}`,
      TMPDIR: folder,
      REHEARSE_ON: 'aws',
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL: aws.url,
      AWS_ACCESS_KEY_ID: 'AKIAME',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_MAX_ATTEMPTS: '1',
    },
  })
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const [, prefix = ''] = /^prefix (rehearsal-[0-9a-f]{6}) in eu-west-1$/m.exec(output) ?? []
  const lines = (start: string) => output.split('\n').filter((line) => line.startsWith(start))
  const names = aws.calls.map(({ name, body }) => (name === 'cdk' ? `cdk ${body[0]}` : name))
  const bodyOf = (name: string) => aws.calls.find((call) => call.name === name)?.body
  return { lines, status, prefix, names, calls: aws.calls, bodyOf }
}

type Rehearsal = Awaited<ReturnType<typeof rehearse>>

const isForeign = (body: { TransactItems: readonly Record<string, { Key?: object; Item?: object }>[] }): boolean =>
  body.TransactItems.flatMap((item) => Object.values(item)).some(
    ({ Key, Item }) => Object(Key ?? Item).pk.S === 'sweep#rehearsal',
  )

/** What IAM must do by the conditions of the stack. */
const byConditions = ({ name, body }: Call) =>
  name === 'dynamodb TransactWriteItems' && isForeign(body) ? 'AccessDeniedException' : undefined

const setUp = [
  'sts GetCallerIdentity',
  'dynamodb CreateTable',
  'dynamodb DescribeTable',
  'iam CreateRole',
  'iam PutRolePolicy',
]
const deletedTable = ['DescribeTable', 'UpdateTable', 'DescribeTable', 'DeleteTable'].map((name) => `dynamodb ${name}`)
const deletedRole = ['iam DeleteRolePolicy', 'iam DeleteRole']

function expectConditionsOfTheStack({ bodyOf, calls, prefix }: Rehearsal): void {
  const { Statement } = JSON.parse(bodyOf('iam PutRolePolicy').PolicyDocument)
  const arn = `arn:aws:dynamodb:eu-west-1:123456789012:table/${prefix}-conditions`
  const Null = { 'dynamodb:LeadingKeys': 'false' }
  for (const each of Statement) expect(each).toMatchObject({ Effect: 'Allow', Resource: arn, Condition: { Null } })
  const actions = ['dynamodb:ConditionCheckItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem']
  expect(Statement.map(({ Action }: { Action: string }) => Action)).toEqual(actions)
  expect(JSON.stringify(Statement)).not.toContain('sweep#')
  expect(JSON.parse(bodyOf('iam CreateRole').AssumeRolePolicyDocument).Statement).toEqual([
    { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { AWS: 'arn:aws:iam::123456789012:root' } },
  ])
  const sent = calls.filter(({ name }) => name === 'dynamodb TransactWriteItems').map(({ body }) => body)
  expect(sent.map(isForeign)).toEqual([false, true, true, true])
  const kinds = sent.map((body) => Object.keys(body.TransactItems.at(-1))[0])
  expect(kinds.slice(1)).toEqual(['ConditionCheck', 'Put', 'Update'])
  for (const body of sent) expect(body.TransactItems.slice(0, 3)).toEqual(sent[0].TransactItems)
}

describe.skipIf(!hasCli)('the rehearsal on AWS', { timeout: 110_000 }, () => {
  test('tries the conditions of the stack first, and deletes a deployment that failed with everything else', async () => {
    const rehearsal = await rehearse((call) => {
      if (call.name === 'cdk' && call.body[0] === 'deploy') return 'Failed'
      if (call.name === 'dynamodb DeleteTable' && call.body.TableName === 'LedgerTable-1')
        return 'AccessDeniedException'
      if (call.name === 'dynamodb DescribeTable' && call.body.TableName === 'SandboxTable-1')
        return 'ResourceNotFoundException'
      if (call.name === 'ssm DeleteParameter') return 'ParameterNotFound'
      return byConditions(call)
    })
    const { lines, status, prefix, names, bodyOf, calls } = rehearsal
    expect(status).toBe(1)
    expect(names).toEqual([
      ...setUp,
      'sts AssumeRole',
      ...Array(4).fill('dynamodb TransactWriteItems'),
      'cdk synth',
      'cdk bootstrap',
      'cdk deploy',
      'cloudformation ListStackResources',
      'cloudformation UpdateTerminationProtection',
      'cdk destroy',
      ...deletedTable,
      ...deletedTable,
      'dynamodb DescribeTable',
      'logs DeleteLogGroup',
      'ssm DeleteParameter',
      ...Array(4).fill('secretsmanager DeleteSecret'),
      ...deletedRole,
    ])
    expectConditionsOfTheStack(rehearsal)
    expect(lines('LEFT')).toEqual(['LEFT table LedgerTable-1: refused'])
    expect(lines('     deleted: parameter')).toEqual([])
    expect(lines('     deleted: table')).toEqual([`     deleted: table ${prefix}-conditions`])
    expect(bodyOf('cloudformation ListStackResources').StackName).toBe(prefix)
    const secrets = calls.flatMap(({ body }) => body.SecretId ?? [])
    expect(secrets).toEqual(['service-token', 'caller-key', 'quote-key', 'slack'].map((name) => `${prefix}/${name}`))
    expect(JSON.stringify(calls.map(({ body }) => body))).not.toContain('"unit-guard')
  })

  test('ends before anything is deployed if a role may write a foreign key, and deletes role and table', async () => {
    const { lines, status, names } = await rehearse(() => undefined)
    expect(status).toBe(1)
    expect(lines('FAIL')).toEqual(['FAIL conditions: the same transaction with one foreign key is refused'])
    const written = ['sts AssumeRole', ...Array(2).fill('dynamodb TransactWriteItems')]
    expect(names).toEqual([...setUp, ...written, ...deletedTable, ...deletedRole])
    expect(lines('LEFT')).toEqual([])
  })

  test('deletes what it made after a signal', async () => {
    const { lines, status, names } = await rehearse(({ name }, interrupt) => {
      if (name !== 'sts AssumeRole') return undefined
      interrupt()
      return 'AccessDenied'
    })
    expect(status).toBe(1)
    expect(lines('failed')).toEqual(['failed: Error: interrupted by SIGTERM'])
    expect(names).toEqual([...setUp, 'sts AssumeRole', ...deletedTable, ...deletedRole])
  })
})
