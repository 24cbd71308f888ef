import { readFile } from 'node:fs/promises'
import { Template } from 'aws-cdk-lib/assertions'
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { App, RemovalPolicy, Stack } from 'aws-cdk-lib/core'
import { describe, expect, test } from 'vitest'
import { propOf, settingNames, type UnitGuardProps } from '../../infra/props.ts'
import { UnitGuard } from '../../infra/unit-guard.ts'
import { firstDeployment, warehouse, writeTargets } from '../support/infra/deployment.ts'
import { emptyBundles, plain, type Resource, synthesize } from '../support/infra/stack.ts'

test('resources that outlive deployments keep their logical ids', () => {
  const kept = synthesize(firstDeployment).resources.filter(({ DeletionPolicy }) =>
    DeletionPolicy?.startsWith('Retain'),
  )
  expect(kept.map(({ id }) => id).sort()).toMatchInlineSnapshot(`
    [
      "EventsSecretwarehouse840F9C19",
      "LedgerParameter",
      "LedgerTable9343E4AA",
      "Log95422804",
      "SecretsCallerKey9894577F",
      "SecretsLoginClient31DDC1CF",
      "SecretsQuoteKeyAF5B582B",
      "SecretsServiceToken55067354",
      "SecretsSlackEC2CE206",
    ]
  `)
})

test('every setting of a deployment is a member of the props', async () => {
  const props = await readFile('infra/props.ts', 'utf8')
  expect(settingNames.map(propOf).filter((name) => !new RegExp(`readonly ${name}\\??:`).test(props))).toEqual([])
})

