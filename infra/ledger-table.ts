import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
} from 'aws-cdk-lib/aws-dynamodb'
import { CfnParameter as StoredParameter } from 'aws-cdk-lib/aws-ssm'
import { CfnParameter, RemovalPolicy } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { expiryAttribute, indexes, tableKey } from '../shared/ledger/stored.ts'
import { ledgerParameter, noMarker } from '../shared/platform/settings.ts'
import { acknowledge, type GuardFunction } from './guard-function.ts'

type KeyNames = { readonly partition: string; readonly sort: string }

/** A table that was restored from a point in time, and its stream. */
export interface Restored {
  readonly table: string
  readonly stream: string
}

/** The one table of the ledger, with the keys and indexes that the store reads it by. */
export class LedgerTable extends Construct {
  readonly table: Table | ITable

  constructor(scope: Construct, id: string, props: { restored: Restored | null }) {
    super(scope, id)
    this.table = props.restored ? this.adopt(props.restored) : this.create()
  }

  private adopt({ table, stream }: Restored): ITable {
    const globalIndexes = Object.keys(indexes)
    return Table.fromTableAttributes(this, 'Restored', { tableName: table, tableStreamArn: stream, globalIndexes })
  }

  private create(): Table {
    const table = new Table(this, 'Table', {
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
      table.addGlobalSecondaryIndex({ indexName, ...keysOf(key), projectionType: ProjectionType.KEYS_ONLY })
    }
    return table
  }

  /**
   * Lets a function keep the ledger. A transaction needs the permission of each of its writes. No function may delete or scan.
   *
   * @param how.lists whether it also lists, by the two indexes.
   * @param how.writes the prefixes of the partition keys that it may put items under; without it, everything.
   * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
   */
  bindTo(fn: GuardFunction, { lists, writes }: { lists: boolean; writes?: readonly string[] }): void {
    const { tableArn, tableName } = this.table
    fn.set('TABLE_NAME', tableName)
    fn.allow(['BatchGetItem', 'DescribeTable'].map(action), [tableArn])
    if (writes) fn.allow([action('PutItem')], [tableArn], underKeys(writes))
    else fn.allow(['ConditionCheckItem', 'PutItem', 'UpdateItem'].map(action), [tableArn])
    if (!lists) return
    const arns = Object.keys(indexes).map((name) => `${tableArn}/index/${name}`)
    fn.allow([action('Query')], arns)
  }

  /** Lets a function read the stream. @returns the stream's ARN. */
  streamTo(fn: GuardFunction): string {
    const { tableStreamArn } = this.table
    if (tableStreamArn === undefined) throw new Error('the ledger table has no stream')
    this.table.grantStreamRead(fn.lambda)
    acknowledge(fn, {
      'AwsSolutions-IAM5[Resource::*]':
        'dynamodb:ListStreams, which Lambda asks for before it reads a stream, takes no resource; it tells names of streams and nothing of what is in them',
    })
    return tableStreamArn
  }
}

/** `ForAllValues` alone is true of a request without any key. */
const underKeys = (prefixes: readonly string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes.map((prefix) => `${prefix}*`) },
  Null: { 'dynamodb:LeadingKeys': 'false' },
})

const action = (name: string): string => `dynamodb:${name}`

const keysOf = ({ partition, sort }: KeyNames) => ({
  partitionKey: { name: partition, type: AttributeType.STRING },
  sortKey: { name: sort, type: AttributeType.STRING },
})

/**
 * The ledger's marker outside of its table, for the environment of the functions. CloudFormation reads the parameter at
 * each deployment and fails without it; the first deployment makes it, and fails where it exists.
 */
export function ledgerMarker(scope: Construct, isFirst: boolean): string {
  if (!isFirst) {
    const type = 'AWS::SSM::Parameter::Value<String>'
    const description = 'Where the marker of the ledger is; npm run account -- begin writes it'
    return new CfnParameter(scope, 'LedgerMarker', { type, default: ledgerParameter, description }).valueAsString
  }
  const made = new StoredParameter(scope, 'LedgerParameter', {
    name: ledgerParameter,
    type: 'String',
    value: noMarker,
    description: 'Which ledger Unit Guard keeps, and in which table; npm run account and npm run restore write it',
  })
  made.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
  return noMarker
}
