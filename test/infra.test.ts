import { Match, Template } from 'aws-cdk-lib/assertions'
import { App } from 'aws-cdk-lib/core'
import { describe, expect, it } from 'vitest'
import { UnitGuardStack } from '../infra/unit-guard-stack.ts'

const template = Template.fromStack(new UnitGuardStack(new App(), 'UnitGuard'))

const key = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
]

describe('the ledger table', () => {
  it('there is one, and no deployment takes it away', () => {
    template.resourceCountIs('AWS::DynamoDB::Table', 1)
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: Match.objectLike({ DeletionProtectionEnabled: true }),
    })
  })

  it('has the keys and indexes that the store reads', () => {
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

  it('is paid on demand, streams both images, can be restored to any second, and forgets what has expired', () => {
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    })
  })
})

describe('the secrets', () => {
  it('the callers’ key is generated; the service’s token is never in the template', () => {
    const secrets = template.findResources('AWS::SecretsManager::Secret')
    expect(Object.values(secrets)).toMatchObject([
      { DeletionPolicy: 'Retain', Properties: { Name: 'unit-guard/service-token' } },
      {
        DeletionPolicy: 'Retain',
        Properties: {
          Name: 'unit-guard/caller-key',
          GenerateSecretString: { PasswordLength: 64, ExcludePunctuation: true },
        },
      },
    ])
    expect(Object.values(secrets).map(({ Properties }) => Properties.SecretString)).toEqual([undefined, undefined])
    expect(Object.values(secrets)[0]?.Properties.GenerateSecretString).toBeUndefined()
  })
})
