import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { describe, expect, test } from 'vitest'
import { behindEdge, everyOption, firstDeployment, login, warehouse } from '../support/infra/deployment.ts'
import { plain, type Synthesis, synthesize } from '../support/infra/stack.ts'
import { variants } from '../support/infra/variants.ts'

const { ofType, template } = synthesize()

const key = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
]

describe('the ledger table', () => {
  test('the stack has one ledger table, which no deployment deletes', () => {
    expect(ofType('AWS::DynamoDB::Table')).toMatchObject([
      { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain', Properties: { DeletionProtectionEnabled: true } },
    ])
  })

  test('the ledger table has the keys and indexes of the store', () => {
    const index = (name: string, partition: string, sort: string) => ({
      IndexName: name,
      KeySchema: key(partition, sort),
      Projection: { ProjectionType: 'KEYS_ONLY' },
    })
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      KeySchema: key('pk', 'sk'),
      GlobalSecondaryIndexes: [index('by-time', 'listedIn', 'listedAt'), index('open', 'openAs', 'openSince')],
      AttributeDefinitions: ['pk', 'sk', 'listedIn', 'listedAt', 'openAs', 'openSince'].map((name) => ({
        AttributeName: name,
        AttributeType: 'S',
      })),
    })
  })

  test('the ledger table is on demand, with a stream of new images, point-in-time recovery and TTL', () => {
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    })
  })

  test('the first deployment has no stream and no reader, and its rules are off until the next deployment', () => {
    const [first, next] = [synthesize(variants.firstDeployment), synthesize(variants.everyOption)].map(
      ({ ofType }) => ({
        streams: ofType('AWS::DynamoDB::Table').flatMap(({ Properties }) => Properties.StreamSpecification ?? []),
        readers: ofType('AWS::Lambda::EventSourceMapping').length,
        rules: ofType('AWS::Events::Rule').map(({ Properties: { Name, State } }) => `${Name} ${State}`),
      }),
    )
    const rules = ['sweep', 'digest', 'plan-morning']
    const rulesAre = (state: string) => rules.map((name) => `unit-guard-${name} ${state}`)
    expect(first).toEqual({ streams: [], readers: 0, rules: rulesAre('DISABLED') })
    expect(next).toEqual({ streams: [{ StreamViewType: 'NEW_IMAGE' }], readers: 2, rules: rulesAre('ENABLED') })
  })

  test('the ledger table and each index have a maximum of throughput, which is an option', () => {
    const most = (of: typeof ofType) =>
      of('AWS::DynamoDB::Table').flatMap(({ Properties: { OnDemandThroughput, GlobalSecondaryIndexes } }) => [
        OnDemandThroughput,
        ...GlobalSecondaryIndexes.map((index: typeof Object) => Object(index).OnDemandThroughput),
      ])
    const thrice = (MaxReadRequestUnits: number, MaxWriteRequestUnits: number) =>
      Array.from({ length: 3 }, () => ({ MaxReadRequestUnits, MaxWriteRequestUnits }))
    expect(most(ofType)).toEqual(thrice(8_000, 2_000))
    const own = synthesize({ context: { maxTableReads: '500', maxTableWrites: '40000' } })
    expect(most(own.ofType)).toEqual(thrice(500, 40_000))
  })

  test('the stack uses a restored ledger table instead of a new one', () => {
    const restored = synthesize(variants.restored)
    expect(restored.ofType('AWS::DynamoDB::Table')).toEqual([])
    for (const { Properties } of Object.values(restored.functions)) {
      expect(Properties.Environment.Variables.TABLE_NAME).toBe('restored')
    }
    for (const { Properties } of restored.ofType('AWS::Lambda::EventSourceMapping')) {
      expect(Properties.EventSourceArn).toBe(variants.restored.context.ledgerStream)
    }
  })
})

