import { AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb'
import { Duration, Fn, RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { sandboxTableKey } from '../functions/sandbox/settings.ts'
import { acknowledge, GuardFunction, type GuardFunctionProps } from './guard-function.ts'
import type { GuardSecrets } from './guard-secrets.ts'

/** A stand-in of the service, to try a deployment without spending units. It is deleted with the stack. */
export class Sandbox extends Construct {
  readonly baseUrl: string

  constructor(scope: Construct, id: string, props: Pick<GuardFunctionProps, 'code' | 'logGroup'>) {
    super(scope, id)
    const table = new Table(this, 'Table', {
      partitionKey: { name: sandboxTableKey.partition, type: AttributeType.STRING },
      sortKey: { name: sandboxTableKey.sort, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      removalPolicy: RemovalPolicy.DESTROY,
    })
    acknowledge(table, { 'AwsSolutions-DDB3': 'The stand-in makes up its data, and does so again in an empty table' })
    this.fn = new GuardFunction(this, 'Sandbox', {
      ...props,
      description: 'A stand-in tracking service with every v3 operation',
      memoryMb: 512,
      timeout: Duration.minutes(1),
    })
    this.fn.set('SANDBOX_TABLE', table.tableName)
    this.fn.allow(['dynamodb:BatchGetItem', 'dynamodb:PutItem'], [table.tableArn])
    this.baseUrl = Fn.join('', [this.fn.openUrl({ streams: true }).url, 'v3'])
  }

  private readonly fn: GuardFunction

  /** The stand-in compares the token of a request with this secret. */
  shareToken(secrets: GuardSecrets): void {
    secrets.bindTo(this.fn, 'service-token')
  }
}
