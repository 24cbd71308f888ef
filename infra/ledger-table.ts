import { AttributeType, BillingMode, ProjectionType, StreamViewType, Table } from 'aws-cdk-lib/aws-dynamodb'
import { RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { expiryAttribute, indexes, tableKey } from '../shared/ledger/table.ts'

type KeyNames = { readonly partition: string; readonly sort: string }

/** The one table of the ledger, with the keys and indexes that the store reads it by. */
export class LedgerTable extends Construct {
  readonly table: Table

  constructor(scope: Construct, id: string) {
    super(scope, id)
    this.table = new Table(this, 'Table', {
      ...keysOf(tableKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: expiryAttribute,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // Who spent what is kept for years: no deployment, and no deleted stack, may take it away.
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    })
    for (const [indexName, key] of Object.entries(indexes)) {
      this.table.addGlobalSecondaryIndex({ indexName, ...keysOf(key), projectionType: ProjectionType.KEYS_ONLY })
    }
  }
}

const keysOf = ({ partition, sort }: KeyNames) => ({
  partitionKey: { name: partition, type: AttributeType.STRING },
  sortKey: { name: sort, type: AttributeType.STRING },
})
