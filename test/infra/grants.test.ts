import { describe, expect, test } from 'vitest'
import { login, okta, warehouse } from '../support/infra/deployment.ts'
import { grantsOf } from '../support/infra/grants.ts'
import { plain, type Resource, type Synthesized, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

const guard = synthesize()
const withSandbox = synthesize(variants.standIn)

const logs = { may: ['logs:CreateLogStream', 'logs:PutLogEvents'], on: ['Log.Arn'] }
const looks = { may: ['dynamodb:BatchGetItem', 'dynamodb:DescribeTable'], on: ['LedgerTable.Arn'] }
const ledger = [
  looks,
  { may: ['dynamodb:ConditionCheckItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'], on: ['LedgerTable.Arn'] },
]
/** The dashboard writes everything except the runs of plans and the positions of the sweep. */
const ledgerOfPages = [
  looks,
  {
    may: ['dynamodb:ConditionCheckItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'],
    on: ['LedgerTable.Arn'],
    only: {
      'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': ['occurrence#*', 'sweep#*'] },
      Null: { 'dynamodb:LeadingKeys': 'false' },
    },
  },
]
const writes = (name: string, ...prefixes: readonly string[]) => ({
  may: [`dynamodb:${name}`],
  on: ['LedgerTable.Arn'],
  only: {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes.map((prefix) => `${prefix}*`) },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  },
})
const puts = (...prefixes: readonly string[]) => writes('PutItem', ...prefixes)
const ofUpdates = [
  writes('ConditionCheckItem', 'book', 'definitions'),
  puts('announcement#', 'issuer-keys#', 'trouble#', 'book', 'definitions', 'entry#', 'update#', 'work#'),
  writes('UpdateItem', 'book', 'summary#', 'work#'),
]
const lists = { may: ['dynamodb:Query'], on: ['LedgerTable.Arn/index/by-time', 'LedgerTable.Arn/index/open'] }
const secret = (name: string) => ({ may: ['secretsmanager:GetSecretValue'], on: [`Secrets${name}`] })
const deadLetters = {
  may: ['sqs:SendMessage'],
  on: ['DeadLettersQueue.Arn'],
}
const stream = [
  { may: ['dynamodb:ListStreams'], on: ['*'] },
  {
    may: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
    on: ['LedgerTable.StreamArn'],
  },
]

describe('permissions of each function', () => {
  const expected = {
    Dashboard: [logs, ...ledgerOfPages, lists, secret('ServiceToken'), secret('CallerKey')],
    Api: [logs, ...ledger, lists, secret('ServiceToken'), secret('CallerKey')],
    Mcp: [logs, looks, ...ofUpdates, lists, secret('ServiceToken'), secret('CallerKey'), secret('QuoteKey')],
    SlackApp: [logs, looks, puts('slack-event#'), secret('Slack')],
    Scheduled: [logs, ...ledger, lists, secret('ServiceToken'), secret('Slack'), deadLetters],
    OutboxStart: [logs, ...ledger, lists, secret('ServiceToken'), secret('Slack'), ...stream, deadLetters],
    OutboxTell: [
      logs,
      looks,
      puts('announcement#', 'slack-event#', 'trouble#'),
      lists,
      secret('Slack'),
      ...stream,
      deadLetters,
    ],
  }

  test('each role has exactly the listed grants', () => {
    expect(grantsOf(guard)).toEqual(expected)
  })

  test('only the dashboard reads the secret of the login, if people log in at an issuer', () => {
    const { Dashboard, ...others } = grantsOf(synthesize({ issuers: [okta], env: login }))
    const { Dashboard: withoutLogin, ...same } = expected
    expect(others).toEqual(same)
    expect(Dashboard).toEqual([...withoutLogin, secret('LoginClient')])
  })

  test('only tell and the sweep read the secrets of event targets', () => {
    const { Scheduled, OutboxTell, ...others } = grantsOf(
      synthesize({
        targets: [warehouse, { ...warehouse, name: 'crm', secret: 'unit-guard/events/crm' }],
      }),
    )
    const { Scheduled: before, OutboxTell: told, ...same } = expected
    expect(others).toEqual(same)
    const signs = { may: ['secretsmanager:GetSecretValue'], on: ['EventsSecretwarehouse', 'EventsSecretcrm'] }
    expect(Scheduled).toEqual([...before, signs])
    const [, , , ...rest] = told
    expect(OutboxTell).toEqual([
      logs,
      looks,
      puts('announcement#', 'slack-event#', 'trouble#', 'delivery#'),
      writes('UpdateItem', 'event-target#'),
      ...rest,
      signs,
    ])
  })

  test('the stand-in’s role reaches only its own table and the service token', () => {
    const { Sandbox, ...others } = grantsOf(withSandbox)
    expect(others).toEqual(expected)
    expect(Sandbox).toEqual([
      logs,
      { may: ['dynamodb:BatchGetItem', 'dynamodb:PutItem'], on: ['SandboxTable.Arn'] },
      secret('ServiceToken'),
    ])
  })

  test('no role has a managed policy, and only Lambda may assume it', () => {
    for (const { Properties } of guard.ofType('AWS::IAM::Role')) {
      expect(Properties.ManagedPolicyArns).toBeUndefined()
      const Service = 'lambda.amazonaws.com'
      expect(Properties.AssumeRolePolicyDocument.Statement).toMatchObject([{ Principal: { Service } }])
    }
  })
})

