import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { ArnFormat, Stack } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import type { GuardFunction } from './guard-function.ts'

/** Listed by name, because `GenerateDataKey*` also allows pairs of keys. */
const uses = [
  'Decrypt',
  'DescribeKey',
  'Encrypt',
  'GenerateDataKey',
  'GenerateDataKeyWithoutPlaintext',
  'ReEncryptFrom',
  'ReEncryptTo',
].map((name) => `kms:${name}`)

/** Lets a function use the key only through services that store its data. */
export function useKey(fn: GuardFunction, key: IKey): void {
  const { region, urlSuffix } = Stack.of(fn)
  const services = ['dynamodb', 'secretsmanager', 'sqs'].map((service) => `${service}.${region}.${urlSuffix}`)
  fn.allow(uses, [key.keyArn], { StringEquals: { 'kms:ViaService': services } })
}

/**
 * CloudWatch Logs encrypts the log, and rules encrypt what they send to the dead letters. The CDK's topic adds the same for alarms. The
 * policy of an imported key does not change.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
 */
export function letServicesUse(key: IKey, scope: Construct): void {
  const { region, account } = Stack.of(scope)
  const logs = Stack.of(scope).formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })
  const allow = (service: string, actions: readonly string[], conditions: Record<string, object>) =>
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal(service)],
        actions: actions.map((name) => `kms:${name}`),
        resources: ['*'],
        conditions,
      }),
    )
  allow(`logs.${region}.amazonaws.com`, ['Decrypt', 'Describe*', 'Encrypt', 'GenerateDataKey*', 'ReEncrypt*'], {
    ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logs },
  })
  allow('events.amazonaws.com', ['Decrypt', 'GenerateDataKey*'], {
    StringEquals: { 'aws:SourceAccount': account },
  })
}