describe('the secrets', () => {
  test('the caller key, the key of quotes and Slack’s secret are generated, and the service token is never in the template', () => {
    // The secrets are kept, except after a first deployment that fails.
    const kept = { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' }
    const secrets = ofType('AWS::SecretsManager::Secret')
    expect(secrets).toMatchObject([
      { ...kept, Properties: { Name: 'unit-guard/service-token' } },
      {
        ...kept,
        Properties: {
          Name: 'unit-guard/caller-key',
          GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
        },
      },
      {
        ...kept,
        Properties: {
          Name: 'unit-guard/quote-key',
          GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
        },
      },
      {
        ...kept,
        Properties: {
          Name: 'unit-guard/slack',
          GenerateSecretString: { SecretStringTemplate: '{}', GenerateStringKey: 'signingSecret' },
        },
      },
    ])
    expect(secrets.map(({ Properties }) => Properties.SecretString)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(secrets[0]?.Properties.GenerateSecretString).toBeUndefined()
  })
})

test('a deployment beside the secrets of a deleted stack makes none, and each function reads the same secrets by name', () => {
  const made = synthesize({ ...variants.redeployed, context: { ...variants.redeployed.context, secrets: undefined } })
  const adopted = synthesize(variants.redeployed)
  expect(adopted.ofType('AWS::SecretsManager::Secret')).toEqual([])
  const nameOf = Object.fromEntries(
    made.ofType('AWS::SecretsManager::Secret').map(({ id, Properties }) => [id, Properties.Name]),
  )
  const start = 'arn:AWS::Partition:secretsmanager:AWS::Region:AWS::AccountId:secret:'
  const policiesOf = (of: typeof ofType) => of('AWS::IAM::Policy').map(({ Properties }) => Properties.PolicyDocument)
  const readBy = (of: typeof ofType, name: (resource: never) => string) =>
    policiesOf(of).map(({ Statement }) =>
      Statement.filter(({ Action }: { Action: string }) => Action === 'secretsmanager:GetSecretValue')
        .flatMap(({ Resource }: { Resource: never }) => [Resource].flat().map(name))
        .toSorted(),
    )
  const byName = readBy(made.ofType, ({ Ref }: { Ref: string }) => `${start}${nameOf[Ref]}-??????`)
  expect(byName.flat()).not.toEqual([])
  expect(readBy(adopted.ofType, plain)).toEqual(byName)
  for (const [name, { Properties }] of Object.entries(adopted.functions)) {
    const given = Object.entries<string>(Properties.Environment.Variables).filter(([, value]) =>
      JSON.stringify(value).includes('unit-guard/'),
    )
    const own = Object.entries<{ Ref: string }>(made.functions[name]?.Properties.Environment.Variables)
      .filter(([, { Ref }]) => Ref in nameOf)
      .map(([setting, { Ref }]) => [setting, nameOf[Ref]])
    expect(given).toEqual(own)
  }
})

test('synth names the options that a deployed stack would lose, but not for a first deployment', () => {
  const without = (synthesis: Synthesis) =>
    synthesize(synthesis)
      .told()
      .filter((line) => line.includes('is without'))
  const alarmEmail = 'ops@example.com'
  expect(without({ context: { alarmEmail, reserve: 'on' } })).toEqual([
    expect.stringMatching(
      /^this deployment is without domain, awsBudget\. If the deployed stack has such an option, it loses it, and the guard says so until -c without=<options> says that this is meant /,
    ),
  ])
  expect(without({ context: { alarmEmail, reserve: 'on', without: 'domain,awsBudget' } })).toEqual([])
  expect(without({ context: { alarmEmail, reserve: 'on', awsBudget: '50', ...behindEdge } })).toEqual([])
  expect(without(firstDeployment)).toEqual([])
  const { alarmEmail: _mail, awsBudget: _budget, ...first } = firstDeployment.context
  expect(without({ ...firstDeployment, context: first })).toEqual([])
})

test('neither stack can be deleted before its protection is turned off', () => {
  const { folder } = synthesize({ context: behindEdge })
  const { artifacts } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  expect([artifacts.UnitGuard, artifacts.Edge].map(({ properties }) => properties.terminationProtection)).toEqual([
    true,
    true,
  ])
})

test('each event target has a kept secret with a generated key of 64 letters and digits', () => {
  const { ofType } = synthesize({ targets: [warehouse] })
  expect(ofType('AWS::SecretsManager::Secret').at(-1)).toMatchObject({
    DeletionPolicy: 'RetainExceptOnCreate',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      Name: 'unit-guard/events/warehouse',
      GenerateSecretString: {
        PasswordLength: 64,
        ExcludePunctuation: true,
        SecretStringTemplate: '{}',
        GenerateStringKey: 'current',
      },
    },
  })
})

describe('the logs', () => {
  test('all logs are in one group for three months', () => {
    expect(ofType('AWS::Logs::LogGroup')).toMatchObject([{ Properties: { RetentionInDays: 90 } }])
  })

  test('the log outlives the stack, because a restored ledger is completed from the log', () => {
    expect(ofType('AWS::Logs::LogGroup')).toMatchObject([
      { DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' },
    ])
  })
})

describe('the AWS budget', () => {
  const notes = (of: typeof ofType) =>
    of('AWS::Budgets::Budget').map(({ Properties: { Budget, NotificationsWithSubscribers: notifications } }) => ({
      ...plain(Budget),
      notifications: notifications.map(({ Notification, Subscribers }: Record<string, never>) =>
        [...Object.values(Object(Notification)), ...Object.values(Object(Subscribers)[0])].map(plain).join(' '),
      ),
    }))
  const budget = {
    BudgetName: 'unit-guard-AWS::Region',
    BudgetType: 'COST',
    TimeUnit: 'MONTHLY',
    BudgetLimit: { Amount: 50, Unit: 'USD' },
  }
  const tells = (to: string) =>
    ['80', '100'].map((at) => `GREATER_THAN ACTUAL ${at} ${to}`).concat(`GREATER_THAN FORECASTED 100 ${to}`)

  test('the AWS budget is an option, and informs the address of the alarms before and at 80 % and 100 %', () => {
    expect(notes(ofType)).toEqual([])
    const own = synthesize({ context: { awsBudget: '50', alarmEmail: 'ops@example.com' } })
    expect(notes(own.ofType)).toEqual([{ ...budget, notifications: tells('ops@example.com EMAIL') }])
  })

  test('the AWS budget informs the topic of an app instead', () => {
    const own = synthesize({ own: (stack) => ({ awsBudget: 50, alarmTopic: new Topic(stack, 'Ours') }) })
    const [{ notifications }] = notes(own.ofType)
    expect(notifications[0]).toMatch(/^GREATER_THAN ACTUAL 80 .*SNS$/)
  })
})

describe('the queue of dead letters', () => {
  test('the queue keeps dead letters encrypted for two weeks', () => {
    expect(ofType('AWS::SQS::Queue')).toMatchObject([
      { Properties: { MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true } },
    ])
    expect(JSON.stringify(ofType('AWS::SQS::QueuePolicy'))).toMatch('aws:SecureTransport')
  })
})

describe('the CDK feature flags of cdk.json', () => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const flags: Record<string, unknown> = read(join(resolve(import.meta.dirname, '../..'), 'cdk.json')).context

  test('each flag is set as the pinned CDK recommends, except for the one that changes the template', () => {
    const recommended = createRequire(import.meta.url).resolve('aws-cdk-lib/recommended-feature-flags.json')
    expect(flags).toEqual({ ...read(recommended), '@aws-cdk/aws-iam:minimizePolicies': false })
  })

  test('the flags change nothing in the template, so no resource of a deployed stack changes', () => {
    // In a stack with a region, the flags write `aws` for the pseudo parameter of the partition, which is the same there.
    const { domain: _domain, hostedZone: _zone, ...context } = everyOption.context
    const options = { ...everyOption, context, env: { ...everyOption.env, DASHBOARD_URL: login.DASHBOARD_URL } }
    const { template } = synthesize({ ...options, flags })
    expect(template.toJSON()).toEqual(synthesize(options).template.toJSON())
  })
})