describe('the principals that may read', () => {
  const grants = grantsOf(guard)
  const who = (may: RegExp, on: RegExp) =>
    Object.entries(grants)
      .filter(([, statements]) =>
        statements.some((each) => each.may.some((name) => may.test(name)) && each.on.some((arn) => on.test(arn))),
      )
      .map(([name]) => name)

  test('only functions that call the service read its token', () => {
    expect(who(/^secretsmanager:/, /^(SecretsServiceToken|\*)/)).toEqual([
      'Dashboard',
      'Api',
      'Mcp',
      'Scheduled',
      'OutboxStart',
    ])
  })

  test('only the functions that receive callers’ tokens read the caller key', () => {
    expect(who(/^secretsmanager:/, /^(SecretsCallerKey|\*)/)).toEqual(['Dashboard', 'Api', 'Mcp'])
  })

  test('only the function for agents reads the key of quotes', () => {
    expect(who(/^secretsmanager:/, /^(SecretsQuoteKey|\*)/)).toEqual(['Mcp'])
  })

  test('only functions that talk to Slack read its secret', () => {
    expect(who(/^secretsmanager:/, /^(SecretsSlack|\*)/)).toEqual([
      'SlackApp',
      'Scheduled',
      'OutboxStart',
      'OutboxTell',
    ])
  })

  test('no function may delete or scan the table', () => {
    expect(who(/Delete|Scan|\*/, /./)).toEqual([])
  })
})

describe('the principals that may call a function', () => {
  const permissions = (of: Synthesized) =>
    of.ofType('AWS::Lambda::Permission').map(({ Properties }: Resource) => plain(Properties))

  test('everyone may call the four URLs, and only our rules the scheduled function', () => {
    const url = (fn: string) => [
      { Action: 'lambda:InvokeFunctionUrl', FunctionName: fn, FunctionUrlAuthType: 'NONE', Principal: '*' },
      { Action: 'lambda:InvokeFunction', FunctionName: fn, InvokedViaFunctionUrl: true, Principal: '*' },
    ]
    const rules = {
      Action: 'lambda:InvokeFunction',
      FunctionName: 'ScheduledFunction.Arn',
      Principal: 'events.amazonaws.com',
      SourceAccount: 'AWS::AccountId',
      SourceArn: 'arn:AWS::Partition:events:AWS::Region:AWS::AccountId:rule/unit-guard-*',
    }
    const found = permissions(guard)
    expect(found).toHaveLength(9)
    expect(found).toEqual(
      expect.arrayContaining([
        ...url('DashboardFunction.Arn'),
        ...url('ApiFunction.Arn'),
        ...url('McpFunction.Arn'),
        ...url('SlackAppFunction.Arn'),
        rules,
      ]),
    )
  })

  test('many plans need one permission', () => {
    const plans = Array.from({ length: 200 }, (_, index) => ({
      name: `plan-${index}`,
      kind: 'ranking',
      projects: ['a'],
      schedule: 'rate(1 day)',
    }))
    const { resources, ofType } = synthesize({
      plans,
      context: { sandbox: true, alarmEmail: 'ops@example.com' },
      env: { TRACKING_BASE_URL: '' },
    })
    expect(ofType('AWS::Lambda::Permission')).toHaveLength(11)
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
    expect(resources.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(resources).length).toBeLessThan(1_000_000)
  })
})
