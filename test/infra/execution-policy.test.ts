import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { everyOption } from '../support/infra/deployment.ts'
import { type Resource, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

interface Statement {
  readonly Sid: string
  readonly Effect: string
  readonly Action: readonly string[]
  readonly Resource: string
  readonly Condition?: object
}

const policy: { readonly Statement: readonly Statement[] } = JSON.parse(
  readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/pipeline/execution-policy.json'), 'utf8'),
)

const full = synthesize(everyOption)
const withSandbox = synthesize(variants.standIn)
const resources = [full, synthesize(variants.firstDeployment), withSandbox].flatMap((each) => each.resources)

/** The calls of CloudFormation to create, change and delete a resource of the type, with their ARN. */
const calls: Readonly<Record<string, readonly [arn: string, ...actions: string[]]>> = {
  'AWS::Budgets::Budget': ['budgets::A:budget/', 'ModifyBudget', 'ViewBudget'],
  'AWS::CloudWatch::Alarm': ['cloudwatch:R:A:alarm:', 'PutMetricAlarm', 'DeleteAlarms'],
  'AWS::CloudWatch::Dashboard': ['cloudwatch::A:dashboard/', 'PutDashboard', 'GetDashboard', 'DeleteDashboards'],
  'AWS::DynamoDB::Table': [
    ...(['dynamodb:R:A:table/', 'CreateTable', 'DescribeTable', 'UpdateTable', 'UpdateTimeToLive'] as const),
    ...['DescribeTimeToLive', 'UpdateContinuousBackups', 'DescribeContinuousBackups'],
  ],
  'AWS::Events::Rule': [
    ...(['events:R:A:rule/', 'PutRule', 'DescribeRule', 'DeleteRule', 'PutTargets', 'RemoveTargets'] as const),
    'ListTargetsByRule',
  ],
  'AWS::IAM::Policy': ['iam::A:role/', 'PutRolePolicy', 'GetRolePolicy', 'DeleteRolePolicy'],
  'AWS::IAM::Role': [
    ...(['iam::A:role/', 'CreateRole', 'GetRole', 'UpdateRole', 'UpdateAssumeRolePolicy', 'DeleteRole'] as const),
    ...['PassRole', 'ListRolePolicies', 'ListAttachedRolePolicies'],
  ],
  'AWS::Lambda::EventInvokeConfig': [
    ...(['lambda:R:A:function:', 'PutFunctionEventInvokeConfig', 'UpdateFunctionEventInvokeConfig'] as const),
    ...['GetFunctionEventInvokeConfig', 'DeleteFunctionEventInvokeConfig'],
  ],
  'AWS::Lambda::EventSourceMapping': [
    ...(['lambda:R:A:event-source-mapping:', 'CreateEventSourceMapping', 'GetEventSourceMapping'] as const),
    ...['UpdateEventSourceMapping', 'DeleteEventSourceMapping'],
  ],
  'AWS::Lambda::Function': [
    ...(['lambda:R:A:function:', 'CreateFunction', 'GetFunction', 'GetFunctionConfiguration'] as const),
    ...['UpdateFunctionCode', 'UpdateFunctionConfiguration', 'DeleteFunction', 'GetFunctionCodeSigningConfig'],
    ...['PutFunctionConcurrency', 'DeleteFunctionConcurrency', 'GetRuntimeManagementConfig'],
  ],
  'AWS::Lambda::Permission': ['lambda:R:A:function:', 'AddPermission', 'RemovePermission', 'GetPolicy'],
  'AWS::Lambda::Url': [
    ...(['lambda:R:A:function:', 'CreateFunctionUrlConfig', 'GetFunctionUrlConfig'] as const),
    ...['UpdateFunctionUrlConfig', 'DeleteFunctionUrlConfig'],
  ],
  'AWS::Logs::LogGroup': [
    ...(['logs:R:A:log-group:', 'CreateLogGroup', 'DescribeLogGroups', 'DeleteLogGroup'] as const),
    'PutRetentionPolicy',
  ],
  'AWS::Logs::MetricFilter': ['logs:R:A:log-group:', 'PutMetricFilter', 'DescribeMetricFilters', 'DeleteMetricFilter'],
  'AWS::SNS::Subscription': [
    ...(['sns:R:A:', 'Subscribe', 'GetSubscriptionAttributes', 'SetSubscriptionAttributes', 'Unsubscribe'] as const),
  ],
  'AWS::SNS::Topic': ['sns:R:A:', 'CreateTopic', 'GetTopicAttributes', 'SetTopicAttributes', 'DeleteTopic'],
  'AWS::SNS::TopicPolicy': ['sns:R:A:', 'SetTopicAttributes'],
  'AWS::SQS::Queue': ['sqs:R:A:', 'CreateQueue', 'GetQueueAttributes', 'SetQueueAttributes', 'DeleteQueue'],
  'AWS::SQS::QueuePolicy': ['sqs:R:A:', 'SetQueueAttributes'],
  'AWS::SSM::Parameter': ['ssm:R:A:parameter', 'PutParameter', 'GetParameters', 'DeleteParameter', 'AddTagsToResource'],
  'AWS::SecretsManager::Secret': [
    ...(['secretsmanager:R:A:secret:', 'CreateSecret', 'DescribeSecret', 'UpdateSecret', 'DeleteSecret'] as const),
    ...['GetRandomPassword', 'ReplicateSecretToRegions', 'RemoveRegionsFromReplication'],
  ],
}

/** The name in the template, or the one that CloudFormation generates. */
function nameOf({ id, Properties }: Resource): string {
  const { Name, RuleName, DashboardName, Budget } = Properties ?? {}
  const name = Name ?? RuleName ?? DashboardName ?? Budget?.BudgetName ?? `UnitGuard-${id}-1ABCDEF`
  return typeof name === 'string' ? name : name['Fn::Join'][1].map(String).join('')
}

const pattern = (text: string) => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\\*', '.*')}$`)

/** The statement that allows the call, if its conditions hold. */
const allowing = (action: string, arn: string) =>
  policy.Statement.find(
    ({ Action, Resource }) => Action.some((allowed) => pattern(allowed).test(action)) && pattern(Resource).test(arn),
  )

/** Each call that CloudFormation makes for the resources, and its ARN. */
const needed = resources.flatMap((resource) => {
  const [prefix = '', ...actions] = calls[resource.Type] ?? []
  const arn = `arn:aws:${prefix.replace(':R:', ':eu-central-1:').replace(':A:', ':123456789012:')}${nameOf(resource)}`
  return actions.map((name) => ({ action: `${prefix.split(':')[0]}:${name}`, arn }))
})

describe('the policy for a narrowed execution role', () => {
  test('the policy covers each type of resource in the stack with every option', () => {
    expect([...new Set(resources.map(({ Type }) => Type))].toSorted()).toEqual(Object.keys(calls).toSorted())
    expect(needed.filter(({ action, arn }) => !allowing(action, arn))).toEqual([])
  })

  test('the policy allows deleting the table of the stand-in, and never the ledger', () => {
    const tables = resources.filter(({ Type }) => Type === 'AWS::DynamoDB::Table').map(nameOf)
    const deletable = tables.filter((name) =>
      allowing('dynamodb:DeleteTable', `arn:aws:dynamodb:eu-central-1:123456789012:table/${name}`),
    )
    expect(new Set(deletable).size).toBe(1)
    expect(deletable[0]).toMatch(/^UnitGuard-SandboxTable/)
  })

  test('the policy has no statement that the stack does not need', () => {
    const used = new Set(needed.map(({ action, arn }) => allowing(action, arn)?.Sid))
    const rest = policy.Statement.map(({ Sid }) => Sid).filter((sid) => !used.has(sid))
    // The table of the stand-in is deleted with the stand-in, and every deployment reads the other two.
    expect(rest).toEqual(['Code', 'StandInsTable', 'BootstrapVersion'])
  })

  test('the policy allows no whole service', () => {
    const actions = policy.Statement.flatMap(({ Action }) => Action)
    expect(actions.filter((action) => action.includes('*'))).toEqual([...['lambda:GetFunction*', 'dynamodb:Describe*']])
  })

  test('the policy names its resources, except for conditions and harmless reads', () => {
    const open = policy.Statement.filter(({ Resource, Condition }) => Resource === '*' && !Condition)
    expect(open.map(({ Action }) => Action)).toEqual([
      ['sns:GetSubscriptionAttributes', 'sns:SetSubscriptionAttributes', 'sns:Unsubscribe'],
      ['lambda:GetEventSourceMapping', 'logs:DescribeLogGroups', 'secretsmanager:GetRandomPassword'],
    ])
    const others = policy.Statement.filter(({ Resource, Condition }) => Resource !== '*' && !Condition)
    expect(others.filter(({ Resource }) => !/UnitGuard-|unit-guard|cdk-/.test(Resource))).toEqual([])
  })

  test('the policy reads no secret and no item, and passes roles only to Lambda', () => {
    const actions = policy.Statement.flatMap(({ Action }) => Action)
    expect(actions.filter((action) => /GetSecretValue|Item|Query|Scan|InvokeFunction/.test(action))).toEqual([])
    const pass = policy.Statement.filter(({ Action }) => Action.includes('iam:PassRole'))
    const to = ['lambda.amazonaws.com']
    expect(pass).toMatchObject([{ Condition: { StringEquals: { 'iam:PassedToService': to } } }])
  })

  test('the policy fits a managed policy, which takes 6,144 characters', () => {
    expect(JSON.stringify(policy).length).toBeLessThanOrEqual(6144)
  })
})
