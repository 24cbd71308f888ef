import { CfnSecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { LedgerTable } from './ledger-table.ts'

const keyLength = 64

/** Everything of one deployment: one account of the tracking service, one ledger. */
export class UnitGuardStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, { description: 'Unit Guard: a budget guard for a metered tracking service', ...props })

    const ledger = new LedgerTable(this, 'Ledger')

    // It has no value until somebody puts the service's token in: until then every update is answered 503. A generated
    // one, which the construct of a higher level insists on, would be sent to the service as if it were real.
    new CfnSecret(this, 'ServiceToken', {
      name: 'unit-guard/service-token',
      description: "The tracking service's token; only Unit Guard holds it",
    }).applyRemovalPolicy(RemovalPolicy.RETAIN)
    // Visible ASCII without quotes and backslashes, so that it can be passed on by hand without escaping.
    new Secret(this, 'CallerKey', {
      secretName: 'unit-guard/caller-key',
      description: "The key that callers' tokens are signed with (HS256)",
      generateSecretString: { passwordLength: keyLength, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN,
    })

    new CfnOutput(this, 'TableName', { value: ledger.table.tableName })
  }
}