describe('two guards in one stack', () => {
  const stack = new Stack(new App({ treeMetadata: false, stackTraces: false }), 'Both')
  const bundles = emptyBundles()
  const own = { bundles, accountUnitsPerMonth: 50_000, trackingBaseUrl: 'https://service.example/v3' }
  const firsts = { accountUnitsUsedAtStart: 0, accountRenewalDay: 1, accountTimeZone: 'UTC', firstLedger: true }
  const one = new UnitGuard(stack, 'One', { ...own, ...firsts })
  const two = new UnitGuard(stack, 'Two', {
    ...own,
    ...firsts,
    prefix: 'unit-guard-two',
    eventTargets: writeTargets([{ ...warehouse, secret: 'unit-guard-two/events/warehouse' }]),
  })
  const resources = Object.values(
    Template.fromStack(stack).toJSON().Resources as Record<string, { Type: string; Properties: object }>,
  )
  const textOf = (members: readonly string[]) =>
    resources.flatMap(({ Properties }) =>
      Object.entries(Properties ?? {})
        .filter(([name, value]) => members.includes(name) && typeof value === 'string')
        .map(([, value]) => value),
    )

  test('two guards in one stack share no name', () => {
    const names = textOf(['Name', 'AlarmName', 'FunctionName', 'TableName', 'QueueName', 'TopicName'])
    expect(names.filter((name) => name.startsWith('unit-guard/') || name.startsWith('/unit-guard/'))).toHaveLength(5)
    expect(new Set(names).size).toBe(names.length)
  })

  test('two guards in one stack have addresses and tables of their own', () => {
    const partsOf = (guard: UnitGuard) => [guard.apiUrl, guard.dashboardUrl, guard.mcpUrl, guard.slackUrl]
    const all = [...partsOf(one), ...partsOf(two), one.table.tableName, two.table.tableName]
    expect(new Set(all.map((part) => JSON.stringify(stack.resolve(part)))).size).toBe(all.length)
  })

  test('two guards in one stack count their log lines apart', () => {
    const text = JSON.stringify(plain(resources))
    expect(text).toContain('"METRIC_NAMESPACE":"unit-guard-two"')
    expect(new Set(text.match(/"MetricNamespace":"[^"]+"/g))).toEqual(
      new Set(['"MetricNamespace":"UnitGuard"', '"MetricNamespace":"unit-guard-two"']),
    )
  })

  test('two guards in one stack do not share the secret of an event target', () => {
    const eventTargets = writeTargets([warehouse])
    const third = () => new UnitGuard(stack, 'Three', { ...own, prefix: 'third', eventTargets })
    expect(third).toThrow('the secret of warehouse must begin with third/events/')
  })

  test('two guards in one stack refuse a prefix that names cannot have', () => {
    const wrong = () => new UnitGuard(stack, 'Four', { ...own, prefix: 'Unit Guard' })
    expect(wrong).toThrow('must have 1 to 24 of a-z, 0-9 and -')
  })
})

describe('an app with its own resources', () => {
  const bundles = emptyBundles()
  const needed = { bundles, accountUnitsPerMonth: 50_000, trackingBaseUrl: 'https://service.example/v3' }
  /** The resources of a guard in an app with its own key, topic and policy. */
  function embed(props: (own: Stack) => Partial<UnitGuardProps>) {
    const stack = new Stack(new App({ treeMetadata: false, stackTraces: false }), 'Own')
    const guard = new UnitGuard(stack, 'Guard', { ...needed, ...props(stack) })
    const resources = Object.values(Template.fromStack(stack).toJSON().Resources as Record<string, Resource>)
    return { guard, ofType: (type: string) => resources.filter(({ Type }) => Type === type) }
  }

  test('an app can give a topic for alarms', () => {
    const { guard, ofType } = embed((stack) => ({ alarmTopic: new Topic(stack, 'Ours') }))
    const alarms = ofType('AWS::CloudWatch::Alarm').map(({ Properties }) => plain(Properties.AlarmActions))
    expect(alarms.length).toBeGreaterThan(10)
    expect(new Set(alarms.map(String))).toEqual(new Set(['Ours']))
    expect(ofType('AWS::SNS::Topic')).toHaveLength(1)
    expect(guard.alarmTopic?.node.id).toBe('Ours')
    expect(embed(() => ({})).guard.alarmTopic).toBeUndefined()
    expect(embed(() => ({ alarmEmail: 'ops@example.com' })).guard.alarmTopic).toBeDefined()
    const both = (stack: Stack) => ({ alarmTopic: new Topic(stack, 'Ours'), alarmEmail: 'ops@example.com' })
    expect(() => embed(both)).toThrow('alarmEmail: must be unset with alarmTopic: subscribe the address to that topic')
  })

  test('an app can set how long the log is kept', () => {
    const { ofType } = embed(() => ({ logRetention: RetentionDays.ONE_YEAR }))
    expect(ofType('AWS::Logs::LogGroup')[0]?.Properties.RetentionInDays).toBe(365)
  })

  test('an app can give a key, which encrypts everything stored and which functions use only through services', () => {
    const { ofType } = embed((stack) => ({
      encryptionKey: new Key(stack, 'Ours'),
      sandbox: true,
      trackingBaseUrl: '',
      alarmEmail: 'ops@example.com',
      eventTargets: writeTargets([warehouse]),
    }))
    const keyOf = (type: string, member: string) => [
      ...new Set(ofType(type).map(({ Properties }) => plain(Properties[member]))),
    ]
    expect(plain(ofType('AWS::DynamoDB::Table')[0]?.Properties.SSESpecification)).toEqual({
      SSEEnabled: true,
      SSEType: 'KMS',
      KMSMasterKeyId: 'Ours.Arn',
    })
    expect(keyOf('AWS::SecretsManager::Secret', 'KmsKeyId')).toEqual(['Ours.Arn'])
    expect(keyOf('AWS::Logs::LogGroup', 'KmsKeyId')).toEqual(['Ours.Arn'])
    expect(keyOf('AWS::SQS::Queue', 'KmsMasterKeyId')).toEqual(['Ours.Arn'])
    expect(keyOf('AWS::SNS::Topic', 'KmsMasterKeyId')).toEqual(['Ours.Arn'])
    const uses = ofType('AWS::IAM::Policy').flatMap(({ Properties }) =>
      (Properties.PolicyDocument.Statement as { Action: string | string[]; Condition?: object }[]).filter(
        ({ Action }) => [Action].flat().includes('kms:Encrypt'),
      ),
    )
    expect(uses).toHaveLength(ofType('AWS::Lambda::Function').length)
    for (const { Action } of uses) expect([Action].flat().filter((name) => name.includes('*'))).toEqual([])
    for (const { Condition } of uses) expect(JSON.stringify(Condition)).toContain('kms:ViaService')
    const allowed = plain(ofType('AWS::KMS::Key')[0]?.Properties.KeyPolicy.Statement) as {
      Principal: { Service?: string }
    }[]
    const services = allowed.flatMap(({ Principal }) => Principal.Service ?? [])
    expect(services.sort()).toEqual([
      'cloudwatch.amazonaws.com',
      'events.amazonaws.com',
      'logs.AWS::Region.amazonaws.com',
    ])
  })

  test('an app can give a boundary for every role', () => {
    const boundary = 'arn:aws:iam::123456789012:policy/boundary'
    const { ofType } = embed((stack) => ({
      permissionsBoundary: ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', boundary),
    }))
    const roles = ofType('AWS::IAM::Role')
    expect(roles.length).toBeGreaterThanOrEqual(7)
    for (const { Properties } of roles) expect(Properties.PermissionsBoundary).toBe(boundary)
  })

  test('an app can choose to keep nothing', () => {
    const firsts = { accountUnitsUsedAtStart: 0, accountRenewalDay: 1, accountTimeZone: 'UTC', firstLedger: true }
    const { ofType } = embed(() => ({ ...firsts, removalPolicy: RemovalPolicy.DESTROY }))
    const kept = [
      'AWS::DynamoDB::Table',
      'AWS::SecretsManager::Secret',
      'AWS::SSM::Parameter',
      'AWS::Logs::LogGroup',
    ].flatMap(ofType)
    expect(kept).toHaveLength(7)
    expect(new Set(kept.map(({ DeletionPolicy }) => DeletionPolicy))).toEqual(new Set(['Delete']))
    expect(ofType('AWS::DynamoDB::Table')[0]?.Properties.DeletionProtectionEnabled).toBe(false)
    expect(() => embed(() => ({ removalPolicy: RemovalPolicy.SNAPSHOT }))).toThrow(
      'removalPolicy: must be RETAIN or DESTROY',
    )
  })

  test('wrong props are refused by the names of props, not of settings', () => {
    const wrong = (props: Partial<UnitGuardProps>) => () => embed(() => props)
    expect(wrong({ accountTimeZone: 'Mars/Phobos' })).toThrow('accountTimeZone: must be a time zone')
    expect(wrong({ maxTableWrites: Number.NaN })).toThrow('maxTableWrites: must be a whole number')
    expect(wrong({ prefix: 'Unit Guard' })).toThrow(/^prefix: must have 1 to 24/)
    const restored = { table: 'one', stream: 'arn:aws:dynamodb:eu-central-1:1:table/two/stream/1' }
    expect(wrong({ restored })).toThrow(/^restored\.stream: .*restored\.table/)
  })
})
